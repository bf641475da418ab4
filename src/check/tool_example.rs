//! Finds tools without an example.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::definition::{Body, CaseAction, Definitions, Tool};
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("tool-example");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A tool has no example.",
    why: "An example is both documentation and a test.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"text = "ok""##,
        r##"text = "ok"
[[tool.example]]
expect.result = "ok""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let definitions = subject.definitions;
    let shown = |name: &str| definitions.cases.iter().any(|case| case.example_of.as_deref() == Some(name));
    let tools = definitions.tools.iter().filter(|tool| !tool.name.value.is_empty());
    // The tool of the prompts is made, not written: the prompts have examples.
    let is_written = |tool: &&Tool| tool.dispatch.is_none() && tool.body.value != Body::Prompts;
    let bare = tools.clone().filter(is_written).filter(|tool| !shown(&tool.name.value));
    let bare = bare.map(|tool| {
        let message = format!("the tool `{}` has no example", tool.name.value);
        warning_at(
            CODE,
            &tool.name.at,
            message,
            "[[tool.example]] with `arguments` and `expect.result` or `expect.result_matches`",
        )
    });
    let operations = tools.flat_map(|tool| {
        let operations = tool.dispatch.iter().flat_map(|dispatch| &dispatch.operations);
        let silent = operations.filter(|operation| !is_shown(definitions, tool, &operation.name.value));
        silent.map(|operation| {
            let message = format!("the operation `{}` of `{}` has no example", operation.name.value, tool.name.value);
            let help = format!(
                "[[tool.operations.{}.example]] with `arguments` and `expect.result` or `expect.result_matches`",
                operation.name.value
            );
            warning_at(CODE, &operation.name.at, message, help)
        })
    });
    bare.chain(operations).collect()
}

/// Whether an example, or a step of a case, calls an operation.
fn is_shown(definitions: &Definitions, tool: &Tool, operation: &str) -> bool {
    definitions.cases.iter().flat_map(|case| &case.steps).any(|step| match &step.act.value {
        CaseAction::Call { tool: name, arguments } => {
            *name == tool.name.value && tool.operation(arguments).is_some_and(|(_, one)| one.name.value == operation)
        }
        _ => false,
    })
}
