//! Finds forms of schemas that some clients do not read.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic};
use crate::value::Json;

const CODE: Code = Code("schema-portable");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A property is `true` or `false` instead of a schema, or its `type` is a list.",
    why: "Some clients refuse such a tool, or drop the argument.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = true
properties.cups = { type = ["integer", "null"] }
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"properties.pot = true
properties.cups = { type = ["integer", "null"] }"##,
        r##"properties.pot = {}
properties.cups = { type = "integer" }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for tool in &subject.definitions.tools {
        let mut look = |pointer: &str, schema: &Json| {
            let at = tool.input.place(pointer).unwrap_or(&tool.name.at);
            let name = pointer.rsplit('/').next().unwrap_or_default();
            if schema.is_boolean() {
                let message = format!("`{name}` is a bare boolean instead of a schema");
                diagnostics.push(warning_at(CODE, at, message, "write `{}` for anything; clients expect a table"));
            }
            if schema.get("type").is_some_and(Json::is_array) {
                let message = format!("the `type` of `{name}` is a list");
                diagnostics.push(warning_at(CODE, at, message, "`anyOf` with one type each is read by more clients"));
            }
        };
        properties(&tool.input.json, "", 0, &mut look);
    }
    diagnostics
}

/// Calls `look` with every property and item of a schema.
fn properties(schema: &Json, pointer: &str, depth: usize, look: &mut dyn FnMut(&str, &Json)) {
    if depth > 16 {
        return;
    }
    for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
        let pointer = format!("{pointer}/properties/{}", crate::parse::toml::escape(name));
        look(&pointer, property);
        properties(property, &pointer, depth + 1, look);
    }
    if let Some(items) = schema.get("items") {
        let pointer = format!("{pointer}/items");
        look(&pointer, items);
        properties(items, &pointer, depth + 1, look);
    }
}
