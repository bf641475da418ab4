//! `trim`: a text without whitespace at both ends.

use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "trim",
    family: Family::Text,
    summary: "Returns `text` without whitespace at both ends.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(r#"" a b\n".trim()"#, r#""a b""#), Example::gives(r#"trim("")"#, r#""""#)],
    run: |_, args| Ok(args.text("text").trim().into()),
};
