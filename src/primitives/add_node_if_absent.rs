//! `add_node_if_absent`: a node, unless there is one.

use crate::diagnostic::Result;
use crate::graph::record_into;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_node_if_absent",
    family: Family::Graph,
    summary: "Adds a node unless its kind already has one with this id, and returns the id.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("kind", &[Kind::Text], "The kind of the node."),
        required("id", &[Kind::Text, Kind::Integer], "Its id, unique in its kind."),
        required("fields", &[Kind::Map, Kind::Null], "Its fields."),
        optional("parent", &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node], "The id of its parent node."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.add_node_if_absent("tea", "oolong", #{ price: 1 }); g.get("tea", "oolong").price"##,
        r##"9"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (kind, id) = (args.text("kind"), args.value("id"));
    record_into(args.value("f"), |recording| recording.add_node_if_absent(kind, id, args.value("fields"), args.value("parent")))
}
