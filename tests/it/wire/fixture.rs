//! A registry made by hand, and a service that answers for it: one of everything that the protocol carries.

use serde_json::json;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use toolsd::call::{Answer, Caller, ChangeFeed, HostChange, Request, RequestHandler, ResourceAnswer, ToolOutcome};
use toolsd::content::{Content, ContentBody, ResourceBody};
use toolsd::definition::*;
use toolsd::diagnostic::{Code, Diagnostic};
use toolsd::primitive_api::{Effect, LogLevel, Notice};
use toolsd::registry::{CallContract, Pack, Registry, ServedPrompt, ServedResource, ServedTool};
use toolsd::source::Source;
use toolsd::value::Json;

/// The service.
pub struct Fixture {
    registry: Arc<Registry>,
    changes: ChangeFeed,
    /// The text of `fix://note`.
    pub note: Mutex<String>,
    /// How many calls without an end have begun.
    pub spins: AtomicUsize,
}

fn at<T>(value: T) -> Located<T> {
    Located { value, at: Source::new("fixture.toml", "").place(0..0) }
}

fn schema(json: Json) -> Schema {
    Schema { json: json.into(), places: HashMap::new() }
}

fn icon() -> Vec<Json> {
    vec![json!({ "src": "data:image/svg+xml;base64,AA==", "mimeType": "image/svg+xml", "sizes": ["any"] })]
}

fn pack() -> Arc<Pack> {
    Arc::new(Pack {
        name: "fix".to_owned(),
        definition: PackDefinition {
            title: at("Fixture".to_owned()),
            version: "1.0.0".to_owned(),
            activate_if_exists: None,
            root: Vec::new(),
            instructions: None,
            context: None,
            grants: Grants::default(),
            run_at: Vec::new(),
            config: None,
            limits: LimitsOverride::default(),
            prompt_tool: None,
            on_error: None,
            icons: Vec::new(),
        },
        instructions: Some("Call `echo` first.".to_owned()),
        skills: Vec::new(),
        skill_lists: Vec::new(),
        compiled: toolsd::registry::CompiledPack::default(),
    })
}

fn tool(pack: &Arc<Pack>, name: &str, effect: Effect, output: Option<Json>) -> Arc<ServedTool> {
    let input = json!({
        "type": "object",
        "properties": { "text": { "type": "string", "description": "What to say" } },
        "additionalProperties": false,
    });
    Arc::new(ServedTool {
        pack: Arc::clone(pack),
        name: name.to_owned(),
        pattern: None,
        definition: Tool {
            at: Source::new("fixture.toml", "").place(0..0),
            name: at(name.to_owned()),
            title: Some(format!("Tool {name}")),
            description: at(format!("The tool {name}")),
            describe: None,
            is_hidden: false,
            enabled: Configurable::Fixed(true),
            effect: at(effect),
            input: schema(input.clone()),
            output: output.clone().map(schema),
            body: at(Body::Text(String::new())),
            dispatch: None,
            bind: json!({}),
            on_error: None,
            questions: Arc::from([]),
            required_capabilities: Vec::new(),
            task_policy: TaskPolicy::default(),
            hints: ToolHints::default(),
            icons: icon(),
            meta: Some(json!({ "example.org/kind": "fixture" })),
            limits: LimitsOverride::default(),
            lifecycle: Lifecycle::default(),
            discovery: Discovery::default(),
        },
        contract: CallContract {
            schema: schema_object(input).unwrap().into(),
            output: output.map(|output| schema_object(output).unwrap().into()),
            ..CallContract::default()
        },
    })
}

fn resource(pack: &Arc<Pack>) -> Arc<ServedResource> {
    Arc::new(ServedResource {
        pack: Arc::clone(pack),
        name: "item".to_owned(),
        pattern: None,
        definition: Resource {
            at: Source::new("fixture.toml", "").place(0..0),
            name: at("item".to_owned()),
            title: Some("An item".to_owned()),
            description: Some("One item by its number".to_owned()),
            uri: at("fix://item/{id}".to_owned()),
            is_template: true,
            variables: None,
            aliases: Vec::new(),
            body: at(Body::Text(String::new())),
            list: None,
            complete: Vec::new(),
            script: String::new(),
            questions: Arc::from([]),
            required_capabilities: Vec::new(),
            mime_type: Some("text/plain".to_owned()),
            subscribe: true,
            ttl_ms: None,
            cache_scope: None,
            bind: json!({}),
            icons: icon(),
            annotations: Some(json!({ "audience": ["user"], "priority": 0.8, "lastModified": "2026-01-01T00:00:00Z" })),
            meta: None,
        },
        contract: CallContract::default(),
    })
}

