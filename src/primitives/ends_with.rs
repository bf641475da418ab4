//! `ends_with`: whether a text ends with a part.

use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "ends_with",
    family: Family::Text,
    summary: "Returns whether `text` ends with `part`.",
    params: &[required("text", &[Kind::Text], "The text."), required("part", &[Kind::Text], "The text to look for.")],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a.md".ends_with(".md")"#, r#"true"#),
        Example::gives(r#""a.md".ends_with("")"#, r#"true"#),
    ],
    run: |_, args| Ok(args.text("text").ends_with(args.text("part")).into()),
};
