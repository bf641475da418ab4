//! `undo`: the reversal of the last change.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "undo",
    family: Family::Graph,
    summary: "Undoes the last change of the graph exactly, and returns its log entry `#{ id, name, at, data }`, or `()` if there is none.",
    params: &[],
    returns: Kind::Map,
    effect: Effect::Changes,
    examples: &[Example::fails("undo()", "there is no graph to change here")],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    let undone = context.host.undo(None)?;
    Ok(undone.and_then(|undone| Some(undone.first()?.to_value())).unwrap_or(Value::Null))
}
