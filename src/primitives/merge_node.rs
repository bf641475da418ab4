//! `merge_node`: a node, merged with an existing one.

use crate::diagnostic::Result;
use crate::graph::record_into;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "merge_node",
    family: Family::Graph,
    summary: "Adds a node, or merges it into the existing one of this kind and id, and returns the id. The first value of a field is kept, or the highest for the fields in `keep_highest`.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("kind", &[Kind::Text], "The kind of the node."),
        required("id", &[Kind::Text, Kind::Integer], "Its id, unique in its kind."),
        required("fields", &[Kind::Map, Kind::Null], "Its fields."),
        option("parent", &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node], "The id of its parent node."),
        option("keep_highest", &[Kind::Map], "Per field, its values from the lowest to the highest."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); let levels = #{ level: ["MAY", "MUST"] }; g.merge_node("rule", "r", #{ level: "MAY", line: 1 }, #{ keep_highest: levels }); g.merge_node("rule", "r", #{ level: "MUST", line: 9 }, #{ keep_highest: levels }); g.nodes()"##,
        r##"[{"kind": "rule", "key": "r", "level": "MUST", "line": 1}]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let (kind, id, max) = (args.text("kind"), args.value("id"), args.map("keep_highest")?);
    record_into(args.value("f"), |recording| {
        recording.merge_node(kind, id, args.value("fields"), args.value("parent"), &max)
    })
}
