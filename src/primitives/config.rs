//! `config`: the configuration of the pack.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "config",
    family: Family::Host,
    summary: "Returns the configuration of the pack: its table in the workspace's `toolsd.toml`, with defaults filled in.",
    params: &[],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"config().greeting"#, r#""hello""#)],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(context.host.config())
}
