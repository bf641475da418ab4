//! `cache_get`: a cached value.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, memory_of, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "cache_get",
    family: Family::Cache,
    summary: "Returns the value that a call of the pack cached under `key`, or `()` if there is none or it has expired.",
    params: &[required("key", &[Kind::Text], "The key, unique in the pack.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"cache_set("pot", [1, 2]); cache_get("pot")"##, "[1, 2]"),
        Example::gives(r##"cache_get("no such key")"##, "null"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let now_ms = context.host.world().now_ms();
    let found = memory_of(context)?.cache_get(args.text("key"), now_ms);
    Ok(found.as_ref().map_or(Value::Null, Value::from_json))
}
