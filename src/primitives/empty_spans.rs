//! `empty_spans`: the empty set of spans.

use crate::diagnostic::Result;
use crate::document::Spans;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "empty_spans",
    family: Family::Parse,
    summary: "Returns spans that cover nothing, to start a union with. To test for them, use `is_empty`.",
    params: &[],
    returns: Kind::Spans,
    effect: Effect::Pure,
    examples: &[
        Example::gives("empty_spans().is_empty()", "true"),
        Example::gives(r#"non_whitespace_len("abc", empty_spans().union("abc".find_quote("b").spans))"#, "1"),
    ],
    run,
};

fn run(_context: &Context<'_>, _args: Args) -> Result<Value> {
    Ok(Value::handle(Spans::default()))
}
