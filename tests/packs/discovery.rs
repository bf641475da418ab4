//! Questions in words find the tools of the shipped packs.

use crate::support::systems;
use serde_json::Value;
use std::fs;
use std::sync::Arc;
use toolsd::discovery::ToolIndex;
use toolsd::registry::{EMBEDDED, Layer, PackFiles, PackParts, Registry, RegistryParts, WorkspaceSettings, assemble};
use toolsd::world::World;
use toolsd::world::memory::MemoryWorld;

/// The packs that are served together.
const PACKS: [&str; 5] = ["duvet", "elspais", "skills", "spec-kitty", "specman"];
/// Tools of a result that a model reads.
const LIMIT: usize = 5;
/// Questions of 100 whose tool is among the first five.
const LEAST_OF_100: usize = 90;
/// The same for the 60 questions of others.
const LEAST_OF_OTHERS: usize = 40;

fn registry() -> Registry {
    let layer = Layer { origin: EMBEDDED.to_owned(), world: None, trust: None, is_stored: false };
    let (files, diagnostics) = PackFiles::collect(&[layer]);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    let settings = WorkspaceSettings::default();
    let fresh = PACKS.map(|name| {
        let world: Arc<dyn World> = Arc::new(MemoryWorld::default());
        (PackParts::read(name, [0; 32], files.for_pack(name), &settings), world)
    });
    assemble(RegistryParts { fresh: fresh.into(), kept: Vec::new(), previous: &Registry::default(), settings })
}

/// A question, and the tools of which one is meant.
type Query = (String, Vec<String>);

/// How many queries find a tool that they mean among the first ones. Prints those that do not.
fn recall(registry: &Registry, queries: &[Query]) -> usize {
    let index = ToolIndex::new(registry);
    let is_found = |(query, meant): &&Query| {
        let found = index.search(query, None, LIMIT);
        let names: Vec<&str> = found.tools.iter().map(|tool| tool.name.as_str()).collect();
        let is_found = meant.iter().any(|tool| names.contains(&tool.as_str()));
        if !is_found {
            println!("`{query}` means {meant:?} and finds {names:?}");
        }
        is_found
    };
    queries.iter().filter(is_found).count()
}

#[test]
#[ignore = "real projects: `just corpora`"]
fn questions_find_the_tools_that_they_mean() {
    let path = systems("").join("../spike/codemode/queries.jsonl");
    let registry = registry();
    let text = fs::read_to_string(path).unwrap();
    // What was renamed since counts by its new name.
    let (mut queries, mut renamed, mut gone) = (Vec::new(), 0, 0);
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let [query, tool] = ["query", "tool"].map(|key| line[key].as_str().unwrap().to_owned());
        match registry.tool(&tool).map(|served| served.name.clone()) {
            Some(name) => {
                renamed += usize::from(name != tool);
                queries.push((query, vec![name]));
            }
            None => gone += 1,
        }
    }
    let found = recall(&registry, &queries);
    println!("{found} of {} found; {renamed} renamed, {gone} gone", queries.len());
    assert!(found * 100 >= LEAST_OF_100 * queries.len(), "{found} of {} found", queries.len());
}

/// These were written by a person who did not know how the index ranks, and it is not adapted to them.
#[test]
fn questions_of_others_find_their_tools() {
    let table: toml::Table = include_str!("discovery_queries.toml").parse().unwrap();
    let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
    let query = |entry: &toml::Value| {
        let several = entry.get("tools").and_then(toml::Value::as_array);
        let meant: Vec<String> = entry.get("tool").into_iter().chain(several.into_iter().flatten()).map(text).collect();
        (text(&entry["query"]), meant)
    };
    let queries: Vec<Query> = table["query"].as_array().unwrap().iter().map(query).collect();
    let registry = registry();
    for name in queries.iter().flat_map(|(_, meant)| meant) {
        assert!(registry.tool(name).is_some(), "there is no tool `{name}`");
    }
    let found = recall(&registry, &queries);
    println!("{found} of {} found", queries.len());
    assert!(found >= LEAST_OF_OTHERS, "{found} of {} found", queries.len());
}
