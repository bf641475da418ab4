//! Finds functions of scripts that take the name of a primitive.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitives;
use crate::script::{default_function, known_names};

const CODE: Code = Code("shadowed-primitive");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A function of a script has the name of a primitive, or of a function of the language.",
    why: "It hijacks every call of that name, also its own: `a.push(x)` in `fn push(a)` calls itself.",
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
        (
            "tools.d/a.rhai",
            r##"fn brew(args) { 1 }
fn to_upper(text) { text }"##,
        ),
    ],
    mended: &[("tools.d/a.rhai", "fn to_upper(text) { text }", "fn shout(text) { text }")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for survey in subject.program.surveys() {
        for function in &survey.functions {
            let name = function.name.as_str();
            let what = match primitives::find(name) {
                Some(_) => "primitive",
                None if known_names().any(|known| known == name) => "function of the language",
                None => continue,
            };
            let start = function.body.span.start;
            let at = survey.source.text[..start].rfind(name).map(|at| survey.source.place(at..at + name.len()));
            let message = format!("`{name}` is the name of a {what}");
            let help = format!(
                "rename the function: that of a tool `{name}` is `fn {0}(args)`, which is what `fn = \"{0}\"` in the definition means",
                default_function(name, "tool")
            );
            diagnostics.push(error_at(CODE, at.as_ref().unwrap_or(&function.body), message, help));
        }
    }
    diagnostics
}
