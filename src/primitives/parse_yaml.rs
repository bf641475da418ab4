//! `parse_yaml`: a YAML text as a value.

use crate::diagnostic::Result;
use crate::parse::{ParserInput, TEXT_KINDS, parse_yaml};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_yaml",
    family: Family::Parse,
    summary: "Parses YAML 1.2 and returns its value. The core schema decides: `0123` is 123, `0o17` is 15, `0x1F` is 31. Strings are also `yes`, `no`, `on`, `off`, dates, `1_000`, whole numbers beyond 64 bits, and what JSON cannot represent (`.inf`, `.nan`). Keys are strings as written. Fails with `parse.yaml` if the text is not valid YAML or repeats a key.",
    params: &[required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors.")],
    returns: Kind::Any,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"parse_yaml("country: no\ntags: [a, 1]")"#, r#"{"country": "no", "tags": ["a", 1]}"#),
        Example::gives(r#"parse_yaml("[0123, 0x1F, 1_000, .inf]")"#, r#"[123, 31, "1_000", ".inf"]"#),
        Example::gives(r#"parse_yaml("id: 12345678901234567890")"#, r#"{"id": "12345678901234567890"}"#),
        Example::gives(r#"parse_yaml("")"#, "null"),
        Example::fails(r#"parse_yaml("a: 1\na: 2")"#, "duplicate mapping key"),
        Example::fails(r#"new_document("x.yaml", "a: [1").parse_yaml()"#, "unclosed bracket"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    parse_yaml(&ParserInput::from_value(args.value("text")))
}
