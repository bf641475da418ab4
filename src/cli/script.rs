//! `toolsd script`: runs a script that calls tools, as a client's `run_script` does.

use super::call::{print_changes, print_outcome, print_unexpected};
use super::context::CommandContext;
use super::options::CommandResult;
use crate::call::{Answer, CodeMode, Request, ScriptRequest, ToolOutcome};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::refuse_oversized_integers;
use crate::primitive_api::Effect;
use crate::value::Json;
use crate::world::disk::{Disk, current_folder};
use crate::world::{Files, path, text_from_bytes};
use clap::{Args, ValueEnum};
use serde_json::json;

/// Run a script that calls tools: `name(#{ argument: value })`. Its last value is printed.
#[derive(Args)]
pub struct ScriptCommand {
    /// The script: a file, or `-` for standard input.
    #[arg(value_name = "FILE | -")]
    script: String,
    /// The strongest effect of a call (default: that of `[code_mode]`, otherwise `reads`).
    #[arg(long, value_name = "EFFECT")]
    allow: Option<AllowedEffect>,
    /// The constant `input` of the script.
    #[arg(long, value_name = "JSON")]
    input: Option<String>,
    /// Show what would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
    /// Show the calls that were made, with their times and sizes.
    #[arg(long)]
    calls: bool,
}

/// An effect on the command line.
#[derive(Clone, Copy, ValueEnum)]
pub enum AllowedEffect {
    /// Nothing outside the arguments.
    Pure,
    /// Reads files.
    Reads,
    /// Changes the graph in memory.
    #[value(name = "edits_graph", alias = "changes")]
    EditsGraph,
    /// Writes files.
    Writes,
    /// Runs programs.
    Runs,
}

impl From<AllowedEffect> for Effect {
    fn from(allowed: AllowedEffect) -> Self {
        match allowed {
            AllowedEffect::Pure => Self::Pure,
            AllowedEffect::Reads => Self::Reads,
            AllowedEffect::EditsGraph => Self::Changes,
            AllowedEffect::Writes => Self::Writes,
            AllowedEffect::Runs => Self::Runs,
        }
    }
}

impl ScriptCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let text = read_script(context, &self.script)?;
        let input = self.input.as_deref().map(read_input).transpose()?.unwrap_or(Json::Null);
        let service = context.service()?;
        let registry = service.registry();
        if registry.packs.is_empty() {
            return Err(context.no_pack_serves(&registry));
        }
        context.print_diagnostics_of_use(&registry);
        let definition = registry.settings.workspace.code_mode.as_ref();
        let rules = CodeMode::new(definition, self.allow.map(Effect::from), "allow it with `--allow EFFECT`");
        let request = ScriptRequest { text, input, is_dry: self.dry_run, rules };
        let answer = context.answer(&service, Request::Script(Box::new(request)));
        let Answer::Tool(outcome) = answer else { return Ok(print_unexpected(context, answer)) };
        let exit = match self.dry_run {
            true => print_changes(context, &outcome),
            false => print_outcome(context, &outcome),
        };
        if self.calls {
            print_calls(context, &outcome);
        }
        Ok(exit)
    }
}

/// Reads a script from a file of the user, or from standard input.
pub(super) fn read_script(context: &CommandContext, named: &str) -> Result<String> {
    if named == "-" {
        return context.terminal.read_input();
    }
    let full = path::clean(&path::join(&current_folder()?, named));
    text_from_bytes(named, Disk::new("/", ["/"])?.read(&full)?)
}

pub(super) fn read_input(text: &str) -> Result<Json> {
    let input = serde_json::from_str(text).map_err(|error| {
        Diagnostic::new(Code("usage"), format!("`--input` is not valid JSON: {error}")).help("write a JSON value")
    })?;
    refuse_oversized_integers(text).map(|()| input)
}

/// Prints the calls on standard error, so that standard output stays the value.
fn print_calls(context: &CommandContext, outcome: &ToolOutcome) {
    let calls = outcome.meta.as_ref().and_then(|meta| meta["toolsd/calls"].as_array().cloned()).unwrap_or_default();
    for call in &calls {
        let text = |key: &str| call[key].as_str().map_or_else(|| call[key].to_string(), str::to_owned);
        let failed = if call["failed"] == json!(true) { format!(", failed: {}", text("error")) } else { String::new() };
        let line = format!(
            "{}: {} ms, {} bytes, ≈ {} tokens{failed}",
            text("tool"),
            text("ms"),
            text("bytes"),
            text("tokens")
        );
        context.terminal.note(&line);
    }
    context.terminal.note(&format!("{} calls", calls.len()));
}
