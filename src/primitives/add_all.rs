//! `add_all`: many children at once.

use crate::diagnostic::Result;
use crate::graph::record_into;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_all",
    family: Family::Graph,
    summary: "Adds a child of `parent` for each record, with the id `parent-key`, and gives the ids.",
    params: &[
        required("f", &[Kind::Fragment, Kind::Builder], "The fragment of a file, or the builder."),
        required("kind", &[Kind::Text], "The kind of the node."),
        required("parent", &[Kind::Text, Kind::Integer, Kind::Map, Kind::Node], "The id of the node they lie in."),
        required("records", &[Kind::List], "The fields of each."),
        required("key", &[Kind::Text], "The field that tells them apart."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("rule", "R1", #{}); g.add_all("part", "R1", [#{ label: "A" }, #{ label: "B" }], "label")"##,
        r##"["R1-A", "R1-B"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let records = args.list("records")?;
    record_into(args.value("f"), |recording| {
        recording.add_all(args.text("kind"), args.value("parent"), &records, args.text("key"))
    })
}
