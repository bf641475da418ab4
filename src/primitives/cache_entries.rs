//! `cache_entries`: all cached values whose keys have a prefix.

use crate::diagnostic::Result;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, memory_of, optional};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "cache_entries",
    family: Family::Cache,
    summary: "Returns all cached values of the pack whose keys begin with `prefix`, as a map from key to value. Concurrent calls lose no updates if each element of a collection has its own key.",
    params: &[optional("prefix", &[Kind::Text], "The beginning of the keys (default: all keys).")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r##"cache_set("pot/a", 1); cache_set("pot/b", 2); cache_set("cup", 3); cache_entries("pot/")"##,
        r##"{"pot/a": 1, "pot/b": 2}"##,
    )],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let now_ms = context.host.world().now_ms();
    let found = memory_of(context)?.cache_entries(args.text_or("prefix").unwrap_or(""), now_ms);
    Ok(Value::Map(found.iter().map(|(key, value)| (key.as_str().into(), Value::from_json(value))).collect()))
}
