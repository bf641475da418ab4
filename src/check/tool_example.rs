//! Finds tools without an example.

use super::{Rule, Subject, advice};
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("tool-example");

/// The rule.
pub const RULE: Rule = Rule {
    code: CODE,
    summary: "A tool has no example.",
    why: "An example is documentation and test at once.",
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
gives = "ok""##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let definitions = subject.definitions;
    let shown = |name: &str| definitions.cases.iter().any(|case| case.example_of.as_deref() == Some(name));
    let tools = definitions.tools.iter().filter(|tool| !tool.name.value.is_empty() && !shown(&tool.name.value));
    tools
        .map(|tool| {
            let message = format!("the tool `{}` has no example", tool.name.value);
            advice(CODE, &tool.name.at, message, "[[tool.example]] with `arguments` and `gives` or `matches`")
        })
        .collect()
}
