//! A text reduced to what a quote is compared by when white space does not count.

use crate::diagnostic::Result;
use crate::guard::{self, BYTE, ITEM};
use std::ops::Range;

/// The reduced text. A run of white space between two letters or digits is kept as its first character;
/// white space next to anything else, and at both ends, is dropped. All other characters are kept.
#[derive(Debug, Default)]
pub(super) struct Letters {
    text: String,
    /// Where something was dropped: the place in the reduced text, and how many bytes were dropped up to it.
    drops: Vec<(usize, usize)>,
}

impl Letters {
    /// Reduces `text`.
    ///
    /// # Errors
    /// The running call was stopped.
    pub(super) fn of(text: &str) -> Result<Self> {
        let mut letters = Self { text: String::with_capacity(text.len()), drops: Vec::new() };
        let mut kept = 0;
        let mut at = 0;
        while let Some(start) = next_blank(text, at)? {
            let rest = text[start..].trim_start();
            let end = text.len() - rest.len();
            let is_between = text[..start].ends_with(char::is_alphanumeric) && rest.starts_with(char::is_alphanumeric);
            let first = text[start..].chars().next().map_or(0, char::len_utf8);
            let cut = if is_between { start + first } else { start };
            if cut < end {
                letters.text.push_str(&text[kept..cut]);
                letters.drops.push((letters.text.len(), end - letters.text.len()));
                kept = end;
            }
            guard::spend(ITEM + end - start)?;
            at = end;
        }
        letters.text.push_str(&text[kept..]);
        Ok(letters)
    }

    /// The reduced text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The bytes of `whole`, which this was reduced from, that the non-empty `range` stands for: whole characters.
    pub(super) fn origin(&self, whole: &str, range: Range<usize>) -> Range<usize> {
        let place = |index: usize| {
            let after = self.drops.partition_point(|(at, _)| *at <= index);
            index + after.checked_sub(1).map_or(0, |drop| self.drops[drop].1)
        };
        let start = whole.floor_char_boundary(place(range.start));
        start..whole.ceil_char_boundary(place(range.end.saturating_sub(1)) + 1)
    }
}

/// The first white space at or after `from`.
fn next_blank(text: &str, from: usize) -> Result<Option<usize>> {
    let bytes = text.as_bytes();
    let mut at = from;
    while at < bytes.len() {
        guard::spend(BYTE)?;
        match bytes[at] {
            b' ' | b'\t'..=b'\r' => return Ok(Some(at)),
            ..0x80 => at += 1,
            _ => {
                let Some(letter) = text[at..].chars().next() else { break };
                if letter.is_whitespace() {
                    return Ok(Some(at));
                }
                at += letter.len_utf8();
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn white_space_counts_only_between_letters() {
        assert_eq!(Letters::of("  brew . A\n\tpot,  (9\t 8) ü\u{a0} x ").unwrap().text, "brew.A\npot,(9\t8)ü\u{a0}x");
        assert_eq!(Letters::of(" \n").unwrap().text, "");
    }

    #[test]
    fn a_range_stands_for_whole_characters() {
        let whole = "( é ) b";
        let letters = Letters::of(whole).unwrap();
        assert_eq!(letters.text, "(é)b");
        assert_eq!(&whole[letters.origin(whole, 1..3)], "é");
        assert_eq!(&whole[letters.origin(whole, 2..4)], "é )");
        assert_eq!(&whole[letters.origin(whole, 0..5)], whole);
    }

    proptest! {
        #[test]
        fn every_character_knows_where_it_came_from(whole in "[ab.é \t\u{a0}]{0,30}") {
            let letters = Letters::of(&whole).unwrap();
            for (at, letter) in letters.text.char_indices() {
                let mut text = [0; 4];
                let origin = letters.origin(&whole, at..at + letter.len_utf8());
                prop_assert_eq!(whole.get(origin), Some(&*letter.encode_utf8(&mut text)));
            }
        }
    }
}
