//! `union`: the nodes or spans of two sets.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Spans;
use crate::graph::Nodes;
use crate::guard::{self, ITEM};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "union",
    family: Family::Graph,
    summary: "Returns the nodes of the first set, then those of the second that are not in the first; for spans of one text, what either covers.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node, Kind::Spans], "The nodes, one node, or spans."),
        required(
            "others",
            &[Kind::Nodes, Kind::Node, Kind::Spans, Kind::List],
            "The nodes that follow, one node, spans of the same text, or a list of such spans.",
        ),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"let t = "abcdef"; t.non_whitespace_len(t.find_quote("abcd").spans.union(t.find_quote("cdef").spans))"#,
            "6",
        ),
        Example::gives(
            r#"let t = "abcdef"; t.non_whitespace_len(empty_spans().union(["ab", "bc", "f"].map(|q| t.find_quote(q).spans)))"#,
            "4",
        ),
        Example::fails(r#"empty_spans().union(["ab"])"#, "`union` takes a list of spans"),
        Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.get("tea", "sencha").union(g.nodes("tea")).column("key")"##,
        r##"["sencha", "oolong"]"##,
    ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (first, others) = (args.value("nodes"), args.value("others"));
    if let Some((first, second)) = Spans::pair(first, others)? {
        return Ok(Value::handle(first.union(second)));
    }
    if let (Some(first), Value::List(list)) = (first.as_object::<Spans>(), others) {
        return Ok(Value::handle(first.union(&union_of_list(list)?)));
    }
    Ok(Value::handle(Nodes::from_value(first)?.union(&Nodes::from_value(others)?)?))
}

fn union_of_list(list: &[Value]) -> Result<Spans> {
    let mut sets = Vec::with_capacity(list.len());
    for item in list {
        let Some(set) = item.as_object::<Spans>() else {
            let message = format!("`union` takes a list of spans, but one of its items is {}", item.kind().name());
            return Err(Diagnostic::new(Code::ARGUMENTS, message));
        };
        guard::spend((1 + set.ranges().len()) * ITEM)?;
        sets.push(set);
    }
    Ok(Spans::union_of(sets))
}
