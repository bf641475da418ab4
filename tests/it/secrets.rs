//! Values of secret variables leave by no way: `tests/it/secrets.toml` has the ways.

use crate::support::home::{Home, output_in_time};
use crate::support::server::Server;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fs;

/// The variables of the server. What begins with `s3cr3t-core` is never seen.
const VARIABLES: [(&str, &str); 8] = [
    ("SEED_TOKEN", "s3cr3t-core \"é\\ü\"+/?"),
    ("SEED_KEY", "4711081508154711"),
    ("SEED_HOST", "s3cr3t-core.example"),
    ("SEED_KEYBOARD", "a keyboard"),
    ("SEED_PORT", "a port"),
    ("SEED_SHORT_KEY", "short"),
    ("SEED_OTHER", "other"),
    ("SEED_LINES_KEY", "-----BEGIN-----\ns3cr3t-core line 1\ns3cr3t-core line 2"),
];

/// Parts of the values that are seen in each form of them: as is, percent-encoded, in JSON, and in base64, alone or after
/// the name of a user.
const NEVER: [&str; 5] = ["s3cr3t-core", "czNjcjN0LWNvcm", "zM2NyM3QtY29y", "MzY3IzdC1jb3J", "4711081508154711"];

const GRANTS: &str = r#"
[pack]
title = "Leaks"
instructions = "templates/leaks/about.hbs"
context = "introduce"

[pack.grants]
read = ["notes"]
write = ["out"]
env = ["SEED_*", { name = "SEED_HOST", secret = true }, { name = "SEED_KEYBOARD", secret = false }]
run = [{ program = "sh", env = ["SEED_TOKEN", "SEED_SECRET"] }, "cat"]

[graph]
"#;

