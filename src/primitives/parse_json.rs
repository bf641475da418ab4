//! `parse_json`: a JSON text as a value.

use crate::diagnostic::Result;
use crate::parse::{ParserInput, TEXT_KINDS, parse_json};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_json",
    family: Family::Parse,
    summary: "Parses JSON and returns its value. The last of duplicate keys wins. Fails with `parse.json` and the location if the text is not valid JSON.",
    params: &[required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r##"parse_json("{\"a\": [1, 2.5, null]}")"##, r#"{"a": [1, 2.5, null]}"#),
        Example::fails(r#"parse_json("[1,]")"#, "trailing comma"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    parse_json(&ParserInput::from_value(args.value("text")))
}
