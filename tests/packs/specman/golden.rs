//! Recorded truth: an independent model of a small workspace, exactly; what the original answered, except for its
//! errors; a real workspace.

use super::check::{files_below, lay, table};
use crate::support::{Server, copy, systems};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A copy of a fixture or of the corpus, writable, and a server on it.
pub fn on(folder: &Path) -> (tempfile::TempDir, PathBuf, Server) {
    let place = tempfile::tempdir().unwrap();
    let root = place.path().canonicalize().unwrap().join("workspace");
    copy(folder, &root);
    let server = Server::start(&root, "specman");
    (place, root, server)
}

fn json_file(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

fn list<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

fn edges(tree: &Value, key: &str, deepest: u64) -> Vec<Value> {
    let shown = |edge: &Value| {
        json!([edge["from"]["resolved_path"], edge["to"]["resolved_path"], edge["optional"], edge["kind"]])
    };
    list(tree, key).iter().filter(|edge| edge["depth"].as_u64().unwrap() <= deepest).map(shown).collect()
}

fn tags(tags: &Value) -> Value {
    let shown = |tag: &Value| {
        let place = &tag["location"];
        json!({ "identifier": tag["identifier"], "type": tag["tag_type"].as_str().unwrap().to_uppercase(), "path": place["file_path"], "line": place["line_number"] })
    };
    tags.as_array().unwrap().iter().map(shown).collect()
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn the_model_of_a_small_workspace_agrees_exactly() {
    let folder = systems("specman");
    let oracle = |name: &str| json_file(&folder.join(format!("golden/oracle/mini/{name}.json")));
    let (_place, _root, mut server) = on(&folder.join("fixtures/mini"));
    artifacts_agree(&mut server, &oracle("artifacts"));
    for (handle, wanted) in oracle("headings").as_object().unwrap() {
        let got = server.well("list_structure", json!({ "locator": handle }));
        let got: Value = list(&got, "headings")
            .iter()
            .map(
                |one| json!({ "line": one["line"], "level": one["level"], "title": one["title"], "slug": one["slug"] }),
            )
            .collect();
        assert_eq!(got, *wanted, "{handle}");
    }
    for (handle, wanted) in oracle("constraints").as_object().unwrap() {
        let index = server.read(&format!("{handle}/constraints"));
        let got: Value = list(&index, "constraints")
            .iter()
            .map(|one| {
                let id = one["constraint_id"].as_str().unwrap();
                let text = server.read(&format!("{handle}/constraints/{id}"));
                json!({ "id": id, "line": one["line"], "identifier_line": one["identifier_line"], "text": text })
            })
            .collect();
        assert_eq!(got, *wanted, "{handle}");
    }
    for (handle, wanted) in oracle("dependencies").as_object().unwrap() {
        let tree = server.read(&format!("{handle}/dependencies"));
        assert_eq!(json!(edges(&tree, "upstream", u64::MAX)), wanted["upstream"], "{handle}");
        assert_eq!(json!(edges(&tree, "downstream", 1)), wanted["downstream_direct"], "{handle}");
        assert_eq!(json!(edges(&tree, "downstream", u64::MAX)), wanted["downstream_transitive"], "{handle}");
    }
    for (handle, wanted) in oracle("compliance").as_object().unwrap() {
        compliance_agrees(&mut server, handle, wanted);
    }
}

fn artifacts_agree(server: &mut Server, wanted: &Value) {
    let mut got = Vec::new();
    for tool in ["list_specifications", "list_implementations", "list_scratch_pads"] {
        let rows = server.well(tool, json!({}));
        got.extend(list(&rows, "artifacts").iter().map(|row| {
            let version = row.get("version_raw").unwrap_or(&row["version"]);
            json!({ "handle": row["handle"], "path": row["path"], "kind": row["kind"], "name": row["name"], "version": version })
        }));
    }
    assert_eq!(json!(got), *wanted);
}

fn compliance_agrees(server: &mut Server, handle: &str, wanted: &Value) {
    let answer = server.request("resources/read", json!({ "uri": format!("{handle}/compliance") }));
    if wanted.get("error").is_some() {
        assert!(answer["error"]["data"]["code"].is_string(), "{handle}: {answer}");
        return;
    }
    let got: Value = serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap();
    let coverage: BTreeMap<&String, Value> =
        got["coverage"].as_object().unwrap().iter().map(|(id, found)| (id, tags(found))).collect();
    let shown = json!({
        "implementation": got["implementation"]["name"], "specification": got["specification"]["name"], "specifications": got["specifications"],
        "scan_root": got["scan_root"], "total": got["totals"]["constraints"], "covered": got["totals"]["covered"], "coverage": coverage,
        "missing": got["missing"], "orphans": tags(&got["orphans"]), "ambiguous": got["ambiguous"],
    });
    assert_eq!(shown, *wanted, "{handle}");
}

/// What the original answered, in what can be compared: success, what it is about, files, texts, edges.
#[test]
#[ignore = "real projects: `just corpora`"]
fn recorded_answers_agree_except_for_known_differences() {
    let folder = systems("specman");
    let table = table();
    let allowed: BTreeMap<(String, u64), String> = table
        .list("differs")
        .iter()
        .flat_map(|entry| {
            let why = entry["why"].as_str().unwrap();
            let named =
                |seq: &Value| ((entry["file"].as_str().unwrap().to_owned(), seq.as_u64().unwrap()), why.to_owned());
            entry["seq"].as_array().unwrap().iter().map(named).collect::<Vec<_>>()
        })
        .collect();
    let mut differing = BTreeMap::new();
    for run in table.list("golden") {
        replay(&folder, &run, &mut differing);
    }
    let unknown: Vec<String> = differing
        .iter()
        .filter(|(at, _)| !allowed.contains_key(at))
        .map(|(at, reported)| format!("{at:?}: {reported}"))
        .collect();
    assert!(unknown.is_empty(), "{} records differ:\n{}", unknown.len(), unknown.join("\n"));
    let idle: Vec<_> = allowed.keys().filter(|at| !differing.contains_key(at)).collect();
    assert!(idle.is_empty(), "these may differ and do not: {idle:?}");
}

fn replay(folder: &Path, run: &Value, differing: &mut BTreeMap<(String, u64), String>) {
    let file = run["file"].as_str().unwrap();
    let (_place, root, mut server) = on(&folder.join("fixtures").join(run["fixture"].as_str().unwrap()));
    for line in fs::read_to_string(folder.join("golden").join(format!("{file}.jsonl"))).unwrap().lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let seq = record["seq"].as_u64().unwrap();
        for (path, text) in run["before"][seq.to_string()].as_object().into_iter().flatten() {
            let _ = fs::remove_file(root.join(path.trim_end_matches('@')));
            if let Some(text) = text.as_str() {
                lay(&root, path, text);
            }
        }
        let method = record["request"]["method"].as_str().unwrap_or_default();
        if !["tools/call", "resources/read", "resources/list"].contains(&method) {
            continue;
        }
        let before = files_below(&root);
        let answer = server.request(method, record["request"]["params"].clone());
        let (got, wanted) = (seen(method, &answer), seen(method, &record["response"]));
        let mut reported =
            (got != wanted).then(|| format!("{}\n    got      {got}\n    recorded {wanted}", record["note"]));
        if let (None, true, Some(wanted)) = (&reported, record["fs"].is_object(), record.get("fs")) {
            let got = changed(&before, &files_below(&root));
            reported = (got != *wanted)
                .then(|| format!("{}: files\n    got      {got}\n    recorded {wanted}", record["note"]));
        }
        if let Some(reported) = reported {
            differing.insert((file.to_owned(), seq), reported);
        }
    }
}

fn changed(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Value {
    let added: Vec<_> = after.keys().filter(|path| !before.contains_key(*path)).collect();
    let removed: Vec<_> = before.keys().filter(|path| !after.contains_key(*path)).collect();
    let changed: Vec<_> =
        after.keys().filter(|path| before.get(*path).is_some_and(|text| *text != after[*path])).collect();
    json!({ "added": added, "removed": removed, "changed": changed })
}

/// What of an answer can be compared.
fn seen(method: &str, answer: &Value) -> Value {
    let result = &answer["result"];
    if answer.get("error").is_some() || result["isError"] == true {
        return json!("failure");
    }
    match method {
        "resources/list" => {
            let uris: BTreeSet<&str> =
                list(result, "resources").iter().map(|one| one["uri"].as_str().unwrap()).collect();
            json!(uris.into_iter().filter(|uri| !uri.starts_with("toolsd:")).collect::<Vec<_>>())
        }
        "tools/call" => {
            let text = result["content"][0]["text"].as_str().unwrap_or_default();
            let data: Value = serde_json::from_str(text).unwrap_or_default();
            json!({ "id": data["id"], "handle": data["handle"], "path": data["path"], "persisted": data.get("updatedDocument").map(|_| &data["persisted"]) })
        }
        _ => read_of(result["contents"][0]["text"].as_str().unwrap_or_default()),
    }
}

/// Texts as they are; of indexes the ids and lines; of trees the edges; of reports what they are about.
fn read_of(text: &str) -> Value {
    let Ok(data) = serde_json::from_str::<Value>(text) else { return json!(text) };
    if data.get("constraints").is_some_and(Value::is_array) {
        return list(&data, "constraints")
            .iter()
            .map(|one| json!([one["constraint_id"], one["identifier_line"], one["uri"]]))
            .collect();
    }
    let path = |node: &Value| node["resolved_path"].as_str().unwrap().trim_start_matches("${WS}/").to_owned();
    let shown = |key: &str| -> BTreeSet<String> {
        let near = list(&data, key)
            .iter()
            .filter(|edge| key == "upstream" || edge["depth"].as_u64().is_none_or(|depth| depth == 1));
        near.map(|edge| format!("{} {} {}", path(&edge["from"]), path(&edge["to"]), edge["optional"])).collect()
    };
    if data.get("upstream").is_some() {
        return json!({ "root": path(&data["root"]), "id": data["root"]["id"], "upstream": shown("upstream"), "downstream": shown("downstream") });
    }
    json!({ "specification": data["specification"], "implementation": data["implementation"], "covered": data["coverage"].as_object().map(|found| found.keys().collect::<Vec<_>>()) })
}

/// Every artifact of a real workspace can be read and described, its structure rendered, its compliance reported.
#[test]
#[ignore = "real projects: `just corpora`"]
fn a_real_workspace_works() {
    let folder = systems("specman");
    let (_place, root, mut server) = on(&folder.join("corpus"));
    let mut groups = BTreeMap::new();
    for (tool, describe) in
        [("list_specifications", "describe_specification"), ("list_implementations", "describe_implementation")]
    {
        for row in list(&server.well(tool, json!({})), "artifacts") {
            let handle = row["handle"].as_str().unwrap();
            let text = fs::read_to_string(root.join(row["path"].as_str().unwrap())).unwrap();
            assert_eq!(server.read(handle), json!(text), "{handle}");
            server.well(describe, json!({ "locator": handle }));
            let structure = server.well("list_structure", json!({ "locator": handle, "limit": 500 }));
            for heading in list(&structure, "headings") {
                let drawn = server.well("render_section", json!({ "locator": handle, "slug": heading["slug"] }));
                assert!(
                    drawn["markdown"].as_str().unwrap().contains(heading["title"].as_str().unwrap()),
                    "{handle} {heading}"
                );
            }
            server.read(&format!("{handle}/dependencies"));
            if handle.starts_with("spec:") {
                let index = server.read(&format!("{handle}/constraints"));
                groups.insert(handle.to_owned(), list(&index, "constraints").len());
                for group in list(&index, "constraints") {
                    let body = server.read(group["uri"].as_str().unwrap());
                    let body = body.as_str().unwrap();
                    assert!(
                        body.starts_with(group["identifier_line"].as_str().unwrap()) && text.contains(body.trim_end()),
                        "{group}"
                    );
                }
            }
        }
    }
    assert_eq!(groups.values().sum::<usize>(), 112, "{groups:?}");
    let library = server.read("impl://specman-library/compliance");
    assert_eq!(
        library["totals"],
        json!({ "constraints": 69, "covered": 46, "missing": 23, "orphans": 8, "malformed": 0 })
    );
    assert_eq!(server.read("impl://specman-mcp-rust/compliance")["totals"]["covered"], 19);
}
