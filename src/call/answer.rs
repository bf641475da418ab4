//! Answers to requests: results of tools and their form, contents of resources, and others.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use super::caller_error::for_caller;
use super::elicitation::{CallRecord, PendingQuestions};
use crate::content::{Content, ContentBody, Reply, ResourceBody};
use crate::definition::ObjectSchema;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::{ServedTool, SkillIndex};
use crate::value::{Json, Kind, Object, Value};
use serde_json::{Map, json};
use std::sync::Arc;

/// The key of `_meta` with the data of a tool error if `structuredContent` must fit an output schema.
const FAILURE: &str = "toolsd/failure";

/// Maximum number of problems that are reported of a result.
const MAX_PROBLEMS: usize = 5;

/// Approximate size of an answer in bytes, without its content.
const OVERHEAD_BYTES: usize = 256;

/// How many references are followed from one schema to the next: a chain that refers to itself ends.
const MAX_REFERENCES: usize = 32;

/// The answer to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The result of a tool, good or bad.
    Tool(ToolOutcome),
    Contents(ResourceAnswer),
    /// The messages of a prompt.
    Messages {
        description: Option<String>,
        /// Role and content.
        messages: Vec<(String, Content)>,
    },
    Completion {
        /// At most a hundred.
        values: Vec<String>,
        /// How many there are.
        total: usize,
    },
    /// The resources: objects as MCP lists them (`uri`, `name`, …), in a total order.
    Resources(Arc<Vec<Json>>),
    Skills(Arc<SkillIndex>),
    /// The call may begin, with what was asked beforehand.
    Ready(Box<CallRecord>),
    /// The call needs answers to continue: repeat it with them. Only with [`AskMode::Suspends`].
    Asks(Box<PendingQuestions>),
    /// A protocol error: not found, rejected, an internal error.
    Error(Box<Diagnostic>),
}

/// The result of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutcome {
    /// The content for the model.
    pub content: Vec<Content>,
    /// The data: any JSON.
    pub structured: Option<Json>,
    /// Whether the call failed in a way that the model can repair.
    pub failed: bool,
    /// `_meta`.
    pub meta: Option<Json>,
    /// What toolsd says of the result, in addition to the tool's own text and data.
    pub notices: Vec<String>,
    /// The cause of the failure.
    pub error: Option<Box<Diagnostic>>,
    /// The files that the call changed, or would have changed if it was dry.
    pub changes: Vec<crate::world::staging::StagedFile>,
}

impl ToolOutcome {
    /// Returns the result of a tool that succeeded. Its data is ordered by the output schema and validated with it.
    /// Fails for a result above the limit, and names the argument that narrows it.
    pub(super) fn from_value(value: &Value, tool: &ServedTool, most: usize) -> Result<Self> {
        let mut outcome = Self::from_parts(value, tool.contract.output.is_some())?;
        if let Some(data) = &mut outcome.structured {
            if let Some(checker) = &tool.contract.result {
                order_keys(data, checker.schema());
            }
            let text = match data {
                Json::String(text) => text.clone(),
                data => data.to_string(),
            };
            check_size(text.len(), tool, most)?;
            if outcome.content.is_empty() {
                outcome.content.push(Content::text(text));
            }
        } else {
            check_size(outcome.content.iter().map(size).sum(), tool, most)?;
        }
        //= docs/spec.md#calls
        //# A result MUST match the output schema of its tool before it is sent.
        if let (Some(checker), Some(data)) = (&tool.contract.result, &outcome.structured) {
            let problems = checker.check(data);
            if !problems.is_empty() {
                let reported: Vec<&str> =
                    problems.iter().take(MAX_PROBLEMS).map(|problem| problem.message.as_str()).collect();
                let message =
                    format!("the result of `{}` does not fit its output schema: {}", tool.name, reported.join("; "));
                return Err(
                    Diagnostic::new(Code("output"), message).author_help("correct the script or `[tool.output]`")
                );
            }
        }
        Ok(outcome)
    }

    /// The result of a tool that failed, for the model to repair.
    /// Nothing of it is larger than a result of the tool may be.
    pub(super) fn from_diagnostic(error: Box<Diagnostic>, tool: &ServedTool) -> Self {
        let error = error.bounded(tool.contract.limits.output);
        let data = error_data(&for_caller(&error, Some(&tool.name)));
        let content = vec![Content::text(match &data {
            Json::String(text) => text.clone(),
            data => data.to_string(),
        })];
        let (structured, meta) = match tool.contract.output {
            Some(_) => (None, Some(json!({ FAILURE: data }))),
            None => (Some(data), None),
        };
        Self { content, structured, failed: true, meta, error: Some(error), changes: Vec::new(), notices: Vec::new() }
    }

