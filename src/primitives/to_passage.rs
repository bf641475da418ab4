//! `to_passage`: lines as one passage.

use crate::diagnostic::Result;
use crate::document::{Lines, Passage};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_passage",
    family: Family::Parse,
    summary: "Returns the lines that are not blank, trimmed and joined by one space, as a passage for `find_quote`: a text (its field `text`) that records the line of each of its parts.",
    params: &[required("lines", &[Kind::Lines], "The lines.")],
    returns: Kind::Passage,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"lines("one\n\n  two \nthree").to_passage().text"#, r#""one two three""#)],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    Ok(args.object::<Lines>("lines").map(|lines| Value::handle(Passage::from_lines(lines))).into())
}
