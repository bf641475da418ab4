//! `replace`: a text with parts replaced.

use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "replace",
    family: Family::Text,
    summary: "Returns `text` with each `what` in it replaced by `by`.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("what", &[Kind::Text], "The text to look for; not empty."),
        required("by", &[Kind::Text], "The replacement."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a-b-c".replace("-", "+")"#, r#""a+b+c""#),
        Example::gives(r#""aaa".replace("aa", "b")"#, r#""ba""#),
        Example::fails(r#""a".replace("", "b")"#, "is empty"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (text, what) = (args.text("text"), args.text("what"));
    if what.is_empty() {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`what` of `replace` is empty").help("pass the text to replace"));
    }
    let mut replaced = BoundedText::default();
    let mut done = 0;
    for at in memchr::memmem::find_iter(text.as_bytes(), what) {
        replaced.push(&text[done..at])?;
        replaced.push(args.text("by"))?;
        done = at + what.len();
    }
    replaced.push(&text[done..])?;
    Ok(replaced.into_value())
}
