//! `env`: an environment variable.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "env",
    family: Family::Host,
    summary: "Returns the value of an environment variable, or `()` if it is not set. The pack needs a grant for it.",
    params: &[required("name", &[Kind::Text], "The name of the variable.")],
    returns: Kind::Text,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"env("NOT_SET_ANYWHERE")"#, r#"null"#)],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let (world, name) = (context.host.world(), args.text("name"));
    world.may_env(name)?;
    Ok(world.env(name).into())
}
