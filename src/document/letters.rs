//! A text reduced to what a quote is compared by when white space does not count.

use std::ops::Range;

/// The reduced text. A run of white space between two letters or digits is kept as its first character;
/// white space next to anything else, and at both ends, is dropped. All other characters are kept.
#[derive(Debug, Default)]
pub(super) struct Letters {
    text: String,
    /// For every byte of the reduced text, where its character begins in the whole one.
    origins: Vec<u32>,
}

impl Letters {
    /// Reduces `text`; what lies beyond 4 GiB is left out.
    pub(super) fn of(text: &str) -> Self {
        let mut letters = Self { text: String::with_capacity(text.len()), origins: Vec::with_capacity(text.len()) };
        let mut after_letter = false;
        let mut blank = None;
        for (at, letter) in text.char_indices() {
            let Ok(at) = u32::try_from(at) else { break };
            if letter.is_whitespace() {
                blank = blank.or(Some((at, letter)));
                continue;
            }
            let is_letter = letter.is_alphanumeric();
            if let Some((at, blank)) = blank.take().filter(|_| is_letter && after_letter) {
                letters.push(at, blank);
            }
            letters.push(at, letter);
            after_letter = is_letter;
        }
        letters
    }

    fn push(&mut self, at: u32, letter: char) {
        self.text.push(letter);
        self.origins.resize(self.text.len(), at);
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
        let place = |index: usize| self.origins.get(index).map_or(whole.len(), |at| *at as usize);
        let last = place(range.end.saturating_sub(1));
        let width = whole.get(last..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        place(range.start)..last + width
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_counts_only_between_letters() {
        assert_eq!(Letters::of("  brew . A\n\tpot,  (9\t 8) ü x ").text, "brew.A\npot,(9\t8)ü x");
    }

    #[test]
    fn a_range_stands_for_whole_characters() {
        let whole = "( é ) b";
        let letters = Letters::of(whole);
        assert_eq!(letters.text, "(é)b");
        assert_eq!(&whole[letters.origin(whole, 1..3)], "é");
        assert_eq!(&whole[letters.origin(whole, 2..4)], "é )");
        assert_eq!(&whole[letters.origin(whole, 0..5)], whole);
    }
}
