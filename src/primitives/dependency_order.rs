//! `dependency_order`: nodes after their dependencies.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "dependency_order",
    family: Family::Graph,
    summary: "Returns the nodes in an order where each one comes after all targets of its edges. Fails with the chain in the message if there is a cycle.",
    params: &[
        required(
            "nodes",
            &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder],
            "The nodes, one node, or a graph for all of its nodes.",
        ),
        optional(
            "kinds",
            &[Kind::Text, Kind::List],
            "The kinds of edges to follow (default: all). `parent` means containment, from a node to its parent; it is not part of the default.",
        ),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.dependency_order("needs").column("key")"##,
            r##"["fill", "boil", "pour"]"##,
        ),
        Example::fails(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.add_edge("fill", "pour", "needs"); g.dependency_order()"##,
            r##"`fill` → `pour` → `boil` → `fill`"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Nodes::from_value_with_edges(args.value("nodes"))?.dependency_order(args.texts_or("kinds")?.as_deref())?))
}
