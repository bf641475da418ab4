//! What a script computes and does not use, and texts that are not what they look like: no error, so a note says it.

use super::super::super::compiled::{Script, is_closure};
use super::super::super::lost_values::{dropped_calls, lost_values};
use super::super::spelling::parts::{Part, parts};
use std::collections::BTreeSet;

/// Verbs that return a new value and leave the old one as it is, unlike those of other languages.
const PURE_VERBS: &[&str] = &[
    "sort",
    "map",
    "filter",
    "unique",
    "reverse",
    "take",
    "skip",
    "flatten",
    "drop_nulls",
    "merge",
    "replace",
    "trim",
    "to_upper",
    "to_lower",
];

/// The notes about a script, whatever its value is.
pub(in super::super) fn unused(script: &Script) -> Vec<String> {
    let mut notes = Vec::new();
    if script.ast.statements().is_empty() {
        let functions = script.ast.iter_functions().filter(|function| !is_closure(function.name));
        let call = functions.last().map(|function| format!("{}({})", function.name, function.params.join(", ")));
        notes.push(match call {
            Some(call) => format!("the script only declares functions: end it with a call, `{call}`"),
            None => "the script is empty except for comments: its last expression is the result".to_owned(),
        });
    }
    let offset = |position: rhai::Position| Some(script.source.offset(position.line()?, position.position()?));
    let mut dropped: Vec<usize> = dropped_calls(script.ast.statements())
        .into_iter()
        .filter_map(offset)
        .chain(lost_values(script).calls)
        .collect();
    dropped.sort_unstable();
    let mut named = BTreeSet::new();
    for at in dropped {
        let rest = &script.source.text[at..];
        let name = &rest[..rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(rest.len())];
        if PURE_VERBS.contains(&name) && named.insert(name) {
            let line = script.source.text[..at].matches('\n').count() + 1;
            notes.push(format!("line {line}: `{name}` returns a new value: write `a = a.{name}(…)`"));
        }
    }
    let text = &script.source.text;
    let value = parts(text).into_iter().find_map(|(part, range)| match part {
        Part::Text(b'"' | b'\'') => text[range.clone()].find("${").map(|at| range.start + at),
        _ => None,
    });
    if let Some(at) = value {
        let line = text[..at].matches('\n').count() + 1;
        notes.push(format!("line {line}: texts with `${{…}}` are in backticks"));
    }
    notes
}
