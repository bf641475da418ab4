//! `stale_files`: files that moved on.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "stale_files",
    family: Family::Graph,
    summary: "The files of the graph that are no longer as they were when the first of the pending changes was made, sorted; while nothing is pending the graph is always fresh, and there are none.",
    params: &[],
    returns: Kind::List,
    effect: Effect::Reads,
    examples: &[Example::gives("stale_files()", "[]")],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::list(context.host.stale_files()?.into_iter().map(Value::from)))
}
