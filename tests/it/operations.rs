//! Tools of many operations: one schema for clients, and for each operation its own arguments and effect.

use crate::support::said;
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

fn shelf(workspace: &Path, words: &[&str]) -> Output {
    let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/operations");
    crate::support::toolsd(workspace)
        .args(words)
        .args(["--pack", "shelf", "--dir", packs, "--format", "json", "--workspace"])
        .arg(workspace)
        .output()
        .unwrap()
}

//= docs/spec.md#operations
//= type=test
//# The arguments of an operation MUST be validated against its own schema, with all violations reported at
//# once.
#[test]
fn the_cases_of_the_shelf_hold() {
    let workspace = tempfile::tempdir().unwrap();
    let tested = shelf(workspace.path(), &["test"]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    assert_eq!(said(&tested)["passed"], 7);
}

//= docs/spec.md#operations
//= type=test
//# The effect of each operation MUST be verified by `check` and enforced at run time.
#[test]
fn the_pack_is_sound_and_each_operation_is_proved() {
    let workspace = tempfile::tempdir().unwrap();
    let checked = shelf(workspace.path(), &["check"]);
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
    let folder = tempfile::tempdir().unwrap();
    let packs = folder.path().join("tools.d");
    std::fs::create_dir(&packs).unwrap();
    let from = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/operations/tools.d"));
    let text = std::fs::read_to_string(from.join("shelf.toml")).unwrap();
    // One of two writing operations says that it reads: that one is reported, at its location.
    let wrong = text.replace(
        "description = \"Removes one note of the shelf.\"\neffect = \"writes\"",
        "description = \"Removes one note of the shelf.\"\neffect = \"reads\"",
    );
    assert_ne!(wrong, text);
    std::fs::write(packs.join("shelf.toml"), &wrong).unwrap();
    std::fs::copy(from.join("shelf.rhai"), packs.join("shelf.rhai")).unwrap();
    let checked = crate::support::toolsd(workspace.path())
        .args(["check", "--pack", "shelf", "--format", "json", "--dir"])
        .arg(folder.path())
        .output()
        .unwrap();
    let errors = said(&checked);
    let errors: Vec<&Value> = errors.as_array().unwrap().iter().filter(|error| error["code"] == "effect").collect();
    let line = wrong.lines().position(|line| line == "description = \"Removes one note of the shelf.\"").unwrap() + 2;
    assert_eq!(errors.len(), 1, "{errors:?}");
    assert!(errors[0].to_string().contains("`remove_note` writes files"), "{errors:?}");
    assert!(errors[0].to_string().contains(&format!("\"line\":{line}")), "{errors:?}");
}

#[test]
fn a_reading_operation_cannot_write_whatever_others_may() {
    let workspace = tempfile::tempdir().unwrap();
    let file = workspace.path().join("a.md");
    std::fs::write(&file, "one\n").unwrap();
    let arguments = r#"{"operation": "replay", "shelf": "a.md", "function": "write_text"}"#;
    let called = shelf(workspace.path(), &["call", "note_operations", arguments]);
    assert_eq!(called.status.code(), Some(1));
    assert!(said(&called).to_string().contains("`a.md` may not be written"), "{}", said(&called));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n");
    let called = shelf(
        workspace.path(),
        &["call", "note_operations", "operation=add_note", "shelf=a.md", "note=two", "--audit"],
    );
    assert_eq!(said(&called), "* two");
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "one\n* two\n");
    let line = String::from_utf8_lossy(&called.stderr).into_owned();
    assert!(line.contains("\"operation\":\"add_note\"") && line.contains("\"effect\":\"writes\""), "{line}");
}

//= docs/spec.md#operations
//= type=test
//# The published schema of a tool MUST be one object, without alternatives, with the arguments of all its operations,
//# and its description MUST list these, with what each of them does and requires.
#[test]
fn clients_see_one_flat_schema_and_a_list() {
    let workspace = tempfile::tempdir().unwrap();
    let listed = said(&shelf(workspace.path(), &["list"]));
    let tool = &listed["tools"][0];
    assert_eq!(tool["effect"], "writes");
    assert_eq!(
        tool["operations"][1],
        json!({
            "name": "add_note", "effect": "writes", "description": "Adds a line at the end, or says what it would add.",
        })
    );
    let lines: Vec<&str> = tool["description"].as_str().unwrap().lines().collect();
    assert_eq!(
        lines[2..],
        [
            "`operation` is one of:",
            "- `list_notes`: All notes of the shelf, or one of them.",
            "- `add_note` with `note`, optionally `preview`: Adds a line at the end, or says what it would add.",
            "- `remove_note` with `line`: Removes one note of the shelf.",
            "- `replay` with `function`: Calls any function on the shelf: what its effect allows is all it can do.",
        ]
    );
    let schema = published(workspace.path());
    let keys: Vec<&String> = schema.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["type", "required", "properties", "if", "then", "else", "additionalProperties", "$defs"]);
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names, ["operation", "shelf", "line", "note", "preview", "function"]);
    assert_eq!(schema["required"], json!(["operation", "shelf"]));
    assert_eq!(schema["properties"]["operation"]["enum"], json!(["list_notes", "add_note", "remove_note", "replay"]));
    assert_eq!(schema["then"], json!({ "required": ["note"] }));
    assert_eq!(schema["else"]["if"]["properties"]["operation"], json!({ "const": "remove_note" }));
    assert_eq!(schema["else"]["else"]["then"], json!({ "required": ["function"] }));
}

/// The schema as a client of the protocol gets it.
fn published(workspace: &Path) -> Value {
    let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/operations");
    let mut server = crate::support::Server::start_with(workspace, "shelf", &["--dir", packs]);
    server.request("tools/list", json!({}))["result"]["tools"][0]["inputSchema"].clone()
}
