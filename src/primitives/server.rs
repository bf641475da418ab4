//! `server`: properties of this server process.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "server",
    family: Family::Host,
    summary: "Returns `#{ name, version, transport, address, host, port, has_token, token, uptime_s, since, root, roots }`. `transport` is `stdio`, `http`, or `none` for a command; `address`, `host` and `port` are `()` except for HTTP. `has_token` is whether clients need a token, and `token` is then `\"***\"`, otherwise `()`. `since` is in RFC 3339, and `roots` are the additional folders that the user granted.",
    params: &[],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[Example::gives(
        r##"server().pick(["name", "transport", "port", "token"])"##,
        r##"{"name": "toolsd", "transport": "none", "port": null, "token": null}"##,
    )],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    let mut reported = context.host.server();
    let world = context.host.world();
    reported.insert("root".to_owned(), world.root().into());
    reported.insert("roots".to_owned(), world.granted_roots().into());
    Ok(Value::from_json(&reported.into()))
}
