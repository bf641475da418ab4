//! A JSON Schema written in TOML, with the location of each part, and its published form: the author's schema in its
//! order, plus the shared schemas that it refers to and a keyword that closes its root.

use super::keyword::{KEYWORDS, SchemaStep, subschemas};
use crate::definition::code;
use crate::definition::located::Located;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::parse::toml::TomlNode;
use crate::source::Place;
use crate::value::Json;
use serde_json::Map;
use std::collections::HashMap;
use std::sync::Arc;

/// A schema as clients see it: an object, whatever was written.
pub type ObjectSchema = Arc<serde_json::Map<String, Json>>;

/// A schema and where its parts were written.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The schema, keys in the order they were written.
    pub json: Arc<Json>,
    /// The location of each part, by JSON pointer; only of the root if the schema is not validated.
    pub places: HashMap<String, Place>,
}

impl Schema {
    /// Returns the schema in a tree, with the location of each part.
    pub(in crate::definition) fn from_node(node: &TomlNode) -> Self {
        let mut places = HashMap::new();
        node.places("", &mut |pointer, place| {
            places.insert(pointer, place.clone());
        });
        Self { json: node.to_json().into(), places }
    }

    /// Returns the schema in a tree, with the location of its root only, for a schema that is not validated.
    pub(in crate::definition) fn from_node_without_places(node: &TomlNode) -> Self {
        Self { json: node.to_json().into(), places: HashMap::from([(String::new(), node.at.clone())]) }
    }

    /// Returns the schema of an object without properties, with the location of the definition that has no schema.
    pub(in crate::definition) fn without_properties(at: &Place) -> Self {
        let json = serde_json::json!({ "type": "object", "additionalProperties": false });
        Self { json: json.into(), places: HashMap::from([(String::new(), at.clone())]) }
    }

    /// Turns a map of names to schemas (the `variables` of a resource) into the schema of an object.
    pub fn as_properties(&self) -> Self {
        let json = serde_json::json!({ "type": "object", "properties": self.json });
        let places = self.places.iter().map(|(pointer, place)| (format!("/properties{pointer}"), place.clone()));
        let root = self.places.get("").map(|place| (String::new(), place.clone()));
        Self { json: json.into(), places: places.chain(root).collect() }
    }

    /// Returns the location of a part, or of the nearest enclosing part that has one.
    pub fn place(&self, pointer: &str) -> Option<&Place> {
        let mut pointer = pointer;
        loop {
            if let Some(place) = self.places.get(pointer) {
                return Some(place);
            }
            pointer = &pointer[..pointer.rfind('/')?];
        }
    }

    /// Returns the schema of arguments or of a configuration: [`Schema::resolve`], with a closed root unless the author
    /// decides on further properties. `additionalProperties = false` closes it, or `unevaluatedProperties = false` if
    /// other keywords add properties.
    pub fn publish(&self, defs: &[(Located<String>, Schema)]) -> Result<ObjectSchema> {
        //= docs/spec.md#definitions
        //# A schema MUST be published as written, except for its shared definitions, `properties` and a closing
        //# keyword at its root, and `items` of arrays.
        let mut root = with_shared(self, defs)?;
        // Some clients refuse an object without `properties`, and with it all tools of the server.
        if root.get("type").is_some_and(|kind| kind == "object") {
            root.entry("properties").or_insert_with(|| Json::Object(Map::new()));
        }
        root.values_mut().for_each(give_items);
        if !root.contains_key("additionalProperties") && !root.contains_key("unevaluatedProperties") {
            let composed = ["allOf", "anyOf", "oneOf", "$ref", "$dynamicRef", "if", "dependentSchemas"];
            let keyword = if composed.iter().any(|keyword| root.contains_key(*keyword)) {
                "unevaluatedProperties"
            } else {
                "additionalProperties"
            };
            //= docs/spec.md#calls
            //# An unknown argument MUST be refused with the nearest known name.
            root.insert(keyword.to_owned(), Json::Bool(false));
        }
        Ok(root.into())
    }

    /// Returns the schema with the shared schemas that it refers to, directly or through others, in its `$defs`. Fails
    /// at the first reference that does not resolve.
    pub fn resolve(&self, defs: &[(Located<String>, Schema)]) -> Result<ObjectSchema> {
        with_shared(self, defs).map(ObjectSchema::from)
    }

    /// Reports the references of a schema that do not resolve, each at its location.
    pub fn missing_references(&self, defs: &[(Located<String>, Schema)]) -> Vec<Diagnostic> {
        let mut diagnostics = Vec::new();
        visit_references(&self.json, &mut Vec::new(), &mut |way, reference| {
            if resolves(&self.json, reference, defs) {
                return;
            }
            let diagnostic = Diagnostic::new(code::SCHEMA_REFERENCE, format!("`{reference}` does not resolve"));
            let own = self.json.get("$defs").and_then(Json::as_object);
            let names = defs
                .iter()
                .map(|(name, _)| name.value.as_str())
                .chain(own.into_iter().flatten().map(|(key, _)| key.as_str()));
            let names: Vec<&str> = names.collect();
            let name = reference.rsplit('/').next().unwrap_or_default();
            let help =
                did_you_mean(name, names.iter().copied()).unwrap_or_else(|| "write it as `[defs.NAME]`".to_owned());
            let diagnostic = diagnostic.help(help);
            let at: String = way.iter().map(ToString::to_string).collect();
            diagnostics.push(match self.place(&format!("{at}/$ref")) {
                Some(place) => *diagnostic.at(place.clone()),
                None => *diagnostic,
            });
        });
        diagnostics
    }
}

