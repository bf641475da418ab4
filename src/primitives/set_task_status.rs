//! `set_task_status`: the status message of a task.

use crate::diagnostic::Result;
use crate::primitive_api::Notice;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "set_task_status",
    family: Family::Client,
    summary: "Sets the status message that the client of a task sees. It has no effect in a call that does not run as a task.",
    params: &[required("message", &[Kind::Text], "What the call is doing, in a few words.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"set_task_status("counting the cups")"#, "null")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.notify(Notice::Status(args.text("message").to_owned()));
    Ok(Value::Null)
}
