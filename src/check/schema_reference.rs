//! Finds references of schemas that do not resolve.

use super::rule::CheckRule;
use super::subject::Subject;
use crate::definition::code;
use crate::diagnostic::{Code, Diagnostic};

const CODE: Code = code::SCHEMA_REFERENCE;

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A `$ref` names a schema that neither the schema nor `[defs]` has.",
    why: "The schema cannot be used, and clients could not resolve the reference.",
    run,
    fires: &[(
        "tools.d/a.toml",
        r##"[defs.Pot]
type = "string"
[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
text = "ok"
[tool.input]
type = "object"
properties.pot = { "$ref" = "#/$defs/Pt" }
"##,
    )],
    mended: &[(
        "tools.d/a.toml",
        r##"properties.pot = { "$ref" = "#/$defs/Pt" }"##,
        r##"properties.pot = { "$ref" = "#/$defs/Pot" }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let all = subject.schemas().into_iter();
    all.flat_map(|(_, schema)| schema.missing_references(&subject.definitions.defs)).collect()
}
