//! `collapse`: `text` trimmed, each run of white space in it as one blank.

use crate::letters;
use crate::primitive::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "collapse",
    family: Family::Text,
    summary: "`text` trimmed, each run of white space in it as one blank.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"" a\n  b\tc ".collapse()"#, r#""a b c""#),
        Example::gives(r#"collapse(" \n")"#, r#""""#),
    ],
    run: |_, args| letters::collapse_whitespace(args.text("text")).map(Value::from),
};
