//! `children`: the nodes directly inside others.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "children",
    family: Family::Graph,
    summary: "Returns the direct children of these nodes, only of the given kinds if any.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node."),
        optional("kinds", &[Kind::Text, Kind::List], "A kind, or an array of kinds."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("shelf", "top").children().column("key")"##,
            r##"["green"]"##,
        ),
        Example::gives(
            r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("shelf", "top").children("tea")"##,
            r##"[]"##,
        ),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.children(args.texts_or("kinds")?.as_deref())?))
}