    /// The result of a request that was refused before anything ran.
    pub fn from_refusal(error: &Diagnostic) -> Self {
        let mut data = json!({ "error": error.message });
        if let Some(help) = &error.help {
            data["help"] = json!(help);
        }
        let content = vec![Content::text(data.to_string())];
        Self { content, structured: Some(data), failed: true, ..Self::default() }
    }

    fn from_parts(value: &Value, has_schema: bool) -> Result<Self> {
        if let Some(reply) = value.as_object::<Reply>() {
            let structured = (!reply.structured.is_null()).then(|| reply.structured.json()).transpose()?;
            return Ok(Self { content: reply.content.clone(), structured, ..Self::default() });
        }
        Ok(match (contents_of(value), value) {
            (Some(content), _) => Self { content, ..Self::default() },
            (None, Value::Text(text)) if !has_schema => {
                Self { content: vec![Content::text(&**text)], ..Self::default() }
            }
            _ => Self { structured: Some(value.json()?), ..Self::default() },
        })
    }

    /// Returns its approximate size as an answer in bytes, including the data repeated as text.
    pub fn bytes(&self) -> usize {
        let size = |content: &Content| match &content.block {
            ContentBody::Text(text) => text.len(),
            ContentBody::Image { data, .. } | ContentBody::Audio { data, .. } => data.len(),
            ContentBody::Resource { body: ResourceBody::Text(text) | ResourceBody::Blob(text), .. } => text.len(),
            ContentBody::Link(_) => 0,
        };
        let content: usize = self.content.iter().map(size).sum();
        OVERHEAD_BYTES + if self.structured.is_some() { content.saturating_mul(2) } else { content }
    }
}

/// The contents of a resource.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ResourceAnswer {
    /// Its parts: URI, MIME type, text or blob.
    pub parts: Vec<(String, Option<String>, ResourceBody)>,
    /// What toolsd says of them.
    pub notices: Vec<String>,
    /// For how long a client may keep it, in milliseconds.
    pub ttl_ms: Option<u64>,
    /// `public` or `private`.
    pub cache_scope: Option<String>,
    /// What it was made from, so that a subscription knows when to read again: absolute paths of
    /// files and folders, in parts that several answers may share.
    pub touched: Vec<Arc<[String]>>,
}

impl ResourceAnswer {
    /// Bytes of them as an answer, about.
    pub fn bytes(&self) -> usize {
        let size = |body: &ResourceBody| match body {
            ResourceBody::Text(text) | ResourceBody::Blob(text) => text.len(),
        };
        OVERHEAD_BYTES + self.parts.iter().map(|(_, _, body)| size(body)).sum::<usize>()
    }
}

/// Returns an error as the data of a failed result: those of `fail` and of invalid arguments, otherwise `error` and, if
/// present, `at`, `help` and `data`.
pub fn error_data(error: &Diagnostic) -> Json {
    match (error.code, &error.data) {
        (Code::FAIL | Code::ARGUMENTS, Some(data)) => return (**data).clone(),
        (Code::FAIL, None) => return json!({ "error": error.message }),
        _ => {}
    }
    let mut data = json!({ "error": error.message });
    if let Some(place) = &error.at {
        data["at"] = json!(place.to_string());
    }
    if let Some(help) = &error.help {
        data["help"] = json!(help);
    }
    if let Some(more) = &error.data {
        data["data"] = (**more).clone();
    }
    data
}

