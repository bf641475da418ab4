//! Finds tables that a script asks for and the pack does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

const CODE: Code = Code("unknown-data");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls `data(\"x\")`, but there is no `[data.x]`.",
    why: "The call would fail at run time.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[data.levels]
must = 1
[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { data("level") }"##),
    ],
    mended: &[
        ("tools.d/a.rhai", r##"fn brew(args) { data("level") }"##, r##"fn brew(args) { data("levels") }"##),
        ("tools.d/a.toml", r##"effect = "pure""##, r##"effect = "reads""##),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let known: Vec<&str> = subject.definitions.data.iter().map(|(name, _)| name.value.as_str()).collect();
    let mut diagnostics = Vec::new();
    for call in subject.calls().filter(|call| call.name == "data") {
        let Some(name) = call.text(0) else { continue };
        if !known.contains(&name) {
            let help =
                did_you_mean(name, known.iter().copied()).unwrap_or_else(|| format!("define it as `[data.{name}]`"));
            diagnostics.push(error_at(CODE, &call.at, format!("there is no table `{name}`"), help));
        }
    }
    diagnostics
}
