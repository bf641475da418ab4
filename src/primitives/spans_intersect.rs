//! `spans_intersect`: what is in both of two sets of spans.

use crate::diagnostic::Result;
use crate::document::Spans;
use crate::guard::{self, ITEM};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "spans_intersect",
    family: Family::Parse,
    summary: "What is in both `a` and `b`, both of one text.",
    params: &[required("a", &[Kind::Spans], "Spans."), required("b", &[Kind::Spans], "Spans of the same text.")],
    returns: Kind::Spans,
    effect: Effect::Pure,
    examples: &[Example::gives(
        r#"let t = "abcdef"; visible_len(t, spans_intersect(t.find_quote("abcd").spans, t.find_quote("cdef").spans))"#,
        "2",
    )],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let both = args.object::<Spans>("a").zip(args.object::<Spans>("b"));
    guard::spend(both.map_or(0, |(a, b)| (a.ranges().len() + b.ranges().len()) * ITEM))?;
    Ok(both.map(|(a, b)| Value::handle(a.intersect(b))).into())
}
