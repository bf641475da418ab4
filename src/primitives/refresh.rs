//! `refresh`: the graph from the files.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, option};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "refresh",
    family: Family::Graph,
    summary: "The graph as the files are now. While changes are pending it is a fault, unless they are dropped.",
    params: &[
        option("discard", &[Kind::Bool], "`true`: pending changes are dropped."),
        option("full", &[Kind::Bool], "`true`: every file is read again, not only those that changed."),
    ],
    returns: Kind::Graph,
    effect: Effect::Changes,
    examples: &[Example::fails("refresh()", "there is no graph to change here")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(Value::Handle(context.host.refresh(args.flag("discard"), args.flag("full"))?))
}
