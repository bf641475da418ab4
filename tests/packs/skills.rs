//! The pack of skills: a check for each number of its list of scenarios, the recorded sessions, the extension to the
//! byte.

mod corpus;
mod extension;
mod places;
mod recorded;
mod running;

use crate::support::systems;
use corpus::Corpus;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use toml::Table;

/// The numbers of the list.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=29;

fn checks() -> Vec<Table> {
    let table: Table = include_str!("skills/checks.toml").parse().unwrap();
    table["check"].as_array().unwrap().iter().map(|check| check.as_table().unwrap().clone()).collect()
}

fn text<'a>(table: &'a Table, key: &str) -> Option<&'a str> {
    table.get(key).map(|value| value.as_str().unwrap())
}

#[test]
fn every_number_has_a_check_that_asks_and_expects() {
    let checks = checks();
    let known: BTreeSet<&str> = checks.iter().map(|check| text(check, "number").unwrap()).collect();
    for number in NUMBERS {
        assert!(known.contains(format!("B{number}").as_str()), "B{number} has no check");
    }
    for check in &checks {
        let what = text(check, "what").unwrap();
        let steps = check.get("step").and_then(toml::Value::as_array).cloned().unwrap_or_default();
        assert_eq!(steps.is_empty(), check.contains_key("by"), "{what}: steps, or the name of a check");
        assert!(text(check, "by").is_none_or(|by| running::find(by).is_some()), "{what}: there is no such check");
        for step in &steps {
            let asks = ["name", "arguments"].iter().filter(|key| step.get(key).is_some()).count();
            let expects = ["loads", "unknown", "ambiguous", "code"].iter().filter(|key| step.get(key).is_some());
            assert_eq!((asks, expects.count()), (1, 1), "{what}: one request and one assertion, in {step:?}");
        }
    }
}

//= docs/spec.md#freshness
//= type=test
//# A background refresh of a graph MUST NOT delay calls, and MUST make earlier edits visible to later calls.
//= docs/spec.md#reload
//= type=test
//# A computed description MUST be computed again when the graph of its pack changes.
//= docs/spec.md#definitions
//= type=test
//# A path that a trusted `toolsd.toml` configures MUST be granted for reading.
//= docs/spec.md#roots
//= type=test
//# A path MUST NOT lead out of its root, by `..`, by being absolute or through a symlink, except into another
//# granted root.
#[test]
#[ignore = "real projects: `just corpora`"]
fn every_check_holds() {
    let folder = systems("skills");
    let mut wrong = Vec::new();
    for check in checks() {
        let corpus = Corpus::laid_out(&folder, text(&check, "with").unwrap_or_default());
        let reported = match text(&check, "by") {
            Some(by) => running::find(by).unwrap()(&corpus),
            None => steps(&corpus, &check),
        };
        let number = text(&check, "number").unwrap();
        wrong.extend(
            reported.into_iter().map(|reported| format!("{number} {}: {reported}", text(&check, "what").unwrap())),
        );
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn steps(corpus: &Corpus, check: &Table) -> Vec<String> {
    let mut server = corpus.serve();
    let mut wrong = Vec::new();
    for step in check["step"].as_array().unwrap() {
        let step = step.as_table().unwrap();
        let arguments = match (text(step, "name"), text(step, "arguments")) {
            (Some(name), _) => Some(json!({ "name": name })),
            (None, Some("")) => None,
            (None, written) => Some(serde_json::from_str(written.unwrap()).unwrap()),
        };
        let mut params = json!({ "name": "skill" });
        if let Some(arguments) = arguments {
            params["arguments"] = arguments;
        }
        let answer = server.ask("tools/call", &params);
        if let Some(differs) = differs(corpus, step, &answer) {
            wrong.push(format!("{params}: {differs}"));
        }
    }
    server.end();
    wrong
}

/// How an answer differs from what a step expects.
fn differs(corpus: &Corpus, step: &Table, answer: &Value) -> Option<String> {
    let (result, error) = (&answer["result"], &answer["error"]);
    let data = &result["structuredContent"];
    let said = result["content"][0]["text"].as_str().unwrap_or_default();
    let met = if let Some(full) = text(step, "loads") {
        let folder = corpus.filled(text(step, "folder").unwrap());
        said == loaded(full, &folder) && result["isError"] != true
    } else if let Some(near) = step.get("unknown") {
        let reported = near.as_array().unwrap().iter().all(|name| said.contains(name.as_str().unwrap()));
        result["isError"] == true
            && data["code"] == "skill_not_found"
            && data["suggestions"] == json!(near)
            && said.contains("not found")
            && reported
    } else if let Some(names) = step.get("ambiguous") {
        let reported = names.as_array().unwrap().iter().all(|name| said.contains(name.as_str().unwrap()));
        result["isError"] == true
            && data["code"] == "ambiguous_skill"
            && data["matches"] == json!(names)
            && said.contains("full name")
            && reported
    } else {
        error["code"] == json!(step["code"]) && error["message"].as_str().unwrap().contains(text(step, "says").unwrap())
    };
    (!met).then(|| answer.to_string().chars().take(600).collect())
}

/// The result of loading a skill: the header, and the file without a byte order mark.
fn loaded(full: &str, folder: &str) -> String {
    assert!(folder.starts_with('/'), "{folder} is absolute");
    let file = fs::read_to_string(format!("{folder}/SKILL.md")).unwrap();
    format!("Loading: {full}\nBase directory: {folder}\n\n{}", file.trim_start_matches('\u{feff}'))
}
