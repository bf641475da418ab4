//! `union`: the nodes or spans of two sets.

use crate::diagnostic::Result;
use crate::document::Spans;
use crate::graph::Nodes;
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
            &[Kind::Nodes, Kind::Node, Kind::Spans],
            "The nodes that follow, one node, or spans of the same text.",
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
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.get("tea", "sencha").union(g.nodes("tea")).column("key")"##,
        r##"["sencha", "oolong"]"##,
    ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    if let Some((first, second)) = Spans::pair(args.value("nodes"), args.value("others"))? {
        return Ok(Value::handle(first.union(second)));
    }
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.union(&Nodes::from_value(args.value("others"))?)?))
}
