//! `with_changes`: a graph with changes.

use crate::diagnostic::Result;
use crate::graph::{Graph, Transaction};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "with_changes",
    family: Family::Graph,
    summary: "Returns another graph: this one as a transaction changes it. The original is unchanged.",
    params: &[
        required("g", &[Kind::Graph, Kind::Builder], "The graph."),
        required(
            "body",
            &[Kind::Function],
            "Receives the transaction, with the functions `add_node`, `remove_nodes`, `update_node`, `rename_node`, `move_node`, `add_edge`, `remove_edges` and `update_edges`.",
        ),
    ],
    returns: Kind::Graph,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.remove_nodes("oolong")).broken_edges().column("to_key")"##,
            r##"["oolong"]"##,
        ),
        Example::fails(r##"let g = new_graph(); with_changes(g, |tx| tx.remove_nodes("oolong"))"##, "there is no node `oolong`"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let graph = Graph::from_value(args.value("g"), &[])?;
    let Some(body) = args.function("body") else { return Ok(Value::Handle(graph)) };
    Ok(Value::Handle(Transaction::apply_to(&graph, |transaction| body.call(vec![transaction]))?))
}
