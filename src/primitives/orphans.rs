//! `orphans`: nodes without parents and children.

use crate::diagnostic::Result;
use crate::graph::{Attachment, Nodes};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "orphans",
    family: Family::Graph,
    summary: "Returns the roots without children that no edge of `edges` ends at. Satellites count as neither children nor sources of edges.",
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
        option(
            "satellites",
            &[Kind::Text, Kind::List],
            "Kinds of nodes to ignore as children and as sources of edges.",
        ),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.add_node("tea", "mate", #{}); g.orphans().column("key")"##,
            r##"["mate"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.orphans((), #{ satellites: "box" }).column("key")"##,
            r##"["top"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (edges, satellites) = (args.texts("edges")?, args.texts("satellites")?);
    let mut nodes = Nodes::from_value_with_edges(args.value("nodes"))?;
    if let Some(kinds) = args.texts_or("kinds")? {
        nodes = nodes.of_kind_named(&kinds)?;
    }
    nodes.orphans(&Attachment { kinds: &edges, satellites: &satellites }).map(Value::handle)
}
