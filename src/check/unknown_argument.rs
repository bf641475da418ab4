//! Finds arguments that a script reads and the definition does not have.

use super::rule::{CheckRule, error_at};
use super::subject::{Subject, tool_bodies};
use crate::definition::{Body, uri_variables};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::value::Json;

const CODE: Code = Code("unknown-argument");

/// The rule.
pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A function reads `args.x`, but the definition declares no `x`.",
    why: "It is always `()` there: a typing error, or a forgotten argument.",
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
    let definitions = subject.definitions;
    let mut faults = Vec::new();
    for one in definitions.tools.iter().flat_map(tool_bodies) {
        if one.input.json.get("additionalProperties").is_some_and(|more| *more != Json::Bool(false)) {
            continue;
        }
        let mut known: Vec<String> = one.bind.iter().flat_map(|with| keys(with)).collect();
        properties(&one.input.json, 0, &mut known);
        body(subject, &one.body.value, &known, one.name, &mut faults);
    }
    for resource in &definitions.resources {
        let mut known = uri_variables(&resource.uri.value).unwrap_or_default();
        known.extend(keys(&resource.bind));
        body(subject, &resource.body.value, &known, &resource.name.value, &mut faults);
    }
    for prompt in &definitions.prompts {
        let mut known: Vec<String> = prompt.arguments.iter().map(|argument| argument.name.value.clone()).collect();
        known.extend(keys(&prompt.bind));
        if let Some((function, script)) = &prompt.context {
            reads(subject, script, function, &known, &prompt.name.value, &mut faults);
        }
    }
    faults
}

fn body(subject: &Subject<'_>, body: &Body, known: &[String], name: &str, faults: &mut Vec<Diagnostic>) {
    match body {
        Body::Script { script, function }
        | Body::Template { context: Some((function, script)), .. }
        | Body::Inline { context: Some((function, script)), .. } => {
            reads(subject, script, function, known, name, faults)
        }
        _ => {}
    }
}

fn reads(
    subject: &Subject<'_>,
    script: &str,
    function: &str,
    known: &[String],
    name: &str,
    faults: &mut Vec<Diagnostic>,
) {
    let Some(survey) = subject.program.survey(script) else { return };
    let Some((index, definition)) = survey.function(function) else { return };
    let Some(arguments) = definition.parameters.first() else { return };
    for read in survey.reads.iter().filter(|read| read.function == index && read.variable == *arguments) {
        if !known.contains(&read.property) {
            let help = did_you_mean(&read.property, known.iter().map(String::as_str));
            let help = help.unwrap_or_else(|| "declare it as an argument, or in `bind`".to_owned());
            let message = format!("`{name}` has no argument `{}`", read.property);
            faults.push(error_at(CODE, &read.at, message, help));
        }
    }
}

/// The properties of a schema and of its parts.
fn properties(schema: &Json, depth: usize, names: &mut Vec<String>) {
    names.extend(schema.get("properties").into_iter().flat_map(keys));
    for keyword in ["allOf", "anyOf", "oneOf"].iter().filter(|_| depth < 8) {
        for part in schema.get(*keyword).and_then(Json::as_array).into_iter().flatten() {
            properties(part, depth + 1, names);
        }
    }
}

fn keys(json: &Json) -> Vec<String> {
    json.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}
