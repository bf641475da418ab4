//! `cache_set`: keeps a value between calls.

use crate::bounded::reserve_for;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, memory_of, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "cache_set",
    family: Family::Cache,
    summary: "Caches `value` under `key` for later calls of the pack, and returns `value`. The cache is in the memory of this process and is lost at a restart. If it is full (10,000 keys, 4 MB), the oldest entries are dropped first.",
    params: &[
        required("key", &[Kind::Text], "The key, unique in the pack."),
        required("value", &[Kind::Any], "Plain data; `()` removes the key."),
        option("ttl_ms", &[Kind::Integer], "Lifetime in milliseconds."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"cache_set("pot", #{ cups: 4 }); cache_get("pot").cups"##, "4"),
        Example::gives(r##"cache_set("pot", 1); cache_set("pot", ()); cache_get("pot")"##, "null"),
        Example::gives(r##"cache_set("pot", 1, #{ ttl_ms: 0 }); cache_get("pot")"##, "null"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let ttl_ms = args.integer_or("ttl_ms");
    if ttl_ms.is_some_and(|ms| ms < 0) {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`ttl_ms` of `cache_set` is a number of milliseconds, 0 or more"));
    }
    if args.function("value").is_some() {
        return Err(Diagnostic::new(Code::ARGUMENTS, "a function cannot be cached").help("pass plain data"));
    }
    reserve_for(args.value("value"), 3)?;
    let now_ms = context.host.world().now_ms();
    let json = args.json("value")?;
    memory_of(context)?.cache_set(args.text("key"), json.clone(), now_ms, ttl_ms)?;
    // The value as a later call sees it.
    Ok(Value::from_json(&json))
}
