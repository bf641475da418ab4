//! Finds descriptions too short to choose by.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("short-description");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "The description of a tool has fewer than four words.",
    why: "A model chooses a tool by its description: when to use it, when not, what it returns.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews."
text = "ok"
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"description = "Brews.""##,
        r##"description = "Brews a pot of tea, and says how long it took.""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let short = |text: &str| !text.is_empty() && text.split_whitespace().count() < 4;
    let tools = subject.definitions.tools.iter().filter(|tool| short(&tool.description.value));
    let operations = subject.definitions.tools.iter().filter_map(|tool| tool.dispatch.as_ref());
    let operations = operations.flat_map(|dispatch| &dispatch.operations);
    let operations = operations.filter(|operation| short(&operation.description.value));
    let named = tools.map(|tool| (&tool.name, &tool.description));
    named
        .chain(operations.map(|operation| (&operation.name, &operation.description)))
        .map(|(name, description)| {
            let message = format!("the description of `{}` says little", name.value);
            warning_at(CODE, &description.at, message, "say when to use it, when not, and what it returns")
        })
        .collect()
}
