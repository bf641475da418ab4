//! Defaults of a schema, as a plan: filled in at the root and in nested objects that are there, never within
//! alternatives.

use super::{KEYWORDS, Takes};
use crate::value::Json;

/// What to fill in, worked out once.
#[derive(Debug, Default)]
pub struct Plan {
    defaults: Vec<(String, Json)>,
    nested: Vec<(String, Plan)>,
}

/// Definitions that refer to themselves are followed this far.
const DEPTH: usize = 8;

impl Plan {
    /// The plan of a schema whose references are resolved.
    pub fn of(root: &Json) -> Self {
        let mut plan = Self::default();
        plan.add(root, root, DEPTH);
        plan
    }

    fn add(&mut self, schema: &Json, root: &Json, depth: usize) {
        let (Some(map), Some(deeper)) = (schema.as_object(), depth.checked_sub(1)) else { return };
        if let Some(target) = map.get("$ref").and_then(Json::as_str).and_then(|reference| follow(reference, root)) {
            self.add(target, root, deeper);
        }
        for part in map.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.add(part, root, deeper);
        }
        for (name, property) in map.get("properties").and_then(Json::as_object).into_iter().flatten() {
            if let Some(default) = default_of(property, root, deeper)
                && !self.defaults.iter().any(|(known, _)| known == name)
            {
                self.defaults.push((name.clone(), default.clone()));
            }
            let mut inner = Self::default();
            inner.add(property, root, deeper);
            if !inner.defaults.is_empty() || !inner.nested.is_empty() {
                self.nested.push((name.clone(), inner));
            }
        }
    }

    /// Fills in what is missing, behind what is there.
    pub fn fill(&self, json: &mut Json) {
        let Some(map) = json.as_object_mut() else { return };
        for (name, default) in &self.defaults {
            map.entry(name.as_str()).or_insert_with(|| default.clone());
        }
        for (name, plan) in &self.nested {
            if let Some(value) = map.get_mut(name) {
                plan.fill(value);
            }
        }
    }
}

fn default_of<'a>(property: &'a Json, root: &'a Json, depth: usize) -> Option<&'a Json> {
    if let Some(default) = property.get("default") {
        return Some(default);
    }
    let target = follow(property.get("$ref")?.as_str()?, root)?;
    default_of(target, root, depth.checked_sub(1)?)
}

fn follow<'a>(reference: &str, root: &'a Json) -> Option<&'a Json> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The names of the properties that an object's schema knows, also through references and its parts.
pub fn property_names<'a>(schema: &'a Json, root: &'a Json) -> Vec<&'a str> {
    let mut names = Vec::new();
    collect(schema, root, DEPTH, &mut names);
    names
}

fn collect<'a>(schema: &'a Json, root: &'a Json, depth: usize, names: &mut Vec<&'a str>) {
    let (Some(map), Some(deeper)) = (schema.as_object(), depth.checked_sub(1)) else { return };
    if let Some(target) = map.get("$ref").and_then(Json::as_str).and_then(|reference| follow(reference, root)) {
        collect(target, root, deeper, names);
    }
    for name in map.get("properties").and_then(Json::as_object).into_iter().flat_map(serde_json::Map::keys) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    for (keyword, takes) in KEYWORDS {
        let applies = matches!(*keyword, "allOf" | "anyOf" | "oneOf" | "if" | "then" | "else" | "dependentSchemas");
        let Some(value) = map.get(*keyword).filter(|_| applies) else { continue };
        match (takes, value) {
            (Takes::Schemas, Json::Array(items)) => items.iter().for_each(|item| collect(item, root, deeper, names)),
            (Takes::SchemaMap, Json::Object(parts)) => {
                parts.values().for_each(|part| collect(part, root, deeper, names))
            }
            (_, part) => collect(part, root, deeper, names),
        }
    }
}
