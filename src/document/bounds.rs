//! How deep and how long a Markdown text may be, so that its reader, which cannot be stopped, ends in time.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};

/// How many quotes and lists may lie within each other.
const DEPTH: usize = 100;

/// What a byte takes to be put into blocks, in nanoseconds, where nothing is nested; each level takes that again.
const BLOCKS: u32 = 16;

/// What a byte of a paragraph takes to be read at worst, in nanoseconds.
const PARAGRAPH: u32 = 200;

/// Refuses a text of Markdown that cannot be read in time: quotes and lists nested too deep, a paragraph or a text too
/// long.
///
/// # Errors
/// What is wrong with the text, with its line; or the call was stopped.
pub fn refuse_unbounded(text: &str) -> Result<()> {
    let (mut deepest, mut longest, mut paragraph) = (0, 0, 0);
    for (number, line) in text.split_inclusive('\n').enumerate() {
        guard::spend(ITEM + line.len())?;
        let (depth, is_blank) = prefix(line);
        deepest = deepest.max(depth);
        //= docs/spec.md#primitives
        //# Markdown nested more than 100 levels deep MUST be refused before it is read.
        if depth > DEPTH {
            let message = format!("line {}: quotes and lists are nested more than {DEPTH} levels deep", number + 1);
            return Err(Diagnostic::new(Code("parse.markdown"), message).help("is this Markdown? read it as lines"));
        }
        paragraph = if is_blank { 0 } else { paragraph + line.len() };
        longest = longest.max(paragraph);
    }
    let per_byte = BLOCKS.saturating_mul(1 + u32::try_from(deepest / 4).unwrap_or(u32::MAX));
    guard::require_time("the reader of Markdown", text.len(), per_byte)?;
    guard::require_time("a paragraph of Markdown", longest, PARAGRAPH)
}

/// How many quotes and items of lists the line begins or goes on with, as far as its own marks tell; and whether nothing
/// follows them.
fn prefix(line: &str) -> (usize, bool) {
    let bytes = line.trim_end().as_bytes();
    let (mut at, mut marks, mut blanks) = (0, 0, 0);
    loop {
        let from = at;
        while bytes.get(at).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
            at += 1;
        }
        let indent = at - from;
        let digits = bytes[at..].iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
        let after = |length: usize| bytes.get(at + length).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
        let length = match bytes.get(at) {
            Some(b'>') => 1,
            Some(b'-' | b'+' | b'*') if after(1) => 1,
            Some(b'0'..=b'9') if matches!(bytes.get(at + digits), Some(b'.' | b')')) && after(digits + 1) => digits + 1,
            // Blanks lead on in a list only if an item follows them.
            other => return (if marks == 0 { 0 } else { marks + blanks / 2 }, other.is_none()),
        };
        blanks += indent.saturating_sub(1);
        marks += 1;
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_and_blanks_before_an_item_are_levels() {
        let cases = [("text", 0, false), ("> > a", 2, false), ("- 1. + a", 3, false), (">", 1, true), ("", 0, true)];
        for (line, depth, is_blank) in cases {
            assert_eq!(prefix(line), (depth, is_blank), "{line}");
        }
        assert_eq!(prefix("        code"), (0, false));
        assert_eq!(prefix("-no"), (0, false));
        assert!(prefix(&format!("{}- a", " ".repeat(220))).0 > DEPTH);
    }

    //= docs/spec.md#primitives
    //= type=test
    //# Markdown nested more than 100 levels deep MUST be refused before it is read.
    #[test]
    fn what_is_nested_too_deep_is_refused_with_its_line() {
        for mark in [">", "> ", "- ", "1. ", "* > "] {
            let text = format!("# t\n{}a\n", mark.repeat(101));
            let fault = refuse_unbounded(&text).expect_err(mark);
            assert_eq!(fault.message, "line 2: quotes and lists are nested more than 100 levels deep");
            assert_eq!(refuse_unbounded(&format!("{}a\n", mark.repeat(50))), Ok(()));
        }
    }

    #[test]
    fn what_is_too_long_to_be_stopped_is_refused() {
        assert_eq!(refuse_unbounded(&"a b c\n\n".repeat(100_000)), Ok(()));
        let fault = refuse_unbounded(&"a".repeat(2 << 20)).expect_err("one paragraph");
        assert_eq!(fault.message, "a paragraph of Markdown reads up to 976 kB, got 2048 kB");
        assert!(refuse_unbounded(&"\n".repeat(64 << 20)).is_err());
    }
}
