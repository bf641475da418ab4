//! `pad_start`: a text padded at its start.

use crate::letters;
use crate::bounded;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "pad_start",
    family: Family::Text,
    summary: "Returns `text` padded at its start to `length` characters; a longer text is returned unchanged.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("length", &[Kind::Integer], "The minimum number of characters."),
        optional("by", &[Kind::Text], "The text to pad with (default: a space)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""7".pad_start(3, "0")"#, r#""007""#),
        Example::gives(r#""Öl".pad_start(4)"#, r#""  Öl""#),
        Example::fails(r#""a".pad_start(9999999999)"#, "longer than 64 MB"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (text, by) = (args.text("text"), args.text_or("by").unwrap_or(" "));
    if by.is_empty() {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`by` of `pad_start` is empty").help("pad with a space or a `0`"));
    }
    let length = usize::try_from(args.integer("length")).unwrap_or(0);
    let missing = length.saturating_sub(letters::count(text)?);
    bounded::reserve(text.len().saturating_add(missing.saturating_mul(4)))?;
    let fill = letters::repeat_to_length(by, missing)?;
    Ok((fill + text).into())
}
