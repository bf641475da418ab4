//! `escape_regex`: a regular expression for a literal text.

use crate::guard;
use crate::bounded::BoundedText;
use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "escape_regex",
    family: Family::Text,
    summary: "Returns a regular expression that matches `text` literally.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a.b".escape_regex()"#, r#""a\\.b""#),
        Example::gives(r#""a.b".matches(`^${escape_regex(".")}`)"#, r#"false"#),
    ],
    run: |_, args| {
        let mut escaped = BoundedText::default();
        for piece in guard::pieces(args.text("text")) {
            escaped.push(&regex_syntax::escape(piece?))?;
        }
        Ok(escaped.into_value())
    },
};
