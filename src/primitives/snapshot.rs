//! `snapshot`: a builder as a graph.

use crate::diagnostic::Result;
use crate::graph::Graph;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "snapshot",
    family: Family::Graph,
    summary: "Returns the graph that was built so far as an unchangeable snapshot.",
    params: &[required("g", &[Kind::Builder, Kind::Graph], "The builder.")],
    returns: Kind::Graph,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"let g = new_graph(); g.add_node("tea", "oolong", #{ price: 9 }); g.add_node("tea", "sencha", #{ price: 7 }); g.snapshot()"##,
        r##"{"tea": 2}"##,
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::Handle(Graph::from_value(args.value("g"), &[])?))
}
