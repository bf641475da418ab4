//! `union`: two sets, one after the other.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "union",
    family: Family::Graph,
    summary: "The nodes of the first set, then those of the second that are not in it.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one."),
        required("others", &[Kind::Nodes, Kind::Node], "The nodes that follow, or one."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("tea", "oolong", #{ price: 9 }); g.add("tea", "sencha", #{ price: 7 }); g.get("tea", "sencha").union(g.nodes("tea")).column("key")"##,
        r##"["sencha", "oolong"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.then(&Nodes::from_value(args.value("others"))?)?))
}
