//! `log`: a message for the client's log.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::primitive_api::{LogLevel, Notice};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "log",
    family: Family::Client,
    summary: "Writes a message to the client's log, if the client wants messages of that level.",
    params: &[
        required(
            "level",
            &[Kind::Text],
            "The severity: `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency`.",
        ),
        required("data", &[Kind::Any], "The message: a string, or any value."),
    ],
    returns: Kind::Null,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"log("info", "the pot is full")"#, "null"),
        Example::fails(r#"log("warn", "the pot is full")"#, "there is no level `warn`"),
    ],
    run,
};

fn run(context: &Context<'_>, args: Args) -> Result<Value> {
    let name = args.text("level");
    let Some(level) = LogLevel::ALL.into_iter().find(|level| level.name() == name) else {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no level `{name}`"));
        let names = LogLevel::ALL.map(LogLevel::name);
        return Err(error.help(did_you_mean(name, names).unwrap_or_default()));
    };
    context.host.notify(Notice::Log { level, data: args.json("data")? });
    Ok(Value::Null)
}
