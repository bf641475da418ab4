//! `toolsd call`: calls a tool, as a client would.

use super::answers::{CommandClient, typed_value};
use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::{Terminal, TextStyle, move_widest_last};
use crate::call::{Answer, Request, Staging, ToolOutcome, error_data};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::ObjectSchema;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::refuse_oversized_integers;
use crate::value::{Json, Object};
use clap::Args;
use serde_json::{Map, json};
use std::sync::Arc;

/// JSON-RPC: the parameters are wrong. Since 2026-07-28 also: there is no such resource.
const INVALID_PARAMS: i64 = -32602;

/// JSON-RPC: internal error of the server.
const INTERNAL_ERROR: i64 = -32603;

/// Call a tool.
#[derive(Args)]
pub struct CallCommand {
    tool: String,
    /// Its arguments: a JSON object, or key=value pairs.
    #[arg(value_name = "JSON | KEY=VALUE")]
    arguments: Vec<String>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// The answer to a question of the tool, or to one field of its form: may be repeated. `decline` and `cancel` are
    /// answers, too. Questions without one are asked at the terminal.
    #[arg(long = "answer", value_name = "KEY[.FIELD]=VALUE")]
    answers: Vec<String>,
}

impl CallCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let service = context.service()?;
        let registry = service.registry();
        let names = registry.tools.iter().map(|tool| tool.name.as_str());
        let Some(tool) = registry.tool(&self.tool) else {
            return Err(context.unknown_name("tool", &self.tool, names, &registry));
        };
        let arguments = read_arguments(&self.arguments, Some(&tool.contract.schema))?;
        let client = CommandClient::from_words(context.terminal, &self.answers)?;
        context.print_diagnostics_of_use(&registry);
        let service = if self.dry_run {
            let dry = service.staged(Staging { is_dry: true, ..Staging::default() });
            context.audit(&dry);
            dry
        } else {
            service
        };
        // The process ends with the answer, so freeing the graph would be wasted work.
        std::mem::forget(Arc::clone(&service));
        let pack = tool.pack.name.clone();
        let mut answer = context.answer_asking(client, &service, Request::Call { tool: self.tool, arguments });
        if let (Answer::Tool(outcome), Some(said)) = (&mut answer, registry.staleness(&pack)) {
            // The diagnostic of the file has said it.
            outcome.notices.retain(|notice| *notice != said);
        }
        let pending = service.pending_changes(&pack);
        if pending > 0 {
            let what = if pending == 1 { "the change in memory ends" } else { "the changes in memory end" };
            context
                .terminal
                .note(&format!("notice: {what} with this command; in a session of `toolsd serve` they last"));
        }
        match answer {
            Answer::Tool(outcome) if self.dry_run => Ok(print_changes(context, &outcome)),
            Answer::Tool(outcome) => Ok(print_outcome(context, &outcome)),
            Answer::Error(error) if needs_answers(&error) => {
                let help = "answer it with `--answer KEY=VALUE`, or call the tool at a terminal";
                Ok(print_unexpected(context, Answer::Error(error.help(help))))
            }
            other => Ok(print_unexpected(context, other)),
        }
    }
}

/// Whether a call failed only because there is no one to answer its forms.
fn needs_answers(error: &Diagnostic) -> bool {
    let required = error.data.as_ref().and_then(|data| data["requiredCapabilities"].as_object());
    error.code == Code::CAPABILITY && required.is_some_and(|names| names.keys().eq(["elicitation"]))
}