fn prompt(pack: &Arc<Pack>) -> Arc<ServedPrompt> {
    let argument = PromptArgument {
        name: at("who".to_owned()),
        title: Some("Who".to_owned()),
        description: Some("Whom to greet".to_owned()),
        required: true,
        schema: None,
        complete: None,
    };
    Arc::new(ServedPrompt {
        pack: Arc::clone(pack),
        name: "greet".to_owned(),
        pattern: None,
        definition: Prompt {
            at: Source::new("fixture.toml", "").place(0..0),
            name: at("greet".to_owned()),
            title: Some("Greet a person".to_owned()),
            description: Some("Greets".to_owned()),
            enabled: Configurable::Fixed(true),
            list: None,
            arguments: vec![argument],
            messages: Vec::new(),
            context: None,
            script: String::new(),
            questions: Arc::from([]),
            required_capabilities: Vec::new(),
            bind: json!({}),
            icons: icon(),
            meta: None,
            lifecycle: Lifecycle::default(),
        },
        contract: CallContract::default(),
    })
}

impl Fixture {
    /// One of everything.
    pub fn new() -> Arc<Self> {
        let pack = pack();
        let list = json!({ "type": "array", "items": { "type": "integer" } });
        let object = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
        let tools = vec![
            tool(&pack, "echo", Effect::Pure, Some(object)),
            tool(&pack, "list", Effect::Reads, Some(list)),
            tool(&pack, "media", Effect::Reads, None),
            tool(&pack, "fail", Effect::Writes, None),
            tool(&pack, "reject", Effect::Runs, None),
            tool(&pack, "talk", Effect::Reads, None),
            tool(&pack, "spin", Effect::Reads, None),
        ];
        let registry = Registry {
            generation: 1,
            tools,
            resources: vec![resource(&pack)],
            prompts: vec![prompt(&pack)],
            packs: vec![pack],
            ..Registry::default()
        };
        let note = Mutex::new("first".to_owned());
        Arc::new(Self {
            registry: Arc::new(registry),
            changes: ChangeFeed::default(),
            note,
            spins: AtomicUsize::new(0),
        })
    }

    /// Announces what a transcript requests: `lists`, `files` (with a new `note`), `resource` or `log`.
    pub fn announce(&self, what: &Json) {
        if let Some(note) = what["note"].as_str() {
            *self.note.lock().unwrap() = note.to_owned();
        }
        let texts = |key: &str| -> Vec<String> { serde_json::from_value(what[key].clone()).unwrap_or_default() };
        let lists = texts("lists");
        let has = |name: &str| lists.iter().any(|list| list == name);
        self.changes.announce(&match what {
            what if what["log"].is_string() => HostChange::Log { level: LogLevel::Warning, data: what["log"].clone() },
            what if what["resource"].is_string() => {
                HostChange::Resource { uri: what["resource"].as_str().unwrap().to_owned() }
            }
            what if what["files"].is_array() => HostChange::Files(texts("files")),
            _ => HostChange::Lists { tools: has("tools"), prompts: has("prompts"), resources: has("resources") },
        });
    }

    fn answer(&self, request: &Request, caller: &Caller) -> Answer {
        match request {
            Request::Call { tool, arguments } => call(tool, arguments, caller),
            Request::Prepare { .. } => Answer::Ready(Box::default()),
            Request::Read { uri } => self.read(uri),
            Request::Prompt { arguments, .. } => Answer::Messages {
                description: Some("A greeting".to_owned()),
                messages: vec![
                    ("user".to_owned(), Content::text(format!("Hello {}", arguments["who"].as_str().unwrap_or("you")))),
                    ("assistant".to_owned(), Content::new(embedded())),
                ],
            },
            Request::Complete { value, .. } => {
                let all = (0..250).map(|number| format!("{value}{number}")).collect::<Vec<_>>();
                Answer::Completion { total: all.len(), values: all[..100].to_vec() }
            }
            Request::ListSkills => Answer::Skills(Arc::clone(&self.registry.skills)),
            Request::FindTools { .. } | Request::Script(_) => panic!("its settings switch neither on"),
            Request::ListResources => {
                let item =
                    |number: usize| json!({ "uri": format!("fix://many/{number:03}"), "name": format!("{number}") });
                let note = json!({
                    "uri": "fix://note", "name": "note", "title": "A note", "size": 5, "mimeType": "text/plain",
                    "icons": icon(), "annotations": { "priority": 0.5, "lastModified": "2026-01-01T00:00:00Z" },
                });
                Answer::Resources(Arc::new(std::iter::once(note).chain((0..120).map(item)).collect()))
            }
        }
    }