const SCRIPT: &str = r#"
fn leak() {
    let value = env("SEED_TOKEN");
    let base64 = value.to_base64();
    let logins = ["u:", "ada:"].map(|user| (user + value).to_base64());
    let line = env("SEED_LINES_KEY").split("\n")[2];
    ([value, base64, base64.split("=")[0], value.percent_encode(), to_json(value), line] + logins).join(" ")
}
fn introduce() { #{ text: leak() } }
fn describe() { leak() }
fn read_all(args) { add_notice(leak()); leak() }
fn complete(typed) { [leak()] }
fn build(g, config) { g.scan_files(find_files("notes/*.md"), "scan", env("SEED_HOST")); }
fn scan(f, document, args) { f.add_warning(args); f.add_node("note", "a", #{}); }
"#;

const MORE: &str = r#"
[[tool]]
name = "described"
description = "Is described by a function."
describe = "describe"
text = "x"

[[resource]]
uri = "leaks:///all"
name = "all"
description = "All."
fn = "read_all"

[[prompt]]
name = "ask_all"
description = "Asks for all."
fn = "read_all"
argument = [{ name = "what", description = "What.", complete = "complete" }]
"#;

#[derive(Deserialize)]
struct Outlets {
    outlet: Vec<Outlet>,
}

#[derive(Deserialize)]
struct Outlet {
    name: String,
    #[serde(default = "reads")]
    effect: String,
    body: String,
    #[serde(default = "marker")]
    says: String,
}

fn reads() -> String {
    "reads".to_owned()
}

fn marker() -> String {
    "[secret SEED_TOKEN] [secret SEED_TOKEN] [secret SEED_TOKEN] [secret SEED_TOKEN]".to_owned()
}

fn outlets() -> Vec<Outlet> {
    toml::from_str::<Outlets>(include_str!("secrets.toml")).unwrap().outlet
}

/// A workspace with a tool for each way.
fn leaking() -> Home {
    let (mut pack, mut script) = (format!("{GRANTS}{MORE}"), SCRIPT.to_owned());
    for Outlet { name, effect, body, .. } in outlets() {
        pack += &format!(
            "[[tool]]\nname = \"{name}\"\ndescription = \"Lets a value out by `{name}`.\"\neffect = \"{effect}\"\n"
        );
        script += &format!("fn {name}(args) {{ {body} }}\n");
    }
    Home::with(&[
        ("packs/tools.d/leaks.toml", &pack),
        ("packs/tools.d/leaks.rhai", &script),
        ("packs/templates/leaks/about.hbs", "{{text}}"),
        ("notes/a.md", "a"),
        ("out/a.md", "a"),
    ])
}

const PACK: [&str; 4] = ["--dir", "packs", "--pack", "leaks"];

#[track_caller]
fn assert_hidden(what: &str, text: &str) {
    for never in NEVER {
        assert!(!text.contains(never), "{what} shows `{never}`: {text}");
    }
}

//= docs/spec.md#secrets
//= type=test
//# The value of a secret variable that a script or a program got MUST be replaced by `[secret NAME]` in
//# results, errors, notices, questions, logs, the audit and the output of programs, also in base64,
//# percent-encoded or escaped as in JSON.
//= docs/spec.md#secrets
//= type=test
//# The value of a secret variable MUST be refused in the arguments of a program.
//= docs/spec.md#secrets
//= type=test
//# A variable MUST be secret as the grant with the longest name that marks it has it, and without a mark if
//# its name contains `TOKEN`, `SECRET`, `PASSWORD` or `KEY`.
#[test]
fn no_command_shows_a_secret_value() {
    let home = leaking();
    for Outlet { name, says, effect, .. } in outlets() {
        for words in
            [&["--audit"][..], &["--format", "json", "--log-format", "json", "--audit"], &["--dry-run", "--audit"]]
        {
            let mut command = home.command();
            command.envs(VARIABLES).arg("call").arg(&name).args(PACK).args(words);
            let output = output_in_time(&mut command);
            let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert_hidden(&format!("{name} {words:?}"), &text);
            // JSON has quotation marks escaped, and a dry run starts no program.
            let is_partial = words[0] == "--format" || (words[0] == "--dry-run" && effect == "runs");
            assert!(text.contains(&says) || is_partial, "{name} {words:?}: {text}");
        }
    }
    let listed = home.run(&[&["list", "--grants"], &PACK[..]].concat()).out;
    let expected = r#"environment: "SEED_*", "SEED_HOST" (secret), "SEED_KEYBOARD" (not secret)"#;
    assert!(listed.contains(expected), "{listed}");
    let mut command = home.command();
    let output = output_in_time(command.envs(VARIABLES).arg("doctor").args(PACK));
    let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    assert_hidden("doctor", &text);
    assert!(text.contains("`notes/a.md` is warned of by `leaks`: [secret SEED_HOST]"), "{text}");
}

#[test]
fn no_message_of_a_server_shows_a_secret_value() {
    let mut home = leaking();
    home.level = "trace";
    let mut options = PACK.to_vec();
    options.push("--audit");
    let mut server = Server::start_with(&home, &options, &json!({ "elicitation": {} }), &VARIABLES);
    let begun = server.heard[0]["result"]["instructions"].to_string();
    assert!(begun.contains("[secret SEED_TOKEN]"), "{begun}");
    for Outlet { name, .. } in outlets() {
        let params = json!({ "name": name, "arguments": {}, "_meta": { "progressToken": name } });
        let id = server.tell("tools/call", &params);
        let message = server.wait(|message| message["id"] == json!(id) || message["method"] == "elicitation/create");
        if message["method"].is_string() {
            assert!(message["params"]["message"].as_str().unwrap().contains("[secret SEED_TOKEN]"), "{message}");
            let answer = json!({ "action": "accept", "content": { "color": "red" } });
            server.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
            server.wait(|message| message["id"] == json!(id));
        }
    }
    let status = json!({ "uri": "toolsd://status" });
    for (method, params) in [
        ("tools/list", json!({})),
        ("prompts/get", json!({ "name": "ask_all", "arguments": { "what": "x" } })),
        ("resources/read", json!({ "uri": "leaks:///all" })),
        (
            "completion/complete",
            json!({ "ref": { "type": "ref/prompt", "name": "ask_all" }, "argument": { "name": "what", "value": "" } }),
        ),
        ("resources/read", status),
    ] {
        let answer = server.ask(method, &params).to_string();
        assert!(answer.contains("[secret SEED_"), "{method}: {answer}");
    }
    for message in &server.heard {
        assert_hidden("a message", &message.to_string());
    }
    let heard = |method: &str| server.heard.iter().any(|message| message["method"] == method);
    assert!(heard("notifications/progress") && heard("notifications/message"), "a void test: no notices");
    server.end();
    let log = fs::read_to_string(home.log()).unwrap();
    assert_hidden("the log", &log);
    assert!(log.contains("[secret SEED_TOKEN]"), "{log}");
}

#[test]
fn the_state_that_a_client_keeps_shows_no_secret_value() {
    let home = leaking();
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    let mut modern = Server::start_with(&home, &PACK, &Value::Null, &VARIABLES);
    let asked = modern.ask("tools/call", &json!({ "name": "question", "arguments": {}, "_meta": meta })).to_string();
    assert!(asked.contains("input_required") && asked.contains("[secret SEED_TOKEN]"), "{asked}");
    assert_hidden("the state of a call", &asked);
}
