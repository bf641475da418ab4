//! `add_node`: a node.

use crate::diagnostic::Result;
use crate::graph::{Transaction, record_into};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_node",
    family: Family::Graph,
    summary: "Adds a node and returns its id. If the id is taken, the first node remains and the graph gets an error in `errors`; in a transaction the call fails.",
    params: &[
        required(
            "f",
            &[Kind::Fragment, Kind::Builder, Kind::Transaction],
            "The fragment of a file, the builder or the transaction.",
        ),
        required("kind", &[Kind::Text], "The kind of the node."),
        required("id", &[Kind::Text, Kind::Integer], "Its id, unique in its kind."),
        required("fields", &[Kind::Map, Kind::Null], "Its fields."),
        optional("parent", &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node], "The id of its parent node."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.add_node("tea", "assam", #{ price: 5 })"##,
            r##""assam""##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("tea", "sencha").parent()"##,
            r##"{"kind": "box", "key": "green"}"##,
        ),
        Example::fails(r##"new_graph().add_node("tea", "assam", #{ kind: "black" })"##, r##"a node cannot have a field `kind` of its own"##),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (kind, id) = (args.text("kind"), args.value("id"));
    if let Some(transaction) = args.value("f").as_object::<Transaction>() {
        return transaction.add_node(kind, id, args.value("fields"), args.value("parent"));
    }
    record_into(args.value("f"), |recording| recording.add_node(kind, id, args.value("fields"), args.value("parent")))
}
