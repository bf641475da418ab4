//! `index_of`: The place of the first `part` in `text`, in characters from 0, or -1.

use crate::primitive::*;
use crate::value::Kind;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "index_of",
    family: Family::Text,
    summary: "The place of the first `part` in `text`, in characters from 0, or -1.",
    params: &[required("text", &[Kind::Text], "The text."), required("part", &[Kind::Text], "What to look for.")],
    returns: Kind::Integer,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""Größe: 1".index_of(":")"#, r#"5"#),
        Example::gives(r#""abc".index_of("x")"#, r#"-1"#),
    ],
    run: |_, args| Ok(place(args.text("text"), args.text("part")).into()),
};

fn place(text: &str, part: &str) -> i64 {
    let found = text.find(part).map(|at| text[..at].chars().count());
    found.map_or(-1, |characters| i64::try_from(characters).unwrap_or(i64::MAX))
}
