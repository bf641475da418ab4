//! `edges_out`: the edges that leave nodes.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "edges_out",
    family: Family::Graph,
    summary: "Returns the edges that start at these nodes, without broken ones, in insertion order.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        optional("kinds", &[Kind::Text, Kind::List], "A kind of edges, or an array of kinds (default: all)."),
    ],
    returns: Kind::Edges,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.get("step", "boil").edges_out().select(["kind", "from.key as from", "to.key as to"])"##,
        r##"[{"kind": "needs", "from": "boil", "to": "fill"}]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let nodes = Nodes::from_value_with_edges(args.value("nodes"))?;
    nodes.edges_out(args.texts_or("kinds")?.as_deref()).map(Value::handle)
}
