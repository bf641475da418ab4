//! `undo_to`: the reversal of several changes.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "undo_to",
    family: Family::Graph,
    summary: "Undoes all changes from the last one back to the one with this id, inclusive. Returns their log entries `#{ id, name, at, data }`, the last one first, or `()` if the log does not have this id.",
    params: &[required("id", &[Kind::Text], "The id of a log entry.")],
    returns: Kind::List,
    effect: Effect::Changes,
    examples: &[Example::fails(r##"undo_to("x")"##, "there is no graph to change here")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let undone = context.host.undo(Some(args.text("id")))?;
    Ok(undone.map_or(Value::Null, |undone| Value::list(undone.iter().map(|entry| entry.to_value()))))
}
