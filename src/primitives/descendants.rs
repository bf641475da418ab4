//! `descendants`: all that lies in nodes.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "descendants",
    family: Family::Graph,
    summary: "The nodes that lie in these, however deep, each before what lies in it; one of these too, if it lies in another of them.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one."),
        optional("kinds", &[Kind::Text, Kind::List], "A kind, or a list of kinds."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("shelf", "top").descendants().column("key")"##,
        r##"["green", "sencha"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(
        Nodes::from_value_with_edges(args.value("nodes"))?.descendants(args.texts_or("kinds")?.as_deref())?,
    ))
}
