//! Finds arguments that nothing explains.

use super::{Rule, Subject, advice};
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = Code("argument-description");

/// The rule.
pub const RULE: Rule = Rule {
    code: CODE,
    summary: "An argument of a tool has no description.",
    why: "A model knows of an argument only what its schema says.",
    run,
    fires: &[
        ("tools.d/a.toml", r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { type = "string" }
"##),
    ],
    quiet: &[
        ("tools.d/a.toml", r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { type = "string", description = "Which pot" }
"##),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for tool in &subject.definitions.tools {
        let properties = tool.input.json.get("properties").and_then(crate::value::Json::as_object);
        for (name, schema) in properties.into_iter().flatten() {
            let shared = schema.get("$ref").and_then(|reference| reference.as_str()?.strip_prefix("#/$defs/"));
            let shared = subject.definitions.defs.iter().find(|(known, _)| Some(known.value.as_str()) == shared);
            let explained = |schema: &crate::value::Json| schema.get("description").is_some();
            if explained(schema) || shared.is_some_and(|(_, schema)| explained(&schema.json)) {
                continue;
            }
            let pointer = format!("/properties/{}", crate::definition::escape(name));
            let at = tool.input.place(&pointer).unwrap_or(&tool.name.at);
            let message = format!("the argument `{name}` of `{}` has no description", tool.name.value);
            faults.push(advice(CODE, at, message, "`description = \"…\"`: what it means, and an example"));
        }
    }
    faults
}
