//! `intersect`: what two sets of nodes have in common.

use crate::diagnostic::Result;
use crate::graph::Nodes;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "intersect",
    family: Family::Graph,
    summary: "The nodes that are among `others` too, in the order of `nodes`.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node], "The nodes, or one."),
        required("others", &[Kind::Nodes, Kind::Node], "Other nodes of the same graph."),
    ],
    returns: Kind::Nodes,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add("tea", "oolong", #{ price: 9 }); g.add("tea", "sencha", #{ price: 7 }); let all = g.nodes("tea"); all.intersect(all.sort(["price"]).slice(0, 5)).column("key") + all.intersect(g.get("tea", "sencha")).column("key")"##,
        r##"["oolong", "sencha", "sencha"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.within(&Nodes::from_value(args.value("others"))?)?))
}
