//! `index_of`: the position of a part in a text.

use crate::diagnostic::Result;
use crate::letters;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "index_of",
    family: Family::Text,
    summary: "Returns the position of the first `part` in `text`, in characters from 0, or -1 if `text` does not contain it.",
    params: &[required("text", &[Kind::Text], "The text."), required("part", &[Kind::Text], "The text to look for.")],
    returns: Kind::Integer,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""Größe: 1".index_of(":")"#, r#"5"#),
        Example::gives(r#""abc".index_of("x")"#, r#"-1"#),
    ],
    run: |_, args| place(args.text("text"), args.text("part")).map(Value::from),
};

fn place(text: &str, part: &str) -> Result<i64> {
    let Some(at) = letters::find(text, part)? else { return Ok(-1) };
    letters::count(&text[..at]).map(|letters| i64::try_from(letters).unwrap_or(i64::MAX))
}
