//! `to_lower`: a text in lower case.

use crate::letters;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "to_lower",
    family: Family::Text,
    summary: "Returns `text` in lower case.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""MUST Ä".to_lower()"#, r#""must ä""#),
        Example::gives(r#"to_lower("a1")"#, r#""a1""#),
    ],
    run: |_, args| letters::to_lower(args.text("text")).map(Value::from),
};
