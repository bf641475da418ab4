//! `ends_with`: Whether `text` ends with `part`.

use crate::primitive::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "ends_with",
    family: Family::Text,
    summary: "Whether `text` ends with `part`.",
    params: &[required("text", &[Kind::Text], "The text."), required("part", &[Kind::Text], "What to look for.")],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a.md".ends_with(".md")"#, r#"true"#),
        Example::gives(r#""a.md".ends_with("")"#, r#"true"#),
    ],
    run: |_, args| Ok(args.text("text").ends_with(args.text("part")).into()),
};
