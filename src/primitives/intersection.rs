//! `intersection`: what two sets of nodes or spans have in common.

use crate::diagnostic::Result;
use crate::document::Spans;
use crate::graph::Nodes;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "intersection",
    family: Family::Graph,
    summary: "Returns the nodes that are also in `others`, in the order of `nodes`; for spans of one text, what both cover.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Node, Kind::Spans], "The nodes, one node, or spans."),
        required("others", &[Kind::Nodes, Kind::Node, Kind::Spans], "Other nodes of the same graph, or spans of the same text."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); let all = g.nodes("tea"); all.intersection(all.sort(["price"]).take(5)).column("key") + all.intersection(g.get("tea", "sencha")).column("key")"##,
        r##"["oolong", "sencha", "sencha"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    if let Some((first, second)) = Spans::pair(args.value("nodes"), args.value("others"))? {
        return Ok(Value::handle(first.intersection(second)));
    }
    Ok(Value::handle(Nodes::from_value(args.value("nodes"))?.intersection(&Nodes::from_value(args.value("others"))?)?))
}
