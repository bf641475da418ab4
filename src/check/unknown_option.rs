//! Finds options that a primitive does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::primitive_api::{Need, Primitive};
use crate::primitives;
use crate::script::survey::CallSite;
use crate::value::Kind;

const CODE: Code = Code("unknown-option");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A script calls a primitive with an option that it does not have.",
    why: "The call would fail at run time.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[pack]
title = "Tea"
grants = { run = ["date"] }

[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "runs"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { run("date", "-u", #{ dir: "." }).line }"##),
    ],
    mended: &[("tools.d/a.rhai", "#{ dir:", "#{ cwd:")],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let calls = subject.calls();
    let reported =
        calls.filter_map(|call| Some((call, primitives::find(&call.name)?))).flat_map(|(call, primitive)| {
            let keys = call.keys.iter().filter(|(index, _)| are_options(primitive, call, *index));
            let unknown = keys.filter(|(_, key)| !primitive.options().any(|option| option.name == key));
            unknown.map(|(_, key)| {
                let known = primitive.options().map(|option| option.name).collect::<Vec<_>>();
                let help = did_you_mean(key, known).unwrap_or_else(|| format!("use it as `{}`", primitive.signature()));
                error_at(CODE, &call.at, format!("`{}` has no option `{key}`", primitive.name), help)
            })
        });
    reported.collect()
}

/// Returns whether a literal map at this index can only be the options: the last argument, where no parameter takes a
/// map.
fn are_options(primitive: &'static Primitive, call: &CallSite, index: usize) -> bool {
    let needed = primitive.positional().filter(|param| param.need == Need::Required).count();
    let takes_map = |kind: &Kind| matches!(kind, Kind::Map | Kind::Any);
    let is_value = primitive.positional().nth(index).is_some_and(|param| param.kinds.iter().any(takes_map));
    primitive.options().next().is_some() && index + 1 == call.arguments && index >= needed && !is_value
}
