//! `collapse_whitespace`: `text` trimmed, each run of white space in it as one blank.

use crate::letters;
use crate::primitive::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "collapse_whitespace",
    family: Family::Text,
    summary: "`text` trimmed, each run of white space in it as one blank.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"" a\n  b\tc ".collapse_whitespace()"#, r#""a b c""#),
        Example::gives(r#"collapse_whitespace(" \n")"#, r#""""#),
    ],
    run: |_, args| letters::collapse_whitespace(args.text("text")).map(Value::from),
};
