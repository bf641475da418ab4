//! Finds closures that name the variable whose method they are passed to.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("data-race");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A closure names the variable whose method it is passed to.",
    why: "rhai refuses it as a data race at run time.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { let pots = [1, 2]; pots.filter(|pot| pots.len() > pot) }"##),
    ],
    mended: &[(
        "tools.d/a.rhai",
        "fn brew(args) { let pots = [1, 2]; pots.filter(|pot| pots.len() > pot) }",
        "fn brew(args) { let pots = [1, 2]; let count = pots.len(); pots.filter(|pot| count > pot) }",
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let captures = subject.program.surveys().iter().flat_map(|survey| &survey.captures);
    captures
        .map(|capture| {
            let message = format!("the closure given to `{}` names `{}` itself", capture.method, capture.variable);
            error_at(
                CODE,
                &capture.at,
                message,
                format!("copy what it needs to a variable first: `let other = {};`", capture.variable),
            )
        })
        .collect()
}
