//! `move_node`: another position or parent of a node.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "move_node",
    family: Family::Graph,
    summary: "Moves a node directly before or after another one in insertion order, or to another parent.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("node", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "The node, or its id."),
        option("before", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "The node that will follow it."),
        option("after", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "The node that will precede it."),
        option("parent", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "Its new parent."),
        option("detach", &[Kind::Bool], "If `true`, the node gets no parent."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.move_node("sencha", #{ before: "oolong" })).nodes("tea").column("key")"##,
            r##"["sencha", "oolong"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.move_node("sencha", #{ detach: true })).get("shelf", "top").children().column("key")"##,
            r##"["oolong"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.value("tx").as_object::<Transaction>() else { return Ok(Value::Null) };
    let parent = args.given("parent").or(args.flag("detach").then_some(&Value::Null));
    transaction.move_node(args.value("node"), args.value("before"), args.value("after"), parent).map(|()| Value::Null)
}
