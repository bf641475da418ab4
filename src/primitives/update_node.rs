//! `update_node`: other values of the fields of a node.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "update_node",
    family: Family::Graph,
    summary: "Sets fields of a node in a transaction; `()` removes a field, and other fields are unchanged.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("node", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "The node, or its id."),
        required("fields", &[Kind::Map], "The fields."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); with_changes(g, |tx| tx.update_node("oolong", #{ price: 8 })).get("tea", "oolong").price"##,
        "8",
    )],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let transaction = args.object::<Transaction>("tx");
    transaction.map(|transaction| transaction.update_node(args.value("node"), args.value("fields"))).transpose().map(|_| Value::Null)
}
