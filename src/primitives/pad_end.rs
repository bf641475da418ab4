//! `pad_end`: `text` filled at its end up to `length` characters; a longer one stays.

use crate::letters;
use crate::bounded;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "pad_end",
    family: Family::Text,
    summary: "`text` filled at its end up to `length` characters; a longer one stays.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("length", &[Kind::Integer], "How many characters it shall have."),
        optional("by", &[Kind::Text], "What to fill with; a blank if left out."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""ab".pad_end(5, "-=")"#, r#""ab-=-""#),
        Example::gives(r#""abc".pad_end(2)"#, r#""abc""#),
        Example::fails(r#""a".pad_end(3, "")"#, "is empty"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (text, by) = (args.text("text"), args.text_or("by").unwrap_or(" "));
    if by.is_empty() {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`by` of `pad_end` is empty").help("fill with a blank, or a 0"));
    }
    let length = usize::try_from(args.integer("length")).unwrap_or(0);
    let missing = length.saturating_sub(letters::count(text)?);
    bounded::reserve(text.len().saturating_add(missing.saturating_mul(4)))?;
    let fill = letters::repeat_to_length(by, missing)?;
    Ok((text.to_owned() + fill.as_str()).into())
}
