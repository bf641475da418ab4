//! `progress`: the progress of the call.

use crate::diagnostic::Result;
use crate::primitive_api::Notice;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "progress",
    family: Family::Client,
    summary: "Reports the progress of the call to the client, if the client requested it.",
    params: &[
        required("done", &[Kind::Float], "The amount that is done; it never decreases."),
        optional("total", &[Kind::Float], "The total amount, if known."),
        optional("message", &[Kind::Text], "The current step."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"progress(1, 3, "brewing")"#, "null")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let message = args.text_or("message").map(str::to_owned);
    let done = args.float_or("done").unwrap_or_default();
    context.host.notify(Notice::Progress { done, total: args.float_or("total"), message });
    Ok(Value::Null)
}
