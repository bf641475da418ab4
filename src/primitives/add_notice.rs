//! `add_notice`: what the reader of a result has to know of it.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "add_notice",
    family: Family::Client,
    summary: "Adds a notice to the result of this call, for example that it may be incomplete and why. It is in the \
              structure and in the text, and a text that was added before is not repeated.",
    params: &[required("text", &[Kind::Text], "The notice.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"add_notice("the pot is half full")"#, "null"),
        Example::fails("add_notice(1)", "takes string"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    context.host.tell_in_result(args.text("text"));
    Ok(Value::Null)
}
