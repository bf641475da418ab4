//! `filter`: nodes or edges that a function accepts.

use crate::diagnostic::Result;
use crate::graph::{Edges, Nodes};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "filter",
    family: Family::Graph,
    summary: "Returns the nodes or edges for which `keep` returns true.",
    params: &[
        required("nodes", &[Kind::Nodes, Kind::Edges], "The nodes or edges."),
        required("keep", &[Kind::Function], "Returns true for what to keep."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); filter(g.nodes("tea"), |tea| tea.price > 8).column("key")"##,
        r##"["oolong"]"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let Some(keep) = args.function("keep") else { return Ok(Value::Null) };
    match args.object::<Edges>("nodes") {
        Some(edges) => edges.filter(keep).map(Value::handle),
        None => Nodes::from_value(args.value("nodes"))?.filter(keep).map(Value::handle),
    }
}
