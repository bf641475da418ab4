//! `graph`: the graph of the pack.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "graph",
    family: Family::Graph,
    summary: "The graph of the pack, as fresh as its `refresh` promises.",
    params: &[],
    returns: Kind::Graph,
    effect: Effect::Reads,
    examples: &[Example::fails(r##"graph()"##, r##"graph"##)],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::Handle(context.host.graph()?))
}
