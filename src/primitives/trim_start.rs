//! `trim_start`: a text without whitespace at its start.

use crate::primitive_api::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "trim_start",
    family: Family::Text,
    summary: "Returns `text` without whitespace at its start.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[Example::gives(r#""  a ".trim_start()"#, r#""a ""#), Example::gives(r#"trim_start("\n\t")"#, r#""""#)],
    run: |_, args| Ok(args.text("text").trim_start().into()),
};
