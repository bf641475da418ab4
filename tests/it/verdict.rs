//! Verdicts on changes: each file of `tests/verdicts` has pairs and what is reported of them; random schemas show that
//! what is called compatible is.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::{Value as Json, json};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use toolsd::definition::{Checker, schema_object};
use toolsd::verdict::{self, Change, Role, Verdict, compare, compare_schemas, version_steps};

/// A surface of which a fragment is a part.
fn surface(place: &str, fragment: &Json) -> Json {
    let object = |schema: &Json, required: &[&str]| json!({ "type": "object", "properties": { "a": schema }, "required": required, "additionalProperties": false });
    let pack = match place {
        "argument" => return surface("input", &object(fragment, &[])),
        "field" => return surface("output", &object(fragment, &["a"])),
        "input" => json!({ "tools": { "t": { "inputSchema": fragment } } }),
        "output" => json!({ "tools": { "t": { "outputSchema": fragment } } }),
        "config" => json!({ "config": fragment }),
        "tool" => json!({ "tools": { "t": fragment } }),
        "prompt" => json!({ "prompts": { "t": fragment } }),
        "resource" => json!({ "resources": { "x://t": fragment } }),
        "pack" => fragment.clone(),
        "packs" => return json!({ "format": 1, "packs": fragment }),
        other => panic!(
            "a pair is in `argument`, `field`, `input`, `output`, `config`, `tool`, `prompt`, `resource`, `pack` or `packs`, not in `{other}`"
        ),
    };
    json!({ "format": 1, "packs": { "p": pack } })
}

/// What differs between the changes of two surfaces and those that a row expects: each has its kind, verdict and
/// `widens`, and may have `what`, and parts of the message.
fn difference(old: &Json, new: &Json, expected: &[Json]) -> Option<String> {
    let found = compare(old, new);
    let text = |row: &Json, key: &str| row.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let fits = |(change, row): (&Change, &Json)| {
        change.kind == text(row, "kind")
            && change.verdict.word() == text(row, "verdict")
            && change.widens == (row.get("widens") == Some(&Json::Bool(true)))
            && change.message.contains(&text(row, "message"))
            && row.get("what").is_none_or(|what| what == &change.what)
    };
    let is_expected = found.len() == expected.len() && found.iter().zip(expected).all(fits);
    (!is_expected).then(|| format!("reported: {found:#?}\nexpected: {expected:#?}"))
}

#[test]
fn every_pair_gets_the_verdict_of_its_row() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verdicts");
    let (mut count, mut wrong) = (0, Vec::new());
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let file: toml::Table = toml::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        for row in serde_json::to_value(file).unwrap()["pair"].as_array().unwrap() {
            let place = row["in"].as_str().unwrap();
            let [old, new] = ["old", "new"].map(|key| surface(place, &row[key]));
            for (key, old, new) in [("expect", &old, &new), ("back", &new, &old)] {
                let Some(expected) = row.get(key).and_then(Json::as_array) else { continue };
                count += 1;
                let name = format!("{}: {} ({key})", path.display(), row["title"]);
                wrong.extend(difference(old, new, expected).map(|difference| format!("{name}\n{difference}")));
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count}:\n{}", wrong.len(), wrong.join("\n\n"));
    assert!(count >= 120, "only {count} pairs: the files are not read as they are written");
}

#[test]
fn nothing_changes_between_equal_surfaces_and_the_order_is_reported_once() {
    let one = json!({ "packs": { "p": { "tools": { "a": { "title": "A", "description": "x" }, "b": {} } }, "q": { "tools": { "c": {}, "d": {} } } } });
    let other = json!({ "packs": { "p": { "tools": { "b": {}, "a": { "description": "x", "title": "A" } } }, "q": { "tools": { "d": {}, "c": {} } } } });
    assert_eq!(compare(&one, &one), []);
    let changes = compare(&one, &other);
    assert_eq!(
        changes.iter().map(|change| (change.kind, change.verdict)).collect::<Vec<_>>(),
        [("order-changed", Verdict::None)]
    );
}

#[test]
fn a_version_is_raised_as_far_as_the_changes_demand() {
    let of = |version: &Json, tools: &Json| json!({ "packs": { "p": { "version": version, "tools": tools } } });
    let table: Json = toml::from_str(include_str!("versions.toml")).unwrap();
    for row in table["step"].as_array().unwrap() {
        let (old, new) = (of(&row["from"], &row["old"]), of(&row["to"], &row["new"]));
        let expected = row.get("message").and_then(Json::as_str).unwrap_or_default();
        let steps = version_steps(&old, &new, &compare(&old, &new));
        let message = steps.first().map_or("", |step| step.message.as_str());
        assert!(message.contains(expected) && message.is_empty() == expected.is_empty(), "{row}: {steps:?}");
    }
}

