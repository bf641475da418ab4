//! Every message of ours fits the schema of its revision.

use super::client::{Client, meta};
use serde_json::{Value as Json, json};
use std::path::PathBuf;
use toolsd::mcp::ServerSettings;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// The requests of a broad talk, and the type of each result.
fn talk() -> Vec<(&'static str, Json, &'static str)> {
    let prompt = json!({ "type": "ref/prompt", "name": "greet" });
    let template = json!({ "type": "ref/resource", "uri": "fix://item/{id}" });
    let mut talk = vec![
        ("tools/list", json!({}), "ListToolsResult"),
        ("resources/list", json!({}), "ListResourcesResult"),
        ("resources/templates/list", json!({}), "ListResourceTemplatesResult"),
        ("prompts/list", json!({}), "ListPromptsResult"),
        ("prompts/get", json!({ "name": "greet", "arguments": { "who": "Ada" } }), "GetPromptResult"),
        ("resources/read", json!({ "uri": "fix://note" }), "ReadResourceResult"),
        ("resources/read", json!({ "uri": "fix://item/7" }), "ReadResourceResult"),
        ("resources/read", json!({ "uri": "fix://nothing" }), "ReadResourceResult"),
        (
            "completion/complete",
            json!({ "ref": prompt, "argument": { "name": "who", "value": "A" } }),
            "CompleteResult",
        ),
        (
            "completion/complete",
            json!({ "ref": template, "argument": { "name": "id", "value": "" } }),
            "CompleteResult",
        ),
        ("tools/call", json!({ "name": "nothing" }), "CallToolResult"),
        ("tools/call", json!({ "name": 5 }), "CallToolResult"),
        ("no/method", json!({}), "EmptyResult"),
    ];
    for tool in ["echo", "list", "media", "fail", "reject", "talk"] {
        let params = json!({ "name": tool, "arguments": { "text": "x" }, "_meta": { "progressToken": tool } });
        talk.push(("tools/call", params, "CallToolResult"));
    }
    talk
}

fn schema_folder() -> Option<PathBuf> {
    let folder = PathBuf::from(std::env::var_os("TOOLSD_SYSTEMS")?).parent()?.join("mcp-schema");
    folder.is_dir().then_some(folder)
}

/// The schemas of one revision.
struct Schemas {
    revision: &'static str,
    whole: Json,
    key: &'static str,
}

impl Schemas {
    fn read(revision: &'static str) -> Option<Self> {
        let text = std::fs::read_to_string(schema_folder()?.join(format!("{revision}.json"))).unwrap();
        let whole: Json = serde_json::from_str(&text).unwrap();
        let key = if whole.get("$defs").is_some() { "$defs" } else { "definitions" };
        Some(Self { revision, whole, key })
    }

