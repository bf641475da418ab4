//! `to_passage`: lines as one passage.

use crate::diagnostic::Result;
use crate::document::{Lines, Passage};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_passage",
    family: Family::Parse,
    summary: "The lines that are not blank, trimmed, joined by one blank, as a passage: a text (its field `text`) that remembers which line each part came from, to `find_quote` quotes in.",
    params: &[required("lines", &[Kind::Lines], "The lines.")],
    returns: Kind::Passage,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"lines("one\n\n  two \nthree").to_passage().text"#, r#""one two three""#)],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(args.object::<Lines>("lines").map(|lines| Value::handle(Passage::from_lines(lines))).into())
}
