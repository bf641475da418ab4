//! `broken_edges`: edges that do not resolve.

use crate::diagnostic::Result;
use crate::graph::Graph;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "broken_edges",
    family: Family::Graph,
    summary: "Returns the edges whose source, target or one of the required ids does not exist.",
    params: &[required(
        "g",
        &[Kind::Graph, Kind::Builder, Kind::Transaction],
        "The graph, the builder or the transaction.",
    )],
    returns: Kind::Edges,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.add_edge("oolong", "pot", "brewed_in"); g.broken_edges().column("to_key")"##,
        r##"["pot"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Graph::from_value(args.value("g"), &[])?.broken_edges().map(Value::handle)
}
