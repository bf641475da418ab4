//! Finds arguments whose names a script cannot write after a dot.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::definition::Body;
use crate::diagnostic::{Code, Diagnostic};
use crate::script::RESERVED_WORDS;

const CODE: Code = Code("reserved-argument");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "An argument of a scripted tool has a name that is a reserved word of rhai.",
    why: "`args.default` is a syntax error there; the name has to be written in brackets.",
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
properties.default = { type = "string" }
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { 1 }"##),
    ],
    mended: &[(
        "tools.d/a.toml",
        r##"properties.default = { type = "string" }"##,
        r##"properties.usual = { type = "string" }"##,
    )],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    for tool in subject
        .definitions
        .tools
        .iter()
        .filter(|tool| matches!(tool.body.value, Body::Script { .. } | Body::Operations { .. }))
    {
        let properties = tool.input.json.get("properties").and_then(crate::value::Json::as_object);
        for (name, _) in properties.into_iter().flatten().filter(|(name, _)| RESERVED_WORDS.contains(&name.as_str())) {
            let at = tool.input.place(&format!("/properties/{name}")).unwrap_or(&tool.name.at);
            let message = format!("`args.{name}` cannot be written in a script: `{name}` is a reserved word");
            diagnostics.push(warning_at(CODE, at, message, format!("rename it, or write `args[\"{name}\"]`")));
        }
    }
    diagnostics
}
