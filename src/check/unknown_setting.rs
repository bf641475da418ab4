//! Finds `config.KEY` that the configuration of the pack does not have.

use super::rule::{CheckRule, error_at};
use super::subject::Subject;
use crate::definition::{Configurable, Refresh};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

const CODE: Code = Code("unknown-setting");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A definition takes a value from `config.KEY`, but `[pack.config_schema]` has no such property.",
    why: "The value would be missing, so whatever it enables stays disabled.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[pack]
title = "A"
[pack.config_schema]
type = "object"
properties.steeping = { type = "boolean", default = true, description = "Whether there is time" }
[[tool]]
name = "brew"
description = "Brews a pot of tea, and says how long it took."
effect = "pure"
enabled = "config.steping"
"##,
        ),
        ("tools.d/a.rhai", r##"fn brew(args) { 1 }"##),
    ],
    mended: &[("tools.d/a.toml", r##"config.steping"##, r##"config.steeping"##)],
};

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    let definitions = subject.definitions;
    let schema = definitions.pack.as_ref().and_then(|pack| pack.config.as_ref());
    let properties = schema.and_then(|schema| schema.json.get("properties")).and_then(|all| all.as_object());
    let known: Vec<&str> = properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let enabled = subject.items.iter().filter_map(|item| item.enabled);
    let mut named: Vec<_> = enabled.filter_map(named_by).collect();
    if let Some(Refresh::Background { interval_ms, watch }) = definitions.graph.as_ref().map(|graph| &graph.refresh) {
        named.extend(named_by(interval_ms).into_iter().chain(named_by(watch)));
    }
    let unknown = named.into_iter().filter(|key| !known.contains(&key.value.as_str()));
    let reported = |key: &crate::definition::Located<String>| {
        let help = did_you_mean(&key.value, known.iter().copied())
            .unwrap_or_else(|| format!("describe it in `[pack.config_schema]`: `properties.{} = {{ … }}`", key.value));
        error_at(CODE, &key.at, format!("the configuration has no `{}`", key.value), help)
    };
    unknown.map(reported).collect()
}

fn named_by<T>(setting: &Configurable<T>) -> Option<&crate::definition::Located<String>> {
    match setting {
        Configurable::Fixed(_) => None,
        Configurable::FromConfig(key) => Some(key),
    }
}
