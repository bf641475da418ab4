//! `parse_yaml`: a YAML text as a value.

use crate::diagnostic::Result;
use crate::parse::{ParserInput, TEXT_KINDS, parse_yaml};
use crate::primitive::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_yaml",
    family: Family::Parse,
    summary: "The value of a YAML 1.2 text; `yes`, `no`, `on` and `off` are texts, so are dates, `1_000`, what JSON cannot say (`.inf`, `.nan`) and whole numbers beyond 64 bits; `0123` is 123, `0o17` is 15, `0x1F` is 31: the core schema decides. Keys are texts as they are written, a key that stands twice is a fault `parse.yaml`.",
    params: &[required("text", TEXT_KINDS, "The text, or a document: then faults name its path.")],
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
