//! `session`: the client, and the running calls.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "session",
    family: Family::Host,
    summary: "Returns `#{ protocol_version, client: #{ name, version }, calls: [#{ number, tool, since, locks }] }`. `protocol_version` (the negotiated revision) and `client` are `()` for a command. `calls` are the running calls of the pack's tools, oldest first, including this one: `since` is in RFC 3339, and `locks` are those that the call holds.",
    params: &[],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[Example::gives(r##"session().calls ?? []"##, "[]")],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::from_json(&context.host.session().into()))
}
