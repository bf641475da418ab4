//! `merge_node`: a node, merged with the one there is.

use crate::diagnostic::Result;
use crate::graph::record_into;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "merge_node",
    family: Family::Graph,
    summary: "Adds a node, or merges it with the one of this kind and id: the first value of a field stays, but of those in `keep_highest` the highest.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("kind", &[Kind::Text], "The kind of the node."),
        required("id", &[Kind::Text, Kind::Integer], "Its id, unique in its kind."),
        required("fields", &[Kind::Map, Kind::Null], "Its fields."),
        option("parent", &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node], "The id of the node it lies in."),
        option("keep_highest", &[Kind::Map], "Per field, its values from the least to the greatest."),
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
        recording.merge_into(kind, id, args.value("fields"), args.value("parent"), &max)
    })
}
