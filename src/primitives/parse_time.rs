//! `parse_time`: a time from text.

use crate::diagnostic::Result;
use crate::primitive::time;
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_time",
    family: Family::Host,
    summary: "The milliseconds since 1970-01-01T00:00:00Z of a time as RFC 3339; without an offset it is in UTC, and a mere date is its midnight.",
    params: &[required("text", &[Kind::Text], "A time, such as `2026-01-01T12:00:00Z`, or a date.")],
    returns: Kind::Integer,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"parse_time("2026-01-01T00:00:00.5+01:00")"#, r#"1767222000500"#),
        Example::gives(r#"parse_time("2026-01-01")"#, r#"1767225600000"#),
        Example::fails(r#"parse_time("noon")"#, r#"`noon` is no time"#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    time::parse(args.text("text")).map(Value::from)
}
