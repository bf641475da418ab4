//! `children`: what lies in nodes.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "children",
    family: Family::Graph,
    summary: "The nodes that lie directly in these, of one of these kinds if any are named.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one."),
        optional("kinds", &[Kind::Text, Kind::List], "A kind, or a list of kinds."),
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
