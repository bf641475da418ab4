//! Finds definitions whose scripts do more than they declare.

use super::rule::{CheckRule, error_at};
use super::subject::{Subject, tool_bodies};
use crate::definition::Body;
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive::Effect;
use crate::primitives;
use crate::source::Place;

const CODE: Code = Code("effect");

/// The rule.
pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script can reach a primitive whose effect is stronger than the declared one.",
    why: "The effect is what clients and people trust; the call would be refused when it runs.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
"##,
        ),
        (
            "tools.d/a.rhai",
            r##"fn brew(args) { pot() }
fn pot() { read_text("a.md") }"##,
        ),
    ],
    mended: &[("tools.d/a.toml", r##"effect = "pure""##, r##"effect = "reads""##)],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let mut bodies: Vec<&Place> = Vec::new();
    //= docs/spec.md#operations
    //# The effect of each operation MUST be proved by itself.
    for one in subject.definitions.tools.iter().flat_map(tool_bodies) {
        let declared = one.effect.value;
        let (script, function) = match &one.body.value {
            Body::Script { script, function } => (script, function),
            Body::Template { context: Some((function, script)), .. }
            | Body::Inline { context: Some((function, script)), .. } => (script, function),
            Body::Primitive(name) => {
                let effect = primitives::find(name).map_or(Effect::Pure, |primitive| primitive.effect);
                if effect > declared {
                    let message =
                        format!("`{name}` {}, but the tool is declared as `{}`", verb(effect), declared.name());
                    faults.push(error_at(CODE, &one.effect.at, message, format!("`effect = \"{}\"`", effect.name())));
                }
                continue;
            }
            _ => continue,
        };
        bodies.push(&one.body.at);
        faults.extend(compare(subject, script, function, declared, &one.effect.at));
    }
    for named in subject.named_functions().iter().filter(|named| !bodies.contains(&named.at)) {
        faults.extend(compare(subject, named.script, named.function, Effect::Reads, named.at));
    }
    faults
}

fn compare(subject: &Subject<'_>, script: &str, function: &str, declared: Effect, at: &Place) -> Option<Diagnostic> {
    let reached = subject.program.strongest_effect(script, function);
    if reached.effect <= declared {
        return None;
    }
    let steps: Vec<String> = reached.calls.iter().map(|(name, at)| format!("`{name}` at {at}")).collect();
    let message = format!("`{function}` {}, but is declared as `{}`", verb(reached.effect), declared.name());
    Some(error_at(
        CODE,
        at,
        message,
        format!("`effect = \"{}\"`, or leave out {}", reached.effect.name(), steps.join(", then ")),
    ))
}

fn verb(effect: Effect) -> &'static str {
    match effect {
        Effect::Pure => "does nothing",
        Effect::Reads => "reads",
        Effect::Changes => "changes the graph",
        Effect::Writes => "writes files",
        Effect::Runs => "runs programs",
    }
}
