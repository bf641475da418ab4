//! `toolsd prompt`: gets a prompt, as a client would.

use super::call::{tell_unexpected, words};
use super::options::Format;
use super::terminal::Style;
use super::{Ended, Exit, Session, arguments};
use crate::call::{Answer, Request};
use crate::value::Object;
use clap::Args;
use serde_json::json;

/// Get a prompt.
#[derive(Args)]
pub struct Prompt {
    /// The prompt.
    name: String,
    /// Its arguments: a JSON object, or key=value pairs.
    #[arg(value_name = "JSON | KEY=VALUE")]
    arguments: Vec<String>,
}

impl Prompt {
    pub(super) fn run(self, session: &Session) -> Ended {
        let service = session.service()?;
        let registry = service.registry();
        if !registry.prompts.iter().any(|prompt| prompt.name == self.name) {
            let names = registry.prompts.iter().map(|prompt| prompt.name.as_str());
            return Err(session.unknown("prompt", &self.name, names, &registry));
        }
        let arguments = arguments::read(&self.arguments, None)?;
        session.tell_faults(&registry);
        let terminal = &session.terminal;
        match session.ask(&service, Request::Prompt { name: self.name, arguments }) {
            Answer::Messages { description, messages } if session.shared.format == Format::Json => {
                let messages: Vec<_> = messages
                    .iter()
                    .map(|(role, content)| json!({ "role": role, "content": content.to_json() }))
                    .collect();
                terminal.json(&json!({ "description": description, "messages": messages }));
                Ok(Exit::Well)
            }
            Answer::Messages { messages, .. } => {
                let several = messages.len() > 1;
                for (role, content) in &messages {
                    if several {
                        terminal.styled(&[(Style::Dim, &format!("{role}:"))]);
                    }
                    terminal.text(&words(content));
                }
                Ok(Exit::Well)
            }
            other => Ok(tell_unexpected(session, other)),
        }
    }
}
