//! `wrap`: a text wrapped to a width.

use crate::letters;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, BYTE, ITEM, CheckedIterator};
use crate::primitive_api::*;
use crate::value::{Kind, Value};

/// The declaration.
pub const PRIMITIVE: Primitive = Primitive {
    name: "wrap",
    family: Family::Text,
    summary: "Returns the lines of `text`, wrapped at spaces to at most `width` characters. A longer word is split.",
    params: &[
        required("text", &[Kind::Text], "The text."),
        required("width", &[Kind::Integer], "Maximum number of characters per line, at least 1."),
    ],
    returns: Kind::List,
    effect: Effect::Pure,
    examples: &[
        Example::gives(r#""a pot MUST brew".wrap(8)"#, r#"["a pot", "MUST", "brew"]"#),
        Example::gives(r#""one\n\nextraordinary".wrap(5)"#, r#"["one", "", "extra", "ordin", "ary"]"#),
        Example::fails(r#""a".wrap(0)"#, "at least 1"),
    ],
    run,
};

fn run(_: &Context<'_>, args: Args) -> Result<Value> {
    let width = match usize::try_from(args.integer("width")) {
        Ok(width) if width > 0 => width,
        _ => return Err(Diagnostic::new(Code::ARGUMENTS, "`width` of `wrap` is at least 1")),
    };
    let mut lines = Vec::new();
    for line in args.text("text").lines() {
        guard::spend(ITEM)?;
        wrap_line(line, width, &mut lines)?;
    }
    lines.into_iter().map(Value::from).collect_checked().map(Value::List)
}

fn wrap_line(line: &str, width: usize, lines: &mut Vec<String>) -> Result<()> {
    let mut current = String::new();
    let mut used = 0;
    for word in line.split_whitespace() {
        let length = letters::count(word)?;
        if used > 0 && used + 1 + length > width {
            lines.push(std::mem::take(&mut current));
            used = 0;
        }
        if used > 0 {
            current.push(' ');
            used += 1;
        }
        for character in word.chars() {
            guard::spend(BYTE)?;
            if used == width {
                guard::spend(ITEM)?;
                lines.push(std::mem::take(&mut current));
                used = 0;
            }
            current.push(character);
            used += 1;
        }
    }
    lines.push(current);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn no_line_is_too_long_and_no_letter_is_lost(text in "[a-zäß ]{0,60}", width in 1_usize..20) {
            let mut lines = Vec::new();
            prop_assert_eq!(wrap_line(&text, width, &mut lines), Ok(()));
            prop_assert!(lines.iter().all(|line| line.chars().count() <= width));
            let letters = |text: &str| text.chars().filter(|character| *character != ' ').collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }
    }
}
