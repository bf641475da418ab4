//! `set_target`: edges lead elsewhere.

use crate::diagnostic::Result;
use crate::graph::Transaction;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set_target",
    family: Family::Graph,
    summary: "Lets edges lead to another node, or to an id that is not there as yet; then they are broken.",
    params: &[
        required("tx", &[Kind::Transaction], "The transaction."),
        required("edges", &[Kind::Edge, Kind::Edges, Kind::List], "An edge, or several."),
        required("to", &[Kind::Node, Kind::Text, Kind::Integer, Kind::Map], "Where they lead."),
        option("needs", &[Kind::List], "Ids that must be there too; those from before, if it is left out."),
        option("labels", &[Kind::List], "What they carry; what they carried before, if it is left out."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("shelf", "top", #{}); g.add("tea", "oolong", #{}, "top"); g.add("tea", "sencha", #{}, "top"); g.add_edge("sencha", "oolong", "like"); with_changes(g, |tx| tx.set_target(g.get("tea", "sencha").edges_out("like"), "assam")).broken_edges().column("to_key")"##,
        r##"["assam"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(transaction) = args.value("tx").as_object::<Transaction>() else { return Ok(Value::Null) };
    let given = |name: &str| args.given(name).map(|_| args.list(name)).transpose();
    let (needs, labels) = (given("needs")?, given("labels")?);
    let edges = args.value("edges");
    transaction.rewire(edges, Some(args.value("to")), None, needs.as_deref(), labels.as_deref()).map(|()| Value::Null)
}
