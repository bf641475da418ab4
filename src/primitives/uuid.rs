//! `uuid`: a random id.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "uuid",
    family: Family::Host,
    summary: "Returns a new random UUID; in cases UUIDs are sequential.",
    params: &[],
    returns: Kind::Text,
    effect: Effect::Reads,
    examples: &[Example::gives(r#"uuid().len()"#, r#"36"#)],
    run,
};

fn run(context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(context.host.uuid().into())
}