/// Adds `items` to each array without them: some clients refuse such an array, and with it all tools of the server.
fn give_items(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if map.get("type").is_some_and(|kind| kind == "array") && !map.contains_key("prefixItems") {
                map.entry("items").or_insert_with(|| Json::Object(Map::new()));
            }
            let data = ["default", "const", "enum", "examples"];
            map.iter_mut().filter(|(key, _)| !data.contains(&key.as_str())).for_each(|(_, part)| give_items(part));
        }
        Json::Array(parts) => parts.iter_mut().for_each(give_items),
        _ => {}
    }
}

fn with_shared(schema: &Schema, defs: &[(Located<String>, Schema)]) -> Result<Map<String, Json>> {
    if let Some(diagnostic) = schema.missing_references(defs).into_iter().next() {
        return Err(Box::new(diagnostic));
    }
    let mut root = schema_object((*schema.json).clone())?;
    let used = shared_names(&schema.json, defs);
    if used.is_empty() {
        return Ok(root);
    }
    let own = root.entry("$defs").or_insert_with(|| Json::Object(Map::new()));
    for (name, schema) in defs.iter().filter(|(name, _)| used.contains(&name.value.as_str())) {
        if let Some(own) = own.as_object_mut() {
            own.entry(name.value.clone()).or_insert_with(|| (*schema.json).clone());
        }
    }
    Ok(root)
}

/// Returns a schema as an object: `true` is the empty schema, `false` its negation (JSON Schema 2020-12, core §4.3.2).
/// Fails for any other value.
pub fn schema_object(schema: Json) -> Result<Map<String, Json>> {
    match schema {
        Json::Object(map) => Ok(map),
        Json::Bool(true) => Ok(Map::new()),
        Json::Bool(false) => Ok(Map::from_iter([("not".to_owned(), Json::Object(Map::new()))])),
        _ => Err(Diagnostic::new(code::SCHEMA_VALUE, "the schema cannot be used: it is not an object")
            .help("JSON Schema 2020-12")),
    }
}

/// Returns whether a reference inside a schema resolves. Anchors are checked when the schema is compiled.
fn resolves(root: &Json, reference: &str, defs: &[(Located<String>, Schema)]) -> bool {
    let Some(pointer) = reference.strip_prefix('#') else { return true };
    if !pointer.starts_with('/') {
        return true;
    }
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
    if root.pointer(&pointer).is_some() {
        return true;
    }
    let Some(path) = pointer.strip_prefix("/$defs/") else { return false };
    let (name, rest) = path.split_once('/').map_or((path, String::new()), |(name, rest)| (name, format!("/{rest}")));
    let shared = defs.iter().find(|(known, _)| known.value == name);
    shared.is_some_and(|(_, schema)| schema.json.pointer(&rest).is_some())
}

/// Returns the names of the shared schemas that a schema uses, directly or through others.
fn shared_names<'a>(json: &Json, defs: &'a [(Located<String>, Schema)]) -> Vec<&'a str> {
    let mut used: Vec<&str> = Vec::new();
    let mut waiting: Vec<&Json> = vec![json];
    while let Some(schema) = waiting.pop() {
        visit_references(schema, &mut Vec::new(), &mut |_, reference| {
            let Some(path) = reference.strip_prefix("#/$defs/") else { return };
            let name = path.split('/').next().unwrap_or_default();
            let own = json.get("$defs").and_then(|own| own.get(name)).is_some();
            let shared = defs.iter().find(|(known, _)| known.value == name);
            if let Some((known, shared)) = shared.filter(|(known, _)| !own && !used.contains(&known.value.as_str())) {
                used.push(known.value.as_str());
                waiting.push(&shared.json);
            }
        });
    }
    used
}

/// Calls `found` with every `$ref`: the path to its schema, and its text.
fn visit_references<'a>(
    json: &'a Json,
    way: &mut Vec<SchemaStep<'a>>,
    found: &mut dyn FnMut(&[SchemaStep<'_>], &'a str),
) {
    let Some(map) = json.as_object().filter(|_| way.len() <= 64) else { return };
    for (keyword, value) in map {
        if let ("$ref", Some(reference)) = (keyword.as_str(), value.as_str()) {
            found(way, reference);
        }
        // Most values cannot contain a schema, and checking the value is cheaper than searching the table.
        if !(value.is_object() || value.is_array()) {
            continue;
        }
        let Some((name, takes)) = KEYWORDS.iter().find(|(name, _)| name == keyword) else { continue };
        for (step, schema) in subschemas(name, *takes, value) {
            way.push(step);
            visit_references(schema, way, found);
            way.pop();
        }
    }
}
