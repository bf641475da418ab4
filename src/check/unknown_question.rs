//! Finds questions that a script asks by key and no definition declares.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

const CODE: Code = Code("unknown-question");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls `ask(\"x\")`, but no definition of the pack declares `ask.x`.",
    why: "The call would fail at run time.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
ask.tea = { message = "Which tea?", schema = { name = { type = "string" } } }
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { ask("tee").action }"##),
    ],
    mended: &[(
        "tools.d/a.rhai",
        r##"fn brew(args) { ask("tee").action }"##,
        r##"fn brew(args) { ask("tea").action }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let questions = subject.items.iter().flat_map(|item| item.questions);
    let known: Vec<&str> = questions.map(|one| one.key.value.as_str()).collect();
    let mut diagnostics = Vec::new();
    let calls = subject.calls();
    for call in calls.filter(|call| call.name == "ask" && call.arguments == 1) {
        let Some(key) = call.text(0) else { continue };
        if !known.contains(&key) {
            let help = did_you_mean(key, known.iter().copied())
                .unwrap_or_else(|| format!("declare it as `ask.{key}`, or give `ask` a `form`"));
            diagnostics.push(error_at(CODE, &call.at, format!("there is no question `{key}`"), help));
        }
    }
    diagnostics
}
