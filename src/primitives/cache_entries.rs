//! `cache_entries`: all that was remembered under keys that begin alike.

use crate::diagnostic::Result;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, memory_of, optional};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "cache_entries",
    family: Family::Cache,
    summary: "All that calls of the pack remembered under keys that begin with `prefix`: a map from key to value. One key for each thing of a set loses nothing when calls run at once.",
    params: &[optional("prefix", &[Kind::Text], "How the keys begin; left out, all of them.")],
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
    let found = memory_of(context)?.remembered(args.text_or("prefix").unwrap_or(""), now_ms);
    Ok(Value::Map(found.iter().map(|(key, value)| (key.as_str().into(), Value::from_json(value))).collect()))
}
