//! Compares what came with what was expected, and says readably how they differ.

use crate::value::Json;
use similar::{ChangeTag, TextDiff};

/// How many differing places are named, before only their number is.
const NAMED: usize = 8;

/// Nothing if both are the same (the order of keys does not matter), else what differs.
pub fn gives(expected: &Json, got: &Json) -> Option<String> {
    if same(expected, got) {
        return None;
    }
    Some(diff(&pretty(&sorted(expected)), &pretty(&sorted(got))))
}

/// Nothing if `expected` is a part of `got`, else what differs: maps may have more keys, lists have as many items.
pub fn matches(expected: &Json, got: &Json) -> Option<String> {
    let mut differing = Vec::new();
    part(expected, got, &mut String::new(), &mut differing);
    let more = differing.len().saturating_sub(NAMED);
    differing.truncate(NAMED);
    if more > 0 {
        differing.push(format!("and {more} more"));
    }
    (!differing.is_empty()).then(|| differing.join("\n"))
}

/// A unified view of two texts, three lines around each change.
pub fn diff(expected: &str, got: &str) -> String {
    let diff = TextDiff::from_lines(expected, got);
    let mut text = String::from("- expected\n+ got\n");
    for (index, group) in diff.grouped_ops(3).iter().enumerate() {
        if index > 0 {
            text.push_str("  …\n");
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Delete => "- ",
                ChangeTag::Insert => "+ ",
                ChangeTag::Equal => "  ",
            };
            text.push_str(sign);
            text.push_str(change.value().trim_end_matches('\n'));
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Whether both are equal as JSON Schema has it: `1` is `1.0`, and keys have no order.
pub fn same(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| same(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|found| same(value, found)))
        }
        _ => one == other,
    }
}

fn part(expected: &Json, got: &Json, at: &mut String, differing: &mut Vec<String>) {
    let length = at.len();
    match (expected, got) {
        (Json::Object(expected), Json::Object(found)) => {
            for (key, value) in expected {
                at.push('/');
                at.push_str(key);
                match found.get(key) {
                    Some(found) => part(value, found, at, differing),
                    None => differing.push(format!("{at}: expected {}, got nothing", short(value))),
                }
                at.truncate(length);
            }
        }
        (Json::Array(expected), Json::Array(found)) if expected.len() == found.len() => {
            for (index, (value, found)) in expected.iter().zip(found).enumerate() {
                at.push_str(&format!("/{index}"));
                part(value, found, at, differing);
                at.truncate(length);
            }
        }
        (Json::Array(expected), Json::Array(found)) => {
            let place = shown(at);
            let (wanted, count) = (expected.len(), found.len());
            differing.push(format!("{place}: expected {wanted} items, got {count}: {}", short(got)));
        }
        _ if same(expected, got) => {}
        _ => differing.push(format!("{}: expected {}, got {}", shown(at), short(expected), short(got))),
    }
}

fn shown(at: &str) -> &str {
    if at.is_empty() { "the result" } else { at }
}

fn short(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn pretty(value: &Json) -> String {
    match value {
        Json::String(text) if text.contains('\n') => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// The same with sorted keys, so that a view of two texts shows only what differs.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(map) => {
            let mut pairs: Vec<(&String, &Json)> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            Json::Object(pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_and_the_way_to_write_a_number_do_not_matter() {
        assert_eq!(gives(&json!({ "a": 1, "b": [2.0] }), &json!({ "b": [2], "a": 1.0 })), None);
        let shown = "- expected\n+ got\n  {\n-   \"a\": 1\n+   \"a\": 2\n  }";
        assert_eq!(gives(&json!({ "a": 1 }), &json!({ "a": 2 })).as_deref(), Some(shown));
    }

    #[test]
    fn a_part_may_leave_keys_out_but_no_items() {
        assert_eq!(matches(&json!([{ "a": 1 }]), &json!([{ "a": 1, "b": 2 }])), None);
        let shown = "the result: expected 1 items, got 2: [1,2]";
        assert_eq!(matches(&json!([1]), &json!([1, 2])).as_deref(), Some(shown));
        let shown = "/0/a: expected 1, got \"x\"\n/0/b: expected 2, got nothing";
        assert_eq!(matches(&json!([{ "a": 1, "b": 2 }]), &json!([{ "a": "x" }])).as_deref(), Some(shown));
    }
}
