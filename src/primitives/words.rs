//! `words`: the words of a text.

use crate::diagnostic::Result;
use crate::pattern::Pattern;
use crate::primitive_api::*;
use crate::value::{Kind, Value};
use std::ops::ControlFlow;

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "words",
    family: Family::Text,
    summary: "Returns the words of `text` in order: runs of letters, digits and `_` of all scripts.",
    params: &[required("text", &[Kind::Text], "The text.")],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""A pot, a brew_1 – été!".words()"#, r#"["A", "pot", "a", "brew_1", "été"]"#),
        Example::gives(r#"words("...")"#, r#"[]"#),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let text = args.text("text");
    let mut words = Vec::new();
    Pattern::compile_cached(r"\w+")?.each(text, |found| {
        words.push(text[found.span()].into());
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(Value::List(words))
}
