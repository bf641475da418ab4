//! Whole numbers of a value: JSON Schema counts 3.0 as an integer, and so a script gets 3 where its schema says `integer`.

use super::keyword::follow_reference;
use crate::value::Json;

/// Nested and recursive schemas are followed to this depth.
const MAX_DEPTH: usize = 32;

/// From this value on, a float cannot distinguish neighboring integers; it is left as it was sent.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// Converts whole numbers written as `3.0` to integers, where `schema` requires an integer.
pub(super) fn settle_integers(schema: &Json, value: &mut Json) {
    if has_whole_float(value) {
        settle(&[schema], schema, value, MAX_DEPTH);
    }
}

fn has_whole_float(value: &Json) -> bool {
    match value {
        Json::Number(_) => whole(value).is_some(),
        Json::Array(items) => items.iter().any(has_whole_float),
        Json::Object(map) => map.values().any(has_whole_float),
        _ => false,
    }
}

/// The integer that a number with a point spells.
fn whole(value: &Json) -> Option<i64> {
    let float =
        value.as_f64().filter(|float| value.is_f64() && float.fract() == 0.0 && float.abs() <= MAX_EXACT_INTEGER)?;
    #[allow(clippy::cast_possible_truncation, reason = "it is whole and small enough")]
    let integer = float as i64;
    Some(integer)
}

/// `schemas` are all that may apply to the value.
fn settle(schemas: &[&Json], root: &Json, value: &mut Json, depth: usize) {
    let Some(deeper) = depth.checked_sub(1) else { return };
    let mut all = Vec::new();
    schemas.iter().for_each(|schema| expand(schema, root, deeper, &mut all));
    match value {
        Json::Array(items) => {
            for (at, item) in items.iter_mut().enumerate() {
                let of_item: Vec<&Json> = all.iter().filter_map(|schema| item_schema(schema, at)).collect();
                settle(&of_item, root, item, deeper);
            }
        }
        Json::Object(map) => {
            for (name, property) in map.iter_mut() {
                let of_name: Vec<&Json> = all.iter().filter_map(|schema| property_schema(schema, name)).collect();
                settle(&of_name, root, property, deeper);
            }
        }
        // Where one alternative takes any number, the script expects what was sent.
        _ if takes(&all, "integer") && !takes(&all, "number") => {
            if let Some(integer) = whole(value) {
                *value = integer.into();
            }
        }
        _ => {}
    }
}

fn property_schema<'a>(schema: &'a Json, name: &str) -> Option<&'a Json> {
    let named = schema.get("properties").and_then(|properties| properties.get(name));
    named.or_else(|| schema.get("additionalProperties"))
}

fn item_schema(schema: &Json, at: usize) -> Option<&Json> {
    let first = schema.get("prefixItems").and_then(|first| first.get(at));
    first.or_else(|| schema.get("items"))
}

fn takes(schemas: &[&Json], wanted: &str) -> bool {
    schemas.iter().any(|schema| match schema.get("type") {
        Some(Json::String(one)) => one == wanted,
        Some(Json::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    })
}

/// A schema, and those that it refers to, combines or offers.
fn expand<'a>(schema: &'a Json, root: &'a Json, depth: usize, all: &mut Vec<&'a Json>) {
    let Some(deeper) = depth.checked_sub(1) else { return };
    all.push(schema);
    let target = schema.get("$ref").and_then(Json::as_str).and_then(|reference| follow_reference(reference, root));
    let parts = ["allOf", "anyOf", "oneOf"].into_iter().filter_map(|key| schema.get(key)?.as_array()).flatten();
    target.into_iter().chain(parts).for_each(|part| expand(part, root, deeper, all));
}

#[cfg(test)]
mod tests {
    use super::settle_integers;
    use serde_json::json;

    #[test]
    fn whole_numbers_become_integers_where_the_schema_asks_for_them() {
        let schema = json!({
            "$defs": { "Size": { "type": "integer" } },
            "properties": {
                "limit": { "type": "integer" },
                "ratio": { "type": "number" },
                "any": { "type": ["integer", "number"] },
                "maybe": { "anyOf": [{ "$ref": "#/$defs/Size" }, { "type": "null" }] },
                "either": { "anyOf": [{ "type": "integer" }, { "type": "number" }] },
                "page": { "properties": { "size": { "$ref": "#/$defs/Size" } } },
                "edits": { "items": { "oneOf": [
                    { "properties": { "line": { "type": "integer" } } },
                    { "properties": { "text": { "type": "string" } } },
                ] } },
                "pair": { "prefixItems": [{ "type": "number" }], "items": { "type": "integer" } },
                "sizes": { "additionalProperties": { "type": "integer" } },
                "free": true,
            },
        });
        let mut value = json!({
            "limit": 3.0, "ratio": 3.0, "any": 3.0, "maybe": -0.0, "either": 3.0, "page": { "size": 3.0 },
            "edits": [{ "line": 3.0 }], "pair": [3.0, 3.0], "sizes": { "a": 3.0 }, "free": 3.0,
        });
        settle_integers(&schema, &mut value);
        let settled = json!({
            "limit": 3, "ratio": 3.0, "any": 3.0, "maybe": 0, "either": 3.0, "page": { "size": 3 },
            "edits": [{ "line": 3 }], "pair": [3.0, 3], "sizes": { "a": 3 }, "free": 3.0,
        });
        assert_eq!(value, settled);
        for other in [json!({ "limit": 1e300 }), json!({ "limit": 3.5 })] {
            let mut value = other.clone();
            settle_integers(&schema, &mut value);
            assert_eq!(value, other);
        }
    }
}
