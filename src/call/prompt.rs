//! Prompts: typed arguments, then messages of templates, functions, resources and images; completion of arguments.

use super::answer::{Answer, contents_of};
use super::arguments::{accept_arguments, parse_argument, property_names};
use super::invocation::Invocation;
use crate::content::{Content, ContentBody, Reply, ResourceBody};
use crate::definition::{Completion, MessagePart, Prompt, describe_prompt};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::ServedPrompt;
use crate::value::{Json, Object, Record, Value};
use std::sync::Arc;

/// MCP: at most a hundred values.
const MAX_COMPLETIONS: usize = 100;

/// Reads a resource for a message that embeds it.
pub type ReadResource<'a> = &'a dyn Fn(&str) -> Result<Vec<(String, Option<String>, ResourceBody)>>;

/// Makes the messages of a prompt: role and content.
pub fn build_messages(
    served: &ServedPrompt,
    invocation: &Invocation,
    given: &Json,
    read: ReadResource<'_>,
) -> Result<Vec<(String, Content)>> {
    let prompt = &served.definition;
    let accepted = invocation.guarded(|| accept_prompt_arguments(served, given))?;
    let declared = property_names(&served.contract.schema);
    let context = invocation.context(prompt.context.as_ref(), &accepted, &declared)?;
    let mut messages = Vec::new();
    for message in &prompt.messages {
        let blocks = match &message.part.value {
            MessagePart::Template(path) => vec![Content::text(invocation.template(path, &context)?)],
            MessagePart::Text(text) => vec![Content::text(invocation.inline(text, &context)?)],
            MessagePart::Function(function) => contents_of_function(&invocation.function(
                &prompt.script,
                function,
                vec![invocation.value(&accepted)?],
            )?)?,
            MessagePart::Resource(uri) => {
                let parts = read(&invocation.inline(uri, &context)?)?;
                let block = |(uri, mime_type, body)| Content::new(ContentBody::Resource { uri, mime_type, body });
                parts.into_iter().map(block).collect()
            }
            MessagePart::Image { file, mime_type } => vec![load_image(invocation, file, mime_type)?],
        };
        messages.extend(blocks.into_iter().map(|block| (message.role.clone(), block)));
    }
    Ok(messages)
}

/// The arguments as the schema asks for them.
fn accept_prompt_arguments(served: &ServedPrompt, given: &Json) -> Result<Json> {
    let properties = served.contract.schema.get("properties");
    let typed = given.as_object().into_iter().flatten().map(|(name, value)| {
        let schema = properties.and_then(|properties| properties.get(name));
        let value = value.as_str().map_or_else(|| value.clone(), |text| parse_argument(text, schema));
        (name.clone(), value)
    });
    let typed = Json::Object(typed.collect());
    accept_arguments(&format!("`{}`", served.name), &served.contract, &served.definition.bind, &typed)
}

/// `{ "prompts": […] }`: the prompts of a pack, for its prompt tool.
pub fn list_prompts<'a>(prompts: impl Iterator<Item = &'a Arc<ServedPrompt>>) -> Value {
    Value::map([("prompts", Value::list(prompts.map(|served| describe_prompt(&served.definition))))])
}

/// A prompt for its prompt tool: the contents of its messages, and the messages as data.
pub fn prompt_reply(prompt: &Prompt, messages: Vec<(String, Content)>) -> Value {
    let said = messages.iter().map(|(role, content)| {
        Record::value([("role".into(), role.as_str().into()), ("content".into(), Value::from_json(&content.to_json()))])
    });
    let structured = Record::value([
        ("name".into(), prompt.name.value.as_str().into()),
        ("description".into(), prompt.description.as_deref().into()),
        ("messages".into(), Value::list(said)),
    ]);
    Value::handle(Reply { structured, content: messages.into_iter().map(|(_, content)| content).collect() })
}

/// Converts the result of a function to content: content, strings, or anything else as JSON.
fn contents_of_function(value: &Value) -> Result<Vec<Content>> {
    Ok(match (contents_of(value), value) {
        (Some(content), _) => content,
        (None, Value::Text(text)) => vec![Content::text(&**text)],
        (None, Value::List(items)) if items.iter().all(|item| item.as_text().is_some()) => {
            items.iter().filter_map(Value::as_text).map(Content::text).collect()
        }
        (None, other) => vec![Content::text(other.json()?.to_string())],
    })
}

fn load_image(invocation: &Invocation, file: &str, mime_type: &str) -> Result<Content> {
    use base64::Engine;
    let data = match invocation.host.pack_bytes(file)? {
        ResourceBody::Blob(data) => data,
        ResourceBody::Text(text) => base64::engine::general_purpose::STANDARD.encode(text),
    };
    if data.is_empty() {
        return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is empty")));
    }
    Ok(Content::new(ContentBody::Image { data, mime_type: mime_type.to_owned() }))
}

/// The values that fit what was typed so far: those that begin with it first, then those that contain it.
pub fn complete_argument(
    completion: &Completion,
    script: &str,
    invocation: &Invocation,
    typed: &str,
    known: &Json,
) -> Result<Answer> {
    let all = match completion {
        Completion::List(values) => values.clone(),
        Completion::Function(function) => {
            let arguments = vec![typed.into(), invocation.value(known)?];
            let value = invocation.function(script, &function.value, arguments)?;
            match invocation.guarded(|| value.json())? {
                Json::Array(items) => items.iter().map(to_text).collect(),
                _ => {
                    let kind = value.kind().name();
                    let error =
                        Diagnostic::new(Code::SCRIPT, format!("`{}` returns {kind}, not a list", function.value));
                    return Err(error.at(function.at.clone()).help("return a list of texts"));
                }
            }
        }
    };
    Ok(filter_completions(all, typed))
}

//= docs/spec.md#prompts
//# A completion MUST have at most 100 values, and those that begin with the typed text MUST come first.
fn filter_completions(all: Vec<String>, typed: &str) -> Answer {
    let typed = typed.to_lowercase();
    let (first, rest): (Vec<String>, Vec<String>) =
        all.into_iter().partition(|value| value.to_lowercase().starts_with(&typed));
    let mut values = first;
    values.extend(rest.into_iter().filter(|value| value.to_lowercase().contains(&typed)));
    let total = values.len();
    values.truncate(MAX_COMPLETIONS);
    Answer::Completion { values, total }
}

fn to_text(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#prompts
    //= type=test
    //# A completion MUST have at most 100 values, and those that begin with the typed text MUST come first.
    #[test]
    fn what_begins_so_comes_before_what_contains_it() {
        let all = ["Beta", "alphabet", "be", "x"].map(str::to_owned).to_vec();
        let values = ["Beta", "be", "alphabet"].map(str::to_owned).to_vec();
        assert_eq!(filter_completions(all, "be"), Answer::Completion { values, total: 3 });
    }

    #[test]
    fn at_most_a_hundred_are_reported() {
        let all = (0..150).map(|number| number.to_string()).collect();
        let Answer::Completion { values, total } = filter_completions(all, "") else {
            panic!("completions were asked for")
        };
        assert_eq!((values.len(), total), (100, 150));
    }
}
