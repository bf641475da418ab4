//! Picoschema, the short form of schemas in dotprompt, to JSON Schema and back: `name?: string, what it means`.

use super::plain_prompt::PlainArgument;
use crate::value::Json;
use serde_json::{Map, json};

/// The types of a single value.
const SCALARS: [&str; 5] = ["string", "number", "integer", "boolean", "null"];

/// Fields of a map, by name.
type Fields = Map<String, Json>;

/// The maximum nesting depth of objects and lists.
const MAX_DEPTH: usize = 32;

/// The arguments that an `input.schema` describes. The error says what cannot be read.
pub fn read_arguments(schema: &Json) -> Result<Vec<PlainArgument>, String> {
    let json = if is_json_schema(schema) { schema.clone() } else { object_schema(schema, 0)? };
    let properties = json.get("properties").and_then(Json::as_object);
    let Some(properties) = properties else { return Err("the schema of the input must be an object".to_owned()) };
    let odd = ["$ref", "$defs", "allOf", "anyOf", "oneOf", "if"].into_iter().find(|key| json.get(key).is_some());
    if let Some(key) = odd {
        return Err(format!("`{key}` of the input's schema says more than arguments can"));
    }
    let required: Vec<&str> =
        json.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect();
    let argument = |(name, schema): (&String, &Json)| {
        let mut schema = schema.as_object().cloned().unwrap_or_default();
        let description = schema.shift_remove("description");
        let is_text = schema.get("type") == Some(&json!("string")) && schema.len() == 1;
        PlainArgument {
            name: name.clone(),
            description: description.as_ref().and_then(Json::as_str).map(str::to_owned),
            required: required.contains(&name.as_str()) && !schema.contains_key("default"),
            schema: (!is_text).then_some(Json::Object(schema)),
        }
    };
    Ok(properties.iter().map(argument).collect())
}

/// Whether a schema is JSON Schema: its `type` is one, or it has `properties`.
fn is_json_schema(schema: &Json) -> bool {
    let kind = schema.get("type").and_then(Json::as_str);
    kind.is_some_and(|kind| SCALARS.contains(&kind) || ["object", "array"].contains(&kind))
        || schema.get("properties").is_some_and(Json::is_object)
}

fn object_schema(fields: &Json, depth: usize) -> Result<Json, String> {
    if depth > MAX_DEPTH {
        return Err(format!("the schema is nested deeper than {MAX_DEPTH} levels"));
    }
    let Some(fields) = fields.as_object() else { return Err("an object of Picoschema is a map".to_owned()) };
    let (mut properties, mut required, mut others) = (Map::new(), Vec::new(), json!(false));
    for (key, value) in fields {
        let (name, form) = match key.split_once('(') {
            Some((name, form)) => (name, Some(form.strip_suffix(')').unwrap_or(form))),
            None => (key.as_str(), None),
        };
        if name.is_empty() && form == Some("*") {
            others = value_schema(value, depth)?;
            continue;
        }
        let optional = name.strip_suffix('?');
        let name = optional.unwrap_or(name).trim();
        let (form, description) = form.map_or(("", None), split_description);
        let mut schema = match form {
            "" => value_schema(value, depth)?,
            "object" => object_schema(value, depth + 1)?,
            "array" => json!({ "type": "array", "items": value_schema(value, depth + 1)? }),
            "enum" => match value.as_array() {
                Some(all) if all.iter().all(Json::is_string) => json!({ "type": "string", "enum": all }),
                Some(all) => json!({ "enum": all }),
                None => return Err(format!("the values of `{key}` must be a list")),
            },
            other => return Err(format!("`{name}` is of the kind `{other}`; known: `object`, `array`, `enum`")),
        };
        if let (Some(description), Some(schema)) = (description, schema.as_object_mut()) {
            schema.insert("description".to_owned(), json!(description));
        }
        if optional.is_none() {
            required.push(json!(name));
        }
        properties.insert(name.to_owned(), schema);
    }
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = Json::Array(required);
    }
    schema["additionalProperties"] = others;
    Ok(schema)
}

fn value_schema(value: &Json, depth: usize) -> Result<Json, String> {
    let Some(text) = value.as_str() else {
        return match value {
            Json::Object(_) => object_schema(value, depth + 1),
            other => Err(format!("`{other}` is not a type")),
        };
    };
    let (kind, description) = split_description(text);
    let mut schema = match kind {
        "any" => json!({}),
        kind if SCALARS.contains(&kind) => json!({ "type": kind }),
        kind => {
            let known = SCALARS.map(|known| format!("`{known}`")).join(", ");
            return Err(format!("`{kind}` is not a type of Picoschema; known: {known}, `any`"));
        }
    };
    if let Some(description) = description {
        schema["description"] = json!(description);
    }
    Ok(schema)
}

