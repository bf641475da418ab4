//! `escape_regex`: A regular expression that means `text` itself.

use crate::primitive::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "escape_regex",
    family: Family::Text,
    summary: "A regular expression that means `text` itself.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a.b".escape_regex()"#, r#""a\\.b""#),
        Example::gives(r#""a.b".matches(`^${escape_regex(".")}`)"#, r#"false"#),
    ],
    run: |_, args| Ok(regex_syntax::escape(args.text("text")).into()),
};
