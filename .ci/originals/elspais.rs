//! The original elspais beside its pack: how it is installed, what both are asked, and what in an answer is no matter.

mod projects;

use crate::programs::{LineProgram, ask_pack, python_environment};
use crate::project::Project;
use crate::{Answer, Original, Outcome};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// The server of the original needs the first major version of the library, and does not say so.
const PACKAGES: [&str; 2] = ["elspais[mcp]==0.51.0", "mcp<2"];
/// Searches of the texts: the query, the field, whether it is a pattern.
const SEARCHES: [(&str, &str, bool); 12] = [
    ("", "all", false),
    ("kettle", "all", false),
    ("TEA", "title", false),
    ("shall", "body", false),
    ("p0000", "id", false),
    ("é", "all", false),
    ("ß", "body", false),
    ("^REQ-[pd]", "id", true),
    ("kettle|saucer", "title", true),
    (r"\bthe\s+pot\b", "body", true),
    ("ing$", "title", true),
    (r"^\*\*Level", "body", true),
];
/// Words that are looked for, and whether all of them have to be there.
const KEYWORDS: [(&[&str], bool); 6] = [
    (&["kettle"], true),
    (&["Kettle", "pour"], true),
    (&["kettle", "saucer"], false),
    (&["the"], true),
    (&["thé"], true),
    (&["nowhere"], false),
];

/// elspais 0.51.0, from the registry of Python.
#[derive(Default)]
pub struct Elspais {
    server: Option<LineProgram>,
}

impl Original for Elspais {
    fn reasons(&self) -> &'static str {
        include_str!("elspais/differs.toml")
    }

    fn install(&mut self, folder: &Path) -> Outcome<()> {
        let python = python_environment(folder, &PACKAGES)?;
        let mut command = Command::new(python);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("ELSPAIS_")) {
            command.env_remove(name);
        }
        self.server = Some(LineProgram::start(command.args(["-c", include_str!("elspais/ask.py")]))?);
        Ok(())
    }

    fn project(&self, seed: u64) -> Project {
        projects::generate(seed)
    }

    fn answers(&mut self, toolsd: &Path, project: &Project, root: &Path) -> Outcome<Vec<Answer>> {
        let calls = calls(project);
        // Joined with nothing a path would end in a slash.
        let folder = if project.folder.is_empty() { root.to_owned() } else { root.join(&project.folder) };
        let server = self.server.as_mut().ok_or("not installed")?;
        server.tell(&json!({ "folder": folder, "calls": calls }))?;
        let there = server.hear()?;
        let here = ask_pack(toolsd, "elspais", &folder, &calls)?;
        if there.get("raised").is_some() {
            let shown = plain(&there, &folder);
            return Ok(vec![Answer { question: "start".to_owned(), here: json!({}), there: shown }]);
        }
        let there = there.as_array().ok_or("the original answers with no list")?;
        let answer = |((call, here), there): ((&(String, Value), &Value), &Value)| {
            // The original wraps the list of a search, and calls the text of a requirement `body_text`.
            let there = if call.0 == "search" { &there["result"] } else { there };
            let (here, mut there) = (once(here), once(there));
            if let Some(body) = there.as_object_mut().and_then(|map| map.shift_remove("body_text")) {
                there["body"] = body;
            }
            let (here, there) = (&here, &there);
            Answer { question: asked(call), here: plain(here, &folder), there: plain(there, &folder) }
        };
        Ok(calls.iter().zip(&here).zip(there).map(answer).collect())
    }
}

/// Every tool that both have and that reads.
fn calls(project: &Project) -> Vec<(String, Value)> {
    let mut calls = Vec::new();
    let mut add = |tool: &str, arguments: Value| calls.push((tool.to_owned(), arguments));
    for tool in [
        "get_graph_status",
        "get_workspace_info",
        "get_project_summary",
        "get_orphaned_nodes",
        "get_broken_references",
        "get_all_keywords",
        "get_uncovered_assertions",
        "get_mutation_log",
    ] {
        add(tool, json!({}));
    }
    for (query, field, regex) in SEARCHES {
        add("search", json!({ "query": query, "field": field, "regex": regex }));
    }
    for (keywords, all) in KEYWORDS {
        for tool in ["find_by_keywords", "find_assertions_by_keywords"] {
            add(tool, json!({ "keywords": keywords, "match_all": all }));
        }
    }
    for id in &project.ids {
        for tool in ["get_requirement", "get_hierarchy", "get_test_coverage", "get_uncovered_assertions"] {
            add(tool, json!({ "req_id": id }));
        }
    }
    calls
}

/// A call as one line; the tool is its first word.
fn asked((tool, arguments): &(String, Value)) -> String {
    let values = arguments.as_object().into_iter().flat_map(serde_json::Map::values);
    values.fold(tool.clone(), |line, value| match value {
        Value::String(text) => format!("{line} {text}"),
        other => format!("{line} {other}"),
    })
}

/// Orphans by their kind say nothing that the list of orphans does not, if they are the same.
fn once(answer: &Value) -> Value {
    let mut answer = answer.clone();
    let (Some(orphans), Some(kinds)) = (answer["orphans"].as_array(), answer["by_kind"].as_object()) else {
        return answer;
    };
    let items_of = |kind: &String| orphans.iter().filter(|one| one["kind"] == *kind).collect::<Vec<_>>();
    let is_same = kinds.iter().all(|(kind, group)| {
        let (items, wanted) = (group["items"].as_array().into_iter().flatten(), items_of(kind));
        group["count"] == wanted.len()
            && items.count() == wanted.len()
            && wanted.iter().all(|one| group["items"].as_array().is_some_and(|items| items.contains(one)))
    });
    if is_same && kinds.values().filter_map(|group| group["count"].as_u64()).sum::<u64>() == orphans.len() as u64 {
        answer["by_kind"] = json!("the orphans by their kind");
    }
    answer
}

/// An answer as it is compared. Paths begin at the served folder: the original writes them whole, the pack from there. A
/// count that is the length of the list beside it is told as that, since the list is compared.
fn plain(value: &Value, folder: &Path) -> Value {
    let whole = folder.to_string_lossy();
    match value {
        Value::String(text) if *text == whole => json!("the folder"),
        Value::String(text) => json!(text.replace(&format!("{whole}/"), "")),
        Value::Array(items) => items.iter().map(|item| plain(item, folder)).collect(),
        Value::Object(fields) => {
            let mut lists = fields.values().filter_map(Value::as_array);
            let length = lists.next().filter(|_| lists.next().is_none()).map(|list| json!(list.len()));
            let field = |(key, item): (&String, &Value)| {
                let is_length = key == "count" && length.as_ref() == Some(item);
                (key.clone(), if is_length { json!("the length of the list") } else { plain(item, folder) })
            };
            Value::Object(fields.iter().map(field).collect())
        }
        other => other.clone(),
    }
}
