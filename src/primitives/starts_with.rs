//! `starts_with`: whether a text begins with a part.

use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "starts_with",
    family: Family::Text,
    summary: "Returns whether `text` begins with `part`.",
    params: &[required("text", &[Kind::Text], "The text."), required("part", &[Kind::Text], "The text to look for.")],
    returns: Kind::Bool,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""/a/b".starts_with("/a")"#, r#"true"#),
        Example::gives(r#""Ab".starts_with("a")"#, r#"false"#),
    ],
    run: |_, args| Ok(args.text("text").starts_with(args.text("part")).into()),
};