#[test]
fn reports_show_the_worst_first_and_no_text_of_a_pack_gets_out() {
    let of = |text: &str, tools: Json| json!({ "packs": { "p": { "version": "1.0.0", "instructions": text, "tools": tools } } });
    let old = of("Read the file first.", json!({ "a|b": { "description": "x" } }));
    let new = of("Read the ```\u{202e} file @admin </details> first.\nSee https://x.example/", json!({}));
    let mut changes = compare(&old, &new);
    changes.extend(version_steps(&old, &new, &changes));
    let text = verdict::text(&changes);
    assert!(text.starts_with("verdict: breaking (3 changes)\nbreaking: p: tool `a|b`: it was removed"), "{text}");
    for part in [
        "{+",
        "wording: p: instructions: the text changed",
        "new invisible characters: U+202E (bidi); new links: https://x.example/",
        "none: p: version: the changes need a major step (worst: breaking)",
    ] {
        assert!(text.contains(part), "{part} is not in:\n{text}");
    }
    assert!(!text.contains('\u{202e}'));
    let markdown = verdict::markdown(&changes);
    assert!(markdown.starts_with("**Verdict: breaking (3 changes)**\n"), "{markdown}");
    for part in
        ["| breaking | p | tool \\`a\\|b\\` | it was removed", "<details>", "\n````text\n", "| none | p | version |"]
    {
        assert!(markdown.contains(part), "{part} is not in:\n{markdown}");
    }
    assert!(!markdown.contains('\u{202e}'));
    let json = verdict::json(&changes);
    assert_eq!(
        (&json["verdict"], &json["widens"], &json["changes"][0]["kind"]),
        (&json!("breaking"), &json!(false), &json!("tool-removed"))
    );
    let sarif = verdict::sarif(&changes);
    assert_eq!(sarif["runs"][0]["results"][0]["level"], "error");
    let message = sarif["runs"][0]["results"][0]["message"]["text"].as_str().unwrap();
    assert!(message.starts_with("breaking: p: tool `a|b`: it was removed"), "{message}");
}

/// Schemas of a small grammar, so that two of them are often related.
fn schema() -> impl Strategy<Value = Json> {
    let number = || 0..4_i64;
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!(false)),
        prop_oneof![Just("string"), Just("integer"), Just("number"), Just("null")]
            .prop_map(|name| json!({ "type": name })),
        Just(json!({ "type": ["string", "integer"] })),
        proptest::collection::btree_set(prop_oneof![Just("a"), Just("b"), Just("ab")], 1..3)
            .prop_map(|values| json!({ "enum": values })),
        number().prop_map(|value| json!({ "const": value })),
        (number(), number())
            .prop_map(|(low, high)| json!({ "type": "integer", "minimum": low, "exclusiveMaximum": high })),
        number().prop_map(|low| json!({ "exclusiveMinimum": low, "multipleOf": low + 1 })),
        (number(), number()).prop_map(|(low, high)| json!({ "type": "string", "minLength": low, "maxLength": high })),
        prop_oneof![Just("^a"), Just("b$")].prop_map(|pattern| json!({ "pattern": pattern })),
        Just(json!({ "$ref": "#/$defs/d" })),
        Just(json!({ "$ref": "#/$defs/d", "type": "string" })),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        let names = || proptest::collection::btree_set(prop_oneof![Just("a"), Just("b"), Just("ab")], 0..3);
        let some = || proptest::collection::vec(inner.clone(), 1..3);
        let properties = proptest::collection::btree_map(prop_oneof![Just("a"), Just("b"), Just("ab")], inner.clone(), 0..3);
        let keyword = prop_oneof![Just("additionalProperties"), Just("unevaluatedProperties"), Just("propertyNames")];
        prop_oneof![
            (properties.clone(), names(), keyword, prop_oneof![Just(json!(false)), inner.clone()])
                .prop_map(|(properties, required, keyword, others)| json!({ "type": "object", "properties": properties, "required": required, keyword: others })),
            (properties, inner.clone(), any::<bool>()).prop_map(|(properties, other, closed)| json!({ "properties": properties, "patternProperties": { "^a": other }, "additionalProperties": closed })),
            (inner.clone(), 0..3_u8).prop_map(|(items, least)| json!({ "type": "array", "items": items, "minItems": least })),
            (some(), inner.clone()).prop_map(|(first, items)| json!({ "prefixItems": first, "items": items })),
            some().prop_map(|all| json!({ "allOf": all })),
            some().prop_map(|any| json!({ "anyOf": any })),
            some().prop_map(|one| json!({ "oneOf": one })),
            inner.clone().prop_map(|not| json!({ "not": not })),
            (names(), inner.clone()).prop_map(|(values, then)| json!({ "properties": { "a": { "type": "string" } }, "if": { "properties": { "a": { "enum": values.into_iter().chain(["c"]).collect::<BTreeSet<_>>() } }, "required": ["a"] }, "then": { "required": ["b"], "properties": { "b": then } } })),
            (inner.clone(), any::<bool>()).prop_map(|(part, closed)| json!({ "anyOf": [part], "unevaluatedProperties": closed })),
            inner.prop_map(|contains| json!({ "contains": contains, "uniqueItems": true })),
        ]
    })
}

