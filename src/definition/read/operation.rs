//! Lowers `dispatch` and `[tool.on.*]`.

use super::{Reading, case, limits};
use crate::definition::operation::{Own, flat, whole};
use crate::definition::{Body, Case, Dispatch, Fields, Located, Operation, Role, Schema, code};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::primitive::Effect;
use crate::value::Json;

/// What a tool may not have beside operations: each of them has its own.
const PER_OPERATION: [&str; 7] = ["effect", "fn", "template", "context", "primitive", "text", "file"];

/// One operation, read but not yet put together with its tool.
struct Read {
    name: Located<String>,
    description: Located<String>,
    effect: Located<Effect>,
    body: Located<Body>,
    schema: Option<Schema>,
    own: Own,
    with: Json,
    limits: crate::definition::LimitsOverride,
}

/// The operations of a tool, the schema that clients see, and the examples of the operations.
pub fn dispatch(fields: &Fields<'_>, common: &Schema, reading: &mut Reading) -> Option<(Dispatch, Schema, Vec<Case>)> {
    let Some(argument) = fields.located("dispatch") else {
        if let Some(at) = fields.key_at("on") {
            reading.missing(
                at,
                "[[tool]] has `on` and no `dispatch`",
                "the argument that says which operation is meant",
            );
        }
        return None;
    };
    if !fields.has("on") {
        reading.missing(&argument.at, "`dispatch` without operations", "`[tool.on.NAME]` for each of them");
    }
    for key in PER_OPERATION {
        if let Some(at) = fields.key_at(key) {
            let fault = Diagnostic::new(code::CONFLICTING_KEYS, format!("`{key}` beside `dispatch`"));
            reading.fault(fault.at(at.clone()).help("each operation has its own: `[tool.on.NAME]`"));
        }
    }
    if common.json.get("properties").is_some_and(|properties| properties.get(&argument.value).is_some()) {
        let at = common.place(&format!("/properties/{}", argument.value)).unwrap_or(&argument.at).clone();
        let message = format!("the argument `{}` chooses the operation", argument.value);
        reading.fault(Diagnostic::new(code::CONFLICTING_KEYS, message).at(at).help("leave it out: it is generated"));
    }
    let (mut all, mut cases): (Vec<Read>, Vec<Case>) = Default::default();
    let tool = fields.needed("name");
    for (name, operation) in fields.named_tables("on", &mut reading.faults) {
        let of = case::Of::Operation { tool: &tool.value, argument: &argument.value, name: &name.value };
        cases.extend(case::examples(&operation, &of, reading));
        all.push(one(name, &operation, common, reading));
    }
    let parts: Vec<_> = all.iter().map(|one| (one.name.value.as_str(), &one.own, one.schema.as_ref())).collect();
    let input = flat(&argument.value, common, &parts);
    let operations = all.into_iter().map(|one| {
        let input = whole(&argument.value, &one.name.value, common, &one.own, one.schema.as_ref());
        let Read { name, description, effect, body, own, with, limits, .. } = one;
        Operation { name, description, effect, body, input, own, with, limits }
    });
    let operations = operations.collect();
    Some((Dispatch { argument, operations }, input, cases))
}

fn one(name: Located<String>, fields: &Fields<'_>, common: &Schema, reading: &mut Reading) -> Read {
    // Its root is an object because the tool's is.
    let schema = reading.schema(fields, "input", Role::Shared);
    let own = own(fields, schema.as_ref(), common, reading);
    let word = fields.needed("effect");
    let value = Effect::ALL.into_iter().find(|effect| effect.name() == word.value).unwrap_or(Effect::Pure);
    let function = fields.text("fn").unwrap_or_else(|| name.value.clone());
    let at = fields.node("fn").map_or_else(|| name.at.clone(), |node| node.at.clone());
    Read {
        description: fields.needed("description"),
        effect: Located { value, at: word.at },
        body: Located { value: Body::Script { script: reading.script_of(fields), function }, at },
        own,
        schema,
        with: fields.object("with"),
        limits: limits(fields, &mut reading.faults),
        name,
    }
}

/// What the operation adds. An argument stands either with the tool or with operations; what is required must be there.
fn own(fields: &Fields<'_>, schema: Option<&Schema>, common: &Schema, reading: &mut Reading) -> Own {
    let names = |json: &Json| -> Vec<String> {
        let properties = json.get("properties").and_then(Json::as_object);
        properties.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    let shared = names(&common.json);
    let own = schema.map(|schema| names(&schema.json)).unwrap_or_default();
    for name in own.iter().filter(|name| shared.contains(name)) {
        let place = schema.and_then(|schema| schema.place(&format!("/properties/{name}")));
        let fault =
            Diagnostic::new(code::CONFLICTING_KEYS, format!("every operation has an argument `{name}` already"));
        let help = "describe it either in `[tool.input]` or with the operations that take it";
        reading.fault(fault.at(place.unwrap_or(&fields.header).clone()).help(help));
    }
    let mut required: Vec<String> = Vec::new();
    for name in fields.located_texts("required") {
        let known: Vec<&str> = shared.iter().chain(&own).map(String::as_str).collect();
        if !known.contains(&name.value.as_str()) {
            let fault = Diagnostic::new(code::WRONG_VALUE, format!("there is no argument `{}`", name.value));
            let help = did_you_mean(&name.value, known.iter().copied());
            reading.fault(fault.at(name.at.clone()).help(help.unwrap_or_else(|| "describe it in `input`".to_owned())));
        }
        required.push(name.value);
    }
    let schema = schema.and_then(|schema| schema.json.as_object()).cloned().unwrap_or_default();
    let in_schema = schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str);
    let in_schema: Vec<String> = in_schema.map(str::to_owned).collect();
    required.extend(in_schema.into_iter().filter(|name| !fields.texts("required").contains(name)));
    Own { schema, required }
}
