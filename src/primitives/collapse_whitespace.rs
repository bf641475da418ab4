//! `collapse_whitespace`: text with each run of whitespace as one space.

use crate::letters;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "collapse_whitespace",
    family: Family::Text,
    summary: "Returns `text` trimmed, with each run of whitespace replaced by one space.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"" a\n  b\tc ".collapse_whitespace()"#, r#""a b c""#),
        Example::gives(r#"collapse_whitespace(" \n")"#, r#""""#),
    ],
    run: |_, args| letters::collapse_whitespace(args.text("text")).map(Value::from),
};
