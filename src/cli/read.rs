//! `toolsd read`: reads a resource, as a client would.

use super::call::{print_notices, print_unexpected};
use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use crate::call::{Answer, Request, ResourceAnswer};
use crate::content::ResourceBody;
use crate::value::Json;
use clap::Args;
use serde_json::json;

/// Read a resource.
#[derive(Args)]
pub struct ReadCommand {
    uri: String,
}

impl ReadCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let service = context.service()?;
        let registry = service.registry();
        context.print_diagnostics_of_use(&registry);
        if registry.packs.is_empty() && !self.uri.starts_with("toolsd:") {
            return Err(context.no_pack_serves(&registry));
        }
        match context.answer(&service, Request::Read { uri: self.uri }) {
            Answer::Contents(contents) => {
                print_contents(context, &contents);
                print_notices(&context.terminal, &contents.notices);
                Ok(Exit::Success)
            }
            other => Ok(print_unexpected(context, other)),
        }
    }
}

fn print_contents(context: &CommandContext, contents: &ResourceAnswer) {
    for (uri, mime_type, body) in &contents.parts {
        match (context.options.format, body) {
            (OutputFormat::Json, ResourceBody::Text(text)) => match serde_json::from_str::<Json>(text) {
                Ok(data) => context.terminal.json(&data),
                Err(_) => context.terminal.json(&Json::from(text.as_str())),
            },
            (_, ResourceBody::Text(text)) => context.terminal.text(text),
            (_, ResourceBody::Blob(blob)) => {
                context.terminal.json(&json!({ "uri": uri, "mimeType": mime_type, "blob": blob }));
            }
        }
    }
}
