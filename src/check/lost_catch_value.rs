//! Finds functions that end in a `catch` block whose value is lost.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("lost-catch-value");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A function ends in a `catch` block that ends in a value without `return`.",
    why: "In rhai a `catch` block has no value: the function returns `()`.",
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
        ("tools.d/a.rhai", r##"fn brew(args) { try { parse_time("soon") } catch { 0 } }"##),
    ],
    mended: &[("tools.d/a.rhai", "catch { 0 }", "catch { return 0; }")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let lost = subject.program.surveys().iter().flat_map(|survey| &survey.lost_catch_values);
    let reported = lost.map(|at| {
        let message = "this value is lost: a `catch` block has no value, so the function returns `()`".to_owned();
        warning_at(CODE, at, message, "write `return` before it, or end it with `;` if nothing is to be returned")
    });
    reported.collect()
}
