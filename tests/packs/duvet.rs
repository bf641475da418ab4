//! The traceability pack against recorded truth: a real project field by field, and one tiny project for each quirk.

use crate::support::{Server, systems};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

fn json_file(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn texts(list: &Value, key: &str) -> Vec<String> {
    list.as_array().unwrap().iter().map(|item| item[key].as_str().unwrap().to_owned()).collect()
}

/// Reports every difference, not the first.
#[derive(Default)]
struct Differences(Vec<String>);

impl Differences {
    fn same(&mut self, what: impl std::fmt::Display, got: &Value, expected: &Value) {
        if got != expected {
            self.0.push(format!("{what}\n    got      {got}\n    expected {expected}"));
        }
    }

    fn none(self) {
        let count = self.0.len();
        let shown = self.0.into_iter().take(30).collect::<Vec<_>>().join("\n");
        assert!(count == 0, "{count} differences:\n{shown}");
    }
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn a_real_project_agrees_in_every_field() {
    let folder = systems("duvet");
    let expected = json_file(&folder.join("golden/small/mcp-expected.json"));
    let mut server = Server::start(&folder.join("corpus"), "duvet");
    let mut differences = Differences::default();
    specifications(&mut server, &expected, &mut differences);
    requirements(&mut server, &expected, &mut differences);
    lists(&mut server, &expected, &mut differences);
    differences.none();
}

fn specifications(server: &mut Server, expected: &Value, differences: &mut Differences) {
    let listed = server.read("duvet:///specifications");
    differences.same("specifications", &json!(texts(&listed, "id")), &json!(texts(&expected["specifications"], "id")));
    for spec in expected["specifications"].as_array().unwrap() {
        let id = spec["id"].as_str().unwrap();
        let got = server.read(&format!("duvet:///specifications/{id}"));
        for key in ["id", "name", "url"] {
            differences.same(format!("{id}.{key}"), &got[key], &spec[key]);
        }
        let sections = server.read(&format!("/specifications/{id}/sections"));
        differences.same(format!("{id}: sections"), &json!(sections.as_array().unwrap().len()), &spec["sections"]);
    }
}

fn requirements(server: &mut Server, expected: &Value, differences: &mut Differences) {
    let listed = server.read("duvet:///requirements");
    let order = texts(&expected["requirements"], "full_path");
    differences.same("requirements", &json!(texts(&listed, "full_path")), &json!(order));
    for wanted in expected["requirements"].as_array().unwrap() {
        let path = wanted["full_path"].as_str().unwrap();
        let got = server.read(path);
        for key in ["identifier", "text", "level", "status", "citation_status", "todo_count"] {
            differences.same(format!("{path}.{key}"), &got[key], &wanted[key]);
        }
        let citations = server.read(&format!("{path}/citations"));
        differences.same(format!("{path}: citations"), &json!(texts(&citations, "id")), &wanted["citations"]);
    }
}

fn lists(server: &mut Server, expected: &Value, differences: &mut Differences) {
    let figures = &expected["figures"];
    let all = json!({ "limit": 100_000 });
    let prioritized = server.well("get_prioritized_requirements", all.clone());
    differences.same("prioritised", &json!(texts(&prioritized, "full_path")), &expected["prioritized"]);
    let uncited = server.well("list_uncited_requirements", all);
    differences.same("uncited", &json!(uncited.as_array().unwrap().len()), &figures["uncited"]);
    differences.same("invalid", &server.well("list_invalid_citations", json!({})), &json!([]));
    let citations = server.read("duvet:///citations");
    let (attached, loose): (Vec<&Value>, Vec<&Value>) = citations
        .as_array()
        .unwrap()
        .iter()
        .partition(|one| one["full_path"].as_str().unwrap().contains("/requirements/"));
    differences.same("citation pairs", &json!(attached.len()), &figures["requirement_citation_pairs"]);
    let got: BTreeSet<&str> = loose.iter().map(|one| one["id"].as_str().unwrap()).collect();
    let wanted: BTreeSet<&str> =
        expected["orphan_citations"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
    differences.same("citations on no requirement", &json!(got), &json!(wanted));
    let found = |server: &mut Server, query: &str| {
        server.well("search_requirements", json!({ "query": query })).as_array().unwrap().len()
    };
    differences.same("search error", &json!(found(server, "error")), &json!(18));
    differences.same("search \"MUST NOT\"", &json!(found(server, "\"MUST NOT\"")), &json!(23));
    differences.same("search MUST NOT", &json!(found(server, "MUST NOT")), &json!(29));
}

//= docs/spec.md#traceability
//= type=test
//# A broken citation MUST be listed with a reason and a detail, and MUST NOT hide other citations.
//= docs/spec.md#traceability
//= type=test
//# The status of a requirement MUST follow from the characters of it that are cited.
/// Every case below `golden/edge`: the existing ones, and those that are added.
#[test]
#[ignore = "real projects: `just corpora`"]
fn every_quirk_comes_out_as_recorded() {
    let folder = systems("duvet");
    let table: toml::Table = include_str!("duvet/edge.toml").parse().unwrap();
    let mut differences = Differences::default();
    for case in fs::read_dir(folder.join("golden/edge")).unwrap() {
        let case = case.unwrap().path();
        let name = case.file_name().unwrap().to_str().unwrap().to_owned();
        let mut server = Server::start(&case.join("project"), "duvet");
        if name.contains("config") {
            configuration_error(&name, &mut server, &mut differences);
            continue;
        }
        invalid_citations(&name, &mut server, table.get(&name), &mut differences);
        if case.join("report.json").is_file() {
            let differs = table["differs"].get(&name);
            report(&name, &mut server, &json_file(&case.join("report.json")), differs, &mut differences);
        }
    }
    differences.none();
}

/// One error with path, line and column, from every tool and every resource.
fn configuration_error(name: &str, server: &mut Server, differences: &mut Differences) {
    let (data, failed) = server.call("list_invalid_citations", json!({}));
    let text = data.to_string();
    differences.same(
        format!("{name}: fails at a location ({text})"),
        &json!(failed && text.contains(".duvet/config.toml:")),
        &json!(true),
    );
    let answer = server.request("resources/read", json!({ "uri": "duvet:///specifications" }));
    differences.same(format!("{name}: resources"), &answer["error"]["code"], &json!(-32603));
}

/// `list_invalid_citations` returns what the table says, nothing where the table has no entry, and agrees with
/// `validate_citation` on each.
fn invalid_citations(name: &str, server: &mut Server, expected: Option<&toml::Value>, differences: &mut Differences) {
    let listed = server.well("list_invalid_citations", json!({}));
    let got: Vec<Value> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            json!(format!(
                "{}:{} {}",
                one["file_path"].as_str().unwrap(),
                one["line_number"],
                one["error"].as_str().unwrap()
            ))
        })
        .collect();
    match expected {
        Some(expected) => differences.same(format!("{name}: invalid"), &json!(got), &json!(expected)),
        None if name.starts_with("err-") => {}
        None => differences.same(format!("{name}: invalid"), &json!(got), &json!([])),
    }
    for one in listed.as_array().unwrap() {
        let again = server.well("validate_citation", json!({ "citation": one["comment_text"] }));
        differences.same(format!("{name}: validate {}", one["comment_text"]), &again["valid"], &json!(false));
        differences.same(format!("{name}: validate {}", one["comment_text"]), &again["error"], &one["error"]);
    }
}

/// The recorded report, read by the rule of status: which characters of a requirement are covered, and by what.
fn report(
    name: &str,
    server: &mut Server,
    report: &Value,
    differs: Option<&toml::Value>,
    differences: &mut Differences,
) {
    let annotations = report["annotations"].as_array().unwrap();
    let mut expected: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for spec in report["specifications"].as_object().unwrap().values() {
        for section in spec["sections"].as_array().unwrap() {
            let mut pieces: BTreeMap<u64, Vec<(u64, usize)>> = BTreeMap::new();
            for piece in section["lines"].as_array().unwrap().iter().filter_map(Value::as_array).flatten() {
                let Some(parts) = piece.as_array() else { continue };
                let ink = parts[2].as_str().unwrap().chars().filter(|c| !c.is_whitespace()).count();
                for id in parts[0].as_array().unwrap() {
                    pieces.entry(id.as_u64().unwrap()).or_default().push((parts[1].as_u64().unwrap(), ink));
                }
            }
            for (id, pieces) in pieces {
                let annotation = &annotations[usize::try_from(id).unwrap()];
                if annotation["type"] == "SPEC" {
                    let text = annotation["comment"].as_str().unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
                    expected.entry(text).or_default().push(status(&pieces).to_owned());
                }
            }
        }
    }
    for (text, status) in differs.and_then(toml::Value::as_table).into_iter().flatten() {
        if let Some(recorded) = expected.get_mut(text) {
            *recorded = status.clone().try_into().unwrap();
        }
    }
    let mut got: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for one in server.read("duvet:///requirements").as_array().unwrap() {
        let path = one["full_path"].as_str().unwrap();
        let status = server.read(path)["status"].as_str().unwrap().to_owned();
        got.entry(one["text"].as_str().unwrap().to_owned()).or_default().push(status);
    }
    for list in expected.values_mut().chain(got.values_mut()) {
        list.sort();
        list.dedup();
    }
    differences.same(format!("{name}: requirements and their status"), &json!(got), &json!(expected));
}

/// refs: 64·level + 32 spec + 16 citation + 8 implication + 4 test + 2 exception + 1 todo.
fn status(pieces: &[(u64, usize)]) -> &'static str {
    let has = |refs: u64, bits: u64| refs & bits != 0;
    let ink =
        |test: &dyn Fn(u64) -> bool| pieces.iter().filter(|(refs, _)| test(*refs)).map(|(_, ink)| ink).sum::<usize>();
    let whole = ink(&|_| true);
    let satisfied = ink(&|refs| has(refs, 16 | 8 | 2));
    let proven = ink(&|refs| has(refs, 8 | 2) || (has(refs, 16) && has(refs, 4)));
    let tested = ink(&|refs| has(refs, 4));
    let todo = ink(&|refs| has(refs, 1)) > 0;
    match (satisfied == whole && !todo, proven == whole) {
        (true, true) => "done",
        (true, false) => "needs tests",
        _ if satisfied + tested > 0 => "in progress",
        _ => "not started",
    }
}
