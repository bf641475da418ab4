//! Large files whose characters are not all ASCII: each tool that reads answers as for the same files in ASCII.

use crate::support::{Server, copy, systems};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Tools and their arguments.
type Calls = &'static [(&'static str, &'static str)];

/// Packs, each with a real project, and calls with arguments.
const PROJECTS: [(&str, &str, Calls); 5] = [
    ("duvet", "duvet/corpus", &[]),
    (
        "elspais",
        "elspais/corpus/mini",
        &[
            ("mutate_update_title", r#"{"node_id": "REQ-p00001", "new_title": "A Title"}"#),
            ("save_mutations", r#"{"save_branch": false}"#),
        ],
    ),
    ("skills", "skills/corpus/proj", &[("skill", r#"{"name": "bar"}"#)]),
    (
        "spec-kitty",
        "spec-kitty/corpus/s3-tasked",
        &[
            (
                "task_operations",
                r#"{"operation": "list_tasks", "project_path": "ROOT", "feature_slug": "001-export-todos"}"#,
            ),
            ("workspace_operations", r#"{"operation": "list_worktrees", "project_path": "ROOT"}"#),
            ("system_operations", r#"{"operation": "validate_project", "project_path": "ROOT"}"#),
        ],
    ),
    ("specman", "specman/fixtures/mini", &[]),
];
/// What is added to each file of an extension: a line, and the number of times. `{}` is the character in question, which
/// the first line alone has.
const PADDING: [(&str, &str, usize); 5] = [
    ("md", "A kettle {} a pot and a cup.\n", 8_000),
    ("py", "# A kettle {} a pot and a cup.\n", 8_000),
    ("rs", "// A kettle {} a pot and a cup.\n", 8_000),
    ("c", "// A kettle {} a pot and a cup.\n", 8_000),
    ("sql", "-- A kettle {} a pot and a cup.\n", 8_000),
];
/// Fields that differ from call to call, or with every byte of a file.
const VOLATILE: &str = r#""(since|id|timestamp|last_refresh|uptime_s|duration_ms|hash|size|bytes|generated_at|checked_at)":("[^"]*"|[0-9]+)|[0-9a-f]{8,64}"#;

/// A copy of a project with padded files.
fn padded(project: &str, dash: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    copy(&systems(project), &root);
    pad(&root, dash);
    (folder, root)
}

fn pad(folder: &Path, dash: &str) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let extension = path.extension().unwrap_or_default();
        if path.is_dir() {
            pad(&path, dash);
        } else if let Some((_, line, count)) = PADDING.iter().find(|(known, ..)| extension == *known) {
            let mut bytes = fs::read(&path).unwrap();
            bytes.extend(format!("\n{}{}", line.replace("{}", dash), line.replace("{}", "-").repeat(*count)).bytes());
            fs::write(path, bytes).unwrap();
        }
    }
}

/// What each tool says that reads and needs no argument, then these calls.
fn answers(pack: &str, root: &Path, calls: &[(&str, &str)]) -> Vec<(String, String)> {
    let mut server = Server::start(root, pack);
    let listed = server.request("tools/list", json!({}))["result"]["tools"].clone();
    let reads = listed.as_array().unwrap().iter().filter(|tool| {
        let needs = tool["inputSchema"]["required"].as_array().map_or(0, Vec::len);
        needs == 0 && tool["annotations"]["readOnlyHint"] == true
    });
    let mut all: Vec<(&str, Value)> = reads.map(|tool| (tool["name"].as_str().unwrap(), json!({}))).collect();
    let arguments = |text: &str| serde_json::from_str(&text.replace("ROOT", root.to_str().unwrap())).unwrap();
    all.extend(calls.iter().map(|(name, text)| (*name, arguments(text))));
    let said = all.into_iter().map(|(name, arguments)| {
        let mut result = server.request("tools/call", json!({ "name": name, "arguments": arguments }))["result"].take();
        assert!(result.is_object() && (arguments == json!({}) || result["isError"] != true), "{name}: {result}");
        // A structured result has in it all that its text says.
        let key = if result["structuredContent"].is_null() { "content" } else { "structuredContent" };
        (name.to_owned(), result[key].take().to_string())
    });
    said.collect()
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn each_pack_answers_as_for_small_ascii_files() {
    let volatile = regex::Regex::new(VOLATILE).unwrap();
    let mut compared = 0;
    for (pack, project, calls) in PROJECTS {
        let plain = |(name, text): (String, String), root: &Path, dash: &str| {
            let text = text.replace(&*root.to_string_lossy(), "ROOT").replace(dash, "-");
            (name, volatile.replace_all(&text, "…").into_owned())
        };
        let [ascii, other] = ["-", "–"].map(|dash| {
            let (_folder, root) = padded(project, dash);
            answers(pack, &root, calls).into_iter().map(|answer| plain(answer, &root, dash)).collect::<Vec<_>>()
        });
        for ((name, ascii), (_, other)) in ascii.iter().zip(&other) {
            let at = ascii.bytes().zip(other.bytes()).position(|(ascii, other)| ascii != other);
            let near = |text: &str| {
                let at = at.unwrap_or(0);
                text[text.floor_char_boundary(at.saturating_sub(80))..].chars().take(300).collect::<String>()
            };
            assert!(ascii == other, "{pack}: {name}:\n{}\n{}", near(ascii), near(other));
        }
        assert!(!ascii.is_empty(), "{pack}");
        compared += ascii.len();
    }
    assert!(compared >= 25, "{compared}");
}