    fn read(&self, uri: &str) -> Answer {
        let note = self.note.lock().unwrap().clone();
        let parts = match uri {
            "fix://note" => vec![(uri.to_owned(), Some("text/plain".to_owned()), ResourceBody::Text(note))],
            "fix://item/7" => vec![(uri.to_owned(), None, ResourceBody::Blob("AA==".to_owned()))],
            "toolsd://status" => vec![(uri.to_owned(), None, ResourceBody::Text("all is well".to_owned()))],
            _ => return Answer::Error(Diagnostic::new(Code::NOT_FOUND, format!("no resource `{uri}`"))),
        };
        let touched = vec![["note.md".to_owned()].into()];
        Answer::Contents(ResourceAnswer {
            parts,
            ttl_ms: Some(1000),
            cache_scope: Some("public".to_owned()),
            touched,
            ..ResourceAnswer::default()
        })
    }
}

fn embedded() -> ContentBody {
    ContentBody::Resource {
        uri: "fix://note".to_owned(),
        mime_type: Some("text/plain".to_owned()),
        body: ResourceBody::Text("first".to_owned()),
    }
}

fn call(tool: &str, arguments: &Json, caller: &Caller) -> Answer {
    let data = |structured: Json| Answer::Tool(ToolOutcome { structured: Some(structured), ..ToolOutcome::default() });
    match tool {
        "echo" => data(json!({ "text": arguments["text"] })),
        "list" => data(json!([1, 2])),
        "fail" => Answer::Tool(ToolOutcome {
            content: vec![Content::text("{\"error\":\"no\"}")],
            structured: Some(json!({ "error": "no" })),
            failed: true,
            ..ToolOutcome::default()
        }),
        "reject" => {
            Answer::Error(Diagnostic::new(Code::PROTOCOL_ERROR, "never").data(json!({ "code": 7, "data": { "a": 1 } })))
        }
        "media" => {
            let mime_type = || "image/png".to_owned();
            let link = json!({ "uri": "fix://note", "name": "note", "title": "A note", "icons": icon() });
            let annotations = Some(json!({ "audience": ["assistant"], "lastModified": "2026-01-01T00:00:00Z" }));
            let content = vec![
                Content { annotations, meta: Some(json!({ "a": 1 })), ..Content::text("words") },
                Content::new(ContentBody::Image { data: "AA==".to_owned(), mime_type: mime_type() }),
                Content::new(ContentBody::Audio { data: "AA==".to_owned(), mime_type: "audio/wav".to_owned() }),
                Content::new(embedded()),
                Content::new(ContentBody::Link(link)),
            ];
            Answer::Tool(ToolOutcome { content, ..ToolOutcome::default() })
        }
        "talk" => {
            for done in [0.0, 50.0, 50.0, 100.0] {
                let message = Some(format!("{done}"));
                (caller.notices)(Notice::Progress { done, total: Some(100.0), message });
            }
            (caller.notices)(Notice::Log { level: LogLevel::Debug, data: json!("quiet") });
            (caller.notices)(Notice::Log { level: LogLevel::Error, data: json!({ "loud": true }) });
            Answer::Tool(ToolOutcome { content: vec![Content::text("said")], ..ToolOutcome::default() })
        }
        _ => {
            while !caller.cancel.is_cancelled() {
                std::thread::sleep(Duration::from_millis(1));
            }
            Answer::Error(Diagnostic::new(Code::CANCELLED, "cancelled"))
        }
    }
}

impl RequestHandler for Fixture {
    fn registry(&self) -> Arc<Registry> {
        Arc::clone(&self.registry)
    }

    fn changes(&self) -> &ChangeFeed {
        &self.changes
    }

    fn submit(self: Arc<Self>, request: Request, caller: Caller, done: Box<dyn FnOnce(Answer) + Send>) {
        let endless = matches!(&request, Request::Call { tool, .. } if tool == "spin");
        if endless {
            self.spins.fetch_add(1, Ordering::AcqRel);
            std::thread::spawn(move || done(self.answer(&request, &caller)));
        } else {
            done(self.answer(&request, &caller));
        }
    }
}
