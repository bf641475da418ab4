//! `graph`: the graph of the pack.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "graph",
    family: Family::Graph,
    summary: "Returns the graph of the pack, as fresh as its `refresh` promises, with pending changes. Inside `transaction` it includes the changes made so far.",
    params: &[option("pending", &[Kind::Bool], "If `false`, the graph of the files alone, without pending changes.")],
    returns: Kind::Graph,
    effect: Effect::Reads,
    examples: &[Example::fails(r##"graph()"##, r##"graph"##)],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let graph =
        if args.value("pending") != &Value::Bool(false) { context.host.graph() } else { context.host.graph_of_files() };
    Ok(Value::Handle(graph?))
}
