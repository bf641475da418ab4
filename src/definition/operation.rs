//! A tool of many operations: one argument says which; each has arguments, an effect and a function of its own.

use super::{Body, LimitsOverride, Located, Schema, Tool};
use crate::primitive::Effect;
use crate::value::Json;
use serde_json::{Map, json};

/// `dispatch` and `[tool.on.*]`.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The argument that says which operation is meant.
    pub argument: Located<String>,
    /// The operations, in the order they are written.
    pub operations: Vec<Operation>,
}

/// An operation: `[tool.on.NAME]`.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name: what the argument says.
    pub name: Located<String>,
    /// What it does, for the list in the description of the tool.
    pub description: Located<String>,
    /// What it does at most.
    pub effect: Located<Effect>,
    /// What it does.
    pub body: Located<Body>,
    /// The schema of its arguments: those of the tool, and its own.
    pub input: Schema,
    /// What it needs and takes beyond the other operations.
    pub own: Own,
    /// Constants merged into the arguments.
    pub with: Json,
    /// The limits of a call, where they differ from the tool's.
    pub limits: LimitsOverride,
}

/// What an operation adds to the arguments of its tool.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// Its own schema, as it is written: an object.
    pub schema: Map<String, Json>,
    /// The arguments that it needs, besides those that every operation needs.
    pub required: Vec<String>,
}

impl Own {
    fn properties(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.schema.get("properties").and_then(Json::as_object).into_iter().flatten()
    }

    /// What its schema says besides the properties: alternatives, dependencies and the like.
    fn rest(&self) -> impl Iterator<Item = (&String, &Json)> {
        const KNOWN: [&str; 7] =
            ["type", "properties", "required", "$defs", "title", "description", "additionalProperties"];
        self.schema.iter().filter(|(keyword, _)| !KNOWN.contains(&keyword.as_str()))
    }
}

impl Tool {
    /// The operation that arguments mean, and its index; nothing if the tool has none of that name.
    pub fn operation(&self, arguments: &Json) -> Option<(usize, &Operation)> {
        let dispatch = self.dispatch.as_ref()?;
        let name = arguments.get(&dispatch.argument.value)?.as_str()?;
        dispatch.operations.iter().enumerate().find(|(_, operation)| operation.name.value == name)
    }

    /// The schema that arguments are held to: that of the operation they mean, else that of all.
    pub fn input_for(&self, arguments: &Json) -> &Schema {
        self.operation(arguments).map_or(&self.input, |(_, operation)| &operation.input)
    }

