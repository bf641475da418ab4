//! Prompts: typed arguments, then messages of templates, functions, resources and pictures.

use super::running::Running;
use super::{coerce, outcome, tool};
use crate::content::{Content, ContentBody, Reply, ResourceBody};
use crate::definition::{MessagePart, Prompt, describe_prompt};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::registry::ServedPrompt;
use crate::value::{Json, Object, Record, Value};
use std::sync::Arc;

/// Reads a resource for a message that embeds it.
pub type Reading<'a> = &'a dyn Fn(&str) -> Result<Vec<(String, Option<String>, ResourceBody)>>;

/// The messages of a prompt: role and content.
pub fn messages(
    served: &ServedPrompt,
    running: &Running,
    given: &Json,
    read: Reading<'_>,
) -> Result<Vec<(String, Content)>> {
    let prompt = &served.prompt;
    let accepted = running.guarded(|| accept(served, given))?;
    let declared = tool::declared(&served.contract.schema);
    let context = running.context(prompt.context.as_ref(), &accepted, &declared)?;
    let mut messages = Vec::new();
    for message in &prompt.messages {
        let blocks = match &message.part.value {
            MessagePart::Template(path) => vec![Content::text(running.template(path, &context)?)],
            MessagePart::Text(text) => vec![Content::text(running.inline(text, &context)?)],
            MessagePart::Function(function) => {
                said(&running.function(&prompt.script, function, vec![running.value(&accepted)?])?)?
            }
            MessagePart::Resource(uri) => {
                let parts = read(&running.inline(uri, &context)?)?;
                let block = |(uri, mime_type, body)| Content::new(ContentBody::Resource { uri, mime_type, body });
                parts.into_iter().map(block).collect()
            }
            MessagePart::Image { file, mime_type } => vec![image(running, file, mime_type)?],
        };
        messages.extend(blocks.into_iter().map(|block| (message.role.clone(), block)));
    }
    Ok(messages)
}

/// The arguments as the schema asks for them.
fn accept(served: &ServedPrompt, given: &Json) -> Result<Json> {
    let properties = served.contract.schema.get("properties");
    let typed = given.as_object().into_iter().flatten().map(|(name, value)| {
        let schema = properties.and_then(|properties| properties.get(name));
        let value = value.as_str().map_or_else(|| value.clone(), |text| coerce::typed(text, schema));
        (name.clone(), value)
    });
    let typed = Json::Object(typed.collect());
    tool::accept(&format!("`{}`", served.name), &served.contract, &served.prompt.with, &typed)
}

/// `{ "prompts": […] }`: the prompts of a pack, for its prompt tool.
pub fn catalogue<'a>(prompts: impl Iterator<Item = &'a Arc<ServedPrompt>>) -> Value {
    Value::map([("prompts", Value::list(prompts.map(|served| describe_prompt(&served.prompt))))])
}

/// A prompt for its prompt tool: the contents of its messages, and as data who says what.
pub fn shown(prompt: &Prompt, messages: Vec<(String, Content)>) -> Value {
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

/// What a function says: content, a text, or anything else as JSON.
fn said(value: &Value) -> Result<Vec<Content>> {
    Ok(match (outcome::contents(value), value) {
        (Some(content), _) => content,
        (None, Value::Text(text)) => vec![Content::text(&**text)],
        (None, Value::List(items)) if items.iter().all(|item| item.as_text().is_some()) => {
            items.iter().filter_map(Value::as_text).map(Content::text).collect()
        }
        (None, other) => vec![Content::text(other.json()?.to_string())],
    })
}

fn image(running: &Running, file: &str, mime_type: &str) -> Result<Content> {
    use base64::Engine;
    let data = match running.host.pack_bytes(file)? {
        ResourceBody::Blob(data) => data,
        ResourceBody::Text(text) => base64::engine::general_purpose::STANDARD.encode(text),
    };
    if data.is_empty() {
        return Err(Diagnostic::new(Code::WORLD, format!("`{file}` is empty")));
    }
    Ok(Content::new(ContentBody::Image { data, mime_type: mime_type.to_owned() }))
}
