//! `without`: a set without another.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "without",
    family: Family::Graph,
    summary: "The nodes of the first set that are not in the second.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one."),
        required("others", &[Kind::Nodes, Kind::Node], "The nodes to leave out, or one."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("tea", "oolong", #{ price: 9 }); g.add("tea", "sencha", #{ price: 7 }); g.nodes("tea").without(g.get("tea", "oolong")).column("key")"##,
        r##"["sencha"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Nodes::given(args.value("nodes"))?.without(&Nodes::given(args.value("others"))?)?))
}
