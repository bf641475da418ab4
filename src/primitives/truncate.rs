//! `truncate`: a text cut to a maximum length.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::letters;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "truncate",
    family: Family::Text,
    summary: "Returns `text` cut to at most `length` characters. A cut text ends with `mark`, which counts, and whitespace before the mark is removed; with an empty mark only the end is removed.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("length", &[Kind::Integer], "Maximum number of characters, at least 0."),
        optional("mark", &[Kind::Text], "The text that marks the cut (default: `…`)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a long story".truncate(7)"#, r#""a long…""#),
        Example::gives(r#""short".truncate(5)"#, r#""short""#),
        Example::gives(r#""a long story".truncate(4, "")"#, r#""a lo""#),
        Example::fails(r#""a".truncate(-1)"#, "below 0"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let Ok(length) = usize::try_from(args.integer("length")) else {
        return Err(Diagnostic::new(Code::ARGUMENTS, "`length` of `truncate` is below 0"));
    };
    truncated(args.text("text"), length, args.text_or("mark").unwrap_or("…")).map(Value::from)
}

/// Whitespace before the mark is removed: `a …` looks as if a word were missing.
fn truncated(text: &str, length: usize, mark: &str) -> Result<String> {
    if letters::byte_index(text, length)? == text.len() {
        return Ok(text.to_owned());
    }
    let mark = &mark[..letters::byte_index(mark, length)?];
    let kept = &text[..letters::byte_index(text, length - letters::count(mark)?)?];
    Ok(if mark.is_empty() { kept.to_owned() } else { format!("{}{mark}", kept.trim_end()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_is_never_too_long(text in "\\PC{0,12}", length in 0_usize..14, mark in "[.…]{0,3}") {
            let cut = truncated(&text, length, &mark).expect("nothing stops it");
            prop_assert!(cut.chars().count() <= length.max(text.chars().count().min(length)));
            if text.chars().count() <= length {
                prop_assert_eq!(cut, text);
            }
        }
    }
}
