//! `once`: work that is done once per call, even if the call runs again for an answer.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "once",
    family: Family::Client,
    summary: "Calls `make` once and returns its value. When the call runs again for an answer, returns the same value without calling `make`. Writes of `make` are written to disk immediately. The value is plain data; the client keeps it, signed but readable.",
    params: &[
        required("key", &[Kind::Text], "Its name, unique in the call."),
        required("make", &[Kind::Function], "Returns the value; takes no arguments."),
    ],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[Example::gives(r##"once("pot", || #{ cups: 4 }).cups"##, "4")],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let key = args.text("key");
    if let Some(value) = context.host.recorded(key) {
        return Ok(Value::from_json(&value));
    }
    let Some(make) = args.function("make") else { return Ok(Value::Null) };
    //= docs/spec.md#writes
    //# Writes inside `once` or `with_lock` MUST reach the disk when the function succeeds, before the lock is
    //# released.
    let make_it = || make.call(Vec::new());
    let value = match context.host.world().staged() {
        Some(staged) => staged.settle_recorded(make_it)?,
        None => make_it()?,
    };
    if matches!(value, Value::Function(_)) {
        let error = Diagnostic::new(Code::SCRIPT, format!("`once(\"{key}\", …)` returns a function"));
        return Err(error.help("return plain data: it is kept between the runs of a call"));
    }
    //= docs/spec.md#questions
    //# A call that runs again after an answer MUST get the same values from `now()`, `uuid()` and `once`.
    let json = value.json()?;
    context.host.record(key, json.clone());
    // The value as a later run sees it.
    Ok(Value::from_json(&json))
}
