//! `pending_changes`: pending changes of the graph.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "pending_changes",
    family: Family::Graph,
    summary: "Returns the pending changes of the graph, oldest first, as `#{ id, name, at, data }`.",
    params: &[],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[Example::gives("pending_changes()", "[]")],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::list(context.host.changes().iter().map(|entry| entry.to_value())))
}
