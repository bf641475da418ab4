//! Finds arguments of examples and cases that do not fit the schema of their tool.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::{CaseAction, Checker, Expectation, Schema};
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("example-arguments");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "The arguments of an example, or of a step, do not fit the schema of the tool.",
    why: "An example is documentation, so its arguments must be valid.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { type = "string" }
[[tool.example]]
arguments = { pt = "x" }
expect.result = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"arguments = { pt = "x" }
expect.result = "ok""##,
        r##"arguments = { pot = "x" }
expect.result = "ok"
[[tool.example]]
arguments = { pt = "x" }
expect.error = { message = "pt" }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for tool in &subject.definitions.tools {
        let steps = subject.definitions.cases.iter().flat_map(|case| &case.steps);
        let steps = steps.filter_map(|step| match &step.act.value {
            CaseAction::Call { tool: name, arguments } if *name == tool.name.value => Some((step, arguments)),
            _ => None,
        });
        // An error handler may return a result for invalid arguments.
        let handled =
            tool.on_error.is_some() || subject.definitions.pack.as_ref().is_some_and(|pack| pack.on_error.is_some());
        for (step, arguments) in steps {
            let fails = step.expect.iter().any(|expect| matches!(expect.value, Expectation::Error(_)));
            if fails || handled || mentions_kept(arguments) {
                continue;
            }
            let Some(checker) = compile(tool.input_for(arguments), subject) else { continue };
            for problem in checker.check(arguments) {
                let message = format!("the arguments do not fit `{}`: {}", tool.name.value, problem.message);
                let help = problem
                    .help
                    .unwrap_or_else(|| "see `[tool.input]`; a failure is expected with `expect.error`".to_owned());
                diagnostics.push(error_at(CODE, &step.act.at, message, help));
            }
        }
    }
    diagnostics
}

/// Returns the checker of a tool's arguments; other rules report errors of the schema itself.
fn compile(input: &Schema, subject: &Subject<'_>) -> Option<Checker> {
    let json = input.publish(&subject.definitions.defs).ok()?;
    Checker::new(json).ok()
}

/// Whether some argument is filled in only when the case runs.
fn mentions_kept(arguments: &crate::value::Json) -> bool {
    match arguments {
        crate::value::Json::String(text) => text.starts_with('$'),
        crate::value::Json::Array(items) => items.iter().any(mentions_kept),
        crate::value::Json::Object(map) => map.values().any(mentions_kept),
        _ => false,
    }
}
