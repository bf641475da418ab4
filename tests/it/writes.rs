//! What a call writes: all of it or nothing, seen by nobody else before, and nowhere it may not be.

use crate::support::{said, workspace};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

fn pen(workspace: &Path, words: &[&str]) -> Output {
    let packs = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/writes");
    crate::support::toolsd(workspace.parent().unwrap())
        .args(words)
        .args(["--pack", "pen", "--dir", packs, "--format", "json", "--workspace"])
        .arg(workspace)
        .output()
        .unwrap()
}

//= docs/spec.md#writes
//= type=test
//# What is staged MUST reach the disk when the call ends well.
//= docs/spec.md#writes
//= type=test
//# What is staged MUST reach the disk before a program runs.
//= docs/spec.md#writes
//= type=test
//# A call that fails or is cancelled MUST drop what is still staged.
//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover `.git`, `.toolsd` or `toolsd.toml`.
//= docs/spec.md#writes
//= type=test
//# A lock that is not had in time MUST be a fault of kind `locked` that names the holder.
//= docs/spec.md#writes
//= type=test
//# A lock MUST be let go when its function fails and when its process dies.
//= docs/spec.md#questions
//= type=test
//# What the function of `once` wrote MUST reach the disk when it ends well.
//= docs/spec.md#questions
//= type=test
//# A question inside a lock, after a change of the graph, or after a write that reached the disk outside of `once` MUST be refused.
//= docs/spec.md#writes
//= type=test
//# A program MUST end, with all that it started, when its time is over or the call is cancelled.
#[test]
fn the_cases_of_the_pen_hold() {
    let (_home, workspace) = workspace();
    let tested = pen(&workspace, &["test"]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    assert!(said(&tested)["passed"].as_u64() > Some(8));
}

//= docs/spec.md#writes
//= type=test
//# A dry run MUST NOT change a file nor run a program that changes something.
#[test]
fn a_dry_run_tells_what_would_change() {
    let (_home, workspace) = workspace();
    let dry = pen(&workspace, &["call", "put", "path=a.md", "--dry-run", "--audit"]);
    assert_eq!(said(&dry)["changes"], json!([{ "path": "a.md", "change": "created" }]));
    assert!(!workspace.join("a.md").exists());
    let line: Value = serde_json::from_slice(&dry.stderr).unwrap();
    assert_eq!((&line["tool"], &line["ended"]), (&json!("put"), &json!("well")));
    let run = pen(&workspace, &["call", "begin", "program=cat", "--dry-run"]);
    assert!(said(&run).to_string().contains("a dry run ends before `cat"));
    assert!(pen(&workspace, &["call", "put", "path=a.md"]).status.success());
    assert_eq!(std::fs::read_to_string(workspace.join("a.md")).unwrap(), "x");
}
