//! `trim_end`: a text without whitespace at its end.

use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "trim_end",
    family: Family::Text,
    summary: "Returns `text` without whitespace at its end.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"" a\n".trim_end()"#, r#"" a""#), Example::gives(r#"trim_end("a")"#, r#""a""#)],
    run: |_, args| Ok(args.text("text").trim_end().into()),
};
