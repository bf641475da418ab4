//! `add_edge`: an edge between nodes.

use crate::diagnostic::Result;
use crate::graph::{Transaction, record_into};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_edge",
    family: Family::Graph,
    summary: "Adds an edge from one id to another, which is resolved when the graph is read. The edge is broken while either end, or one of `requires`, does not exist.",
    params: &[
        required(
            "f",
            &[Kind::Fragment, Kind::Builder, Kind::Transaction],
            "The fragment of a file, the builder or the transaction.",
        ),
        required("from", &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node], "The id of the source."),
        required(
            "to",
            &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node],
            "The id of the target, of any kind, or `#{ kind, id }`.",
        ),
        required("kind", &[Kind::Text], "The kind of the edge."),
        option("requires", &[Kind::List], "Ids that must exist, too."),
        option("labels", &[Kind::List], "The labels of the edge."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("step", "fill", #{}); g.add_node("step", "boil", #{}); g.add_node("step", "pour", #{}); g.add_edge("pour", "boil", "requires"); g.add_edge("boil", "fill", "requires"); g.get("step", "pour").neighbors("out").column("key")"##,
            r##"["boil"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.add_edge("oolong", "pot", "brewed_in", #{ labels: ["A"] }); g.broken_edges()"##,
            r##"[{"kind": "brewed_in", "from": "oolong", "to": "pot", "labels": ["A"], "broken": true}]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (needs, labels) = (args.list("requires")?, args.list("labels")?);
    let (from, to) = (args.value("from"), args.value("to"));
    if let Some(transaction) = args.value("f").as_object::<Transaction>() {
        return transaction.add_edge(from, to, args.text("kind"), &needs, &labels).map(|()| Value::Null);
    }
    record_into(args.value("f"), |recording| recording.add_edge(from, to, args.text("kind"), &needs, &labels))?;
    Ok(Value::Null)
}
