//! `toolsd call`: calls a tool, as a client would.

use super::options::Format;
use super::{Ended, Exit, Session, arguments, show};
use crate::call::{Answer, FAILURE, Request, Staging, ToolOutcome};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::diagnostic::Diagnostic;
use crate::value::{Json, Object};
use clap::Args;
use serde_json::json;
use std::sync::Arc;

/// JSON-RPC: the parameters are wrong. Since 2026-07-28 also: there is no such resource.
const INVALID_PARAMS: i64 = -32602;
/// JSON-RPC: the server is at fault.
const INTERNAL_ERROR: i64 = -32603;

/// Call a tool.
#[derive(Args)]
pub struct Call {
    /// The tool.
    tool: String,
    /// Its arguments: a JSON object, or key=value pairs.
    #[arg(value_name = "JSON | KEY=VALUE")]
    arguments: Vec<String>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

impl Call {
    pub(super) fn run(self, session: &Session) -> Ended {
        let service = session.service()?;
        let registry = service.registry();
        let names = registry.tools.iter().map(|tool| tool.name.as_str());
        let Some(tool) = registry.tools.iter().find(|tool| tool.name == self.tool) else {
            return Err(session.unknown("tool", &self.tool, names, &registry));
        };
        let arguments = arguments::read(&self.arguments, Some(&tool.input))?;
        session.tell_faults(&registry);
        let service = if self.dry_run {
            let dry = service.staged(Staging { is_dry: true, ..Staging::default() });
            session.audit(&dry);
            dry
        } else {
            service
        };
        // The process ends with the answer: to take down all that a graph holds would be work for nobody.
        std::mem::forget(Arc::clone(&service));
        let answer = session.ask(&service, Request::Call { tool: self.tool, arguments });
        match answer {
            Answer::Tool(outcome) if self.dry_run => Ok(tell_changes(session, &outcome)),
            Answer::Tool(outcome) => Ok(tell_outcome(session, &outcome)),
            other => Ok(tell_unexpected(session, other)),
        }
    }
}

/// What a dry run would have changed; for machines `{ "changes", "result" }`.
fn tell_changes(session: &Session, outcome: &ToolOutcome) -> Exit {
    let terminal = &session.terminal;
    let changes = outcome.changes.iter();
    if session.shared.format == Format::Json && !outcome.failed {
        let changes: Json = changes.map(|file| json!({ "path": file.path, "change": file.change })).collect();
        let result = outcome.structured.clone().unwrap_or_else(|| bare(&outcome.content));
        terminal.json(&json!({ "changes": changes, "result": result }));
        return Exit::Well;
    }
    let exit = tell_outcome(session, outcome);
    if outcome.failed {
        return exit;
    }
    let rows: Vec<Vec<String>> = changes.map(|file| vec![file.change.to_owned(), file.path.clone()]).collect();
    match rows.is_empty() {
        true => terminal.note("no file would change"),
        false => terminal.table(&["would be", "file"], rows),
    }
    exit
}

fn tell_outcome(session: &Session, outcome: &ToolOutcome) -> Exit {
    //= docs/spec.md#command-line
    //# `toolsd call` MUST exit with 1 on a tool error.
    let exit = if outcome.failed { Exit::Faults } else { Exit::Well };
    let terminal = &session.terminal;
    match (session.shared.format, &outcome.structured) {
        //= docs/spec.md#command-line
        //# `toolsd call --format json` MUST print the structured result alone on standard output.
        (Format::Json, Some(data)) => terminal.json(data),
        (Format::Json, None) if let Some(data) = outcome.meta.as_ref().and_then(|meta| meta.get(FAILURE)) => {
            terminal.json(data);
        }
        (Format::Json, None) => terminal.json(&bare(&outcome.content)),
        (_, Some(data)) if !outcome.failed && show::records(terminal, data) => {}
        _ => outcome.content.iter().for_each(|content| terminal.text(&words(content))),
    }
    exit
}

/// The data of a result without structure: the text of one text, else all blocks as MCP writes them.
fn bare(content: &[Content]) -> Json {
    match content {
        [Content { block: ContentBody::Text(text), .. }] => Json::from(text.as_str()),
        blocks => blocks.iter().map(Object::to_json).collect(),
    }
}

/// What a person reads of a block.
pub(super) fn words(content: &Content) -> String {
    match &content.block {
        ContentBody::Text(text) => text.clone(),
        ContentBody::Resource { body: ResourceBody::Text(text), .. } => text.clone(),
        _ => content.to_json().to_string(),
    }
}

/// Tells a fault of the protocol, on standard output for machines.
pub(super) fn tell_unexpected(session: &Session, answer: Answer) -> Exit {
    if let Answer::Fault(fault) = answer {
        tell_fault(session, &fault);
    }
    Exit::Faults
}

fn tell_fault(session: &Session, fault: &Diagnostic) {
    if session.shared.format != Format::Json {
        session.terminal.fault(fault);
        return;
    }
    let data = fault.data.as_deref().cloned().unwrap_or_default();
    let (code, data) = match (fault.code.kind(), data.get("code")) {
        ("reject", Some(code)) => (code.clone(), data.get("data").cloned().unwrap_or_default()),
        ("arguments" | "not_found", _) => (json!(INVALID_PARAMS), data),
        _ => (json!(INTERNAL_ERROR), data),
    };
    session.terminal.json(&json!({ "code": code, "message": fault.message, "data": data }));
}
