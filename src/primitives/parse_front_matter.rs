//! `parse_front_matter`: the YAML between `---` fences at the beginning of a text.

use crate::diagnostic::Result;
use crate::parse::{ParserInput, TEXT_KINDS, parse_front_matter};
use crate::primitive_api::{Args, Context, Effect, Example, Family, Primitive, required};
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "parse_front_matter",
    family: Family::Parse,
    summary: "Returns the front matter of a text as `#{ data, error, from, to, body_line }`: `data` is its map, `error` the problem with its line, or `()`. `from` and `to` are the lines of the fences, 0 if there are none, and `body_line` is the line after them. It never fails.",
    params: &[required("text", TEXT_KINDS, "The text, or a document, whose path appears in errors.")],
    returns: Kind::Map,
    effect: Effect::Pure,
    examples: &[
        Example::gives(
            r#"parse_front_matter("---\ntitle: Tea\n---\nBoil.\n")"#,
            r#"{"data": {"title": "Tea"}, "error": null, "from": 1, "to": 3, "body_line": 4}"#,
        ),
        Example::gives(
            r#"parse_front_matter("Boil.")"#,
            r#"{"data": null, "error": null, "from": 0, "to": 0, "body_line": 1}"#,
        ),
        Example::gives(
            r#"parse_front_matter("---\n- a\n---\n").error"#,
            r#""line 2: front matter must be a map, got an array""#,
        ),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    parse_front_matter(&ParserInput::from_value(args.value("text")))
}
