//! `remove_nodes`: the removal of nodes.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "remove_nodes",
    family: Family::Graph,
    summary: "Removes nodes from the graph, with all their descendants and the edges that start at them. Edges that end at them remain as broken edges.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required(
            "nodes",
            &[Kind::Node, Kind::Nodes, Kind::Text, Kind::Integer, Kind::Map, Kind::List],
            "A node or its id, or several.",
        ),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.remove_nodes("top"))"##,
            "{}",
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.remove_nodes(["sencha"])).get("tea", "oolong").edges_in()"##,
            "[]",
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.value("tx").as_object::<Transaction>() else { return Ok(Value::Null) };
    transaction.remove_nodes(args.value("nodes")).map(|()| Value::Null)
}
