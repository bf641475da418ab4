//! Finds functions that a definition names and the script does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

const CODE: Code = Code("missing-function");

/// The rule.
pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A definition names a function that its script does not have, or that takes other parameters.",
    why: "The call would fail at once.",
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
        ("tools.d/a.rhai", r##"fn brw(args) { 1 }"##),
    ],
    mended: &[("tools.d/a.rhai", "fn brw(args) { 1 }", "fn brew(args) { 1 }")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    if !subject.libraries_are_whole() {
        return faults;
    }
    for named in subject.named_functions() {
        if !subject.program.scripts().any(|path| path == named.script) {
            continue;
        }
        let shared =
            subject.program.scripts().filter(|path| path.ends_with("/lib.rhai") || path.ends_with("/graph.rhai"));
        let scripts = std::iter::once(named.script).chain(shared);
        let functions: Vec<_> = scripts.flat_map(|path| subject.program.functions(path)).collect();
        let known: Vec<_> = functions.iter().filter(|function| function.name == named.function).collect();
        if known.iter().any(|function| named.parameters.contains(&function.arity)) {
            continue;
        }
        let (message, help) = match known.first() {
            Some(function) => (
                format!("`{}` takes {} parameters", named.function, function.arity),
                format!("it is called as `{}`; it stands at {}", named.form, function.at),
            ),
            None => (
                format!("`{}` has no function `{}`", named.script, named.function),
                did_you_mean(named.function, functions.iter().map(|function| function.name.as_str()))
                    .unwrap_or_else(|| format!("it is called as `{}`", named.form)),
            ),
        };
        faults.push(error_at(CODE, named.at, message, help));
    }
    faults
}
