//! Finds variables of templates that nothing fills.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::{Body, MessagePart, uri_variables};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::source::Place;
use crate::value::Json;

const CODE: Code = Code("template-variable");

/// The rule.
pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A template that is filled with the arguments asks for a variable that is none of them.",
    why: "Filling it would fail.",
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
    let definitions = subject.definitions;
    let mut faults = Vec::new();
    for tool in &definitions.tools {
        let known = names(&tool.input.json, &tool.bind);
        let closed = tool.input.json.get("additionalProperties").is_none_or(|more| *more == Json::Bool(false));
        if closed {
            body(subject, &tool.body.value, &known, &mut faults);
        }
    }
    for resource in &definitions.resources {
        let mut known = uri_variables(&resource.uri.value).unwrap_or_default();
        known.extend(keys(&resource.bind));
        body(subject, &resource.body.value, &known, &mut faults);
    }
    for prompt in definitions.prompts.iter().filter(|prompt| prompt.context.is_none()) {
        let mut known: Vec<String> = prompt.arguments.iter().map(|argument| argument.name.value.clone()).collect();
        known.extend(keys(&prompt.bind));
        for message in &prompt.messages {
            let asked = match &message.part.value {
                MessagePart::Template(path) => subject.templates.variables(path),
                MessagePart::Text(text) | MessagePart::Resource(text) => subject.templates.variables_of_text(text),
                _ => continue,
            };
            compare(asked, &known, &mut faults);
        }
    }
    faults
}

fn body(subject: &Subject<'_>, body: &Body, known: &[String], faults: &mut Vec<Diagnostic>) {
    let asked = match body {
        Body::Template { template, context: None } => subject.templates.variables(template),
        Body::Inline { text, context: None } => subject.templates.variables_of_text(text),
        _ => return,
    };
    compare(asked, known, faults);
}

fn compare(asked: Vec<(Vec<String>, Place)>, known: &[String], faults: &mut Vec<Diagnostic>) {
    for (path, place) in asked {
        let Some(first) = path.first().filter(|first| *first != "*" && !known.contains(first)) else { continue };
        let help = did_you_mean(first, known.iter().map(String::as_str));
        let help = help.unwrap_or_else(|| "declare it as an argument, or give it with `context`".to_owned());
        faults.push(error_at(CODE, &place, format!("nothing fills `{first}`"), help));
    }
}

fn names(schema: &Json, with: &Json) -> Vec<String> {
    schema.get("properties").into_iter().flat_map(keys).chain(keys(with)).collect()
}

fn keys(json: &Json) -> Vec<String> {
    json.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}
