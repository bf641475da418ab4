//! Finds kinds and fields that a script queries but that nothing in the pack adds to the graph.

use super::rule::{CheckRule, warning_at};
use super::subject::Subject;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::primitive_api::{Family, Need, Param, Primitive};
use crate::script::survey::CallSite;
use std::collections::HashMap;

const CODE: Code = Code("unknown-graph-name");

pub const RULE: CheckRule = CheckRule {
    code: CODE,
    summary: "A query names a kind of the graph that nothing else in the pack names, or a field that is one letter off.",
    why: "There are no such nodes: the result is empty, or the call fails as soon as there is a node.",
    run,
    fires: &[
        (
            "tools.d/a.toml",
            r##"[graph]
script = "tools.d/a/graph.rhai"
[[tool]]
name = "teas"
description = "Lists all teas of the house by their names."
effect = "reads"
"##,
        ),
        ("tools.d/a/graph.rhai", r##"fn build(g, config) { g.add_node("tea", "oolong", #{ price: 9 }) }"##),
        ("tools.d/a.rhai", r##"fn teas(args) { graph().nodes("teas").column("prise") }"##),
    ],
    mended: &[(
        "tools.d/a.rhai",
        r##"fn teas(args) { graph().nodes("teas").column("prise") }"##,
        r##"fn teas(args) { graph().nodes("tea").column("price") }"##,
    )],
};

/// Parameters of queries that name kinds of nodes or edges.
const KINDS: [&str; 3] = ["kind", "kinds", "edges"];

/// Parameters of queries that name fields.
const FIELDS: [&str; 3] = ["field", "fields", "columns"];

/// The primitives that build and change a graph: they define names instead of querying them.
const GIVING: [&str; 8] = [
    "add_blocks",
    "add_edge",
    "add_node",
    "add_node_if_absent",
    "derive_fields",
    "derive_values",
    "merge_node",
    "update_edges",
];

/// The primitives that add one node, whose kind is their first argument.
const ADDING: [&str; 3] = ["add_node", "add_node_if_absent", "merge_node"];

/// The queries whose `kind` or `kinds` are those of nodes.
const NODE_QUERIES: [&str; 7] = ["children", "descendants", "get", "nodes", "orphans", "resolve", "roots"];

fn run(subject: &Subject<'_>) -> Vec<Diagnostic> {
    if subject.definitions.graph.is_none() {
        return Vec::new();
    }
    let calls = subject.calls();
    let asked: Vec<(&str, bool, &CallSite)> = calls.flat_map(asked_names).collect();
    let mut left = count_words(subject);
    for (name, ..) in &asked {
        if let Some(count) = left.get_mut(name) {
            *count = count.saturating_sub(1);
        }
    }
    let is_given = |name: &str| left.get(name).is_some_and(|count| *count > 0) || !is_word(name);
    let given = || left.iter().filter(|(word, count)| **count > 0 && is_word(word)).map(|(word, _)| *word);
    let added = added_kinds(subject);
    // Where it is known what is added, a word in a path or a description says nothing about kinds of nodes.
    let added_for = |is_kind: bool, call: &CallSite| {
        added.as_ref().filter(|_| is_kind && NODE_QUERIES.contains(&call.name.as_str()))
    };
    let diagnostics = asked.iter().filter_map(|(name, is_kind, call)| {
        let nearest = match added_for(*is_kind, call) {
            Some(added) if added.contains(name) => return None,
            Some(added) => did_you_mean(name, added.iter().copied()),
            None if is_given(name) => return None,
            None => did_you_mean(name, given()),
        };
        // Fields may come from the files that are scanned: what is not nearly a known one may be one of theirs.
        let (what, help) = match (is_kind, nearest) {
            (true, nearest) => ("kind", nearest.unwrap_or_else(|| "nothing else in the pack names it".to_owned())),
            (false, Some(nearest)) => ("field", nearest),
            (false, None) => return None,
        };
        Some(warning_at(CODE, &call.at, format!("nothing adds a {what} `{name}` to the graph"), help))
    });
    diagnostics.collect()
}

/// The kinds of the nodes that the scripts add; none if one of them is not written as a literal.
fn added_kinds<'a>(subject: &Subject<'a>) -> Option<Vec<&'a str>> {
    if subject.calls().any(|call| call.name == "add_blocks") {
        return None;
    }
    let adding = subject.calls().filter(|call| ADDING.contains(&call.name.as_str()));
    let kinds: Option<Vec<&str>> = adding.map(|call| call.text(1)).collect();
    kinds.filter(|kinds| !kinds.is_empty())
}

/// The names that a query asks for as literals, and whether each is one of a kind.
fn asked_names(call: &CallSite) -> Vec<(&str, bool, &CallSite)> {
    let Some(primitive) = query(call) else { return Vec::new() };
    let param = |index: usize| primitive.params.get(index).filter(|param| param.need != Need::Option);
    let mut names = Vec::new();
    for (index, text) in call.texts.iter().chain(&call.listed) {
        let Some(Param { name, .. }) = param(*index) else { continue };
        if KINDS.contains(name) {
            names.extend((text != "parent").then_some((text.as_str(), true, call)));
        } else if FIELDS.contains(name) {
            // `parent.key as holder` asks for the fields `parent` and `key`.
            let path = text.split(" as ").next().unwrap_or_default();
            names.extend(path.split('.').map(|name| (name, false, call)));
        }
    }
    names
}

/// The primitive that a call asks the graph by.
fn query(call: &CallSite) -> Option<&'static Primitive> {
    let mut all = crate::primitives::ALL.iter();
    let primitive = all.find(|primitive| primitive.name == call.name && primitive.family == Family::Graph)?;
    // A method of a map may have the name of a query and fewer arguments.
    let required = primitive.params.iter().filter(|param| param.need == Need::Required).count();
    (call.arguments >= required && !GIVING.contains(&primitive.name)).then_some(primitive)
}

/// How often each word occurs in the texts of a pack.
fn count_words<'a>(subject: &Subject<'a>) -> HashMap<&'a str, usize> {
    let mut counts = HashMap::new();
    for text in &subject.texts {
        for word in text.text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_')) {
            *counts.entry(word).or_default() += 1;
        }
    }
    counts
}

fn is_word(name: &str) -> bool {
    !name.is_empty() && !name.contains(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
}
