//! A prompt of arguments and texts: what files of other systems can say, and how much of a definition that is.

use crate::definition::{Configurable, MessagePart, Prompt};
use crate::diagnostic::{Code, Diagnostic};
use crate::parse::yaml_text;
use crate::source::Source;
use crate::value::Json;
use serde_json::Map;
use std::sync::Arc;

/// A prompt without functions, pictures and resources.
#[derive(Default)]
pub struct PlainPrompt {
    pub name: String,
    pub title: Option<String>,
    pub description: Option<String>,
    pub arguments: Vec<PlainArgument>,
    pub messages: Vec<PlainMessage>,
    /// What clients do not use, by the system that it is from.
    pub meta: Map<String, Json>,
}

#[derive(Default)]
pub struct PlainArgument {
    pub name: String,
    pub description: Option<String>,
    pub required: bool,
    /// What the value must be, and its default; `None` for a text without one.
    pub schema: Option<Json>,
}

/// A message: a template.
pub struct PlainMessage {
    pub role: String,
    /// The template, without blank lines around it.
    pub text: String,
}

impl PlainPrompt {
    /// Its text, if it has one message, of the user.
    pub fn only_text(&self) -> Option<&PlainMessage> {
        self.messages.first().filter(|message| self.messages.len() == 1 && message.role == "user")
    }
}

/// Finds a template of a pack by its path; `true` for one that is named as a partial, without its extension.
pub type PromptTexts<'a> = &'a dyn Fn(&str, bool) -> Option<Arc<Source>>;

pub struct PromptExport<'a> {
    pub prompt: &'a Prompt,
    pub texts: PromptTexts<'a>,
    /// What is written, such as `a command`.
    pub format: &'static str,
    pub findings: Vec<Diagnostic>,
}

impl PromptExport<'_> {
    /// Reports what the format cannot say.
    pub fn refuse(&mut self, what: &str) {
        let message = format!("`{}` has {what}, which {} cannot say", self.prompt.name.value, self.format);
        self.findings.push(*self.finding(message).help("it is not exported"));
    }

    /// Reports what is not the same.
    pub fn warn(&mut self, what: &str) {
        self.findings.push(*self.finding(format!("`{}` {what}", self.prompt.name.value)).warning());
    }

    /// Reports the parts that are there: whether the prompt is refused for one, or exported without it.
    pub fn omit(&mut self, parts: &[(bool, bool, &str)]) {
        for (_, is_refused, what) in parts.iter().filter(|(is_there, _, _)| *is_there) {
            if *is_refused { self.refuse(what) } else { self.warn(&format!("is exported without {what}")) }
        }
    }

    fn finding(&self, message: String) -> Box<Diagnostic> {
        Diagnostic::new(Code("export"), message).at(self.prompt.name.at.clone())
    }

    /// Whether nothing was refused.
    pub fn is_sound(&self) -> bool {
        !self.findings.iter().any(Diagnostic::is_error)
    }

    /// The arguments and texts of the prompt. What is more than that is reported.
    pub fn plain(&mut self) -> PlainPrompt {
        let prompt = self.prompt;
        let is_set = |object: &Json| object.as_object().is_some_and(|map| !map.is_empty());
        self.omit(&[
            (prompt.list.is_some(), true, "a `list` function"),
            (prompt.context.is_some(), true, "a `context` function"),
            (!prompt.questions.is_empty(), true, "questions (`ask`)"),
            (!prompt.required_capabilities.is_empty(), true, "`required_capabilities`"),
            (is_set(&prompt.bind), true, "constants (`bind`)"),
            (!matches!(prompt.enabled, Configurable::Fixed(true)), true, "a condition (`enabled`)"),
            (prompt.arguments.iter().any(|argument| argument.complete.is_some()), true, "completions"),
            (!prompt.icons.is_empty(), false, "its icons"),
            (!prompt.lifecycle.aliases.is_empty(), false, "its former names"),
            (prompt.arguments.iter().any(|argument| argument.title.is_some()), false, "its titles of arguments"),
        ]);
        let mut messages = Vec::new();
        for message in &prompt.messages {
            let text = match &message.part.value {
                MessagePart::Text(text) => Some(text.clone()),
                MessagePart::Template(path) => (self.texts)(path, false).map(|source| source.text.to_string()),
                MessagePart::Function(_) | MessagePart::Resource(_) | MessagePart::Image { .. } => None,
            };
            match text {
                Some(text) => messages.push(PlainMessage { role: message.role.clone(), text: trim_lines(&text) }),
                None => self.refuse(&format!("a message from a {}", message.part.value.describe())),
            }
        }
        let arguments = prompt.arguments.iter().map(|argument| PlainArgument {
            name: argument.name.value.clone(),
            description: argument.description.clone(),
            required: argument.required,
            schema: argument.schema.as_ref().map(|schema| (*schema.json).clone()),
        });
        PlainPrompt {
            name: prompt.name.value.clone(),
            title: prompt.title.clone(),
            description: prompt.description.clone(),
            arguments: arguments.collect(),
            messages,
            meta: prompt.meta.as_ref().and_then(Json::as_object).cloned().unwrap_or_default(),
        }
    }

    /// The file, if nothing was refused: `front` with the keys that `meta` keeps for this system, and the body.
    pub fn file(
        &mut self,
        mut front: Map<String, Json>,
        plain: &PlainPrompt,
        system: &str,
        body: &str,
    ) -> Option<String> {
        for (key, value) in &plain.meta {
            match value.as_object().filter(|_| key == system) {
                Some(own) => front.extend(own.clone()),
                None => self.refuse(&format!("`meta.{key}`")),
            }
        }
        if !self.is_sound() || front.is_empty() && !body.starts_with("---") {
            return self.is_sound().then(|| format!("{body}\n"));
        }
        let front = yaml_text(&Json::Object(front)).map_err(|error| self.findings.push(*error)).ok()?;
        Some(format!("---\n{front}---\n{body}\n"))
    }
}

/// A text without blank lines at its beginning, and without white space at its end.
pub fn trim_lines(text: &str) -> String {
    let start = text.len() - text.trim_start().len();
    let line = text[..start].rfind('\n').map_or(0, |end| end + 1);
    text[line..].trim_end().to_owned()
}
