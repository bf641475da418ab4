//! Finds calls of functions that nothing defines.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean, foreign_word};

const CODE: Code = Code("unknown-function");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls a function that does not exist in the pack, in rhai, or as a primitive.",
    why: "rhai detects this only at run time.",
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
        ("tools.d/a.rhai", r##"fn brew(args) { to_uper("x") }"##),
    ],
    mended: &[
        ("tools.d/a.rhai", r##"fn brew(args) { to_uper("x") }"##, r##"fn brew(args) { heat(to_upper("x")) }"##),
        ("tools.d/a/lib.rhai", "", "fn heat(x) { x }"),
    ],
};

//= docs/spec.md#scripts
//# `check` MUST report calls of functions that do not exist.
fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    if !subject.libraries_are_whole() {
        return diagnostics;
    }
    for survey in subject.program.surveys() {
        let names = subject.callable_names(&survey.source.path);
        let calls = survey.calls.iter().map(|call| (call.name.as_str(), &call.at));
        let pointers = survey.pointers.iter().filter_map(|pointer| Some((pointer.name.as_deref()?, &pointer.at)));
        for (name, at) in calls.chain(pointers).filter(|(name, _)| !names.contains(name)) {
            let words = names.iter().copied().filter(|name| name.starts_with(|letter: char| letter.is_alphabetic()));
            let words: Vec<&str> = words.collect();
            let help = foreign_word(name).or_else(|| did_you_mean(name, words));
            let help = help.unwrap_or_else(|| "run `toolsd docs` to list the primitives".to_owned());
            diagnostics.push(error_at(CODE, at, format!("there is no function `{name}`"), help));
        }
    }
    diagnostics
}
