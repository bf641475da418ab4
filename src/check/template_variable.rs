//! Finds variables of templates that nothing fills.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::TemplateText;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::Place;

const CODE: Code = Code("template-variable");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A template that is filled with the arguments uses a variable that is not one of them.",
    why: "Rendering the template would fail.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
template = "templates/a/brew.hbs"
[tool.input]
type = "object"
properties.pot = { type = "string" }
"##,
        ),
        ("templates/a/brew.hbs", r##"Brewing {{pt}}."##),
    ],
    mended: &[
        ("templates/a/brew.hbs", "Brewing {{pt}}.", "Brewing {{pot}} {{how}}."),
        (
            "tools.d/a.toml",
            r##"template = "templates/a/brew.hbs""##,
            r##"template = "templates/a/brew.hbs"
bind = { how = "long" }"##,
        ),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for body in subject.items.iter().flat_map(|item| &item.bodies) {
        let Some(known) = &body.arguments else { continue };
        for template in body.templates.iter().filter(|template| template.takes_arguments) {
            let asked = match template.text {
                TemplateText::File(path) => subject.templates.variables(path),
                TemplateText::Inline(text) => subject.templates.variables_of_text(text),
            };
            compare(asked, known, &mut diagnostics);
        }
    }
    diagnostics
}

fn compare(asked: Vec<(Vec<String>, Place)>, known: &[String], diagnostics: &mut Vec<Diagnostic>) {
    for (path, place) in asked {
        let Some(first) = path.first().filter(|first| *first != "*" && !known.contains(first)) else { continue };
        let help = did_you_mean(first, known.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| "declare it as an argument, or give it with `context`".to_owned());
        diagnostics.push(error_at(CODE, &place, format!("nothing fills `{first}`"), help));
    }
}
