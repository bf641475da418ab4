//! What packs remember between calls, and what scripts may know of the server.

use crate::support::home::Home;
use crate::support::http;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/memory");

fn toolsd(home: &Path, words: &[&str]) -> Command {
    let mut command = crate::support::toolsd(home);
    command.args(words).args(["--pack", "notes", "--pack", "spy", "--dir", PACKS, "--workspace"]).arg(home);
    command
}

#[test]
fn the_cases_hold() {
    let home = tempfile::tempdir().unwrap();
    let tested = toolsd(home.path(), &["test", "--format", "json"]).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
}

//= docs/spec.md#memory
//= type=test
//# The memory of a pack MUST NOT be visible to another pack or to the build of a graph.
#[test]
fn a_pack_remembers_between_calls_for_itself() {
    let home = tempfile::tempdir().unwrap();
    let mut server = crate::support::Server::of(toolsd(home.path(), &["serve"]), tempfile::tempdir().unwrap());
    server.well("keep_note", json!({ "key": "a", "value": [1, { "b": "c" }] }));
    assert_eq!(server.well("list_notes", json!({})), json!({ "a": [1, { "b": "c" }] }));
    assert_eq!(server.well("list_others", json!({})), json!({}));
    let (reported, _) = server.call("read_graph", json!({}));
    assert!(reported.to_string().contains("nothing is remembered here"), "{reported}");
    server.well("keep_note", json!({ "key": "a" }));
    assert_eq!(server.well("list_notes", json!({})), json!({}));
    let shown = server.well("show_server", json!({}));
    assert_eq!((&shown["server"]["transport"], &shown["server"]["port"]), (&json!("stdio"), &Value::Null));
}

//= docs/spec.md#secrets
//= type=test
//# Scripts and the programs that they start MUST NOT see a secret of the server.
#[test]
fn scripts_know_that_there_is_a_token_and_not_which() {
    let home = Home::with(&[]);
    let variables = [
        ("TOOLSD_HTTP_TOKEN", "a-long-secret-token"),
        ("TOOLSD_STATE_KEY", "a-secret-key-of-thirty-two-bytes-or-more"),
        ("TOOLSD_OTHER", "seen"),
    ];
    let server = http::Server::start(&home, &["--pack", "notes", "--pack", "spy", "--dir", PACKS], &variables);
    let params = json!({ "name": "show_server", "arguments": {} });
    let reply = server.ask_with("tools/call", params, &[("Authorization", "Bearer a-long-secret-token")]);
    let (answer, address) = (&reply.body, format!(r#"\"address\":\"{}\""#, server.address));
    for part in [
        r#"\"TOOLSD_OTHER\":\"seen\""#,
        r#"\"has_token\":true"#,
        r#"\"token\":\"***\""#,
        r#"\"transport\":\"http\""#,
        &address,
    ] {
        assert!(answer.contains(part), "{part}: {answer}");
    }
    assert!(reply.status == 200 && !answer.contains("a-secret"), "{answer}");
}
