//! `neighbors`: one step along edges.

use crate::diagnostic::Result;
use crate::graph::{Direction, Nodes};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "neighbors",
    family: Family::Graph,
    summary: "The nodes that one step along edges leads to, each once, in the order of the edges.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one."),
        required("direction", &[Kind::Text], "`in`, `out` or `both`."),
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
    nodes.step(direction, args.texts_or("kinds")?.as_deref()).map(Value::handle)
}
