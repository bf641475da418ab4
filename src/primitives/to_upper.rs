//! `to_upper`: a text in upper case.

use crate::letters;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_upper",
    family: Family::Text,
    summary: "Returns `text` in upper case.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""Straße".to_upper()"#, r#""STRASSE""#),
        Example::gives(r#"to_upper("a1")"#, r#""A1""#),
    ],
    run: |_, args| letters::to_upper(args.text("text")).map(Value::from),
};
