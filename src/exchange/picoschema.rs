//! The schema of the input in dotprompt, to arguments and back: Picoschema (`name?: string, what it means`) is read, JSON
//! Schema is read and written.

use super::plain_prompt::PlainArgument;
use crate::value::Json;
use serde_json::{Map, json};

/// The types of a single value.
const SCALARS: [&str; 6] = ["string", "number", "integer", "boolean", "null", "any"];

/// The keys of a JSON Schema that arguments say.
const JSON_SCHEMA: [&str; 6] = ["$schema", "type", "properties", "required", "additionalProperties", "description"];

/// The arguments that an `input.schema` describes: JSON Schema, if it has `properties`. The error says what cannot be
/// read.
pub fn read_arguments(schema: &Json) -> Result<Vec<PlainArgument>, String> {
    let Some(map) = schema.as_object() else { return Err("it must be a map".to_owned()) };
    let Some(properties) = map.get("properties").and_then(Json::as_object) else {
        return map.iter().map(|(key, value)| read_field(key, value)).collect();
    };
    if let Some(key) = map.keys().find(|key| !JSON_SCHEMA.contains(&key.as_str())) {
        return Err(format!("`{key}` says more than arguments can"));
    }
    let is_required =
        |name: &String| map.get("required").and_then(Json::as_array).is_some_and(|all| all.contains(&json!(name)));
    Ok(properties.iter().map(|(name, schema)| argument(name, is_required(name), None, schema.clone())).collect())
}

fn argument(name: &str, required: bool, description: Option<&str>, mut schema: Json) -> PlainArgument {
    let own = schema.as_object_mut().and_then(|map| map.shift_remove("description"));
    let description = description.or_else(|| own.as_ref().and_then(Json::as_str)).map(str::to_owned);
    let required = required && schema.get("default").is_none();
    let schema = Some(schema).filter(|schema| *schema != json!({ "type": "string" }));
    PlainArgument { name: name.to_owned(), description, required, schema }
}

fn read_field(key: &str, value: &Json) -> Result<PlainArgument, String> {
    let (name, form) = key.split_once('(').map_or((key, ""), |(name, form)| (name, form.trim_end_matches(')')));
    let (form, description) = split_description(form);
    let schema = match (form, value) {
        ("", Json::String(text)) => scalar(text)?,
        ("array", Json::String(text)) => json!({ "items": scalar(text)?, "type": "array" }),
        ("enum", Json::Array(all)) if all.iter().all(Json::is_string) => json!({ "enum": all, "type": "string" }),
        ("enum", Json::Array(all)) => json!({ "enum": all }),
        ("*", _) => return Err(format!("`{key}` allows any other argument")),
        ("object", _) | (_, Json::Object(_)) => return Err(format!("`{name}` is an object; write it as JSON Schema")),
        _ => return Err(format!("`{key}` is not a type with an optional description, `(array)` of one, or `(enum)`")),
    };
    let optional = name.strip_suffix('?');
    Ok(argument(optional.unwrap_or(name).trim(), optional.is_none(), description, schema))
}

fn scalar(text: &str) -> Result<Json, String> {
    let (kind, description) = split_description(text);
    if !SCALARS.contains(&kind) {
        let known = SCALARS.map(|known| format!("`{known}`")).join(", ");
        return Err(format!("`{kind}` is not a type of Picoschema; known: {known}"));
    }
    let kind = (kind != "any").then(|| ("type".to_owned(), json!(kind)));
    Ok(kind.into_iter().chain(description.map(|text| ("description".to_owned(), json!(text)))).collect())
}

/// A type, and the description after the comma.
fn split_description(text: &str) -> (&str, Option<&str>) {
    let (kind, description) = text.split_once(',').unwrap_or((text, ""));
    (kind.trim(), Some(description.trim()).filter(|text| !text.is_empty()))
}

/// `input` of arguments: a JSON Schema, which can say all of them, and the defaults.
pub fn write_arguments(arguments: &[PlainArgument]) -> Map<String, Json> {
    let (mut properties, mut defaults, mut needed) = (Map::new(), Map::new(), Vec::new());
    for PlainArgument { name, description, required, schema } in arguments {
        let mut schema = schema.clone().unwrap_or_else(|| json!({ "type": "string" }));
        if let Some(map) = schema.as_object_mut() {
            defaults.extend(map.shift_remove("default").map(|default| (name.clone(), default)));
            map.extend(description.iter().map(|text| ("description".to_owned(), json!(text))));
        }
        needed.extend(required.then_some(name));
        properties.insert(name.clone(), schema);
    }
    if properties.is_empty() {
        return Map::new();
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !needed.is_empty() {
        schema["required"] = json!(needed);
    }
    let defaults = (!defaults.is_empty()).then(|| ("default".to_owned(), Json::Object(defaults)));
    [("schema".to_owned(), schema)].into_iter().chain(defaults).collect()
}