/// A type, and the description after the comma.
fn split_description(text: &str) -> (&str, Option<&str>) {
    match text.split_once(',') {
        Some((kind, description)) => (kind.trim(), Some(description.trim()).filter(|text| !text.is_empty())),
        None => (text.trim(), None),
    }
}

/// `input.schema` and `input.default` of arguments. The error says what Picoschema cannot say.
pub fn write_arguments(arguments: &[PlainArgument]) -> Result<(Fields, Fields), String> {
    let (mut schema, mut defaults) = (Map::new(), Map::new());
    for argument in arguments {
        let mut own = argument.schema.clone().unwrap_or_else(|| json!({ "type": "string" }));
        if let Some(own) = own.as_object_mut() {
            if let Some(default) = own.shift_remove("default") {
                defaults.insert(argument.name.clone(), default);
            }
            if let Some(description) = &argument.description {
                own.insert("description".to_owned(), json!(description));
            }
        }
        let (key, value) = field(&argument.name, argument.required, &own)
            .map_err(|reason| format!("the schema of the argument `{}`: {reason}", argument.name))?;
        schema.insert(key, value);
    }
    Ok((schema, defaults))
}

/// A field of Picoschema: its key and its value.
fn field(name: &str, required: bool, schema: &Json) -> Result<(String, Json), String> {
    if name.is_empty() || name.contains(['(', ')', '?', ',']) || name.trim() != name {
        return Err(format!("`{name}` cannot be a name in Picoschema"));
    }
    let mark = if required { "" } else { "?" };
    let kind = schema.get("type").and_then(Json::as_str);
    let form = match kind {
        Some("object") => "object",
        Some("array") => "array",
        _ if schema.get("enum").is_some() => "enum",
        _ => return Ok((format!("{name}{mark}"), json!(scalar(schema)?))),
    };
    let value = match form {
        "object" => object_fields(schema)?,
        "array" => {
            refuse_keywords(schema, &["type", "items", "description"])?;
            let items = schema.get("items").ok_or("a list without `items`")?;
            match items.get("type").and_then(Json::as_str) {
                Some("object") if items.get("description").is_none() => object_fields(items)?,
                _ => json!(scalar(items)?),
            }
        }
        _ => {
            refuse_keywords(schema, &["type", "enum", "description"])?;
            let all = schema["enum"].as_array().ok_or("`enum` is not a list")?;
            if all.iter().all(Json::is_string) != (kind == Some("string")) {
                return Err("an `enum` whose values are not of its type".to_owned());
            }
            schema["enum"].clone()
        }
    };
    let description = match describe(schema)? {
        Some(text) if text.contains(['(', ')']) => return Err("parentheses in the description".to_owned()),
        Some(text) => format!(", {text}"),
        None => String::new(),
    };
    Ok((format!("{name}{mark}({form}{description})"), value))
}

fn object_fields(schema: &Json) -> Result<Json, String> {
    refuse_keywords(schema, &["type", "properties", "required", "additionalProperties", "description"])?;
    let required: Vec<&Json> = schema.get("required").and_then(Json::as_array).into_iter().flatten().collect();
    let mut fields = Map::new();
    for (name, inner) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        let (key, value) = field(name, required.contains(&&json!(name)), inner)?;
        fields.insert(key, value);
    }
    match schema.get("additionalProperties") {
        Some(Json::Bool(false)) => {}
        Some(others) if others.is_object() => {
            fields.insert("(*)".to_owned(), json!(scalar(others)?));
        }
        _ => return Err("an object that is open to other fields".to_owned()),
    }
    Ok(Json::Object(fields))
}

/// `string, what it means`.
fn scalar(schema: &Json) -> Result<String, String> {
    refuse_keywords(schema, &["type", "description"])?;
    let kind = match schema.get("type") {
        None => "any",
        Some(Json::String(kind)) if SCALARS.contains(&kind.as_str()) => kind,
        Some(other) => return Err(format!("the type `{other}`")),
    };
    Ok(describe(schema)?.map_or_else(|| kind.to_owned(), |text| format!("{kind}, {text}")))
}

fn describe(schema: &Json) -> Result<Option<&str>, String> {
    match schema.get("description").and_then(Json::as_str) {
        Some(text) if text.contains('\n') => Err("a description of several lines".to_owned()),
        text => Ok(text),
    }
}

fn refuse_keywords(schema: &Json, known: &[&str]) -> Result<(), String> {
    let Some(map) = schema.as_object() else { return Err(format!("`{schema}`")) };
    let other = map.keys().find(|key| !known.contains(&key.as_str()));
    other.map_or(Ok(()), |key| Err(format!("`{key}`")))
}
