//! What a call writes: all of it or nothing, invisible to others before, and only where it is allowed.

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
//# What a call writes MUST be staged until the call succeeds, and MUST be discarded when it fails or is
//# cancelled.
//= docs/spec.md#writes
//= type=test
//# Staged writes MUST reach the disk before a program runs.
//= docs/spec.md#writes
//= type=test
//# A grant to write MUST NOT cover `.git`, `.toolsd`, `toolsd.toml` or the folders of the user's packs, trust
//# and state.
//= docs/spec.md#writes
//= type=test
//# A lock that cannot be acquired in time MUST be an error of kind `locked` that names the holder.
//= docs/spec.md#writes
//= type=test
//# A lock MUST be released when its function fails and when its process dies, and the dead holder MUST be
//# reported.
//= docs/spec.md#writes
//= type=test
//# Writes inside `once` or `with_lock` MUST reach the disk when the function succeeds, before the lock is
//# released.
//= docs/spec.md#questions
//= type=test
//# A question MUST be refused inside a lock, after a change of the graph, or after a write that reached the
//# disk outside of `once`.
//= docs/spec.md#programs
//= type=test
//# A program MUST end, with everything that it started, when its call ends, is cancelled or runs out of time.
#[test]
fn the_cases_of_the_pen_hold() {
    let (_home, workspace) = workspace();
    let tested = pen(&workspace, &["test"]);
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    assert!(said(&tested)["passed"].as_u64() > Some(8));
}

//= docs/spec.md#writes
//= type=test
//# A dry run MUST NOT change a file or run a program that changes something.
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
