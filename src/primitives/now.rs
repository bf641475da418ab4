//! `now`: the time of the call.

use crate::diagnostic::Result;
use crate::primitive_api::time;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "now",
    family: Family::Host,
    summary: "Returns the time as RFC 3339 in UTC. It does not change during a call.",
    params: &[],
    returns: Kind::Text,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"now() == format_time(now_ms())"#, r#"true"#)],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    time::format(context.host.now_ms(), None).map(Value::from)
}
