//! `ancestors`: all nodes that contain others.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "ancestors",
    family: Family::Graph,
    summary: "Returns the nodes that contain these, directly or indirectly, the nearest first.",
    params: &[required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one node.")],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("shelf", "top", #{}); g.add_node("box", "green", #{}, "top"); g.add_node("tea", "sencha", #{}, "green"); g.get("tea", "sencha").ancestors().column("key")"##,
        r##"["green", "top"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.ancestors()?))
}
