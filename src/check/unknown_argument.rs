//! Finds arguments that a script reads and the definition does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::NamedFunction;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

const CODE: Code = Code("unknown-argument");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A function reads `args.x`, but the definition declares no `x`.",
    why: "The value is always `()`: a typing error, or a forgotten argument.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
[tool.input]
type = "object"
properties.pot = { type = "string" }
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { args.pt }"##),
    ],
    mended: &[
        ("tools.d/a.rhai", "fn brew(args) { args.pt }", "fn brew(args) { [args.pot, args.how] }"),
        (
            "tools.d/a.toml",
            r##"effect = "pure""##,
            r##"effect = "pure"
bind = { how = 1 }"##,
        ),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for body in subject.items.iter().flat_map(|item| &item.bodies) {
        let Some(known) = &body.arguments else { continue };
        for named in &body.functions {
            reads(subject, named, known, body.name, &mut diagnostics);
        }
    }
    diagnostics
}

fn reads(
    subject: &Subject<'_>,
    named: &NamedFunction<'_>,
    known: &[String],
    name: &str,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(survey) = subject.program.survey(named.script) else { return };
    let Some((index, definition)) = survey.function(named.function) else { return };
    let Some(arguments) = definition.parameters.first() else { return };
    for read in survey.reads.iter().filter(|read| read.function == index && read.variable == *arguments) {
        if !known.contains(&read.property) {
            let help = did_you_mean(&read.property, known.iter().map(String::as_str));
            let help = help.unwrap_or_else(|| "declare it as an argument, or in `bind`".to_owned());
            let message = format!("`{name}` has no argument `{}`", read.property);
            diagnostics.push(error_at(CODE, &read.at, message, help));
        }
    }
}
