//! `repeat`: a text, repeated.

use crate::bounded;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "repeat",
    family: Family::Text,
    summary: "Returns `text` repeated `count` times.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("count", &[Kind::Integer], "Number of repetitions, at least 0."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""ab".repeat(3)"#, r#""ababab""#),
        Example::gives(r#""ab".repeat(0)"#, r#""""#),
        Example::fails(r#""ab".repeat(-1)"#, "below 0"),
        Example::fails(r#""ab".repeat(99999999)"#, "longer than 64 MB"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let text = args.text("text");
    let Ok(count) = usize::try_from(args.integer("count")) else {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`count` of `repeat` is below 0"));
    };
    bounded::reserve(text.len().saturating_mul(count))?;
    Ok(text.repeat(count).into())
}
