//! The schema for editors agrees with the reader of definitions: on what the packs say, and on seeded mistakes in it.

use crate::support::dice::Dice;
use crate::tidy::packs;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use toolsd::definition::{GrammarKey, Validation, all_grammars, pack_schema, read_definitions, workspace_schema};
use toolsd::source::Source;

/// The codes of mistakes in one key or its value. Whether a key is missing can depend on others, such as `dispatch`.
const CODES: [&str; 6] = ["unknown-key", "missing-key", "wrong-type", "wrong-value", "schema-keyword", "schema-value"];

/// Path and content of each definition file of the packs.
fn definitions() -> Vec<(String, Value)> {
    let files = packs::files().into_iter().filter(|(path, _)| path.starts_with("tools.d/") && path.ends_with(".toml"));
    let found: Vec<(String, Value)> = files.map(|(path, text)| (path, toml::from_str(&text).unwrap())).collect();
    assert!(found.len() > 60);
    found
}

#[test]
fn every_definition_of_the_packs_is_accepted() {
    let schema = jsonschema::draft7::new(&pack_schema()).unwrap();
    for (path, content) in definitions() {
        let errors: Vec<String> =
            schema.iter_errors(&content).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{path}:\n{}", errors.join("\n"));
    }
}

#[test]
fn the_schemas_are_schemas_and_describe_every_key() {
    for schema in [pack_schema(), workspace_schema()] {
        assert!(jsonschema::draft7::meta::is_valid(&schema));
        let tables = schema["definitions"].as_object().unwrap().values().chain([&schema]);
        for (name, key) in tables.filter_map(|table| table["properties"].as_object()).flatten() {
            let is_keyword = schema["definitions"]["schema"]["properties"].get(name).is_some();
            assert!(is_keyword || key["description"].is_string(), "{name}: {key}");
        }
    }
}

/// A table somewhere in the content, with its path.
fn tables<'a>(value: &'a mut Value, found: &mut Vec<&'a mut Map<String, Value>>) {
    match value {
        Value::Object(table) => {
            // The table itself is changed, or one below it: both borrow it, so one of them is drawn.
            if table.values().all(|inner| !inner.is_object() && !inner.is_array()) {
                found.push(table);
            } else {
                table.values_mut().for_each(|inner| tables(inner, found));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| tables(item, found)),
        _ => {}
    }
}

/// Misspells a key, removes one, or changes the kind of its value. Returns the key and what was done.
fn make_mistake(content: &mut Value, dice: &mut Dice) -> Option<(String, String)> {
    // Half of the mistakes are made in a table of the file, as authors write them, half in one without inner tables.
    let mut chosen = Vec::new();
    if dice.below(2) == 0 {
        let top = content.as_object_mut()?;
        chosen.extend(top.values_mut().flat_map(|value| match value {
            Value::Object(table) => vec![table],
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).collect(),
            _ => vec![],
        }));
    } else {
        tables(content, &mut chosen);
    }
    let count = chosen.len();
    let table = chosen.into_iter().nth(dice.below(count.max(1)))?;
    let key = table.keys().nth(dice.below(table.len().max(1)))?.clone();
    let value = table.get(&key)?.clone();
    let mistake = match dice.below(3) {
        0 => {
            table.remove(&key);
            table.insert(format!("{key}s"), value);
            format!("`{key}` misspelt")
        }
        1 => {
            table.remove(&key);
            format!("`{key}` removed")
        }
        _ => {
            let others = [json!("word"), json!(-7), json!(true), json!([3]), json!({ "a": 1 }), json!("")];
            let other = others[dice.below(others.len())].clone();
            table.insert(key.clone(), other.clone());
            format!("`{key}` is {other} in place of {value}")
        }
    };
    Some((key, mistake))
}

/// The keys of all tables that have this name.
fn keys_named(name: &str) -> impl Iterator<Item = &'static GrammarKey> {
    let keys = all_grammars().into_iter().flat_map(|grammar| grammar.keys);
    keys.filter(move |key| key.name == name)
}

/// The content as TOML, with inline tables throughout.
fn to_toml(value: &Value) -> String {
    match value {
        Value::Object(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format!("{} = {}", json!(key), to_toml(value))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(to_toml).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}

#[test]
fn the_schema_refuses_the_keys_and_kinds_that_the_reader_refuses() {
    let schema = jsonschema::draft7::new(&pack_schema()).unwrap();
    let all = definitions();
    let mut refused: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in 0..600 {
        let mut dice = Dice(seed);
        let (path, mut content) = all[dice.below(all.len())].clone();
        let Some((key, mistake)) = make_mistake(&mut content, &mut dice) else { continue };
        let lines: Vec<String> =
            content.as_object().unwrap().iter().map(|(key, value)| format!("{key} = {}", to_toml(value))).collect();
        let (_, diagnostics) = read_definitions(&Source::new("tools.d/p.toml", lines.join("\n")), Validation::Full);
        let codes: Vec<&str> = diagnostics.iter().filter(|one| one.is_error()).map(|one| one.code.0).collect();
        // What the mistake leads to elsewhere takes more than a schema to be seen.
        let names = [format!("`{key}`"), format!("`{key}s`")];
        let of_key = diagnostics.iter().filter(|one| names.iter().any(|name| one.message.contains(name)));
        let of_key: Vec<&str> = of_key.map(|one| one.code.0).collect();
        let mut of_keys: Vec<&str> = CODES.into_iter().filter(|code| of_key.contains(code)).collect();
        if !keys_named(&key).all(|key| key.required) {
            of_keys.retain(|code| *code != "missing-key");
        }
        if keys_named(&key).next().is_none() {
            // A name of the author's, such as that of an argument.
            of_keys.clear();
        }
        let told = format!("seed {seed}, {}: {mistake}: {codes:?}", path);
        if schema.is_valid(&content) {
            assert!(of_keys.is_empty(), "the schema accepts it. {told}");
        } else {
            let errors: Vec<String> =
                schema.iter_errors(&content).map(|error| format!("{}: {error:.200}", error.instance_path())).collect();
            assert!(!codes.is_empty(), "the reader accepts it. {told}\n{}", errors.join("\n"));
            for code in CODES.into_iter().filter(|code| of_key.contains(code)) {
                *refused.entry(code).or_default() += 1;
            }
        }
    }
    assert!(refused.values().sum::<usize>() >= 60 && refused.len() == CODES.len(), "{refused:?}");
}
