//! `memory_set`: keeps a value between calls.

use crate::bounded::reserve_for;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, memory_of, option, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "memory_set",
    family: Family::Memory,
    summary: "Keeps `value` under `key` for later calls of the pack, in the memory of this process: a restart forgets it, and where there is no room (10,000 keys, 4 MB) the oldest is forgotten first. Gives `value`.",
    params: &[
        required("key", &[Kind::Text], "Its name in the pack."),
        required("value", &[Kind::Any], "Plain data; `()` forgets the key."),
        option("ttl_s", &[Kind::Integer, Kind::Float], "After so many seconds it is forgotten."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"memory_set("pot", #{ cups: 4 }); memory_get("pot").cups"##, "4"),
        Example::gives(r##"memory_set("pot", 1); memory_set("pot", ()); memory_get("pot")"##, "null"),
        Example::gives(r##"memory_set("pot", 1, #{ ttl_s: 0 }); memory_get("pot")"##, "null"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let ttl_ms = args.float_or("ttl_s").map(|seconds| {
        // A number of seconds beyond all clocks means for ever.
        #[allow(clippy::cast_possible_truncation, reason = "it saturates")]
        let ms = (seconds * 1_000.0) as i64;
        (seconds >= 0.0)
            .then_some(ms)
            .ok_or_else(|| Diagnostic::new(Code::ARGUMENTS, "`ttl_s` of `memory_set` is a number of seconds, 0 or more"))
    });
    if args.function("value").is_some() {
        return Err(Diagnostic::new(Code::ARGUMENTS, "a function cannot be remembered").help("give plain data"));
    }
    reserve_for(args.value("value"), 3)?;
    let now_ms = context.host.world().now_ms();
    let json = args.json("value")?;
    memory_of(context)?.remember(args.text("key"), json.clone(), now_ms, ttl_ms.transpose()?)?;
    // As a later call sees it.
    Ok(Value::from_json(&json))
}
