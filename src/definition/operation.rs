//! `[tool.operations.NAME]`: the operations of a tool, of which one argument says which is meant; each has arguments, an effect and a function of its own.

use super::body::Body;
use super::case::{Case, ExampleTarget, TOOL_EXAMPLE, read_examples};
use super::code;
use super::fields::Fields;
use super::grammar::{BIND, Grammar, SCRIPT, ValueShape, optional, required};
use super::limits::{LIMITS, LimitsOverride, read_limits};
use super::located::Located;
use super::reader::DefinitionReader;
use super::schema::{Schema, SchemaRole};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::primitive_api::Effect;
use crate::script::default_function;
use crate::value::Json;
use serde_json::{Map, json};

/// `dispatch` and `[tool.operations.*]`.
#[derive(Clone, Debug)]
pub struct Dispatch {
    /// The argument that says which operation is meant.
    pub argument: Located<String>,
    /// The operations, in the order they are written.
    pub operations: Vec<Operation>,
}

/// An operation: `[tool.operations.NAME]`.
#[derive(Clone, Debug)]
pub struct Operation {
    /// Its name: what the argument says.
    pub name: Located<String>,
    /// What it does, for the list in the description of the tool.
    pub description: Located<String>,
    /// Its strongest effect.
    pub effect: Located<Effect>,
    /// What it does.
    pub body: Located<Body>,
    /// The schema of its arguments: those of the tool, and its own.
    pub input: Schema,
    /// The arguments that are specific to it.
    pub own: OperationArguments,
    /// Constants merged into the arguments.
    pub bind: Json,
    /// The limits of a call, where they differ from the tool's.
    pub limits: LimitsOverride,
}

/// What an operation adds to the arguments of its tool.
#[derive(Clone, Debug, Default)]
pub struct OperationArguments {
    /// Its own schema, as it is written: an object.
    pub schema: Map<String, Json>,
    /// Its required arguments, in addition to those that every operation requires.
    pub required: Vec<String>,
}

impl OperationArguments {
    pub(super) fn properties(&self) -> impl Iterator<Item = (&String, &Json)> {
        self.schema.get("properties").and_then(Json::as_object).into_iter().flatten()
    }

    /// Returns the keywords of its schema other than properties: alternatives, dependencies and similar ones.
    fn rest(&self) -> impl Iterator<Item = (&String, &Json)> {
        const KNOWN: [&str; 7] =
            ["type", "properties", "required", "$defs", "title", "description", "additionalProperties"];
        self.schema.iter().filter(|(keyword, _)| !KNOWN.contains(&keyword.as_str()))
    }
}

/// `[tool.operations.NAME]`.
pub static OPERATION: Grammar = Grammar {
    name: "[tool.operations.NAME]",
    doc: "An operation of a tool with `dispatch`; its body is a function (default: the one with the operation's name).",
    keys: &[
        required("description", ValueShape::Text, "What the operation does; listed after the description of the tool."),
        required(
            "effect",
            ValueShape::OneOf(&["pure", "reads", "edits_graph", "writes", "runs"]),
            "The strongest effect of the operation; its calls are limited to it.",
        ),
        optional("required", ValueShape::Texts, "Arguments of the tool that the operation requires."),
        optional("input", ValueShape::Schema, "Schema of the arguments that are specific to this operation."),
        SCRIPT,
        optional(
            "fn",
            ValueShape::Text,
            "The function that implements it (default: the operation's name, or `NAME_operation` if that is a primitive or a word of rhai).",
        ),
        BIND,
        optional("limits", ValueShape::Table(&LIMITS), "Limits of a call that differ from the tool's."),
        optional(
            "example",
            ValueShape::Tables(&TOOL_EXAMPLE),
            "Examples; the argument that selects the operation is filled in.",
        ),
    ],
};

/// The keys that a tool with operations may not have, since each operation has its own.
const PER_OPERATION: [&str; 7] = ["effect", "fn", "template", "context", "primitive", "text", "file"];

/// An operation before it is combined with its tool.
struct OperationDraft {
    name: Located<String>,
    description: Located<String>,
    effect: Located<Effect>,
    body: Located<Body>,
    schema: Option<Schema>,
    own: OperationArguments,
    bind: Json,
    limits: LimitsOverride,
}

