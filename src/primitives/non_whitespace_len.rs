//! `non_whitespace_len`: the number of characters that spans cover.

use crate::diagnostic::Result;
use crate::document::{Passage, Spans};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "non_whitespace_len",
    family: Family::Parse,
    summary: "Returns the number of characters inside `spans` that are not whitespace.",
    params: &[
        required("passage", &[Kind::Passage, Kind::Text], "The passage or text that the spans belong to."),
        required("spans", &[Kind::Spans], "The spans."),
    ],
    returns: Kind::Integer,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"non_whitespace_len("a pot of tea", "a pot of tea".find_quote("pot of").spans)"#, "5"),
        Example::gives(r#"non_whitespace_len("a pot", empty_spans())"#, "0"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let text = args.object::<Passage>("passage").map_or_else(|| args.text("passage"), Passage::text);
    args.object::<Spans>("spans").map_or(Ok(0), |spans| spans.non_whitespace_len(text)).map(Value::from)
}
