//! `sleep_ms`: a pause.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sleep_ms",
    family: Family::Client,
    summary: "Waits for `ms` milliseconds, which count towards the time limit of the call. In cases no time passes.",
    params: &[required("ms", &[Kind::Float], "Milliseconds, 0 or more.")],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives("sleep_ms(0)", "null"),
        Example::fails("sleep_ms(-1)", "`sleep_ms` cannot wait for -1 milliseconds"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let ms = args.float_or("ms").unwrap_or_default();
    if !(0.0..=86_400_000.0).contains(&ms) {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("`sleep_ms` cannot wait for {ms} milliseconds"));
        return Err(error.help("from 0 to a day"));
    }
    context.host.sleep(ms.ceil() as u64)?;
    Ok(Value::Null)
}
