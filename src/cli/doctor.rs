//! `toolsd doctor`: checks the set-up, and reports problems and their fixes.

mod checks;
mod clients;
mod graphs;
mod layers;

use super::context::CommandContext;
use super::options::{CommandResult, Exit, OutputFormat};
use super::terminal::TextStyle;
use crate::value::Json;
use checks::{Finding, FindingState};
use serde_json::json;

/// Every check, in the order in which findings are printed.
const CHECKS: &[fn(&CommandContext) -> Vec<Finding>] = &[
    checks::workspace,
    checks::folders,
    checks::leftovers,
    checks::trust,
    layers::layers,
    checks::packs,
    graphs::graphs,
    checks::sandbox,
    checks::watches,
    checks::git,
    clients::clients,
    checks::http,
];

/// Runs every check, and prints its findings.
pub(super) fn run(context: &CommandContext) -> CommandResult {
    let findings: Vec<Finding> = CHECKS.iter().flat_map(|check| check(context)).collect();
    let is_broken = findings.iter().any(|finding| finding.state == FindingState::Broken);
    if context.options.format == OutputFormat::Json {
        let checks: Vec<Json> = findings.iter().map(Finding::json).collect();
        context.terminal.json(&json!({ "well": !is_broken, "findings": checks }));
    } else {
        findings.iter().for_each(|finding| print_finding(context, finding));
    }
    //= docs/spec.md#command-line
    //# `toolsd doctor` MUST try what the verbs of git need, report what fails, and exit with 1 if something
    //# is broken.
    Ok(if is_broken { Exit::Errors } else { Exit::Success })
}

fn print_finding(context: &CommandContext, finding: &Finding) {
    let terminal = &context.terminal;
    let mark = format!("{:6}", finding.state.name());
    terminal.styled(&[
        (finding.state.style(), &mark),
        (TextStyle::Plain, &format!("  {}: {}", finding.about, finding.says)),
    ]);
    if let Some(next) = &finding.next {
        terminal.line(&format!("        -> {next}"));
    }
}
