//! `session`: who calls, and what is at work.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "session",
    family: Family::Host,
    summary: "Who calls, and what is at work: `protocol_version` (the revision that was agreed on) and `client` (its `name` and `version`), both `()` for a command; `calls`, the calls of the pack's tools that have begun and not ended, this one included, the oldest first: `number`, `tool`, `since` (RFC 3339) and the `locks` that each holds.",
    params: &[],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[Example::gives(r##"session().calls ?? []"##, "[]")],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::from_json(&context.host.session().into()))
}
