//! Finds definitions whose scripts do more than they declare.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::{Located, NamedFunction};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive_api::Effect;
use crate::primitives;
use crate::source::Place;

const CODE: Code = Code("effect");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script can reach a primitive whose effect is stronger than the declared one.",
    why: "Clients and users rely on the effect; the call would be refused at run time.",
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
    let mut diagnostics = Vec::new();
    //= docs/spec.md#operations
    //# The effect of each operation MUST be verified by `check` and enforced at run time.
    for body in subject.items.iter().flat_map(|item| &item.bodies) {
        for named in &body.functions {
            let (declared, at) = body.effect.map_or((Effect::Reads, named.at), |effect| (effect.value, &effect.at));
            diagnostics.extend(compare(subject, named, declared, at));
        }
        if let (Some(name), Some(declared)) = (body.primitive, body.effect) {
            diagnostics.extend(compare_primitive(name, declared));
        }
    }
    for named in subject.background_functions() {
        diagnostics.extend(compare(subject, &named, Effect::Reads, named.at));
    }
    diagnostics
}

fn compare_primitive(name: &str, declared: &Located<Effect>) -> Option<Diagnostic> {
    let effect = primitives::find(name).map_or(Effect::Pure, |primitive| primitive.effect);
    if effect <= declared.value {
        return None;
    }
    let message = format!("`{name}` {}, but the tool is declared as `{}`", verb(effect), declared.value.name());
    Some(error_at(CODE, &declared.at, message, format!("`effect = \"{}\"`", effect.name())))
}

fn compare(subject: &Subject<'_>, named: &NamedFunction<'_>, declared: Effect, at: &Place) -> Option<Diagnostic> {
    let function = named.function;
    let reached = subject.program.strongest_effect(named.script, function);
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