    /// The description with the list of the operations behind it.
    pub fn described(&self, description: &str) -> String {
        //= docs/spec.md#operations
        //# The operations, what each does and needs, MUST be listed behind the description of their tool.
        let Some(dispatch) = &self.dispatch else { return description.to_owned() };
        let lines = dispatch.operations.iter().map(|operation| {
            let optional = operation.own.properties().map(|(name, _)| name);
            let optional = optional.filter(|name| !operation.own.required.contains(name)).map(|name| quoted(name));
            let needed: Vec<String> = operation.own.required.iter().map(|name| quoted(name)).collect();
            let optional: Vec<String> = optional.collect();
            let takes = match (needed.is_empty(), optional.is_empty()) {
                (true, true) => String::new(),
                (false, true) => format!(" with {}", needed.join(", ")),
                (true, false) => format!(", optionally with {}", optional.join(", ")),
                (false, false) => format!(" with {}, optionally {}", needed.join(", "), optional.join(", ")),
            };
            format!("- `{}`{takes}: {}", operation.name.value, operation.description.value.trim())
        });
        let list: Vec<String> = lines.collect();
        format!("{}\n\n`{}` is one of:\n{}", description.trim_end(), dispatch.argument.value, list.join("\n"))
    }
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// The schema that one operation is held to.
pub(super) fn whole(argument: &str, name: &str, common: &Schema, own: &Own, of_own: Option<&Schema>) -> Schema {
    let mut json = object(common);
    let mut properties = Map::from_iter([(argument.to_owned(), json!({ "type": "string", "const": name }))]);
    properties.extend(properties_of(&json));
    properties.extend(own.properties().map(|(name, schema)| (name.clone(), schema.clone())));
    let required = required_of(&json, argument, &own.required);
    json.insert("properties".to_owned(), Json::Object(properties));
    json.insert("required".to_owned(), json!(required));
    if let Some(more) = own.schema.get("$defs").and_then(Json::as_object) {
        let defs = json.entry("$defs").or_insert_with(|| json!({}));
        defs.as_object_mut().into_iter().for_each(|defs| defs.extend(more.clone()));
    }
    let rest: Map<String, Json> = own.rest().map(|(keyword, value)| (keyword.clone(), value.clone())).collect();
    for (keyword, value) in rest {
        if json.contains_key(&keyword) {
            let all = json.entry("allOf").or_insert_with(|| json!([]));
            all.as_array_mut().into_iter().for_each(|all| all.push(json!({ (keyword.clone()): value })));
        } else {
            json.insert(keyword, value);
        }
    }
    let mut places = common.places.clone();
    places.extend(of_own.into_iter().flat_map(|own| own.places.clone()).filter(|(pointer, _)| !pointer.is_empty()));
    Schema { json: Json::Object(json).into(), places }
}

/// The schema that clients see: flat, since many of them refuse alternatives at the root. What single operations
/// need is said by one chain of `if`, `then` and `else`.
//= docs/spec.md#operations
//# The schema that clients see MUST be one object with the arguments of all operations, without alternatives at its root.
pub(super) fn flat(argument: &str, common: &Schema, operations: &[(&str, &Own, Option<&Schema>)]) -> Schema {
    let mut json = object(common);
    let names: Vec<&str> = operations.iter().map(|(name, ..)| *name).collect();
    let choice = json!({ "type": "string", "enum": names, "description": "What to do." });
    let mut properties = Map::from_iter([(argument.to_owned(), choice)]);
    properties.extend(properties_of(&json));
    let mut places = common.places.clone();
    for (_, own, of_own) in operations {
        let shared = properties_of(&json);
        for (name, schema) in own.properties().filter(|(name, _)| !shared.contains_key(*name)) {
            match properties.get_mut(name) {
                Some(known) => either(known, schema),
                None => _ = properties.insert(name.clone(), schema.clone()),
            }
        }
        for (pointer, place) in of_own.iter().flat_map(|own| &own.places).filter(|(pointer, _)| !pointer.is_empty()) {
            places.entry(pointer.clone()).or_insert_with(|| place.clone());
        }
    }
    let by_all = |name: &&String| operations.iter().all(|(_, own, _)| own.required.contains(name));
    let always: Vec<String> =
        operations.first().into_iter().flat_map(|(_, own, _)| &own.required).filter(by_all).cloned().collect();
    let chain = chain(argument, operations, &always);
    json.insert("required".to_owned(), json!(required_of(&json, argument, &always)));
    json.insert("properties".to_owned(), Json::Object(properties));
    for (_, own, _) in operations {
        if let Some(more) = own.schema.get("$defs").and_then(Json::as_object) {
            let defs = json.entry("$defs").or_insert_with(|| json!({}));
            defs.as_object_mut().into_iter().for_each(|defs| defs.extend(more.clone()));
        }
    }
    let brings = ["additionalProperties", "unevaluatedProperties", "allOf", "anyOf", "oneOf", "$ref", "if"];
    let is_open = brings.iter().any(|keyword| json.contains_key(*keyword));
    if !json.contains_key("if") {
        json.extend(chain);
    }
    if !is_open {
        json.insert("additionalProperties".to_owned(), Json::Bool(false));
    }
    Schema { json: Json::Object(json).into(), places }
}

/// `if` an operation is meant, `then` it needs something, `else` the next one.
fn chain(argument: &str, operations: &[(&str, &Own, Option<&Schema>)], always: &[String]) -> Map<String, Json> {
    let mut needs: Vec<(Map<String, Json>, Vec<&str>)> = Vec::new();
    for (name, own, _) in operations {
        let mut then = Map::new();
        let required: Vec<&String> = own.required.iter().filter(|name| !always.contains(name)).collect();
        if !required.is_empty() {
            then.insert("required".to_owned(), json!(required));
        }
        then.extend(own.rest().map(|(keyword, value)| (keyword.clone(), value.clone())));
        match needs.iter_mut().find(|(known, _)| *known == then) {
            _ if then.is_empty() => {}
            Some((_, names)) => names.push(name),
            None => needs.push((then, vec![name])),
        }
    }
    needs.into_iter().rev().fold(Map::new(), |rest, (then, names)| {
        let choice = if names.len() == 1 { json!({ "const": names[0] }) } else { json!({ "enum": names }) };
        let mut link = Map::new();
        link.insert("if".to_owned(), json!({ "properties": { argument: choice }, "required": [argument] }));
        link.insert("then".to_owned(), Json::Object(then));
        if !rest.is_empty() {
            link.insert("else".to_owned(), Json::Object(rest));
        }
        link
    })
}

/// An argument that two operations describe differently.
fn either(known: &mut Json, other: &Json) {
    if known == other {
        return;
    }
    let is_mere_choice = known.as_object().is_some_and(|map| map.len() == 1 && map.contains_key("anyOf"));
    if !is_mere_choice {
        *known = json!({ "anyOf": [known.clone()] });
    }
    let choices = known.get_mut("anyOf").and_then(Json::as_array_mut);
    if let Some(choices) = choices.filter(|choices| !choices.contains(other)) {
        choices.push(other.clone());
    }
}

fn object(schema: &Schema) -> Map<String, Json> {
    let mut json = schema.json.as_object().cloned().unwrap_or_default();
    json.entry("type").or_insert_with(|| json!("object"));
    json
}

fn properties_of(json: &Map<String, Json>) -> Map<String, Json> {
    json.get("properties").and_then(Json::as_object).cloned().unwrap_or_default()
}

/// The argument that chooses, what every operation needs, and these.
fn required_of(json: &Map<String, Json>, argument: &str, more: &[String]) -> Vec<String> {
    let common = json.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let mut names = vec![argument.to_owned()];
    for name in common.chain(more.iter().map(String::as_str)) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
