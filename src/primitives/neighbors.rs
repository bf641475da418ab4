//! `neighbors`: one step along edges.

use crate::diagnostic::Result;
use crate::graph::{Direction, Nodes};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "neighbors",
    family: Family::Graph,
    summary: "Returns the nodes that are one step along edges away, each once, in the order of the edges.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        required("direction", &[Kind::Text], "`in`, `out` or `both`."),
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
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.get("step", "boil").neighbors("in").column("key")"##,
            r##"["pour"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "needs"); g.add_edge("boil", "fill", "needs"); g.get("step", "boil").neighbors("out", "knows")"##,
            r##"[]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let direction = Direction::parse(args.text("direction"))?;
    let nodes = Nodes::from_value_with_edges(args.value("nodes"))?;
    nodes.neighbors(direction, args.texts_or("kinds")?.as_deref()).map(Value::handle)
}
