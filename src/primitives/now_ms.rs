//! `now_ms`: the time of the call as a number.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "now_ms",
    family: Family::Host,
    summary: "Returns the time in milliseconds since 1970-01-01T00:00:00Z. It does not change during a call.",
    params: &[],
    returns: Kind::Integer,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"now_ms() == parse_time(now())"#, r#"true"#)],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(context.host.now_ms().into())
}
