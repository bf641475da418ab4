//! What a script returned, or how it failed, as the result of a tool.

use super::{Outcome, order};
use crate::content::{Content, Reply};
use crate::definition::ObjectSchema;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::ServedTool;
use crate::value::{Json, Kind, Object, Value};
use serde_json::json;

/// The key of `_meta` that holds the data of a failure where `structuredContent` must fit an output schema.
pub const FAILURE: &str = "toolsd/failure";

/// How many problems of a result are told.
const TOLD: usize = 5;

/// The result of a tool that ended well. Its data is put into the order of the output schema and checked against it;
/// a result above the limit is a fault that names what narrows it.
pub fn of_value(value: &Value, tool: &ServedTool, most: usize) -> Result<Outcome> {
    let mut outcome = parts(value, tool.output.is_some())?;
    if let Some(data) = &mut outcome.structured {
        if let Some(checker) = &tool.contract.result {
            order::by_schema(data, checker.schema());
        }
        let text = match data {
            Json::String(text) => text.clone(),
            data => data.to_string(),
        };
        within(text.len(), tool, most)?;
        if outcome.content.is_empty() {
            outcome.content.push(Content::text(text));
        }
    } else {
        within(outcome.content.iter().map(size).sum(), tool, most)?;
    }
    //= docs/spec.md#calls
    //# A result MUST agree with the tool's output schema before it is sent.
    if let (Some(checker), Some(data)) = (&tool.contract.result, &outcome.structured) {
        let problems = checker.check(data);
        if !problems.is_empty() {
            let told: Vec<&str> = problems.iter().take(TOLD).map(|problem| problem.message.as_str()).collect();
            let message = format!("the result of `{}` does not fit its output schema: {}", tool.name, told.join("; "));
            return Err(Diagnostic::new(Code("output"), message).help("correct the script or `[tool.output]`"));
        }
    }
    Ok(outcome)
}

/// The result of a tool that failed, for the model to repair.
/// Nothing of it is larger than a result of the tool may be.
pub fn of_fault(fault: Box<Diagnostic>, tool: &ServedTool) -> Outcome {
    let fault = fault.bounded(tool.contract.limits.output);
    let data = match (fault.code, &fault.data) {
        (Code::FAIL | Code::ARGUMENTS, Some(data)) => (**data).clone(),
        (Code::FAIL, None) => json!({ "error": fault.message }),
        _ => described(&fault),
    };
    let content = vec![Content::text(match &data {
        Json::String(text) => text.clone(),
        data => data.to_string(),
    })];
    let (structured, meta) = match tool.output {
        Some(_) => (None, Some(json!({ FAILURE: data }))),
        None => (Some(data), None),
    };
    Outcome { content, structured, failed: true, meta, fault: Some(fault), changes: Vec::new() }
}

/// A fault of a script, a file or a limit as data.
fn described(fault: &Diagnostic) -> Json {
    let mut data = json!({ "error": fault.message });
    if let Some(place) = &fault.at {
        data["at"] = json!(place.to_string());
    }
    if let Some(help) = &fault.help {
        data["help"] = json!(help);
    }
    if let Some(more) = &fault.data {
        data["data"] = (**more).clone();
    }
    data
}

/// Content of one value or a list of it; a text of a tool without an output schema is content too.
pub fn contents(value: &Value) -> Option<Vec<Content>> {
    match value {
        Value::Handle(handle) if handle.kind() == Kind::Content => {
            handle.downcast::<Content>().map(|one| vec![one.clone()])
        }
        Value::List(items) if !items.is_empty() => {
            items.iter().map(|item| item.as_object::<Content>().cloned()).collect()
        }
        _ => None,
    }
}

fn parts(value: &Value, has_schema: bool) -> Result<Outcome> {
    if let Some(reply) = value.as_object::<Reply>() {
        let structured = (!reply.structured.is_null()).then(|| reply.structured.json()).transpose()?;
        return Ok(Outcome { content: reply.content.clone(), structured, ..Outcome::default() });
    }
    Ok(match (contents(value), value) {
        (Some(content), _) => Outcome { content, ..Outcome::default() },
        (None, Value::Text(text)) if !has_schema => {
            Outcome { content: vec![Content::text(&**text)], ..Outcome::default() }
        }
        _ => Outcome { structured: Some(value.json()?), ..Outcome::default() },
    })
}

fn size(content: &Content) -> usize {
    match &content.block {
        crate::content::ContentBody::Text(text) => text.len(),
        _ => content.to_json().to_string().len(),
    }
}

//= docs/spec.md#calls
//# A result over the output limit MUST fail and name the argument that narrows it.
fn within(bytes: usize, tool: &ServedTool, most: usize) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    let message = format!(
        "the result of `{}` has {} kB, more than the {} kB that it may have",
        tool.name,
        bytes >> 10,
        most >> 10
    );
    Err(Diagnostic::new(Code::LIMIT, message).help(match narrowing(&tool.input) {
        Some(argument) => format!("narrow it by `{argument}`"),
        None => "ask for less; its author may raise `output_kb`".to_owned(),
    }))
}

/// The argument that bounds the size of a result: a whole number whose name says so.
fn narrowing(input: &ObjectSchema) -> Option<&str> {
    let properties = input.get("properties")?.as_object()?;
    let is_whole = |schema: &Json| schema.get("type").is_some_and(|kind| kind == "integer");
    let words = ["limit", "max", "count", "size", "first", "top", "depth"];
    words.iter().find_map(|word| {
        properties.iter().find(|(name, schema)| is_whole(schema) && name.contains(word)).map(|(name, _)| name.as_str())
    })
}
