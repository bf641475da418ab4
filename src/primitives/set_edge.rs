//! `set_edge`: parts of an edge.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set_edge",
    family: Family::Graph,
    summary: "Changes the kind of edges, what they carry, or what they need; what is left out stays.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("edges", &[Kind::Edge, Kind::Edges, Kind::List], "An edge, or several."),
        option("kind", &[Kind::Text], "Their kind."),
        option("needs", &[Kind::List], "Ids that must be there too."),
        option("labels", &[Kind::List], "What they carry."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("shelf", "top", #{}); g.add("tea", "oolong", #{}, "top"); g.add("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.set_edge(g.get("tea", "sencha").edges_out(), #{ kind: "near", labels: ["A"] })).get("tea", "sencha").edges_out()"##,
        r##"[{"kind": "near", "from": "sencha", "to": "oolong", "labels": ["A"], "broken": false}]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.value("tx").as_object::<Transaction>() else { return Ok(Value::Null) };
    let given = |name: &str| args.given(name).map(|_| args.list(name)).transpose();
    let (needs, labels) = (given("needs")?, given("labels")?);
    let kind = args.given("kind").and_then(Value::as_text);
    transaction.rewire(args.value("edges"), None, kind, needs.as_deref(), labels.as_deref()).map(|()| Value::Null)
}
