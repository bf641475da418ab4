//! Finds schemas that cannot be compiled.

use super::{Rule, Subject, found, schemas};
use crate::diagnostic::{Code, Diagnostic};
use crate::definition::{Checker, resolved};

const CODE: Code = Code("schema-compiles");

/// The rule.
pub const RULE: Rule = Rule {
    code: CODE,
    summary: "A schema is valid part by part, but cannot be used as a whole.",
    why: "Arguments and results could not be checked by it.",
    run,
    fires: &[
        ("tools.d/a.toml", r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { "$ref" = "#pot" }
"##),
    ],
    quiet: &[
        ("tools.d/a.toml", r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { "$ref" = "#pot" }
"$defs".pot = { "$anchor" = "pot", type = "string" }
"##),
    ],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for (what, schema) in schemas(subject) {
        let Ok(json) = resolved(schema, &subject.definitions.defs) else { continue };
        let Err(fault) = Checker::new(&json) else { continue };
        let linted = !crate::definition::lint(schema, crate::definition::Role::Shared).is_empty();
        if let Some(at) = schema.place("").filter(|_| !linted) {
            faults.push(found(CODE, at, format!("{what}: {}", fault.message), fault.help.unwrap_or_default()));
        }
    }
    faults
}
