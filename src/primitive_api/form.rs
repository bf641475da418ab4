//! The schemas of forms: the flat subset that elicitation allows, checked key by key, and its violations.

use crate::diagnostic::did_you_mean;
use crate::parse::toml::escape;
use crate::value::Json;
use serde_json::{Map, json};

/// A violation of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaViolation {
    /// The location in the value: a JSON pointer.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What is allowed, or the nearest name.
    pub help: Option<String>,
}

/// The string formats that a form supports.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// The keys that each type of a field allows in addition to `type`, `title` and `description`.
const KEYS: &[(&str, &[&str])] = &[
    ("string", &["minLength", "maxLength", "format", "enum", "enumNames", "oneOf", "default"]),
    ("number", &["minimum", "maximum", "default"]),
    ("integer", &["minimum", "maximum", "default"]),
    ("boolean", &["default"]),
    ("array", &["items", "minItems", "maxItems", "default"]),
];

/// Completes the schema of a form that an author wrote in full or as its properties only. Its root becomes an object.
pub fn complete_schema(written: &Json) -> Json {
    let is_schema = written.get("type").is_some_and(Json::is_string)
        || written
            .get("properties")
            .is_some_and(|inner| inner.as_object().is_some_and(|map| map.values().all(Json::is_object)));
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("object"));
    if is_schema {
        schema.extend(written.as_object().cloned().unwrap_or_default());
        schema.entry("properties").or_insert_with(|| json!({}));
    } else {
        schema.insert("properties".to_owned(), written.clone());
    }
    Json::Object(schema)
}

/// Returns the parts of a schema that elicitation does not allow (MCP 2025-11-25, `PrimitiveSchemaDefinition`), each
/// with its JSON pointer.
pub fn find_violations(schema: &Json) -> Vec<SchemaViolation> {
    let mut found = Vec::new();
    let mut flaw = |pointer: String, message: String, help: String| {
        found.push(SchemaViolation { pointer, message, help: Some(help) });
    };
    if schema["type"] != "object" {
        flaw("/type".into(), "the schema of a form is an object".into(), "`type = \"object\"`".into());
    }
    let keys = ["$schema", "type", "properties", "required"];
    for key in schema.as_object().into_iter().flatten().map(|(key, _)| key) {
        if !keys.contains(&key.as_str()) {
            let help = did_you_mean(key, keys).unwrap_or_else(|| format!("it takes {}", keys.join(", ")));
            flaw(pointer("", key), format!("the schema of a form has no `{key}`"), help);
        }
    }
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    for (name, field) in properties {
        check_field(name, field, &mut flaw);
    }
    for (at, name) in schema["required"].as_array().into_iter().flatten().enumerate() {
        let known = name.as_str().is_some_and(|name| properties.contains_key(name));
        if !known {
            let help = name.as_str().and_then(|name| did_you_mean(name, properties.keys().map(String::as_str)));
            let help = help.unwrap_or_else(|| "name fields of `properties`".to_owned());
            flaw(format!("/required/{at}"), format!("there is no field {name}"), help);
        }
    }
    found
}

type ReportFlaw<'a> = &'a mut dyn FnMut(String, String, String);

fn pointer(base: &str, key: &str) -> String {
    format!("{base}/{}", escape(key))
}

