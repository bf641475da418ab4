//! `title_case`: a text with capitalized words.

use crate::diagnostic::Result;
use crate::guard;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "title_case",
    family: Family::Text,
    summary: "Returns `text` with the first letter of each word in upper case; other letters are unchanged.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""status of this API".title_case()"#, r#""Status Of This API""#),
        Example::gives(r#""élan".title_case()"#, r#""Élan""#),
    ],
    run: |_, args| raised(args.text("text")).map(Value::from),
};

fn raised(text: &str) -> Result<String> {
    let mut raised = String::with_capacity(text.len());
    let mut inside = false;
    for piece in guard::pieces(text) {
        for character in piece?.chars() {
            if inside {
                raised.push(character);
            } else {
                raised.extend(character.to_uppercase());
            }
            inside = !character.is_whitespace();
        }
    }
    Ok(raised)
}
