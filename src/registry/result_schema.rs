//! The output schema of a tool for revisions that want an object at its root, and as such in every result.

use crate::definition::ObjectSchema;
use crate::parse::toml::unescape;
use crate::value::Json;
use serde_json::{Map, json};
use std::sync::Arc;

/// Whether results with this output schema are wrapped in `{"result": …}` for revisions that want objects.
pub fn is_wrapped(output: &ObjectSchema) -> bool {
    !is_object_schema(output, output, 0)
}

/// Whether every value that is valid against the schema is an object.
fn is_object_schema(schema: &Map<String, Json>, root: &Map<String, Json>, depth: usize) -> bool {
    if depth > 16 {
        return false;
    }
    let fits = |part: &Json| part.as_object().is_some_and(|part| is_object_schema(part, root, depth + 1));
    if let Some(kind) = schema.get("type") {
        return kind == "object";
    }
    let referred = schema
        .get("$ref")
        .and_then(Json::as_str)
        .and_then(|reference| reference.strip_prefix('#'))
        .and_then(|pointer| pointer.strip_prefix('/'))
        .and_then(|pointer| resolve_pointer(root, pointer));
    if referred.is_some_and(fits) {
        return true;
    }
    schema.get("allOf").and_then(Json::as_array).is_some_and(|parts| parts.iter().any(fits))
}

/// The value at a JSON pointer without its leading `/`.
fn resolve_pointer<'a>(root: &'a Map<String, Json>, pointer: &str) -> Option<&'a Json> {
    let (first, rest) = pointer.find('/').map_or((pointer, ""), |end| pointer.split_at(end));
    root.get(&unescape(first))?.pointer(rest)
}

/// The output schema with `type: object` at its root: as written if it describes objects, otherwise wrapped.
pub fn object_output_schema(output: &ObjectSchema) -> ObjectSchema {
    if is_wrapped(output) {
        return wrap_schema((**output).clone()).into();
    }
    let mut schema = with_notices(output);
    if !schema.contains_key("type") {
        Arc::make_mut(&mut schema).shift_insert(0, "type".to_owned(), json!("object"));
    }
    schema
}

/// The key of a structured result at which toolsd says what is to be known of it: hosts show a model only the structure
/// where there is one.
const NOTICES: &str = "notices";

/// Keywords of a schema that may refuse a property which `properties` of the root has.
const COMPOSED: [&str; 10] = [
    "$ref",
    "$dynamicRef",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "maxProperties",
    "propertyNames",
    "patternProperties",
];

/// Whether a structured result with this output schema may have notices next to its own keys.
pub fn takes_notices(output: Option<&ObjectSchema>) -> bool {
    let is_free = |output: &ObjectSchema| {
        let own = output.get("properties").and_then(|properties| properties.get(NOTICES));
        own.is_none() && COMPOSED.iter().all(|key| !output.contains_key(*key))
    };
    output.is_none_or(is_free)
}

/// Adds notices to a structured result, if it is an object that has none.
pub fn add_notices(data: &mut Json, notices: &[String]) -> bool {
    match data.as_object_mut() {
        Some(map) if !notices.is_empty() => {
            map.entry(NOTICES).or_insert_with(|| json!(notices));
            true
        }
        _ => false,
    }
}

/// The output schema with a property for notices, if it is closed.
pub fn with_notices(output: &ObjectSchema) -> ObjectSchema {
    let is_closed = ["additionalProperties", "unevaluatedProperties"]
        .iter()
        .any(|key| output.get(*key).is_some_and(|rest| *rest != json!(true)));
    if !is_closed || !takes_notices(Some(output)) {
        return Arc::clone(output);
    }
    let mut schema = Arc::clone(output);
    let properties = Arc::make_mut(&mut schema).entry("properties").or_insert_with(|| json!({}));
    if let Some(properties) = properties.as_object_mut() {
        let about = "What is to be known of this result, such as files that could not be read.";
        let notices = json!({ "type": "array", "items": { "type": "string" }, "description": about });
        properties.insert(NOTICES.to_owned(), notices);
    }
    schema
}

fn wrap_schema(mut schema: Map<String, Json>) -> Map<String, Json> {
    let mut wrapper = Map::new();
    wrapper.insert("type".to_owned(), json!("object"));
    for key in ["$schema", "$defs", "definitions"] {
        if let Some(value) = schema.shift_remove(key) {
            wrapper.insert(key.to_owned(), value);
        }
    }
    let mut schema = Json::Object(schema);
    point_into_wrapper(&mut schema);
    if let Some(definitions) = wrapper.get_mut("$defs") {
        point_into_wrapper(definitions);
    }
    wrapper.insert("properties".to_owned(), json!({ "result": schema }));
    wrapper.insert("required".to_owned(), json!(["result"]));
    wrapper
}

/// Redirects references to the root, or to a part of it, into the wrapper.
fn point_into_wrapper(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            for (key, value) in map {
                match value {
                    Json::String(target) if key == "$ref" && target.starts_with('#') => {
                        let rest = &target[1..];
                        let stays = rest.starts_with("/$defs/") || rest.starts_with("/definitions/");
                        if !stays && (rest.is_empty() || rest.starts_with('/')) {
                            *target = format!("#/properties/result{rest}");
                        }
                    }
                    other => point_into_wrapper(other),
                }
            }
        }
        Json::Array(items) => items.iter_mut().for_each(point_into_wrapper),
        _ => {}
    }
}
