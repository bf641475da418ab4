//! `rename_node`: another id of a node.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "rename_node",
    family: Family::Graph,
    summary: "Changes the id of a node. Its edges follow, and broken edges that name the new id become valid.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("node", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "The node, or its id."),
        required("id", &[Kind::Text, Kind::Integer], "Its new id, unique in its kind."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.rename_node("oolong", "assam")).get("tea", "sencha").edges_out().column("to_key")"##,
            r##"["assam"]"##,
        ),
        Example::fails(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.rename_node("oolong", "sencha"))"##,
            "the tea `sencha` already exists",
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.value("tx").as_object::<Transaction>() else { return Ok(Value::Null) };
    transaction.rename_node(args.value("node"), args.value("id")).map(|()| Value::Null)
}