fn with_definitions(schema: Json, definition: &Json) -> Json {
    let mut map = match schema {
        Json::Object(map) => map,
        other => return other,
    };
    map.insert("$defs".to_owned(), json!({ "d": definition }));
    Json::Object(map)
}

/// A few edits of a schema at random places: related schemas are where a comparison can be wrong.
fn mutated(schema: &Json, picks: &mut impl Iterator<Item = usize>) -> Json {
    let pick = picks.next().unwrap_or(1);
    match schema {
        Json::Number(number) if pick.is_multiple_of(4) => json!(number.as_i64().unwrap_or(0) + 1),
        Json::Number(number) if pick % 4 == 1 => json!((number.as_i64().unwrap_or(0) - 1).max(1)),
        Json::Bool(value) if pick.is_multiple_of(3) => json!(!value),
        Json::String(text) if text == "integer" && pick.is_multiple_of(3) => json!("number"),
        Json::Array(items) => {
            let kept = items.iter().enumerate().filter(|(at, _)| items.len() < 2 || pick % 7 != *at);
            kept.map(|(_, item)| mutated(item, picks)).collect()
        }
        Json::Object(map) => {
            let kept = map.iter().enumerate().filter(|(at, _)| pick % 9 != *at);
            let part = |(_, (key, value)): (usize, (&String, &Json))| match key.as_str() {
                // Lists of one are not shortened above, and what is required changes in practice.
                "required" if pick.is_multiple_of(2) => (key.clone(), Json::from(vec![["a", "b", "ab"][pick / 2 % 3]])),
                _ => (key.clone(), mutated(value, picks)),
            };
            kept.map(part).collect()
        }
        other => other.clone(),
    }
}

fn instance() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        prop_oneof![Just("a"), Just("b"), Just("ab"), Just("c"), Just("")].prop_map(|text| json!(text)),
        (0..5_i64).prop_map(|value| json!(value)),
        Just(json!(1.5)),
        Just(json!(null)),
        Just(json!(true)),
    ];
    leaf.prop_recursive(3, 10, 3, |inner| {
        let name = prop_oneof![Just("a"), Just("b"), Just("ab"), Just("c")];
        prop_oneof![
            proptest::collection::btree_map(name, inner.clone(), 0..4).prop_map(|map| json!(map)),
            proptest::collection::vec(inner, 0..4).prop_map(Json::from),
        ]
    })
}

#[test]
fn what_is_called_compatible_accepts_everything_that_was_accepted() {
    let count = Cell::new((0, 0));
    let strategy = (schema(), schema(), schema(), proptest::collection::vec(any::<usize>(), 40));
    let config = Config { cases: 1_000, failure_persistence: None, max_shrink_iters: 4_000, ..Config::default() };
    let mut runner = TestRunner::new(config);
    let instances = proptest::collection::vec(instance(), 200).new_tree(&mut runner).unwrap().current();
    runner
        .run(&strategy, |(old, other, definition, picks)| {
            let mut picks = picks.into_iter().cycle();
            let new = if picks.next().unwrap().is_multiple_of(4) { other } else { mutated(&old, &mut picks) };
            let definition_after = if picks.next().unwrap().is_multiple_of(2) {
                definition.clone()
            } else {
                mutated(&definition, &mut picks)
            };
            let [old, new] = [with_definitions(old, &definition), with_definitions(new, &definition_after)];
            let is_fine = |role| {
                compare_schemas("p", "t", role, &old, &new).iter().all(|change| change.verdict < Verdict::Breaking)
            };
            let (calls, results) = (is_fine(Role::Arguments), is_fine(Role::Result));
            // Equal schemas show nothing.
            if old == new || !(calls || results) {
                return Ok(());
            }
            let checkers = [&old, &new].map(|schema| schema_object(schema.clone()).and_then(Checker::new));
            let [Ok(before), Ok(after)] = checkers else { return Ok(()) };
            for instance in &instances {
                let (was, is) = (before.check(instance).is_empty(), after.check(instance).is_empty());
                let (pairs, held) = count.get();
                count.set((
                    pairs + usize::from(calls) + usize::from(results),
                    held + usize::from((calls && was) || (results && is)),
                ));
                prop_assert!(!(calls && was && !is), "{instance} was accepted\nby  {old}\nnot {new}");
                prop_assert!(!(results && is && !was), "{instance} is a result\nof  {new}\nnot {old}");
            }
            Ok(())
        })
        .unwrap();
    let (pairs, held) = count.get();
    println!("{pairs} instances under a good verdict, {held} of them accepted");
    assert!(
        pairs >= 10_000 && held >= 10_000,
        "only {pairs} instances under a good verdict, of which {held} are accepted"
    );
}
