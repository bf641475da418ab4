//! `sub_string`: a part of a text by position.

use crate::diagnostic::Result;
use crate::letters;
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "sub_string",
    family: Family::Text,
    summary: "Returns up to `count` characters of `text` from position `from`.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("from", &[Kind::Integer], "The first character, from 0; a negative number counts from the end."),
        optional("count", &[Kind::Integer], "Maximum number of characters (default: the rest)."),
    ],
    returns: Kind::Text,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""Größe".sub_string(2, 2)"#, r#""öß""#),
        Example::gives(r#""abc".sub_string(-2)"#, r#""bc""#),
        Example::gives(r#""abc".sub_string(9, 1)"#, r#""""#),
    ],
    run: |_, args| part(args.text("text"), args.integer("from"), args.integer_or("count")).map(Value::from),
};

fn part(text: &str, from: i64, count: Option<i64>) -> Result<&str> {
    let size = |number: i64| usize::try_from(number).unwrap_or(0);
    let skipped = match from {
        ..0 => letters::count(text)?.saturating_sub(size(from.saturating_neg())),
        from => size(from),
    };
    let rest = &text[letters::byte_index(text, skipped)?..];
    match count {
        Some(count) => Ok(&rest[..letters::byte_index(rest, size(count))?]),
        None => Ok(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_part_is_cut_at_characters(text in "\\PC{0,8}", from in -9_i64..9, count in -2_i64..9) {
            let whole: Vec<char> = text.chars().collect();
            let start = if from < 0 { (whole.len() as i64 + from).max(0) } else { from.min(whole.len() as i64) };
            let wanted: String = whole.into_iter().skip(start as usize).take(count.max(0) as usize).collect();
            prop_assert_eq!(part(&text, from, Some(count)), Ok(wanted.as_str()));
        }
    }
}
