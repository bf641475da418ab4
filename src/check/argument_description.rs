//! Finds arguments that nothing explains.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::definition::Tool;
use crate::diagnostic::{Code, Diagnostic};
use crate::value::Json;

const CODE: Code = Code("argument-description");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "An argument of a tool has no description.",
    why: "A model knows only what the schema says about an argument.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { type = "string" }
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"properties.pot = { type = "string" }"##,
        r##"properties.pot = { type = "string", description = "Which pot" }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for tool in &subject.definitions.tools {
        let properties = tool.input.json.get("properties").and_then(Json::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            if explained(schema, tool, subject) {
                continue;
            }
            let pointer = format!("/properties/{}", crate::parse::toml::escape(name));
            let at = tool.input.place(&pointer).unwrap_or(&tool.name.at);
            let message = format!("the argument `{name}` of `{}` has no description", tool.name.value);
            diagnostics.push(warning_at(CODE, at, message, "`description = \"…\"`: what it means, and an example"));
        }
    }
    diagnostics
}

/// Returns whether a schema, or the one it refers to, has a description. Another rule reports unresolved references.
fn explained(schema: &Json, tool: &Tool, subject: &Subject<'_>) -> bool {
    if schema.get("description").is_some() {
        return true;
    }
    let Some(reference) = schema.get("$ref").and_then(Json::as_str) else { return false };
    let Some(name) = reference.strip_prefix("#/$defs/") else { return true };
    let shared =
        subject.definitions.defs.iter().find(|(known, _)| known.value == name).map(|(_, schema)| schema.json.as_ref());
    let own = tool.input.json.get("$defs").and_then(|own| own.get(name));
    own.or(shared).is_none_or(|target| target.get("description").is_some())
}
