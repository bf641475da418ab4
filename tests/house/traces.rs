//! This repository's own promises: each is cited by what keeps it, and every citation has a target.

use serde_json::Value;
use std::process::Command;

/// Asks a tool of the built binary about this repository. Returns the rows of its answer.
fn ask(tool: &str) -> Vec<Value> {
    let state = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_toolsd"))
        .args(["call", tool, "limit=100000", "--pack", "duvet", "--format", "json"])
        .env("XDG_CONFIG_HOME", state.path())
        .env("XDG_STATE_HOME", state.path())
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer["result"].as_array().unwrap().clone()
}

//= docs/spec.md#traceability
//= type=test
//# Every citation in this repository MUST match a sentence, and every requirement MUST be cited.
#[test]
fn no_citation_leads_nowhere() {
    let reported: Vec<String> = ask("list_invalid_citations")
        .iter()
        .map(|row| format!("{}:{}: {} {}", row["file_path"], row["line_number"], row["error"], row["detail"]))
        .collect();
    assert!(reported.is_empty(), "{}", reported.join("\n"));
}

#[test]
fn nothing_that_must_be_is_uncited() {
    let uncited: Vec<String> = ask("list_uncited_requirements")
        .iter()
        .filter_map(|row| row["text"].as_str())
        .filter(|text| text.contains("MUST"))
        .map(str::to_owned)
        .collect();
    assert!(uncited.is_empty(), "nothing cites these:\n{}", uncited.join("\n"));
}
