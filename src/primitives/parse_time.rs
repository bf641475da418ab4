//! `parse_time`: a time from text.

use crate::diagnostic::Result;
use crate::primitive_api::time;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_time",
    family: Family::Host,
    summary: "Returns the milliseconds since 1970-01-01T00:00:00Z of an RFC 3339 time (`2026-01-31T12:00:00.5+01:00`). Without an offset it is in UTC, seconds are optional, second 60 counts as 59, a space may replace the `T`, and a date alone is its midnight. Fails with `parse.time` for any other form.",
    params: &[required("text", &[Kind::Text], "A time, such as `2026-01-01T12:00:00Z`, or a date.")],
    returns: Kind::Integer,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"parse_time("2026-01-01T00:00:00.5+01:00")"#, r#"1767222000500"#),
        Example::gives(r#"parse_time("2026-01-01")"#, r#"1767225600000"#),
        Example::fails(r#"parse_time("20260101T12Z")"#, r#"`20260101T12Z` is not a time of RFC 3339"#),
        Example::fails(r#"parse_time("noon")"#, r#"`noon` is not a time"#),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    time::parse(args.text("text")).map(Value::from)
}
