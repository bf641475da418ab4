//! Finds calls that do nothing: a pure primitive whose result is not used.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitives;
use crate::value::Kind;

const CODE: Code = Code("unused-result");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls a primitive that only returns a value, and does not use the value.",
    why: "The call has no effect: primitives return a new value and do not change their arguments.",
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
        ("tools.d/a.rhai", r##"fn brew(args) { let pots = [2, 1]; pots.sort(); pots }"##),
    ],
    mended: &[("tools.d/a.rhai", "pots.sort();", "pots = pots.sort();")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for survey in subject.program.surveys() {
        let own = subject.visible_functions(&survey.source.path);
        for call in survey.calls.iter().filter(|call| call.is_dropped) {
            let primitive = primitives::find(&call.name).filter(|primitive| primitive.only_returns());
            let Some(primitive) = primitive.filter(|_| own.iter().all(|function| function.name != call.name)) else {
                continue;
            };
            let message = format!("the result of `{}` is not used, so the call does nothing", call.name);
            let result = match primitive.returns {
                Kind::Any => "value",
                kind => kind.name(),
            };
            let help = format!("`{}` returns a new {result}; assign it", call.name);
            diagnostics.push(warning_at(CODE, &call.at, message, help));
        }
    }
    diagnostics
}