/// Reads the operations of a tool, the schema that clients see, and the examples of the operations.
pub fn read_dispatch(
    fields: &Fields<'_>,
    common: &Schema,
    reader: &mut DefinitionReader,
) -> Option<(Dispatch, Schema, Vec<Case>)> {
    let Some(argument) = fields.located("dispatch") else {
        if let (Some(at), true) = (fields.key_place("operations"), fields.lacks(&["dispatch"])) {
            reader.missing(
                at,
                "[[tool]] has `operations` and no `dispatch`",
                "the argument that says which operation is meant",
            );
        }
        return None;
    };
    if fields.lacks(&["operations"]) {
        reader.missing(&argument.at, "`dispatch` without operations", "`[tool.operations.NAME]` for each of them");
    }
    for key in PER_OPERATION {
        if let Some(at) = fields.key_place(key) {
            let diagnostic =
                Diagnostic::new(code::CONFLICTING_KEYS, format!("`{key}` and `dispatch` exclude each other"));
            reader.diagnostic(diagnostic.at(at.clone()).help("each operation has its own: `[tool.operations.NAME]`"));
        }
    }
    if common.json.get("properties").is_some_and(|properties| properties.get(&argument.value).is_some()) {
        let at = common.place(&format!("/properties/{}", argument.value)).unwrap_or(&argument.at).clone();
        let message = format!("the argument `{}` chooses the operation", argument.value);
        reader
            .diagnostic(Diagnostic::new(code::CONFLICTING_KEYS, message).at(at).help("leave it out: it is generated"));
    }
    let (mut all, mut cases): (Vec<OperationDraft>, Vec<Case>) = Default::default();
    let tool = fields.required("name");
    for (name, operation) in fields.named_tables("operations", &mut reader.diagnostics) {
        let of = ExampleTarget::Operation { tool: &tool.value, argument: &argument.value, name: &name.value };
        cases.extend(read_examples(&operation, &of, reader));
        all.push(read_operation(name, &operation, common, reader));
    }
    let parts: Vec<_> = all.iter().map(|one| (one.name.value.as_str(), &one.own, one.schema.as_ref())).collect();
    let input = tool_schema(&argument.value, common, &parts);
    let operations = all.into_iter().map(|one| {
        let input = operation_schema(&argument.value, &one.name.value, common, &one.own, one.schema.as_ref());
        let OperationDraft { name, description, effect, body, own, bind, limits, .. } = one;
        Operation { name, description, effect, body, input, own, bind, limits }
    });
    let operations = operations.collect();
    Some((Dispatch { argument, operations }, input, cases))
}

fn read_operation(
    name: Located<String>,
    fields: &Fields<'_>,
    common: &Schema,
    reader: &mut DefinitionReader,
) -> OperationDraft {
    // Its root is an object because the tool's is.
    let schema = reader.schema(fields, "input", SchemaRole::Shared);
    let own = read_arguments(fields, schema.as_ref(), common, reader);
    let word = fields.required("effect");
    let value = Effect::ALL.into_iter().find(|effect| effect.name() == word.value).unwrap_or(Effect::Pure);
    let function = fields.text("fn").unwrap_or_else(|| default_function(&name.value, "operation"));
    let at = fields.node("fn").map_or_else(|| name.at.clone(), |node| node.at.clone());
    OperationDraft {
        description: fields.required("description"),
        effect: Located { value, at: word.at },
        body: Located { value: Body::Script { script: reader.script_of(fields), function }, at },
        own,
        schema,
        bind: fields.object("bind"),
        limits: read_limits(fields, &mut reader.diagnostics),
        name,
    }
}

