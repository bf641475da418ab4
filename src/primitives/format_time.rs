//! `format_time`: a time as text.

use crate::diagnostic::Result;
use crate::primitive_api::time;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "format_time",
    family: Family::Host,
    summary: "Returns a time in UTC, in a strftime format or as RFC 3339.",
    params: &[
        required(
            "time",
            &[Kind::Integer, Kind::Text],
            "Milliseconds since 1970-01-01T00:00:00Z, or a string that `parse_time` reads.",
        ),
        optional("format", &[Kind::Text], "A strftime format (default: RFC 3339)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"format_time(1767225600000, "%Y-%m-%d %H:%M")"#, r#""2026-01-01 00:00""#),
        Example::gives(r#"format_time("2026-01-01T01:30:00+01:00")"#, r#""2026-01-01T00:30:00Z""#),
        Example::fails(r#"format_time(0, "%!")"#, r#"is not a time format"#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let milliseconds = match args.text_or("time") {
        Some(text) => time::parse(text)?,
        None => args.integer("time"),
    };
    time::format(milliseconds, args.text_or("format")).map(Value::from)
}
