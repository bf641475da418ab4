//! `split`: the parts of a text between separators.

use crate::guard::{self, ITEM, CheckedIterator};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "split",
    family: Family::Text,
    summary: "Returns the parts of `text` between the separators, or its characters if the separator is empty.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("separator", &[Kind::Text], "The text between the parts."),
        optional("most", &[Kind::Integer], "Maximum number of parts, at least 1; the last part has the rest."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a, b, c".split(", ")"#, r#"["a", "b", "c"]"#),
        Example::gives(r#""key: a: b".split(": ", 2)"#, r#"["key", "a: b"]"#),
        Example::gives(r#""Öl".split("")"#, r#"["Ö", "l"]"#),
        Example::fails(r#""a".split(",", 0)"#, "at least 1"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let (text, separator) = (args.text("text"), args.text("separator"));
    let most = match args.integer_or("most").map(usize::try_from) {
        None => usize::MAX,
        Some(Ok(most)) if most > 0 => most,
        Some(_) => return Err(Diagnostic::new(Code::ARGUMENTS, "`most` of `split` is at least 1")),
    };
    if separator.is_empty() {
        return characters(text, most).map(Value::List);
    }
    // The last part is only found at the end of the text, so its bytes count, too.
    let parts = text.splitn(most, separator).map(|part| guard::spend(part.len()).map(|()| Value::from(part)));
    parts.collect_checked::<Result<Vec<Value>>>()?.map(Value::List)
}

fn characters(text: &str, most: usize) -> Result<Vec<Value>> {
    let mut parts: Vec<Value> = Vec::new();
    for (at, character) in text.char_indices() {
        guard::spend(ITEM)?;
        if parts.len() + 1 == most {
            parts.push(text[at..].into());
            break;
        }
        parts.push((&*character.encode_utf8(&mut [0; 4])).into());
    }
    Ok(parts)
}
