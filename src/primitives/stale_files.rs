//! `stale_files`: files that changed after the pending changes.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "stale_files",
    family: Family::Graph,
    summary: "Returns the files of the graph that changed since the first of the pending changes, sorted; empty if nothing is pending, since the graph is then always fresh.",
    params: &[],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[Example::gives("stale_files()", "[]")],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::list(context.host.stale_files()?.into_iter().map(Value::from)))
}
