//! The keys of a result in the order of its schema: maps of scripts are sorted by name, people and tests are not.

use crate::value::Json;
use serde_json::Map;

/// How many references are followed from one schema to the next before giving up: a chain that bites its tail ends.
const CHAIN: usize = 32;

/// Puts the keys of every object of `value` into the order in which `schema` names them; unknown ones come last.
pub fn by_schema(value: &mut Json, schema: &Json) {
    arrange(value, schema, schema);
}

fn arrange(value: &mut Json, schema: &Json, root: &Json) {
    match value {
        Json::Object(map) => {
            let mut properties = Vec::new();
            collect(schema, root, CHAIN, &mut properties);
            let mut ordered = Map::with_capacity(map.len());
            for (name, schema) in &properties {
                if let Some(value) = map.get_mut(*name) {
                    let mut value = std::mem::take(value);
                    arrange(&mut value, schema, root);
                    ordered.entry(*name).or_insert(value);
                }
            }
            let rest = resolve(schema, root, CHAIN).get("additionalProperties");
            for (name, mut value) in std::mem::take(map) {
                if !properties.iter().any(|(known, _)| *known == name) {
                    if let Some(schema) = rest {
                        arrange(&mut value, schema, root);
                    }
                    ordered.insert(name, value);
                }
            }
            *map = ordered;
        }
        Json::Array(items) => {
            if let Some(schema) = resolve(schema, root, CHAIN).get("items") {
                items.iter_mut().for_each(|item| arrange(item, schema, root));
            }
        }
        _ => {}
    }
}

/// The properties that a schema names, its parts' included; a name counts where it stands first.
fn collect<'a>(schema: &'a Json, root: &'a Json, chain: usize, into: &mut Vec<(&'a str, &'a Json)>) {
    if chain == 0 {
        return;
    }
    let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    for (name, property) in properties {
        if !into.iter().any(|(known, _)| *known == name) {
            into.push((name, property));
        }
    }
    if let Some(target) = referred(schema, root) {
        collect(target, root, chain - 1, into);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        for part in schema.get(word).and_then(Json::as_array).into_iter().flatten() {
            collect(part, root, chain - 1, into);
        }
    }
    for part in ["then", "else"].iter().filter_map(|word| schema.get(word)) {
        collect(part, root, chain - 1, into);
    }
}

fn resolve<'a>(schema: &'a Json, root: &'a Json, chain: usize) -> &'a Json {
    match referred(schema, root) {
        Some(target) if chain > 0 => resolve(target, root, chain - 1),
        _ => schema,
    }
}

fn referred<'a>(schema: &Json, root: &'a Json) -> Option<&'a Json> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_follow_the_schema_through_lists_and_references() {
        let schema = json!({
            "type": "array",
            "items": { "$ref": "#/$defs/Item" },
            "$defs": { "Item": {
                "properties": { "title": {}, "id": {}, "next": { "$ref": "#/$defs/Item" } },
                "allOf": [{ "properties": { "extra": {} } }]
            } }
        });
        let mut value = json!([{ "zebra": 1, "extra": 2, "id": 3, "next": { "id": 4, "title": 5 }, "title": 6 }]);
        by_schema(&mut value, &schema);
        let text = r#"[{"title":6,"id":3,"next":{"title":5,"id":4},"extra":2,"zebra":1}]"#;
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#" });
        let mut value = json!({ "b": 1, "a": [{}] });
        by_schema(&mut value, &schema);
        assert_eq!(value.to_string(), r#"{"b":1,"a":[{}]}"#);
    }
}
