//! Changes of the front matter that both are asked to show and not to write.

use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Calls about an artifact, half of those there are; others are what it may refer to.
pub fn calls(id: &str, at: usize, others: &BTreeSet<String>) -> Vec<(&'static str, Value)> {
    let class = id.split(':').next().unwrap_or_default();
    let mut changes = vec![
        json!([{ "op": "set_version", "version": "2.1.0" }]),
        json!([{ "op": "set_version", "version": "2" }]),
        json!([{ "op": "clear_version" }]),
        json!([{ "op": "set_title", "title": "Tea: the \"first\" pot # 1" }]),
        json!([{ "op": "set_description", "description": "- thé\nand 煎茶" }, { "op": "clear_title" }]),
        json!([{ "op": "clear_description" }]),
        json!([{ "op": "add_tag", "tag": "green" }, { "op": "add_tag", "tag": "black" }]),
        json!([{ "op": "remove_tag", "tag": "green" }]),
        json!([{ "op": "add_tag", "tag": "x" }, { "op": "remove_tag", "tag": "x" }]),
        json!([{ "op": "set_name", "name": "tea" }, { "op": "clear_name" }]),
        json!([]),
        json!([{ "op": "no_such" }]),
    ];
    changes.extend(match class {
        "spec" => vec![
            json!([{ "op": "set_requires_implementation", "requires": false }]),
            json!([{ "op": "clear_requires_implementation" }]),
            json!([{ "op": "set_location", "location": "../../src" }]),
        ],
        "impl" => vec![
            json!([{ "op": "set_location", "location": "../../src" }]),
            json!([{ "op": "clear_location" }]),
            json!([{ "op": "set_requires_implementation", "requires": false }]),
        ],
        _ => vec![
            json!([{ "op": "set_branch", "branch": "tea/feat/hot" }]),
            json!([{ "op": "clear_branch" }]),
            json!([{ "op": "set_work_type", "work_type": { "fix": { "fixed_headings": ["Concept: Tea"] } } }]),
            json!([{ "op": "set_work_type", "work_type": { "zap": {} } }]),
            json!([{ "op": "set_target", "target": "spec://tea" }]),
            json!([{ "op": "clear_target" }]),
        ],
    });
    for other in others {
        changes.push(json!([{ "op": "add_dependency", "ref": other }]));
        changes.push(json!([{ "op": "remove_dependency", "ref": other }]));
        if class == "impl" {
            changes.push(json!([{ "op": "add_reference", "ref": other, "type": "implementation", "optional": true }]));
            changes.push(json!([{ "op": "remove_reference", "ref": other }]));
            changes.push(json!([{ "op": "set_spec", "ref": other }]));
        } else {
            changes.push(json!([{ "op": "add_dependency", "ref": other, "optional": true }]));
        }
    }
    let call = |ops| ("update_artifact", json!({ class: { "locator": id, "mode": "preview", "ops": ops } }));
    changes.into_iter().skip(at % 2).step_by(2).map(call).collect()
}

/// A call as one line: the operations, then the artifact.
pub fn asked(arguments: &Value) -> String {
    let (class, asked) =
        arguments.as_object().and_then(|one| one.iter().next()).map_or(("", &Value::Null), |(a, b)| (a, b));
    let first = asked["ops"][0]["op"].as_str().unwrap_or("nothing");
    format!("{first} {class} {} {}", asked["locator"].as_str().unwrap_or_default(), asked["ops"])
}

/// The front matter by its keys, and the text behind it: how YAML is written is not compared.
pub fn plain(answer: &Value) -> Value {
    if answer.get("raised").is_some() {
        return answer.clone();
    }
    let text = answer["updatedDocument"].as_str().unwrap_or_default().trim_start_matches('\u{feff}');
    let (front, body) = parts(text).unwrap_or(("", text));
    let matter: Value = serde_saphyr::from_str(front).unwrap_or_else(|error| json!(format!("{error}")));
    let matter = if matter.is_null() { json!({}) } else { without_empty(matter) };
    let mut keys: Vec<&String> = matter.as_object().into_iter().flat_map(serde_json::Map::keys).collect();
    keys.sort();
    json!({
        "keys": keys,
        "front_matter": matter,
        "body": body,
        "id": answer["id"],
        "handle": answer["handle"],
        "path": answer["path"],
        "persisted": answer["persisted"],
    })
}

fn parts(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// The original writes down keys without a value.
fn without_empty(value: Value) -> Value {
    let is_empty = |value: &Value| value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    match value {
        Value::Object(fields) => {
            let kept = fields.into_iter().filter(|(_, value)| !is_empty(value));
            Value::Object(kept.map(|(key, value)| (key, without_empty(value))).collect())
        }
        Value::Array(items) => items.into_iter().map(without_empty).collect(),
        other => other,
    }
}
