//! `toolsd prompt`: gets a prompt, as a client would.

use super::call::{print_unexpected, read_arguments, readable_text};
use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::TextStyle;
use crate::call::{Answer, Request};
use crate::registry::Registry;
use crate::value::Object;
use clap::Args;
use serde_json::json;

/// Get a prompt.
#[derive(Args)]
pub struct PromptCommand {
    /// The prompt.
    name: String,
    /// Its arguments: a JSON object, or key=value pairs.
    #[arg(value_name = "JSON | KEY=VALUE")]
    arguments: Vec<String>,
}

impl PromptCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let service = context.service()?;
        let is_known = |registry: &Registry| registry.prompt(&self.name).is_some();
        let mut registry = service.registry();
        if !is_known(&registry) {
            // Prompts of `list` functions are known only once these have run.
            service.describe();
            registry = service.registry();
        }
        if !is_known(&registry) {
            let names = registry.prompts.iter().map(|prompt| prompt.name.as_str());
            return Err(context.unknown_name("prompt", &self.name, names, &registry));
        }
        let arguments = read_arguments(&self.arguments, None)?;
        context.print_diagnostics_of_use(&registry);
        let terminal = &context.terminal;
        match context.answer(&service, Request::Prompt { name: self.name, arguments }) {
            Answer::Messages { description, messages } if context.options.format == OutputFormat::Json => {
                let messages: Vec<_> = messages
                    .iter()
                    .map(|(role, content)| json!({ "role": role, "content": content.to_json() }))
                    .collect();
                terminal.json(&json!({ "description": description, "messages": messages }));
                Ok(Exit::Success)
            }
            Answer::Messages { messages, .. } => {
                let several = messages.len() > 1;
                for (role, content) in &messages {
                    if several {
                        terminal.styled(&[(TextStyle::Dim, &format!("{role}:"))]);
                    }
                    terminal.text(&readable_text(content));
                }
                Ok(Exit::Success)
            }
            other => Ok(print_unexpected(context, other)),
        }
    }
}
