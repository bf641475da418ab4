//! `lines`: the lines of a document.

use crate::diagnostic::Result;
use crate::document::Document;
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, optional, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "lines",
    family: Family::Parse,
    summary: "Returns the lines `from` to `to` of a document or text, clipped to its ends: a sequence of strings with the fields `text` (joined by line feeds), `from` and `to` (the numbers of the first and last line) and `path`.",
    params: &[
        required("document", &[Kind::Document, Kind::Text], "The document, or a text."),
        optional("from", &[Kind::Integer], "The number of the first line, counted from 1 (default: 1)."),
        optional("to", &[Kind::Integer], "The number of the last line, inclusive (default: the last line)."),
    ],
    returns: Kind::Lines,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"lines("one\r\ntwo\n\nfour\n")"#, r#"["one", "two", "", "four"]"#),
        Example::gives(r#"new_document("a", "one\ntwo\nthree").lines(-3, 2).text"#, r#""one\ntwo""#),
        Example::gives(r#"lines("one\ntwo", 2, 99).from"#, "2"),
    ],
    run,
};

fn run(_context: &Context<'_>, args: Args) -> Result<Value> {
    let document = Document::from_value(args.value("document"));
    let (from, to) = (args.integer_or("from").unwrap_or(1), args.integer_or("to").unwrap_or(i64::MAX));
    Ok(Value::handle(document.lines(from, to)))
}
