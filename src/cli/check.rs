//! `toolsd check`: all diagnostics of all packs at once.

use super::context::CommandContext;
use super::misplaced::{locate_templates, misplaced_definitions};
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::TextStyle;
use crate::call;
use crate::check;
use crate::diagnostic::{Code, Diagnostic, render};
use crate::mcp::listed_tools;
use crate::registry::{PackChoice, Registry, is_withheld_file, is_withheld_of, pack_of_file, withheld_packs};
use crate::surface::approximate_tokens;
use crate::template;
use clap::Args;
use std::cmp::Reverse;

/// The code of a list of tools that takes more of a model's context than its budget.
const OVER_BUDGET: Code = Code("over-budget");

/// How many of the largest tools an error names.
const NAMED_TOOLS: usize = 3;

/// Check packs: definitions, schemas, scripts, templates.
#[derive(Args)]
pub struct CheckCommand {
    /// Also check what public directories of MCP servers ask for.
    #[arg(long)]
    directory: bool,
    /// Check these packs only [default: all].
    #[arg(value_name = "PACK")]
    only: Vec<String>,
}

impl CheckCommand {
    pub(super) fn run(self, context: &CommandContext) -> CommandResult {
        let packs: Vec<String> = self.only.into_iter().chain(context.options.packs.clone()).collect();
        let named = packs.clone();
        let choice = if packs.is_empty() { PackChoice::ByMarkers } else { PackChoice::Named(packs) };
        let (parts, mut diagnostics) = call::load_packs(&context.pack_source(choice)?);
        let count = parts.len();
        let withheld = withheld_packs(&diagnostics, &named);
        diagnostics.retain(|diagnostic| !is_withheld_file(diagnostic));
        // A pack that was named and of which no file is used has an error already.
        let is_absent = |name: &&String| !parts.iter().any(|parts| parts.name == **name);
        let absent: Vec<&String> = named.iter().filter(is_absent).collect();
        let is_reported = |found: &&Diagnostic| absent.iter().any(|name| is_withheld_of(found, name));
        diagnostics.extend(withheld.iter().filter(|found| !is_reported(found)).cloned());
        let is_incomplete = |name: &str| withheld.iter().any(|found| is_withheld_of(found, name) || is_shared(found));
        if self.directory {
            diagnostics.extend(parts.iter().flat_map(check::check_for_directory));
        }
        diagnostics.extend(parts.into_iter().flat_map(|parts| {
            let is_incomplete = is_incomplete(&parts.name);
            parts.diagnostics.into_iter().filter(move |found| !is_incomplete || !needs_all_files(found))
        }));
        let registry = context.service()?.registry();
        diagnostics.extend(call::wrong_names(&registry));
        diagnostics.extend(exceeds_list_budgets(&registry));
        diagnostics.extend(misplaced_definitions(context));
        locate_templates(context, &mut diagnostics);
        diagnostics.sort_by_cached_key(|diagnostic| {
            let place = diagnostic.at.as_ref().map(|at| (at.source.path.clone(), at.span.start));
            (place.is_none(), place)
        });
        diagnostics.dedup();
        print_diagnostics(context, &diagnostics, count);
        Ok(if diagnostics.iter().any(Diagnostic::is_error) { Exit::Errors } else { Exit::Success })
    }
}

/// Returns an error for each budget of `toolsd.toml` that the list of tools exceeds, as clients get it.
fn exceeds_list_budgets(registry: &Registry) -> Vec<Diagnostic> {
    let workspace = &registry.settings.workspace;
    let discover = workspace.discover.as_ref().and_then(|discover| discover.budget.as_ref());
    let budgets =
        [(workspace.server.budget.as_ref(), "`budget` of `[server]`"), (discover, "`budget` of `[discover]`")];
    let exceeded = budgets.into_iter().filter_map(|(budget, name)| {
        let budget = budget?;
        let mut listed = listed_tools(registry);
        let tokens = approximate_tokens(listed.iter().map(|(_, bytes)| bytes).sum()) as u64;
        let over = tokens.checked_sub(budget.value).filter(|over| *over > 0)?;
        listed.sort_by_key(|(_, bytes)| Reverse(*bytes));
        let largest = listed.iter().take(NAMED_TOOLS);
        let largest: Vec<String> =
            largest.map(|(tool, bytes)| format!("`{tool}` ≈ {}", approximate_tokens(*bytes))).collect();
        let message = format!(
            "the list of tools that clients get has ≈ {tokens} tokens, {over} more than {name} allows ({})",
            budget.value
        );
        let help = format!("the largest: {}; `toolsd cost --tools` shows all", largest.join(", "));
        Some(*Diagnostic::new(OVER_BUDGET, message).at(budget.at.clone()).help(help))
    });
    exceeded.collect()
}

/// Whether a withheld file belongs to all packs.
fn is_shared(withheld: &Diagnostic) -> bool {
    withheld.at.as_ref().is_some_and(|at| pack_of_file(&at.source.path).is_none())
}

/// Whether a finding follows from all files of a pack: it may be one of files that are withheld only.
fn needs_all_files(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == template::PARTIAL || check::ALL.iter().any(|rule| rule.code == diagnostic.code)
}

fn print_diagnostics(context: &CommandContext, diagnostics: &[Diagnostic], packs: usize) {
    let terminal = &context.terminal;
    match context.options.format {
        OutputFormat::Json => terminal.json(&render::json(diagnostics)),
        OutputFormat::Sarif => terminal.json(&render::sarif(diagnostics)),
        OutputFormat::Text | OutputFormat::Markdown => {
            if !diagnostics.is_empty() {
                terminal.excerpts(diagnostics);
            }
            let errors = diagnostics.iter().filter(|diagnostic| diagnostic.is_error()).count();
            let style = if errors == 0 { TextStyle::Green } else { TextStyle::Red };
            let warnings = diagnostics.len() - errors;
            let summary = format!(
                "{packs} pack{}, {errors} error{}, {warnings} warning{}",
                plural(packs),
                plural(errors),
                plural(warnings)
            );
            terminal.styled(&[(style, &summary)]);
        }
    }
}

/// The ending of a counted noun.
pub(super) fn plural(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}