/// Prints what a dry run would have changed; for machines `{ "changes", "result" }`.
pub(super) fn print_changes(context: &CommandContext, outcome: &ToolOutcome) -> Exit {
    let terminal = &context.terminal;
    let changes = outcome.changes.iter();
    if context.options.format == OutputFormat::Json && !outcome.failed {
        let changes: Json = changes.map(|file| json!({ "path": file.path, "change": file.change })).collect();
        let result = outcome.structured.clone().unwrap_or_else(|| bare_data(&outcome.content));
        terminal.json(&json!({ "changes": changes, "result": result }));
        return Exit::Success;
    }
    let exit = print_outcome(context, outcome);
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

pub(super) fn print_outcome(context: &CommandContext, outcome: &ToolOutcome) -> Exit {
    //= docs/spec.md#command-line
    //# `toolsd call` MUST exit with 1 on a tool error, and with `--format json` MUST print only the structured result
    //# to standard output.
    let exit = if outcome.failed { Exit::Errors } else { Exit::Success };
    let terminal = &context.terminal;
    match (context.options.format, &outcome.structured) {
        (OutputFormat::Json, _) if let Some(diagnostic) = &outcome.error => terminal.json(&error_data(diagnostic)),
        (_, _) if let Some(diagnostic) = &outcome.error => terminal.text(&match error_data(diagnostic) {
            Json::String(text) => text,
            data => data.to_string(),
        }),
        (OutputFormat::Json, Some(data)) => terminal.json(data),
        (OutputFormat::Json, None) => terminal.json(&bare_data(&outcome.content)),
        (_, Some(data)) if !outcome.failed && print_records(terminal, data) => {}
        _ => outcome.content.iter().for_each(|content| terminal.text(&readable_text(content))),
    }
    // On standard error, so that the result stays what it is.
    print_notices(terminal, &outcome.notices);
    exit
}

/// Prints what toolsd says of a result.
pub(super) fn print_notices(terminal: &Terminal, notices: &[String]) {
    notices.iter().flat_map(|notice| notice.lines()).for_each(|line| terminal.note(&format!("notice: {line}")));
}

/// Returns the data of a result without structured content: the text of a single text block, otherwise all blocks as in
/// MCP.
fn bare_data(content: &[Content]) -> Json {
    match content {
        [Content { block: ContentBody::Text(text), .. }] => Json::from(text.as_str()),
        blocks => blocks.iter().map(Object::to_json).collect(),
    }
}

/// Returns the readable form of a block.
pub(super) fn readable_text(content: &Content) -> String {
    match &content.block {
        ContentBody::Text(text) => text.clone(),
        ContentBody::Resource { body: ResourceBody::Text(text), .. } => text.clone(),
        _ => content.to_json().to_string(),
    }
}

/// Prints a protocol error, on standard output for machines.
pub(super) fn print_unexpected(context: &CommandContext, answer: Answer) -> Exit {
    if let Answer::Error(diagnostic) = answer {
        print_error(context, &diagnostic);
    }
    Exit::Errors
}

fn print_error(context: &CommandContext, diagnostic: &Diagnostic) {
    if context.options.format != OutputFormat::Json {
        context.terminal.diagnostic(diagnostic);
        return;
    }
    let data = diagnostic.data.as_deref().cloned().unwrap_or_default();
    let (code, data) = match (diagnostic.code.kind(), data.get("code")) {
        ("protocol-error", Some(code)) => (code.clone(), data.get("data").cloned().unwrap_or_default()),
        ("arguments" | "not-found", _) => (json!(INVALID_PARAMS), data),
        _ => (json!(INTERNAL_ERROR), data),
    };
    context.terminal.json(&json!({ "code": code, "message": diagnostic.message, "data": data }));
}

/// Reads a JSON object, or pairs; `schema` decides which values are not strings. No words mean an empty object.
pub(super) fn read_arguments(words: &[String], schema: Option<&ObjectSchema>) -> Result<Json> {
    if let [word] = words
        && word.trim_start().starts_with('{')
    {
        let read = serde_json::from_str(word).map_err(|diagnostic| {
            usage(
                format!("the arguments are not valid JSON: {diagnostic}"),
                "write a JSON object, or `key=value` pairs",
            )
        })?;
        return refuse_oversized_integers(word).map(|()| read);
    }
    let mut map = Map::new();
    for word in words {
        let Some((key, value)) = word.split_once('=') else {
            return Err(usage(format!("`{word}` is not an argument"), "write a JSON object, or `key=value` pairs"));
        };
        let property = schema.and_then(|schema| schema.get("properties")?.get(key));
        map.insert(key.to_owned(), typed_value(value, property)?);
    }
    Ok(Json::Object(map))
}

fn usage(message: String, help: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code("usage"), message).help(help)
}

