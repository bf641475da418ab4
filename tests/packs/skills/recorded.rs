//! The recorded sessions of the original, replayed: what differs is in `differs.toml`, with a reason.

use super::corpus::Corpus;
use crate::support::systems;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use toml::Table;

/// The sessions, and how the corpus is laid out for each.
const SESSIONS: &[(&str, &str)] = &[
    ("main", ""),
    ("pluginsv2", "plugins of shape 2"),
    ("pluginsbad", "plugins that are not JSON"),
    ("pluginsmissing", "no plugins"),
    ("skilldir", "extra"),
    ("empty", "empty"),
    ("noplugins", "plugins switched off"),
    ("refresh", "a clock"),
];

/// What was done before these requests of the session `refresh`: its answers show what the file contained, and the
/// steps that are recorded with it show when it was read again.
const EDITS: &[(u64, Edit)] = &[
    (3, |corpus, looks| {
        corpus.looked_again(looks);
        corpus.skill("late", "first", "ONE");
    }),
    (4, |corpus, looks| corpus.looked_again(looks)),
    (6, |corpus, _| corpus.skill("late", "second", "TWO")),
    (8, |corpus, looks| corpus.looked_again(looks)),
    (9, |corpus, _| fs::remove_dir_all(corpus.at("{HOME}/.claude/skills/late")).unwrap()),
    (10, |corpus, looks| corpus.looked_again(looks)),
];

type Edit = fn(&Corpus, &mut usize);

#[test]
#[ignore = "real projects: `just corpora`"]
fn every_recorded_answer_agrees_or_has_a_reason() {
    let folder = systems("skills");
    let table: Table = include_str!("differs.toml").parse().unwrap();
    let reasons = table["differs"].as_array().unwrap();
    let mut used = BTreeSet::new();
    let mut wrong = Vec::new();
    for (session, with) in SESSIONS {
        for (request, differs) in replay(&folder, session, with) {
            let at = format!("{session} {request}");
            let fits = |reason: &Table| {
                let text = |key: &str| reason[key].as_str().unwrap();
                matches_end(&at, text("at")) && matches_end(&differs, text("differs"))
            };
            let found = reasons.iter().position(|reason| fits(reason.as_table().unwrap()));
            match found {
                Some(at) => drop(used.insert(at)),
                None => wrong.push(format!("{at}: {differs}")),
            }
        }
    }
    let unused = (0..reasons.len()).filter(|at| !used.contains(at));
    wrong.extend(unused.map(|at| format!("no answer needs {:?}", reasons[at])));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let recorded = fs::read_dir(folder.join("golden")).unwrap().map(|entry| entry.unwrap().file_name());
    let recorded: Vec<String> = recorded.map(|name| name.into_string().unwrap()).collect();
    for session in recorded.iter().filter_map(|name| name.strip_prefix("v0.1.0-")?.strip_suffix(".jsonl")) {
        let known = SESSIONS.iter().any(|(known, _)| *known == session);
        assert!(known, "the session {session} is not looked at");
    }
}

/// `*` at the end stands for any rest, at the beginning for any start.
fn matches_end(text: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => text.ends_with(end),
        (None, Some(start)) => text.starts_with(start),
        (None, None) => text == pattern,
    }
}

/// What differs in a session: the request, and both outcomes in short.
fn replay(folder: &Path, session: &str, with: &str) -> Vec<(String, String)> {
    let corpus = Corpus::laid_out(folder, with);
    let mut server = corpus.serve();
    let text = fs::read_to_string(folder.join(format!("golden/v0.1.0-{session}.jsonl"))).unwrap();
    let messages: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (mut differing, mut looks) = (Vec::new(), 1);
    for sent in messages.iter().filter(|message| message["dir"] == "c2s").map(|message| &message["msg"]) {
        let method = sent["method"].as_str().unwrap();
        let answer = messages.iter().find(|one| one["dir"] == "s2c" && one["msg"]["id"] == sent["id"]);
        // The session is open already; what was never answered there is compared all the same.
        if sent["id"].is_null() || (method == "initialize" && answer.is_some()) {
            continue;
        }
        let edits = EDITS.iter().filter(|(before, _)| session == "refresh" && sent["id"] == *before);
        edits.for_each(|(_, edit)| edit(&corpus, &mut looks));
        let ours = match method {
            "initialize" => server.ask("tools/list", &json!({})),
            _ => server.ask(method, &sent.get("params").cloned().unwrap_or_else(|| json!({}))),
        };
        let theirs = answer.map_or("no answer".to_owned(), |answer| outcome(&corpus, &answer["msg"]));
        let ours = outcome(&corpus, &ours);
        if theirs != ours {
            let name = sent["params"].get("arguments").map_or(String::new(), |arguments| arguments.to_string());
            differing.push((format!("{method} {name}").trim().to_owned(), format!("{theirs} -> {ours}")));
        }
    }
    server.end();
    differing
}

/// An answer in short: what it says, or how it fails.
fn outcome(corpus: &Corpus, answer: &Value) -> String {
    if let Some(error) = answer.get("error") {
        let message = error["message"].as_str().unwrap();
        return match message {
            text if text.contains("not found") && text.contains("Skill") => "no such skill".to_owned(),
            text if text.contains("is ambiguous") => {
                let names = text.rsplit("found: ").next().unwrap();
                let names: BTreeSet<&str> = names.split(", ").collect();
                format!("ambiguous {names:?}")
            }
            _ => format!("error {}", error["code"]),
        };
    }
    let result = &answer["result"];
    if let Some(tools) = result["tools"].as_array() {
        let lines: BTreeSet<&str> = tools[0]["description"].as_str().unwrap().lines().collect();
        let added: Table = include_str!("differs.toml").parse().unwrap();
        let is_added = |line: &str| {
            let name = line.trim_start_matches("- ").split(": ").next().unwrap_or_default();
            added["added"].as_array().unwrap().iter().any(|one| one["name"].as_str() == Some(name))
        };
        let shown = |line: &&&str| line.starts_with("- ") && !is_added(line) || line.starts_with("Load");
        let lines: Vec<&&str> = lines.iter().filter(shown).collect();
        return format!("{lines:?}");
    }
    let data = &result["structuredContent"];
    match data["code"].as_str() {
        Some("skill_not_found") => "no such skill".to_owned(),
        Some("ambiguous_skill") => {
            let names: BTreeSet<&str> = data["matches"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
            format!("ambiguous {names:?}")
        }
        _ => match result["content"][0]["text"].as_str() {
            Some(text) => corpus.filled(text),
            None => "a result".to_owned(),
        },
    }
}
