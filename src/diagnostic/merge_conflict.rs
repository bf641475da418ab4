//! The marks that git leaves in a file in which a merge has a conflict: one error in place of a syntax error for each mark.

use super::{Code, Diagnostic};
use crate::source::Source;
use std::sync::Arc;

/// The error of a text with unresolved conflicts, at the first one; `code` is what the language calls a syntax error.
pub fn find_merge_conflict(source: &Arc<Source>, code: Code) -> Option<Diagnostic> {
    let mut conflicts: Vec<String> = Vec::new();
    let (mut first, mut open, mut offset) = (0..0, None, 0);
    for (number, line) in (1..).zip(source.text.split_inclusive('\n')) {
        let span = offset..offset + line.trim_end().len();
        offset += line.len();
        match (open.take(), line.get(..7)) {
            (_, Some("<<<<<<<")) => {
                first = if conflicts.is_empty() { span } else { first };
                open = Some((number, None));
            }
            (Some((start, None)), Some("=======")) => open = Some((start, Some(number))),
            (Some((start, Some(middle))), Some(">>>>>>>")) => {
                conflicts.push(format!("between lines {start}, {middle} and {number}"));
            }
            (before, _) => open = before,
        }
    }
    let message = format!("the file has an unresolved merge conflict {}", conflicts.first()?);
    let more = if conflicts.len() > 1 { format!("; also {}", conflicts[1..].join(", ")) } else { String::new() };
    let help = format!("keep what is right, and delete the lines `<<<<<<<`, `=======` and `>>>>>>>`{more}");
    Some(*Diagnostic::new(code, message).at(source.place(first)).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_all_three_marks_in_their_order_are_a_conflict() {
        let found = |text: &str| find_merge_conflict(&Source::new("a", text), Code("x"));
        let conflict = "<<<<<<< HEAD\n1\n=======\n2\n>>>>>>> b\n";
        let one = found(&format!("a\r\n{conflict}")).unwrap();
        assert!(one.message.ends_with("between lines 2, 4 and 6"), "{one}");
        assert_eq!(one.at.unwrap().span, 3..15);
        assert!(found(&conflict.repeat(2)).unwrap().help.unwrap().ends_with("also between lines 6, 8 and 10"));
        for text in ["", "Title\n=======\n", "<<<<<<< a\n", "=======\n<<<<<<< a\n>>>>>>> b\n"] {
            assert!(found(text).is_none(), "{text}");
        }
    }
}