fn check_field(name: &str, field: &Json, flaw: ReportFlaw<'_>) {
    let base = pointer("/properties", name);
    let kind = field["type"].as_str().unwrap_or_default();
    let Some((_, keys)) = KEYS.iter().find(|(known, _)| *known == kind) else {
        let at = if field.get("type").is_some() { format!("{base}/type") } else { base };
        let message = format!("the field `{name}` has no type that a form can ask for");
        return flaw(at, message, "string, number, integer, boolean, or array of texts from a list".into());
    };
    for (key, value) in field.as_object().into_iter().flatten() {
        let at = pointer(&base, key);
        if !keys.contains(&key.as_str()) && !["type", "title", "description"].contains(&key.as_str()) {
            let help = did_you_mean(key, keys.iter().copied());
            let help = help.unwrap_or_else(|| format!("a field of type {kind} takes {}", keys.join(", ")));
            flaw(at, format!("a form cannot use `{key}` in the field `{name}`"), help);
        } else if key == "format" && !value.as_str().is_some_and(|format| FORMATS.contains(&format)) {
            flaw(at, format!("a form does not know the format {value}"), FORMATS.join(", "));
        } else if let Some(wanted) = misfit(key, value) {
            flaw(at, format!("`{key}` of the field `{name}` takes {wanted}"), "MCP, elicitation".into());
        }
    }
    if kind == "array" {
        let items = &field["items"];
        let of_texts = items["enum"].is_array() && items["type"] == "string";
        if !of_texts && !items["anyOf"].is_array() {
            let help =
                "`items = { type = \"string\", enum = […] }`, or `items = { anyOf = [{ const = …, title = … }] }`";
            flaw(format!("{base}/items"), format!("the field `{name}` does not say what may be chosen"), help.into());
        } else if let Some(wanted) = ["enum", "anyOf"].iter().find_map(|key| misfit(key, items.get(*key)?)) {
            flaw(format!("{base}/items"), format!("the choices of `{name}` are {wanted}"), "MCP, elicitation".into());
        }
    }
    let names = field["enumNames"].as_array().map(Vec::len);
    if names.is_some() && names != field["enum"].as_array().map(Vec::len) {
        let at = format!("{base}/enumNames");
        flaw(at, format!("`enumNames` of `{name}` has not one name for each value"), "as many as `enum` has".into());
    }
}

/// Returns what a key accepts, if this value is something else.
fn misfit(key: &str, value: &Json) -> Option<&'static str> {
    let texts = |value: &Json| value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(Json::is_string));
    let titled = |value: &Json| {
        let is_one = |one: &Json| one["const"].is_string() && one["title"].is_string();
        value.as_array().is_some_and(|all| !all.is_empty() && all.iter().all(is_one))
    };
    match key {
        "title" | "description" if !value.is_string() => Some("a text"),
        "enum" | "enumNames" if !texts(value) => Some("texts"),
        "oneOf" | "anyOf" if !titled(value) => Some("tables of `const` and `title`"),
        "minLength" | "maxLength" | "minItems" | "maxItems" if value.as_u64().is_none() => Some("a count"),
        "minimum" | "maximum" if !value.is_number() => Some("a number"),
        _ => None,
    }
}

/// Returns the defaults of a form, to check that each matches its field.
pub fn defaults(schema: &Json) -> Json {
    let fields = schema["properties"].as_object().into_iter().flatten();
    fields.filter_map(|(name, field)| Some((name.clone(), field.get("default")?.clone()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_enum_and_defaults_are_allowed() {
        let schema = complete_schema(&json!({
            "single": { "type": "string", "enum": ["a", "b"], "default": "a" },
            "titled": { "type": "string", "oneOf": [{ "const": "a", "title": "A" }] },
            "legacy": { "type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"] },
            "multi": { "type": "array", "items": { "type": "string", "enum": ["a"] }, "minItems": 1 },
            "titled_multi": { "type": "array", "items": { "anyOf": [{ "const": "a", "title": "A" }] } },
            "age": { "type": "integer", "minimum": 0, "default": 30 },
            "properties": { "type": "boolean", "default": true },
        }));
        assert_eq!(find_violations(&schema), Vec::new());
        assert_eq!(defaults(&schema), json!({ "single": "a", "age": 30, "properties": true }));
    }

    #[test]
    fn schemas_not_allowed_in_elicitation_are_reported() {
        let schema = json!({
            "type": "object", "required": ["nam"], "additionalProperties": false,
            "properties": {
                "name": { "type": "string", "format": "hostname" },
                "inner": { "type": "object" },
                "list": { "type": "array", "items": { "type": "string" } },
                "count": { "type": "integer", "minLength": 1 },
                "odd": { "type": "string", "enum": ["a"], "enumNames": [] },
            }
        });
        let places: Vec<String> = find_violations(&schema).into_iter().map(|flaw| flaw.pointer).collect();
        let expected = [
            "/additionalProperties",
            "/properties/name/format",
            "/properties/inner/type",
            "/properties/list/items",
            "/properties/count/minLength",
            "/properties/odd/enumNames",
            "/properties/odd/enumNames",
            "/required/0",
        ];
        assert_eq!(places, expected);
    }
}