/// Reads what the operation adds to the arguments. An argument is declared either by the tool or by operations, and
/// every required one must be declared.
fn read_arguments(
    fields: &Fields<'_>,
    schema: Option<&Schema>,
    common: &Schema,
    reader: &mut DefinitionReader,
) -> OperationArguments {
    let names = |json: &Json| -> Vec<String> {
        let properties = json.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let shared = names(&common.json);
    let own = schema.map(|schema| names(&schema.json)).unwrap_or_default();
    for name in own.iter().filter(|name| shared.contains(name)) {
        let place = schema.and_then(|schema| schema.place(&format!("/properties/{name}")));
        let diagnostic =
            Diagnostic::new(code::CONFLICTING_KEYS, format!("every operation has an argument `{name}` already"));
        let help = "describe it either in `[tool.input]` or with the operations that take it";
        reader.diagnostic(diagnostic.at(place.unwrap_or(&fields.header).clone()).help(help));
    }
    let mut required: Vec<String> = Vec::new();
    for name in fields.located_texts("required") {
        let known: Vec<&str> = shared.iter().chain(&own).map(String::as_str).collect();
        if !known.contains(&name.value.as_str()) {
            let diagnostic = Diagnostic::new(code::WRONG_VALUE, format!("there is no argument `{}`", name.value));
            let help = did_you_mean(&name.value, known.iter().copied());
            reader.diagnostic(
                diagnostic.at(name.at.clone()).help(help.unwrap_or_else(|| "describe it in `input`".to_owned())),
            );
        }
        required.push(name.value);
    }
    let schema = schema.and_then(|schema| schema.json.as_object()).cloned().unwrap_or_default();
    let in_schema = schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let in_schema: Vec<String> = in_schema.map(str::to_owned).collect();
    required.extend(in_schema.into_iter().filter(|name| !fields.texts("required").contains(name)));
    OperationArguments { schema, required }
}

/// The schema by which calls of one operation are validated.
fn operation_schema(
    argument: &str,
    name: &str,
    common: &Schema,
    own: &OperationArguments,
    of_own: Option<&Schema>,
) -> Schema {
    let mut json = to_object(common);
    let mut properties = Map::from_iter([(argument.to_owned(), json!({ "type": "string", "const": name }))]);
    properties.extend(properties_of(&json));
    properties.extend(own.properties().map(|(name, schema)| (name.clone(), schema.clone())));
    let required = required_arguments(&json, argument, &own.required);
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

/// Returns the schema that clients see. It is flat, since many clients refuse alternatives at the root. The
/// requirements of single operations are one chain of `if`, `then` and `else`.
//= docs/spec.md#operations
//# The published schema of a tool MUST be one object, without alternatives, with the arguments of all its operations,
//# and its description MUST list these, with what each of them does and requires.
fn tool_schema(argument: &str, common: &Schema, operations: &[(&str, &OperationArguments, Option<&Schema>)]) -> Schema {
    let mut json = to_object(common);
    let names: Vec<&str> = operations.iter().map(|(name, ..)| *name).collect();
    let choice = json!({ "type": "string", "enum": names, "description": "What to do." });
    let mut properties = Map::from_iter([(argument.to_owned(), choice)]);
    properties.extend(properties_of(&json));
    let mut places = common.places.clone();
    for (_, own, of_own) in operations {
        let shared = properties_of(&json);
        for (name, schema) in own.properties().filter(|(name, _)| !shared.contains_key(*name)) {
            match properties.get_mut(name) {
                Some(known) => add_alternative(known, schema),
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
    let chain = requirements(argument, operations, &always);
    json.insert("required".to_owned(), json!(required_arguments(&json, argument, &always)));
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
fn requirements(
    argument: &str,
    operations: &[(&str, &OperationArguments, Option<&Schema>)],
    always: &[String],
) -> Map<String, Json> {
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
fn add_alternative(known: &mut Json, other: &Json) {
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

fn to_object(schema: &Schema) -> Map<String, Json> {
    let mut json = schema.json.as_object().cloned().unwrap_or_default();
    json.entry("type").or_insert_with(|| json!("object"));
    json
}

fn properties_of(json: &Map<String, Json>) -> Map<String, Json> {
    json.get("properties").and_then(Json::as_object).cloned().unwrap_or_default()
}

/// The argument that chooses, what every operation needs, and these.
fn required_arguments(json: &Map<String, Json>, argument: &str, more: &[String]) -> Vec<String> {
    let common = json.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let mut names = vec![argument.to_owned()];
    for name in common.chain(more.iter().map(String::as_str)) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}
