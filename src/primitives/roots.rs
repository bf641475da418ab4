//! `roots`: nodes without parents.

use crate::diagnostic::Result;
use crate::graph::{Attachment, Nodes};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "roots",
    family: Family::Graph,
    summary: "Returns the nodes without a parent. If `edges` are named, nodes at which such an edge starts are excluded, too.",
    params: &[
        required(
            "nodes",
            &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder],
            "The nodes, one node, or a graph for all of its nodes.",
        ),
        optional("kinds", &[Kind::Text, Kind::List], "Only nodes of these kinds."),
        option(
            "edges",
            &[Kind::Text, Kind::List],
            "Kinds of edges that lead up, from a node to what it belongs to (default: none).",
        ),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.roots().column("key")"##,
            r##"["top"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.roots("step", #{ edges: "needs" }).column("key")"##,
            r##"["fill"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let edges = args.texts("edges")?;
    let mut nodes = Nodes::from_value_with_edges(args.value("nodes"))?;
    if let Some(kinds) = args.texts_or("kinds")? {
        nodes = nodes.of_kind_named(&kinds)?;
    }
    nodes.roots(&Attachment { kinds: &edges, satellites: &[] }).map(Value::handle)
}
