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
    let mut schema = Arc::clone(output);
    if !schema.contains_key("type") {
        Arc::make_mut(&mut schema).shift_insert(0, "type".to_owned(), json!("object"));
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
