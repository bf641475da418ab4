//! `refresh`: the graph, updated from the files.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "refresh",
    family: Family::Graph,
    summary: "Returns the graph, updated from the current files. Fails while changes are pending, unless they are discarded.",
    params: &[
        option("discard", &[Kind::Bool], "Whether to discard pending changes."),
        option("full", &[Kind::Bool], "Whether to read every file again, not only those that changed."),
    ],
    returns: Kind::Graph,
    effect: Effect::Changes,
    examples: &[Example::fails("refresh()", "there is no graph to change here")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::Handle(context.host.refresh(args.flag("discard"), args.flag("full"))?))
}
