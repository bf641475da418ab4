//! `remove_edges`: the removal of edges.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "remove_edges",
    family: Family::Graph,
    summary: "Removes edges from the graph.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("edges", &[Kind::Edge, Kind::Edges, Kind::List], "An edge, or several."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.remove_edges(g.get("tea", "sencha").edges_out("like"))).get("tea", "sencha").edges_out()"##,
        "[]",
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.value("tx").as_object::<Transaction>() else { return Ok(Value::Null) };
    transaction.remove_edges(args.value("edges")).map(|()| Value::Null)
}