/// Maximum number of columns of a table: more do not fit on a screen.
const MAX_COLUMNS: usize = 8;

/// Prints a result for people: a list of records as a table, an object that contains one as its other fields and a
/// table. Returns `false` if it is neither.
fn print_records(terminal: &Terminal, data: &Json) -> bool {
    if let Some(rows) = rows_of(data) {
        print_table(terminal, &rows);
        return true;
    }
    let Some(map) = data.as_object() else { return false };
    let lists: Vec<(&String, Vec<&Map<String, Json>>)> =
        map.iter().filter_map(|(key, value)| Some((key, rows_of(value)?))).collect();
    let [(list, rows)] = lists.as_slice() else { return false };
    for (key, value) in map.iter().filter(|(key, _)| key != list) {
        terminal.styled(&[(TextStyle::Bold, key), (TextStyle::Plain, ": "), (TextStyle::Plain, &cell(value))]);
    }
    print_table(terminal, rows);
    true
}

/// Returns the text of a cell: a string without quotes, nothing for `null`, otherwise JSON.
fn cell(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) if items.iter().all(|item| item.is_string() || item.is_number()) => {
            items.iter().map(cell).collect::<Vec<_>>().join(", ")
        }
        other => other.to_string(),
    }
}

fn rows_of(data: &Json) -> Option<Vec<&Map<String, Json>>> {
    let items = data.as_array()?;
    let rows: Option<Vec<&Map<String, Json>>> = items.iter().map(Json::as_object).collect();
    rows.filter(|rows| !rows.is_empty())
}

fn print_table(terminal: &Terminal, rows: &[&Map<String, Json>]) {
    let mut columns: Vec<&str> = Vec::new();
    for key in rows.iter().flat_map(|row| row.keys()) {
        if !columns.contains(&key.as_str()) {
            columns.push(key);
        }
    }
    columns.truncate(MAX_COLUMNS);
    let line = |row: &&Map<String, Json>| {
        columns.iter().map(|column| row.get(*column).map(cell).unwrap_or_default()).collect::<Vec<_>>()
    };
    let mut rows: Vec<Vec<String>> = rows.iter().map(line).collect();
    // In a pipe the columns are in the order of the fields, whatever they contain.
    if terminal.person {
        move_widest_last(&mut columns, &mut rows);
    }
    terminal.table(&columns, rows);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::schema_object;
    use serde_json::json;

    fn words(of: &[&str]) -> Vec<String> {
        of.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn pairs_are_typed_by_the_schema() {
        let schema = json!({ "properties": { "limit": { "type": "integer" }, "id": { "type": "string" } } });
        let read =
            read_arguments(&words(&["limit=3", "id=7", "other=true"]), Some(&schema_object(schema).unwrap().into()));
        assert_eq!(read, Ok(json!({ "limit": 3, "id": "7", "other": "true" })));
    }

    #[test]
    fn an_object_is_taken_as_it_is() {
        assert_eq!(read_arguments(&words(&[r#"{"a": [1]}"#]), None), Ok(json!({ "a": [1] })));
        assert_eq!(read_arguments(&[], None), Ok(json!({})));
        assert!(read_arguments(&words(&["{"]), None).is_err());
        let reported = read_arguments(&words(&[r#"{"a": 12345678901234567890}"#]), None).unwrap_err();
        assert_eq!(reported.message, "the whole number 12345678901234567890 at `.a` is beyond 64 bits");
        assert!(read_arguments(&words(&["word"]), None).is_err());
    }
}
