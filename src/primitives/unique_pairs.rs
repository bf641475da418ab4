//! `unique_pairs`: one edge for each pair of nodes.

use crate::diagnostic::Result;
use crate::graph::Edges;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "unique_pairs",
    family: Family::Graph,
    summary: "Returns the first edge of each pair of nodes, whatever the kinds of the edges; the direction counts.",
    params: &[required("edges", &[Kind::Edges], "The edges.")],
    returns: Kind::Edges,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_edge("boil", "fill", "needs"); g.add_edge("boil", "fill", "follows"); g.add_edge("fill", "boil", "needs"); g.nodes("step").edges_in().unique_pairs().select(["kind", "from_key as from", "to_key as to"])"##,
            r##"[{"kind": "needs", "from": "boil", "to": "fill"}, {"kind": "needs", "from": "fill", "to": "boil"}]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "boil", #{}); g.add_edge("boil", "cool", "needs"); g.add_edge("boil", "cool", "follows"); g.add_edge("boil", "pour", "needs"); g.broken_edges().unique_pairs().column("to_key")"##,
            r##"["cool", "pour"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    match args.object::<Edges>("edges") {
        Some(edges) => edges.unique_pairs().map(Value::handle),
        None => Ok(Value::Null),
    }
}
