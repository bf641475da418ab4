//! Schemas in a form that can be compared: references stand alone, and annotations can be removed.

use crate::value::Json;
use serde_json::{Map, json};

/// Keywords that models read and that refuse nothing.
pub(super) const ANNOTATIONS: [&str; 9] =
    ["title", "description", "examples", "deprecated", "enumNames", "$comment", "readOnly", "writeOnly", "default"];

/// Keywords next to a reference that change nothing about it.
const NEUTRAL: [&str; 5] = ["$ref", "$defs", "definitions", "$schema", "$id"];

/// The same schema, in which a reference with other keywords next to it is a part of `allOf`.
pub(super) fn normalized(schema: &Json) -> Json {
    rewrite(schema, &|map| {
        let is_alone = |(keyword, _): (&String, &Json)| {
            NEUTRAL.contains(&keyword.as_str()) || ANNOTATIONS.contains(&keyword.as_str())
        };
        if map.get("$ref").is_some_and(Json::is_string)
            && !map.iter().all(is_alone)
            && let Some(reference) = map.shift_remove("$ref")
        {
            let all = map.entry("allOf").or_insert_with(|| json!([]));
            all.as_array_mut().into_iter().for_each(|all| all.push(json!({ "$ref": reference })));
        }
    })
}

/// The same schema without annotations.
pub(super) fn bare(schema: &Json) -> Json {
    rewrite(schema, &|map| map.retain(|keyword, _| !ANNOTATIONS.contains(&keyword.as_str())))
}

fn rewrite(schema: &Json, change: &dyn Fn(&mut Map<String, Json>)) -> Json {
    let Some(map) = schema.as_object() else { return schema.clone() };
    let mut rewritten = Map::new();
    for (keyword, value) in map {
        let value = match (keyword.as_str(), value) {
            (
                "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas",
                Json::Object(schemas),
            ) => schemas.iter().map(|(name, schema)| (name.clone(), rewrite(schema, change))).collect(),
            ("allOf" | "anyOf" | "oneOf" | "prefixItems", Json::Array(schemas)) => {
                schemas.iter().map(|schema| rewrite(schema, change)).collect()
            }
            (
                "items"
                | "additionalProperties"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "contains"
                | "propertyNames"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contentSchema",
                schema,
            ) => rewrite(schema, change),
            (_, other) => other.clone(),
        };
        rewritten.insert(keyword.clone(), value);
    }
    change(&mut rewritten);
    Json::Object(rewritten)
}

/// Whether a schema refers to something.
pub(super) fn refers(schema: &Json) -> bool {
    any_key(schema, &|keyword, _| matches!(keyword, "$ref" | "$dynamicRef"))
}

/// Whether every reference of a schema leads into the shared definitions of its root.
pub(super) fn refers_to_definitions(root: &Json) -> bool {
    let is_elsewhere = |keyword: &str, value: &Json| match keyword {
        "$ref" => value.as_str().is_none_or(|to| !to.starts_with("#/$defs/") && !to.starts_with("#/definitions/")),
        "$dynamicRef" | "$id" | "$anchor" | "$dynamicAnchor" => true,
        _ => false,
    };
    !any_key(root, &is_elsewhere)
}

fn any_key(json: &Json, is_found: &dyn Fn(&str, &Json) -> bool) -> bool {
    match json {
        Json::Array(items) => items.iter().any(|item| any_key(item, is_found)),
        Json::Object(map) => map.iter().any(|(key, value)| is_found(key, value) || any_key(value, is_found)),
        _ => false,
    }
}

/// Returns what a reference leads to, through others; `None` if it leads out of the schema, or in a circle.
pub(super) fn follow<'a>(mut schema: &'a Json, root: &'a Json) -> Option<&'a Json> {
    for _ in 0..32 {
        if schema.get("$dynamicRef").is_some() {
            return None;
        }
        let Some(reference) = schema.get("$ref").and_then(Json::as_str) else { return Some(schema) };
        schema = root.pointer(reference.strip_prefix('#')?)?;
    }
    None
}
