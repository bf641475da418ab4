//! A prompt of arguments and texts: what files of other systems can say, and how much of a definition that is.

use super::foreign_file::EXPORT;
use crate::definition::{Configurable, MessagePart, Prompt};
use crate::diagnostic::Diagnostic;
use crate::source::{Place, Source};
use crate::value::Json;
use serde_json::Map;
use std::sync::Arc;

/// A prompt without functions, pictures and resources.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainPrompt {
    /// Its name.
    pub name: String,
    /// A title for people.
    pub title: Option<String>,
    /// When to use it.
    pub description: Option<String>,
    /// Its arguments.
    pub arguments: Vec<PlainArgument>,
    /// Its messages.
    pub messages: Vec<PlainMessage>,
    /// What clients do not use, by the system that it is from.
    pub meta: Map<String, Json>,
}

/// An argument.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlainArgument {
    /// Its name.
    pub name: String,
    /// What it means.
    pub description: Option<String>,
    /// Whether it must be given.
    pub required: bool,
    /// What the value must be, and its default; `None` for a text without one.
    pub schema: Option<Json>,
}

/// A message: a template.
#[derive(Clone, Debug, PartialEq)]
pub struct PlainMessage {
    /// `user` or `assistant`.
    pub role: String,
    /// The template, without blank lines around it.
    pub text: String,
}

/// Finds a template of a pack by its path; `true` for one that is named as a partial, without its extension.
pub type PromptTexts<'a> = &'a dyn Fn(&str, bool) -> Option<Arc<Source>>;

impl PlainPrompt {
    /// Takes a definition. Adds an error for each part of it that is more than arguments and texts, and a warning for
    /// each that is omitted.
    pub fn from_definition(prompt: &Prompt, texts: PromptTexts<'_>, findings: &mut Vec<Diagnostic>) -> Self {
        let at = &prompt.name.at;
        let mut refuse = |place: &Place, what: &str| {
            let message = format!("`{}` has {what}, which files of other systems cannot say", prompt.name.value);
            findings.push(*Diagnostic::new(EXPORT, message).at(place.clone()).help("it is not exported"));
        };
        let is_set = |object: &Json| object.as_object().is_some_and(|map| !map.is_empty());
        let parts = [
            (prompt.list.is_some(), "a `list` function"),
            (prompt.context.is_some(), "a `context` function"),
            (!prompt.questions.is_empty(), "questions (`ask`)"),
            (!prompt.required_capabilities.is_empty(), "`required_capabilities`"),
            (is_set(&prompt.bind), "constants (`bind`)"),
            (!matches!(prompt.enabled, Configurable::Fixed(true)), "a condition (`enabled`)"),
        ];
        parts.iter().filter(|(is_there, _)| *is_there).for_each(|(_, what)| refuse(at, what));
        for argument in prompt.arguments.iter().filter(|one| one.complete.is_some()) {
            refuse(&argument.name.at, &format!("completions of `{}`", argument.name.value));
        }
        let mut messages = Vec::new();
        for message in &prompt.messages {
            let place = &message.part.at;
            let text = match &message.part.value {
                MessagePart::Text(text) => Some(text.clone()),
                MessagePart::Template(path) => texts(path, false).map(|source| source.text.to_string()),
                MessagePart::Function(_) | MessagePart::Resource(_) | MessagePart::Image { .. } => None,
            };
            match text {
                Some(text) => messages.push(PlainMessage { role: message.role.clone(), text: trim_lines(&text) }),
                None => refuse(place, &format!("a message from a {}", message.part.value.describe())),
            }
        }
        let omitted = [
            (!prompt.icons.is_empty(), "icons"),
            (!prompt.lifecycle.aliases.is_empty(), "former names"),
            (prompt.arguments.iter().any(|argument| argument.title.is_some()), "titles of arguments"),
        ];
        for (_, what) in omitted.iter().filter(|(is_there, _)| *is_there) {
            let message = format!("`{}` is exported without its {what}", prompt.name.value);
            findings.push(*Diagnostic::new(EXPORT, message).warning().at(at.clone()));
        }
        let arguments = prompt.arguments.iter().map(|argument| PlainArgument {
            name: argument.name.value.clone(),
            description: argument.description.clone(),
            required: argument.required,
            schema: argument.schema.as_ref().map(|schema| (*schema.json).clone()),
        });
        Self {
            name: prompt.name.value.clone(),
            title: prompt.title.clone(),
            description: prompt.description.clone(),
            arguments: arguments.collect(),
            messages,
            meta: prompt.meta.as_ref().and_then(Json::as_object).cloned().unwrap_or_default(),
        }
    }
}

/// A text without blank lines at its beginning, and without white space at its end.
pub fn trim_lines(text: &str) -> String {
    let start = text.len() - text.trim_start().len();
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    text[line..].trim_end().to_owned()
}
