//! Side by side with the command line itself, where `TOOLSD_SPEC_KITTY` names it: the same steps, the same bytes.

use super::play::{self, git};
use super::tables;
use crate::support::Server;
use regex::Regex;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A step of both: the words of the command line, tool and arguments here.
type Step = (&'static [&'static str], &'static str, Value);

const SLUG: &str = "001-export-todos";

fn steps() -> Vec<Step> {
    let forced = json!({ "agent": "claude", "assignee": "Ann", "shell_pid": "77", "force": true });
    let moved = &[
        "tasks",
        "move-task",
        "WP01",
        "--to",
        "doing",
        "--agent",
        "claude",
        "--assignee",
        "Ann",
        "--shell-pid",
        "77",
        "--force",
    ];
    vec![
        (
            &["tasks", "add-history", "WP01", "--note", "Two  blanks"],
            "task_operations",
            json!({ "operation": "add_history", "task_id": "WP01", "note": "Two  blanks" }),
        ),
        (
            moved,
            "task_operations",
            json!({ "operation": "move_task", "task_id": "WP01", "lane": "doing", "arguments": forced }),
        ),
        (
            &["tasks", "move-task", "WP01", "--to", "done", "--note", "ok", "--force"],
            "task_operations",
            json!({ "operation": "move_task", "task_id": "WP01", "lane": "done", "note": "ok", "arguments": { "force": true } }),
        ),
        (
            &["tasks", "move-task", "WP01", "--to", "done", "--force"],
            "task_operations",
            json!({ "operation": "move_task", "task_id": "WP01", "lane": "done", "arguments": { "force": true } }),
        ),
        (
            &["workflow", "review", "WP01", "--agent", "codex"],
            "feature_operations",
            json!({ "operation": "review", "arguments": { "work_package_id": "WP01", "agent": "codex" } }),
        ),
    ]
}

/// The files of the features, times and process ids masked.
fn files(root: &Path) -> BTreeMap<String, String> {
    let time = Regex::new(r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)").unwrap();
    let pid = Regex::new(r#"shell_pid(=|: ")\d+"#).unwrap();
    let listed = git(root, &["ls-files", "kitty-specs"]);
    let text = |path: &str| {
        let text = fs::read_to_string(root.join(path)).unwrap();
        pid.replace_all(&time.replace_all(&text, "TIME"), "shell_pid${1}PID").into_owned()
    };
    listed.lines().map(|path| (path.to_owned(), text(path))).collect()
}

/// Feedback that comes with a move, in a file for the command line.
fn feedback(text: &str) -> Step {
    (
        &["tasks", "move-task", "WP01", "--to", "planned", "--review-feedback-file", "../feedback.md"],
        "task_operations",
        json!({ "operation": "move_task", "task_id": "WP01", "lane": "planned", "arguments": { "review_feedback": text } }),
    )
}

fn changed(root: &Path, variant: &toml::Table, data: &Path) {
    let base = data.join("golden/files/before-finalize/WP01-row-model-and-reader.md");
    let mut text = fs::read_to_string(base).unwrap();
    for pair in variant.get("replace").and_then(toml::Value::as_array).into_iter().flatten() {
        let regex = Regex::new(pair[0].as_str().unwrap()).unwrap();
        text = regex.replace_all(&text, pair[1].as_str().unwrap()).into_owned();
    }
    fs::write(root.join("kitty-specs").join(SLUG).join("tasks/WP01-row-model-and-reader.md"), text).unwrap();
    git(root, &["commit", "-q", "-am", "Another shape"]);
}

/// One after the other on two copies. Returns the remaining differences.
fn differences(program: &str, variant: &toml::Table, data: &Path, steps: &[Step]) -> Vec<String> {
    let (_one, theirs) = play::project("s3-tasked", true);
    let (_other, ours) = play::project("s3-tasked", true);
    [&theirs, &ours].into_iter().for_each(|root| changed(root, variant, data));
    if let Some(text) = variant.get("feedback") {
        fs::write(theirs.parent().unwrap().join("feedback.md"), text.as_str().unwrap()).unwrap();
    }
    let mut server = Server::start(ours.parent().unwrap(), "spec-kitty");
    let mut found = Vec::new();
    for (words, tool, arguments) in steps {
        let more: &[&str] = match words[0] {
            "tasks" => &["--feature", SLUG, "--json"],
            "workflow" => &["--feature", SLUG],
            _ => &["--json"],
        };
        let ran = Command::new(program).arg("agent").args(*words).args(more).current_dir(&theirs).output().unwrap();
        let mut arguments = arguments.clone();
        arguments["project_path"] = json!(ours);
        arguments["feature_slug"] = json!(SLUG);
        let result = server.well(tool, arguments);
        if ran.status.success() != (result["success"] == true) {
            found.push(format!("{words:?}: {} here {result}", String::from_utf8_lossy(&ran.stdout)));
        }
        let (theirs, ours) = (files(&theirs), files(&ours));
        for (path, text) in &theirs {
            if ours.get(path) != Some(text) {
                found.push(format!(
                    "{words:?}: {path}: {text}\n--- here\n{}",
                    ours.get(path).map_or("", String::as_str)
                ));
            }
        }
    }
    found
}

#[test]
#[ignore = "the original command line: TOOLSD_SPEC_KITTY names it"]
fn the_command_line_makes_the_same_of_other_files() {
    let (data, program) =
        (play::data(), std::env::var("TOOLSD_SPEC_KITTY").expect("TOOLSD_SPEC_KITTY names the original"));
    let table: toml::Table = include_str!("parity.toml").parse().unwrap();
    let finalize: Step = (&["feature", "finalize-tasks"], "feature_operations", json!({ "operation": "tasks" }));
    let mut wrong = Vec::new();
    for variant in tables(&table, "variant") {
        let mut found = Vec::new();
        if let Some(text) = variant.get("feedback") {
            found.extend(differences(&program, &variant, &data, &[feedback(text.as_str().unwrap())]));
        } else {
            found.extend(differences(&program, &variant, &data, &steps()));
            found.extend(differences(&program, &variant, &data, std::slice::from_ref(&finalize)));
        }
        if found.is_empty() == variant.contains_key("differs") {
            wrong.push(format!("{}: {}", variant["name"].as_str().unwrap(), found.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