/// Content of one value or a list of it; a text of a tool without an output schema is content too.
pub(super) fn contents_of(value: &Value) -> Option<Vec<Content>> {
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

fn size(content: &Content) -> usize {
    match &content.block {
        crate::content::ContentBody::Text(text) => text.len(),
        _ => content.to_json().to_string().len(),
    }
}

//= docs/spec.md#calls
//# A result over the output limit MUST fail and name the argument that narrows it, and an error MUST be
//# truncated.
fn check_size(bytes: usize, tool: &ServedTool, most: usize) -> Result<()> {
    if bytes <= most {
        return Ok(());
    }
    let message = format!(
        "the result of `{}` has {} kB, more than the {} kB that it may have",
        tool.name,
        bytes >> 10,
        most >> 10
    );
    Err(Diagnostic::new(Code::LIMIT, message).help(match narrowing_argument(&tool.contract.schema) {
        Some(argument) => format!("narrow it by `{argument}`"),
        None => "ask for less; its author may raise `output_kb`".to_owned(),
    }))
}

/// Returns the argument that limits the size of a result: an integer with a name such as `limit`.
fn narrowing_argument(input: &ObjectSchema) -> Option<&str> {
    let properties = input.get("properties")?.as_object()?;
    let is_whole = |schema: &Json| schema.get("type").is_some_and(|kind| kind == "integer");
    let words = ["limit", "max", "count", "size", "first", "top", "depth"];
    words.iter().find_map(|word| {
        properties.iter().find(|(name, schema)| is_whole(schema) && name.contains(word)).map(|(name, _)| name.as_str())
    })
}

/// Puts the keys of every object of `value` into the order in which `schema` names them; unknown ones come last.
fn order_keys(value: &mut Json, schema: &Json) {
    order_value(value, schema, schema);
}

fn order_value(value: &mut Json, schema: &Json, root: &Json) {
    match value {
        Json::Object(map) => {
            let mut properties = Vec::new();
            collect_properties(schema, root, MAX_REFERENCES, &mut properties);
            let mut ordered = Map::with_capacity(map.len());
            for (name, schema) in &properties {
                if let Some(value) = map.get_mut(*name) {
                    let mut value = std::mem::take(value);
                    order_value(&mut value, schema, root);
                    ordered.entry(*name).or_insert(value);
                }
            }
            let rest = resolve_reference(schema, root, MAX_REFERENCES).get("additionalProperties");
            for (name, mut value) in std::mem::take(map) {
                if !properties.iter().any(|(known, _)| *known == name) {
                    if let Some(schema) = rest {
                        order_value(&mut value, schema, root);
                    }
                    ordered.insert(name, value);
                }
            }
            *map = ordered;
        }
        Json::Array(items) => {
            if let Some(schema) = resolve_reference(schema, root, MAX_REFERENCES).get("items") {
                items.iter_mut().for_each(|item| order_value(item, schema, root));
            }
        }
        _ => {}
    }
}

/// Collects the properties of a schema and its parts; only the first occurrence of a name counts.
fn collect_properties<'a>(schema: &'a Json, root: &'a Json, chain: usize, into: &mut Vec<(&'a str, &'a Json)>) {
    if chain == 0 {
        return;
    }
    let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    for (name, property) in properties {
        if !into.iter().any(|(known, _)| *known == name) {
            into.push((name, property));
        }
    }
    if let Some(target) = reference_target(schema, root) {
        collect_properties(target, root, chain - 1, into);
    }
    for word in ["allOf", "anyOf", "oneOf"] {
        for part in schema.get(word).and_then(Json::as_array).into_iter().flatten() {
            collect_properties(part, root, chain - 1, into);
        }
    }
    for part in ["then", "else"].iter().filter_map(|word| schema.get(word)) {
        collect_properties(part, root, chain - 1, into);
    }
}

fn resolve_reference<'a>(schema: &'a Json, root: &'a Json, chain: usize) -> &'a Json {
    match reference_target(schema, root) {
        Some(target) if chain > 0 => resolve_reference(target, root, chain - 1),
        _ => schema,
    }
}

fn reference_target<'a>(schema: &Json, root: &'a Json) -> Option<&'a Json> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_follow_the_schema_through_lists_and_references() {
        let schema = json!({
            "type": "array",
            "items": { "$ref": "#/$defs/Item" },
            "$defs": { "Item": {
                "properties": { "title": {}, "id": {}, "next": { "$ref": "#/$defs/Item" } },
                "allOf": [{ "properties": { "extra": {} } }]
            } }
        });
        let mut value = json!([{ "zebra": 1, "extra": 2, "id": 3, "next": { "id": 4, "title": 5 }, "title": 6 }]);
        order_keys(&mut value, &schema);
        let text = r#"[{"title":6,"id":3,"next":{"title":5,"id":4},"extra":2,"zebra":1}]"#;
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn a_schema_that_refers_to_itself_ends() {
        let schema = json!({ "$ref": "#" });
        let mut value = json!({ "b": 1, "a": [{}] });
        order_keys(&mut value, &schema);
        assert_eq!(value.to_string(), r#"{"b":1,"a":[{}]}"#);
    }
}
