//! `join`: items joined to one text.

use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::sequence;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "join",
    family: Family::Text,
    summary: "Returns the items of `list` (strings, numbers or booleans) as one string with `separator` between them.",
    params: &[
        required("list", sequence::KINDS, "The items to join."),
        optional("separator", &[Kind::Text], "The text between two items (default: empty)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#"["a", 1, true].join(", ")"#, r#""a, 1, true""#),
        Example::gives(r#"[].join("-")"#, r#""""#),
        Example::fails(r#"["a", ()].join()"#, "item 1 is ()"),
    ],
    run,
};

fn run(_: &Context<'_>, mut args: Args) -> Result<Value> {
    let items = sequence::items(&mut args, "list")?;
    let separator = args.text_or("separator").unwrap_or_default();
    let mut joined = BoundedText::default();
    for (place, item) in items.iter().enumerate() {
        if place > 0 {
            joined.push(separator)?;
        }
        let word = sequence::scalar_text(item).ok_or_else(|| {
            let message = format!("`join` joins texts, numbers and bools; item {place} is {}", item.kind().name());
            Diagnostic::new(Code::ARGUMENTS, message).help("`map` the items to texts, or `filter` out `()`")
        })?;
        joined.push(&word)?;
    }
    Ok(joined.into_value())
}
