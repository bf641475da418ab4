//! `nodes`: the nodes of a kind.

use crate::diagnostic::Result;
use crate::graph::Graph;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "nodes",
    family: Family::Graph,
    summary: "Returns the nodes of these kinds, or all nodes, in insertion order; empty for a kind without nodes.",
    params: &[
        required("g", &[Kind::Graph, Kind::Builder, Kind::Transaction], "The graph, the builder or the transaction."),
        optional("kinds", &[Kind::Text, Kind::List], "A kind, or an array of kinds."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes("tea").column("key")"##,
            r##"["oolong", "sencha"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.nodes(["pot", "cup"])"##,
            r##"[]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let kinds = args.texts_or("kinds")?.unwrap_or_default();
    if kinds.is_empty() && args.given("kinds").is_some() {
        return Ok(Value::handle(Graph::from_value(args.value("g"), &[])?.nodes(&[]).slice(0, Some(0))));
    }
    Ok(Value::handle(Graph::from_value(args.value("g"), &kinds)?.nodes(&kinds)))
}
