//! `get`: one node by its id.

use crate::diagnostic::Result;
use crate::graph::Graph;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "get",
    family: Family::Graph,
    summary: "Returns the node of a kind with this id, or `()`.",
    params: &[
        required("g", &[Kind::Graph, Kind::Builder, Kind::Transaction], "The graph, the builder or the transaction."),
        required("kind", &[Kind::Text], "Its kind."),
        required("id", &[Kind::Text, Kind::Integer], "Its id."),
    ],
    returns: Kind::Node,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.get("tea", "sencha").price"##,
            r##"7"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.get("tea", "mate")"##,
            r##"null"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let kind = args.text("kind");
    let graph = Graph::from_value(args.value("g"), &[kind.to_owned()])?;
    let found = match args.value("id") {
        Value::Integer(id) => graph.get(kind, &id.to_string()),
        id => graph.get(kind, id.as_text().unwrap_or_default()),
    };
    Ok(found.map_or(Value::Null, Value::handle))
}