    fn check(&self, message: &Json, name: &str) {
        let schema = json!({
            "$schema": self.whole["$schema"],
            "$ref": format!("#/{}/{name}", self.key),
            self.key: self.whole[self.key],
        });
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(message).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{} {name}: {errors:#?}\n{message}", self.revision);
    }

    /// Checks a message: an error, a notification, or the result of a type.
    fn check_message(&self, message: &Json, result: &str) {
        if message.get("error").is_some() {
            let name = if self.whole[self.key].get("JSONRPCError").is_some() {
                "JSONRPCError"
            } else {
                "JSONRPCErrorResponse"
            };
            return self.check(message, name);
        }
        let Some(method) = message.get("method").and_then(Json::as_str) else {
            return self.check(&message["result"], result);
        };
        let name = match method {
            "notifications/progress" => "ProgressNotification",
            "notifications/message" => "LoggingMessageNotification",
            "notifications/tools/list_changed" => "ToolListChangedNotification",
            "notifications/prompts/list_changed" => "PromptListChangedNotification",
            "notifications/resources/list_changed" => "ResourceListChangedNotification",
            "notifications/resources/updated" => "ResourceUpdatedNotification",
            "notifications/subscriptions/acknowledged" => "SubscriptionsAcknowledgedNotification",
            other => panic!("{}: an unknown notification: {other}", self.revision),
        };
        self.check(message, name);
    }

    /// Checks what is sent until a request is answered.
    async fn check_until_answer(&self, client: &mut Client, id: i64, result: &str) {
        loop {
            let message = client.hear().await.unwrap_or_else(|| panic!("{}: {result} {id} is missing", self.revision));
            self.check_message(&message, result);
            if message["id"] == json!(id) {
                return;
            }
        }
    }

    async fn check_notifications(&self, client: &mut Client, how_many: usize) {
        for _ in 0..how_many {
            let message = client.hear().await.expect("a notification");
            self.check_message(&message, "none");
        }
    }
}

#[allow(clippy::print_stdout, reason = "who runs the tests must see that these did not run")]
fn all_schemas() -> bool {
    let there = schema_folder().is_some();
    if !there {
        println!("skipped: TOOLSD_SYSTEMS does not lead to the schemas of the protocol");
    }
    there
}

//= docs/spec.md#protocol
//= type=test
//# Every message of the server MUST be valid against the schema of the revision in use.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_fits_the_schema_of_its_handshake() {
    for revision in LEGACY.into_iter().filter(|_| all_schemas()) {
        let schemas = Schemas::read(revision).unwrap();
        let mut client = Client::start(ServerSettings::default());
        let answer = client.initialize(revision).await;
        assert_eq!(answer["result"]["protocolVersion"], revision);
        schemas.check_message(&answer, "InitializeResult");
        let mut all = talk();
        all.push(("ping", json!({}), "EmptyResult"));
        all.push(("logging/setLevel", json!({ "level": "debug" }), "EmptyResult"));
        all.push(("resources/subscribe", json!({ "uri": "fix://note" }), "EmptyResult"));
        for (id, (method, params, result)) in (1..).zip(all) {
            client.request(id, method, params).await;
            schemas.check_until_answer(&mut client, id, result).await;
        }
        client.host.announce(&json!({ "lists": ["tools", "prompts", "resources"] }));
        schemas.check_notifications(&mut client, 3).await;
        client.host.announce(&json!({ "note": "second", "files": ["note.md"] }));
        client.host.announce(&json!({ "log": "loud" }));
        schemas.check_notifications(&mut client, 2).await;
        assert!(client.end().await.is_empty());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_message_fits_the_schema_of_the_stateless_revision() {
    if !all_schemas() {
        return;
    }
    let schemas = Schemas::read("2026-07-28").unwrap();
    let mut client = Client::start(ServerSettings::default());
    let mut all = talk();
    all.insert(0, ("server/discover", json!({}), "DiscoverResult"));
    let modern = |mut params: Json| {
        let mut all = meta();
        all["io.modelcontextprotocol/logLevel"] = json!("debug");
        if let Some(token) = params["_meta"].get("progressToken") {
            all["progressToken"] = token.clone();
        }
        params["_meta"] = all;
        params
    };
    for (id, (method, params, result)) in (1..).zip(all) {
        client.request(id, method, modern(params)).await;
        schemas.check_until_answer(&mut client, id, result).await;
    }
    let filter = json!({
        "toolsListChanged": true, "promptsListChanged": true, "resourcesListChanged": true,
        "resourceSubscriptions": ["fix://note"],
    });
    client.request(99, "subscriptions/listen", modern(json!({ "notifications": filter }))).await;
    schemas.check_notifications(&mut client, 1).await;
    tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    client.host.announce(&json!({ "lists": ["tools", "prompts", "resources"] }));
    schemas.check_notifications(&mut client, 3).await;
    client.host.announce(&json!({ "note": "second", "files": ["note.md"] }));
    schemas.check_notifications(&mut client, 1).await;
    let rest = client.end().await;
    assert_eq!(rest.len(), 1, "{rest:?}");
    schemas.check_message(&rest[0], "SubscriptionsListenResult");
}
