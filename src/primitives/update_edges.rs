//! `update_edges`: another target, kind or label of edges.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "update_edges",
    family: Family::Graph,
    summary: "Changes parts of edges in a transaction; other parts are unchanged. An edge whose target does not exist is broken.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("edges", &[Kind::Edge, Kind::Edges, Kind::List], "An edge, or several."),
        option("to", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "Their target: a node, or an id that may not exist yet."),
        option("kind", &[Kind::Text], "Their kind."),
        option("requires", &[Kind::List], "Ids that must exist too."),
        option("labels", &[Kind::List], "Their labels."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("tea", "oolong", #{}, "top"); g.add_node("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.update_edges(g.get("tea", "sencha").edges_out(), #{ kind: "near", labels: ["A"] })).get("tea", "sencha").edges_out()"##,
            r##"[{"kind": "near", "from": "sencha", "to": "oolong", "labels": ["A"], "broken": false}]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{}); g.add_node("tea", "sencha", #{}); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.update_edges(g.get("tea", "sencha").edges_out("like"), #{ to: "assam" })).broken_edges().column("to_key")"##,
            r##"["assam"]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.object::<Transaction>("tx") else { return Ok(Value::Null) };
    let given = |name: &str| args.given(name).map(|_| args.list(name)).transpose();
    let (requires, labels) = (given("requires")?, given("labels")?);
    let kind = args.given("kind").and_then(Value::as_text);
    let (edges, to) = (args.value("edges"), args.given("to"));
    transaction.update_edges(edges, to, kind, requires.as_deref(), labels.as_deref()).map(|()| Value::Null)
}
