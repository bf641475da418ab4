//! The specification workspace pack: every MUST of its specification over the protocol, and recorded truth.

mod check;
mod golden;
mod newcomer;
mod processes;
mod prompts;

use check::{Check, table};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

/// How many there are: M01 to M85.
const MUSTS: usize = 85;

/// So many checks, each a process of its own, run at once.
const WORKERS: usize = 4;

fn all() -> BTreeSet<String> {
    (1..=MUSTS).map(|number| format!("M{number:02}")).collect()
}

/// Each number has a check of the table, or a test of its own, or a reason why there is none.
#[test]
fn every_must_is_held() {
    let table = table();
    let checks: Vec<Check> = table.checks();
    let mut held: BTreeSet<String> = checks.iter().flat_map(|check| check.musts.iter().cloned()).collect();
    let sources = [include_str!("specman.rs"), include_str!("specman/golden.rs"), include_str!("specman/processes.rs")];
    for (must, test) in table.names("by_test") {
        assert!(
            sources.iter().any(|source| source.contains(&format!("fn {test}("))),
            "{must}: there is no test {test}"
        );
        held.insert(must);
    }
    for (must, reason) in table.names("untestable") {
        assert!(reason.len() > 20, "{must}: say why");
        assert!(!held.contains(&must), "{must} is tested, so it is testable");
        held.insert(must);
    }
    let open: Vec<_> = all().difference(&held).cloned().collect();
    assert!(open.is_empty(), "nothing holds {open:?}");
    let unknown: Vec<_> = held.difference(&all()).cloned().collect();
    assert!(unknown.is_empty(), "there is no {unknown:?}");
}

/// All checks of the table, each in a workspace and a process of its own; every failure is reported, not only the
/// first.
#[test]
fn every_check_of_the_table_passes() {
    let only = std::env::var("ONLY").ok();
    let checks = table().checks();
    let chosen = checks.iter().filter(|check| only.as_ref().is_none_or(|only| check.musts.contains(only)));
    let errors: Mutex<BTreeMap<String, Vec<String>>> = Mutex::default();
    let waiting = Mutex::new(chosen);
    std::thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let Some(check) = waiting.lock().unwrap().next() else { return };
                    let found = check.run();
                    if !found.is_empty() {
                        let name = format!("{} {}", check.musts.join(" "), check.why);
                        errors.lock().unwrap().insert(name, found);
                    }
                }
            });
        }
    });
    let errors = errors.into_inner().unwrap();
    let reported: Vec<String> =
        errors.iter().map(|(check, found)| format!("{check}\n    {}", found.join("\n    "))).collect();
    assert!(errors.is_empty(), "{} of {} checks fail:\n{}", errors.len(), checks.len(), reported.join("\n"));
}

/// A schema without what it only says to people, and without the definitions that its references stand for.
fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(map) => {
            let reported = |(key, value): (&String, &Value)| (key != "$defs").then(|| (key.clone(), bare(value)));
            map.iter().filter(|(key, value)| *key != "description" || !value.is_string()).filter_map(reported).collect()
        }
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// Every tool has a capability, and its schemas are those that the tool publishes.
#[test]
fn capabilities_tell_what_the_tools_publish() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".specman")).unwrap();
    let mut server = crate::support::Server::start(folder.path(), "specman");
    let reported = server.well("list_capabilities", json!({}));
    let reported: BTreeMap<&str, &Value> = reported["capabilities"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|capability| capability["tools"].as_array().unwrap())
        .map(|tool| (tool["name"].as_str().unwrap(), tool))
        .collect();
    let tools = server.request("tools/list", json!({}))["result"]["tools"].as_array().unwrap().clone();
    let names = |names: &mut dyn Iterator<Item = String>| names.collect::<BTreeSet<_>>();
    let published = names(&mut tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
    assert_eq!(names(&mut reported.keys().map(|name| (*name).to_owned())), published);
    for tool in &tools {
        let name = tool["name"].as_str().unwrap();
        assert_eq!(bare(&reported[name]["input_schema"]), bare(&tool["inputSchema"]), "{name}");
        if let Some(schema) = tool.get("outputSchema") {
            assert_eq!(bare(&reported[name]["output_schema"]), bare(schema), "{name}");
        }
    }
}

/// Files other than code may be of any size.
#[test]
fn a_file_too_large_to_be_read_leaves_the_report_whole() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(".specman/.gitkeep", "");
    write("spec/tea/spec.md", "# Tea\n\n!tea.pot:\n- A pot MUST brew.\n");
    write("impl/tea-rust/impl.md", "---\nspec: ../../spec/tea/spec.md\nlocation: ../../src\n---\n# Tea\n");
    write("src/pot.rs", "// [ENSURES: tea.pot]\n");
    write("src/film.bin", "");
    std::fs::File::options().write(true).open(folder.path().join("src/film.bin")).unwrap().set_len(100 << 20).unwrap();
    let mut server = crate::support::Server::start(folder.path(), "specman");
    let report = server.well("compliance_report", json!({ "implementation": "impl://tea-rust" }));
    assert_eq!(report["totals"]["covered"], 1, "{report}");
}

/// A report lists what cannot be read as missing: a code file in a notice, a specification as an error.
#[test]
fn unreadable_files_are_in_the_compliance_report() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    let spec =
        "---\nname: tea\nversion: 1.0.0\n---\n# Tea\n\n## Concept: Pot\n\n!concept-pot.brew:\n- The pot MUST brew.\n";
    write("spec/tea/spec.md", spec.as_bytes());
    write(
        "impl/tea-rust/impl.md",
        b"---\nspec: ../../spec/tea/spec.md\nname: tea-rust\nversion: 1.0.0\nlocation: ../../src\n---\n# Tea\n",
    );
    write("src/a.rs", b"// [ENSURES: concept-pot.brew:CHECK]\n");
    write("src/picture.png", b"\x89PNG\xff");
    write(".specman/x", b"");
    let mut server = crate::support::Server::start(folder.path(), "specman");
    let mut reported = || {
        let asked = json!({ "name": "compliance_report", "arguments": { "implementation": "tea-rust" } });
        server.request("tools/call", asked)["result"].to_string()
    };
    let whole = reported();
    assert!(whole.contains("concept-pot.brew") && !whole.contains("1 error in the source files"), "{whole}");
    write("src/latin.rs", b"// caf\xe9 [ENSURES: concept-pot.brew:CHECK]\n");
    let reported_for_code = reported();
    assert!(
        reported_for_code.contains("1 error in the source files") && reported_for_code.contains("src/latin.rs"),
        "{reported_for_code}"
    );
    write("spec/tea/spec.md", &[spec.as_bytes(), b"\xe9"].concat());
    let reported_for_spec = reported();
    assert!(reported_for_spec.contains("its constraint groups are not known"), "{reported_for_spec}");
}
