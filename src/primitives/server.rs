//! `server`: how this process serves.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "server",
    family: Family::Host,
    summary: "How this process serves: `name`, `version`, `transport` (`stdio`, `http`, or `none` for a command), `address`, `host` and `port` (`()` but for HTTP), `has_token` (whether clients must bring one) and `token` (`\"***\"` then, else `()`), `uptime_s`, `since` (RFC 3339), `root`, and `roots`: the further folders that the user granted.",
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
    let mut told = context.host.server();
    let world = context.host.world();
    told.insert("root".to_owned(), world.root().into());
    told.insert("roots".to_owned(), world.granted_roots().into());
    Ok(Value::from_json(&told.into()))
}
