//! `dependency_order`: nodes after what they need.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "dependency_order",
    family: Family::Graph,
    summary: "The nodes in an order in which each comes after all that its edges lead to; a cycle is a fault that names the chain.",
    params: &[
        required(
            "nodes",
            &[Kind::Nodes, Kind::Node, Kind::Graph, Kind::Builder],
            "The nodes, or one, or all of a graph.",
        ),
        optional(
            "kinds",
            &[Kind::Text, Kind::List],
            "The kinds of edges to follow, all if left out; `parent` stands for containment, out from a node to what it lies in, and is not among all.",
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
    Ok(Value::handle(Nodes::from_value_with_edges(args.value("nodes"))?.order(args.texts_or("kinds")?.as_deref())?))
}
