//! `env_with_prefix`: environment variables with a prefix.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "env_with_prefix",
    family: Family::Host,
    summary: "Returns a map of the environment variables that begin with `prefix` and that the pack is granted.",
    params: &[required("prefix", &[Kind::Text], "The beginning of the names.")],
    returns: Kind::Map,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"env_with_prefix("NOT_SET_ANYWHERE")"#, r#"{}"#)],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let world = context.host.world();
    let names = world.env_names().into_iter().filter(|name| name.starts_with(args.text("prefix")));
    Ok(Value::map(names.filter_map(|name| world.env(&name).map(|value| (name, Value::from(value))))))
}
