//! Everything that the shipped packs serve is tried: each tool and operation, resource, prompt and completion has an
//! example or a case with a real result.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use toolsd::check::read_packs;
use toolsd::definition::{CaseAction, CompletedItem, Definitions, Expectation};
use toolsd::registry::UriTemplate;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// Calls of the conformance suite that are meant to fail: an error is their only result.
const FAILING: [&str; 3] = ["tool failing_job", "tool protocol_error_job", "tool test_error_handling"];

/// The files of a pack that are texts, with their paths from the root.
fn pack_files(name: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut waiting =
        ["tools.d", "templates", "prompts"].map(|folder| Path::new(ROOT).join(folder).join(name)).to_vec();
    waiting.push(Path::new(ROOT).join("tools.d").join(format!("{name}.toml")));
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            waiting.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if let Ok(text) = fs::read_to_string(&path) {
            files.push((path.strip_prefix(ROOT).unwrap().to_str().unwrap().to_owned(), text));
        }
    }
    files
}

/// Every item that a pack serves, as text.
fn served(definitions: &Definitions) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for tool in &definitions.tools {
        let operations = tool.dispatch.iter().flat_map(|dispatch| &dispatch.operations);
        all.extend(operations.map(|operation| format!("operation {} of {}", operation.name.value, tool.name.value)));
        all.insert(format!("tool {}", tool.name.value));
    }
    for resource in &definitions.resources {
        all.insert(format!("resource {}", resource.uri.value));
        all.extend(resource.complete.iter().map(|(name, _)| format!("completion {name} of {}", resource.uri.value)));
    }
    for prompt in &definitions.prompts {
        all.insert(format!("prompt {}", prompt.name.value));
        let completed = prompt.arguments.iter().filter(|argument| argument.complete.is_some());
        all.extend(completed.map(|argument| format!("completion {} of {}", argument.name.value, prompt.name.value)));
    }
    all
}

/// Every item that an example or a case gets a result from.
fn tried(definitions: &Definitions) -> BTreeSet<String> {
    let steps = definitions.cases.iter().flat_map(|case| &case.steps);
    let well = steps.filter(|step| !step.expect.iter().any(|one| matches!(one.value, Expectation::Error(_))));
    let mut all = BTreeSet::new();
    for step in well {
        match &step.act.value {
            CaseAction::Call { tool: name, arguments } => {
                all.insert(format!("tool {name}"));
                let tool = definitions.tools.iter().find(|tool| tool.name.value == *name).unwrap();
                all.extend(tool.operation(arguments).map(|(_, one)| format!("operation {} of {name}", one.name.value)));
            }
            CaseAction::Read { uri } => {
                let reads = |spelled: &str| {
                    spelled == uri || UriTemplate::parse(spelled).is_ok_and(|template| template.matches(uri).is_some())
                };
                let read = definitions.resources.iter().filter(|resource| {
                    reads(&resource.uri.value) || resource.aliases.iter().any(|alias| reads(&alias.value))
                });
                all.extend(read.map(|resource| format!("resource {}", resource.uri.value)));
            }
            CaseAction::Prompt { name, .. } => {
                // What no definition names is made by the one with a `list`.
                let named = definitions.prompts.iter().find(|prompt| prompt.name.value == *name);
                let made = definitions.prompts.iter().find(|prompt| prompt.list.is_some());
                all.extend(named.or(made).map(|prompt| format!("prompt {}", prompt.name.value)));
            }
            CaseAction::Complete { of, argument, .. } => {
                let (CompletedItem::Prompt(of) | CompletedItem::Resource(of)) = of;
                all.insert(format!("completion {argument} of {of}"));
            }
            CaseAction::Write { .. } | CaseAction::Advance { .. } | CaseAction::Restart => {}
        }
    }
    all
}

#[test]
fn everything_that_a_shipped_pack_serves_has_an_example_with_a_result() {
    let mut missing = Vec::new();
    for pack in ["conformance", "duvet", "elspais", "skills", "spec-kitty", "specman"] {
        let (parts, _) = read_packs(&pack_files(pack));
        assert!(!served(&parts.definitions).is_empty(), "{pack} serves nothing");
        let tried = tried(&parts.definitions);
        let served = served(&parts.definitions);
        let untried =
            served.difference(&tried).filter(|item| pack != "conformance" || !FAILING.contains(&item.as_str()));
        missing.extend(untried.map(|item| format!("{pack}: {item}")));
    }
    assert!(missing.is_empty(), "nothing tries\n{}", missing.join("\n"));
}
