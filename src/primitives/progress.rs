//! `progress`: how far the call has come.

use crate::diagnostic::Result;
use crate::primitive::Notice;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "progress",
    family: Family::Client,
    summary: "Tells the client how far the call has come, if it asked to be told.",
    params: &[
        required("done", &[Kind::Float], "So much is done; it never goes down."),
        optional("total", &[Kind::Float], "Of so much, if that is known."),
        optional("message", &[Kind::Text], "What is being done."),
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
