//! `set_task_status`: what the task of a call is doing.

use crate::diagnostic::Result;
use crate::primitive::Notice;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set_task_status",
    family: Family::Client,
    summary: "Says what a call is doing, to the client that looks after its task; a call that runs as none says it to nobody.",
    params: &[required("message", &[Kind::Text], "What is being done, in a few words.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"set_task_status("counting the cups")"#, "null")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.notify(Notice::Status(args.text("message").to_owned()));
    Ok(Value::Null)
}
