//! Finds functions that two packs contain.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::script::Program;
use crate::script::survey::{FunctionDefinition, ScriptSurvey};
use crate::source::Place;
use std::collections::HashMap;

const CODE: Code = Code("copied-function");

/// A shorter function may well be written twice.
const MIN_COPIED_LINES: usize = 5;

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "Another pack contains the same function of five lines or more, under any name.",
    why: "A fix to one copy would miss the other.",
    run,
    fires: &[
        (
            "tools.d/a.rhai",
            r##"fn brew(args) {
    let pots = [];
    for pot in args.pots {
        pots.push(pot);
    }
    pots
}"##,
        ),
        (
            "other/tools.d/b.rhai",
            r##"// The same, except for its names and its layout.
fn steep(args) {
  let pots = [];
  for pot in args.pots {
    // Each of them.
    pots.push(pot);
  }

  pots
}"##,
        ),
    ],
    mended: &[("tools.d/a.rhai", "pots.push(pot);", "pots.push(pot + 1);")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut elsewhere: HashMap<String, (&str, &str, &Place)> = HashMap::new();
    for (pack, program) in &subject.others {
        for (survey, function) in functions(program) {
            // Files that all packs share are theirs together.
            if let Some(text) = text_of(function).filter(|_| !subject.has(&survey.source.path)) {
                elsewhere.entry(text).or_insert((pack, &function.name, &function.body));
            }
        }
    }
    let mut diagnostics = Vec::new();
    for (_, function) in functions(subject.program) {
        let known = text_of(function).and_then(|text| elsewhere.get(&text));
        if let Some((pack, name, at)) = known {
            let message = format!("`{}` is also in the pack `{pack}`: `{name}` at {at}", function.name);
            let help = "make it a primitive, or something that a primitive takes as an option";
            diagnostics.push(warning_at(CODE, &function.body, message, help));
        }
    }
    diagnostics
}

fn functions(program: &Program) -> impl Iterator<Item = (&ScriptSurvey, &FunctionDefinition)> {
    program.surveys().iter().flat_map(|survey| survey.functions.iter().map(move |function| (survey, function)))
}

/// Parameters and body as they are compared: without blanks at the ends of lines, empty lines and lines of comments.
/// Nothing if it is short.
fn text_of(function: &FunctionDefinition) -> Option<String> {
    let body = function.body.source.text.get(function.body.span.clone())?;
    let lines = body.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//"));
    let lines: Vec<&str> = lines.collect();
    (lines.len() >= MIN_COPIED_LINES).then(|| format!("{}\n{}", function.parameters.join(" "), lines.join("\n")))
}
