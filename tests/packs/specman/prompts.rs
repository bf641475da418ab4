//! The prompts as texts: short enough, complete, the same by the prompt tool; what the original served, this serves.

use super::check::{lay, table};
use super::golden::on;
use crate::support::{Server, systems};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// What a prompt may have at most.
const MAX_WORDS: usize = 900;

/// A prompt of the table.
struct Prompt {
    name: String,
    /// The argument that it needs, and what that completes to.
    argument: Option<(String, String)>,
    /// What it must say besides what each says.
    says: Vec<String>,
}

fn all() -> Vec<Prompt> {
    let text = |row: &Value, key: &str| row.get(key).map(|text| text.as_str().unwrap().to_owned());
    let prompt = |row: &Value| Prompt {
        name: text(row, "name").unwrap(),
        argument: text(row, "argument").map(|argument| (argument, text(row, "completes").unwrap())),
        says: row["says"].as_array().unwrap().iter().map(|part| part.as_str().unwrap().to_owned()).collect(),
    };
    table().list("prompt").iter().map(prompt).collect()
}

/// What each of them says.
const EACH: &[&str] = &[
    "- Artifact class: ",
    "- Target: ",
    "- Template: embedded://",
    "(EmbeddedDefault)",
    "**Review the target and all of its dependencies first.**",
    "**Preserve HTML comment directives until they are satisfied:**",
    "## The request",
];

fn arguments(prompt: &Prompt) -> Value {
    prompt.argument.iter().map(|(name, value)| (name.clone(), json!(value))).collect()
}

fn said(server: &mut Server, name: &str, arguments: &Value) -> Result<String, Value> {
    let whole = server.request("prompts/get", json!({ "name": name, "arguments": arguments }));
    match whole["result"]["messages"].as_array() {
        Some(messages) => {
            assert_eq!((messages.len(), &messages[0]["role"]), (1, &json!("user")), "{name}");
            Ok(messages[0]["content"]["text"].as_str().unwrap().to_owned())
        }
        None => Err(whole["error"].clone()),
    }
}

/// Lays out the workspace of that name of the table.
fn workspace(name: &str, root: &Path) {
    let table: toml::Table = include_str!("workspaces.toml").parse().unwrap();
    for (path, text) in table["workspace"][name].as_table().unwrap() {
        lay(root, path, text.as_str().unwrap());
    }
}

#[test]
fn every_prompt_says_all_that_it_must_in_few_words() {
    let place = tempfile::tempdir().unwrap();
    workspace("tea", place.path());
    let mut server = Server::start(place.path(), "specman");
    let mut listed: Vec<String> = server.request("prompts/list", json!({}))["result"]["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap().to_owned())
        .collect();
    let mut known: Vec<String> = all().into_iter().map(|prompt| prompt.name).collect();
    listed.sort();
    known.sort();
    assert_eq!(listed, known);
    for prompt in all() {
        let name = &prompt.name;
        let text = said(&mut server, name, &arguments(&prompt)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let words = text.split_whitespace().count();
        assert!(words <= MAX_WORDS, "{name} has {words} words");
        for part in EACH.iter().copied().chain(prompt.says.iter().map(String::as_str)) {
            assert!(text.contains(part), "{name} lacks {part:?}:\n{text}");
        }
        assert!(text.trim_end().lines().rev().take(3).any(|line| line.starts_with("None was given")), "{name}");
        assert!(!text.contains("{{") && !text.contains(&*place.path().to_string_lossy()), "{name}:\n{text}");
    }
}

//= docs/spec.md#prompts
//= type=test
//# A pack with `prompt_tool` MUST have a tool that lists its prompts and returns their messages.
#[test]
fn the_prompt_tool_says_what_the_prompts_say() {
    let place = tempfile::tempdir().unwrap();
    workspace("tea", place.path());
    let mut server = Server::start(place.path(), "specman");
    for prompt in all() {
        let (name, arguments) = (&prompt.name, arguments(&prompt));
        let text = said(&mut server, name, &arguments).unwrap();
        let answer = server.request(
            "tools/call",
            json!({ "name": "get_prompt", "arguments": { "name": name, "arguments": arguments } }),
        );
        let result = &answer["result"];
        assert_eq!(result["content"], json!([{ "type": "text", "text": text }]), "{name}");
        assert_eq!(
            result["structuredContent"]["messages"],
            json!([{ "role": "user", "content": { "type": "text", "text": text } }]),
            "{name}"
        );
    }
}

#[test]
fn every_argument_that_names_an_artifact_is_completed() {
    let place = tempfile::tempdir().unwrap();
    workspace("tea", place.path());
    let mut server = Server::start(place.path(), "specman");
    for Prompt { name, argument, .. } in all() {
        let Some((argument, wanted)) = argument else { continue };
        let asked = json!({ "ref": { "type": "ref/prompt", "name": name }, "argument": { "name": argument, "value": &wanted[..1] } });
        let answer = server.request("completion/complete", asked);
        let values = answer["result"]["completion"]["values"].as_array().unwrap_or_else(|| panic!("{name}: {answer}"));
        assert!(values.contains(&json!(wanted)), "{name}: {values:?}");
    }
}

/// A real workspace, and what the original served: success and failure, but not its extra messages.
#[test]
#[ignore = "real projects: `just corpora`"]
fn the_recorded_prompts_agree() {
    let folder = systems("specman");
    for (file, fixture) in
        [("seed.mini.stub", "mini"), ("seed.mini-cycle", "mini-cycle"), ("seed.create.nosampling", "mini")]
    {
        let (_place, _root, mut server) = on(&folder.join("fixtures").join(fixture));
        for line in fs::read_to_string(folder.join("golden").join(format!("{file}.jsonl"))).unwrap().lines() {
            let record: Value = serde_json::from_str(line).unwrap();
            let params = &record["request"]["params"];
            let seq = record["seq"].as_u64().unwrap();
            if record["request"]["method"] != "prompts/get" || DIFFERS.iter().any(|(known, ..)| *known == (file, seq)) {
                continue;
            }
            let got = server.request("prompts/get", params.clone());
            let failed = |answer: &Value| answer.get("error").is_some();
            assert_eq!(failed(&got), failed(&record["response"]), "{}: {got}", record["note"]);
        }
    }
    let (_place, _root, mut server) = on(&folder.join("corpus"));
    let text = said(&mut server, "impl", &json!({ "spec": "specman-core" })).unwrap();
    let list = [
        "spec://specman-core (spec/specman-core/spec.md)",
        "spec://specman-data-model (spec/specman-data-model/spec.md)",
        "docs/founding-spec.md",
        "https://spec.commonmark.org/0.31.2/",
    ];
    let mut rest = text.as_str();
    for one in list {
        rest = rest.split_once(&format!("\n- {one}")).unwrap_or_else(|| panic!("{one} is not in order:\n{text}")).1;
    }
    assert!(text.split_whitespace().count() <= MAX_WORDS);
}

/// Records that do not agree, and why.
const DIFFERS: &[((&str, u64), &str)] = &[
    (("seed.mini.stub", 82), "an implementation was taken for a specification"),
    (("seed.mini.stub", 87), "a revision is work on a specification, and an implementation was taken for one"),
    (("seed.mini.stub", 93), "compliance is asked of implementations, and a specification was taken for one"),
    (("seed.mini.stub", 94), "the work type draft was not known"),
    (("seed.mini.stub", 96), "a document without front matter was taken for an implementation"),
];
