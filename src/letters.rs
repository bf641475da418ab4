//! Characters of long texts: counted, found, and changed in case, piece by piece, with guard checks in between.

use crate::diagnostic::Result;
use crate::guard::{self, PIECE_BYTES};
use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The worst-case time to prepare a search, in nanoseconds per byte of the text that is searched for.
const PREPARATION_NS_PER_BYTE: u32 = 15;

/// The number of characters of a text.
pub fn count(text: &str) -> Result<usize> {
    guard::pieces(text).map(|piece| Ok(piece?.chars().count())).sum()
}

/// The byte index of the zero-based character `number`, or the length of the text if it has fewer characters.
pub fn byte_index(text: &str, number: usize) -> Result<usize> {
    let (mut before, mut left) = (0, number);
    for piece in guard::pieces(text) {
        let piece = piece?;
        let letters = piece.chars().count();
        if left < letters {
            return Ok(before + piece.char_indices().nth(left).map_or(piece.len(), |(at, _)| at));
        }
        left -= letters;
        before += piece.len();
    }
    Ok(before)
}

/// A text of `length` characters, made by repeating `by`.
pub fn repeat_to_length(by: &str, length: usize) -> Result<String> {
    let mut filled = String::new();
    let mut letters = by.chars().cycle().take(length);
    loop {
        let before = filled.len();
        filled.extend(letters.by_ref().take(PIECE_BYTES / 4));
        if filled.len() == before {
            return Ok(filled);
        }
        guard::spend(filled.len() - before)?;
    }
}

/// The words of the text with one space between them.
pub fn collapse_whitespace(text: &str) -> Result<String> {
    let mut collapsed = String::with_capacity(text.len());
    let mut gap = false;
    for piece in guard::pieces(text) {
        for (place, part) in piece?.split(char::is_whitespace).enumerate() {
            gap |= place > 0;
            if part.is_empty() {
                continue;
            }
            if std::mem::take(&mut gap) && !collapsed.is_empty() {
                collapsed.push(' ');
            }
            collapsed.push_str(part);
        }
    }
    Ok(collapsed)
}

/// The byte index of the first occurrence of `part`.
///
/// # Errors
/// `part` is too long to be searched for; the running call was stopped.
pub fn find(text: &str, part: &str) -> Result<Option<usize>> {
    guard::spend(text.len())?;
    if part.len() > PIECE_BYTES {
        guard::require_time("the text to search for", part.len(), PREPARATION_NS_PER_BYTE)?;
    }
    Ok(memchr::memmem::find(text.as_bytes(), part.as_bytes()))
}

/// The text in upper case.
pub fn to_upper(text: &str) -> Result<String> {
    let mut upper = String::with_capacity(text.len());
    for piece in guard::pieces(text) {
        upper.push_str(&piece?.to_uppercase());
    }
    Ok(upper)
}

/// The text in lower case. The form of a Greek sigma depends on its neighbours, so pieces end at white space if
/// possible.
pub fn to_lower(text: &str) -> Result<String> {
    let mut lower = String::with_capacity(text.len());
    for piece in pieces_before(text, |letter| letter.is_whitespace()) {
        lower.push_str(&piece?.to_lowercase());
    }
    Ok(lower)
}

/// Pieces of the text that can be normalized separately (UAX 15). Each piece but the first begins with a character that
/// does not combine with the previous one, if there is one nearby; sequences of thousands of marks are split.
pub fn pieces_at_starters(text: &str) -> impl Iterator<Item = Result<&str>> {
    // What counts is the first character of the decomposition, and whether it can compose with a character before it.
    let starts = |letter: char| {
        std::iter::once(letter).nfkd().next().is_none_or(|first| {
            canonical_combining_class(first) == 0 && is_nfc_quick(std::iter::once(first)) == IsNormalized::Yes
        })
    };
    pieces_before(text, starts)
}

/// Pieces of about [`PIECE_BYTES`] bytes. Each piece but the first begins with a character that `begins` accepts, if
/// there is one within another [`PIECE_BYTES`].
fn pieces_before(text: &str, begins: impl Fn(char) -> bool) -> impl Iterator<Item = Result<&str>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let least = rest.ceil_char_boundary(PIECE_BYTES.min(rest.len()));
        let most = rest.ceil_char_boundary((2 * PIECE_BYTES).min(rest.len()));
        let end = rest[least..most].find(&begins).map_or(most, |at| least + at);
        let (piece, after) = rest.split_at(end);
        rest = after;
        Some(guard::spend(piece.len()).map(|()| piece))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Texts longer than a piece, with sequences that must not be split near the split position.
    fn long() -> impl Iterator<Item = String> {
        let parts = [
            "e\u{301}\u{316}",
            "ΑΣ ",
            "\u{ff76}\u{ff9e}",
            "\u{314e}\u{314f}\u{3134}",
            "\u{1112}\u{1161}\u{11ab}",
            "ﬁ\u{fdfa}",
            "\u{9c7}\u{9be}",
            "aß ",
            "\u{1F468}\u{200d}",
        ];
        parts.into_iter().flat_map(|part| {
            [0, 1, 5]
                .into_iter()
                .map(move |shift| format!("{}{}", "x".repeat(shift), part.repeat(3 * PIECE_BYTES / part.len())))
        })
    }

    #[test]
    fn pieces_make_the_same_as_the_whole() {
        for text in long() {
            assert!(to_lower(&text).unwrap() == text.to_lowercase());
            assert!(to_upper(&text).unwrap() == text.to_uppercase());
            assert_eq!(count(&text).unwrap(), text.chars().count());
            assert!(collapse_whitespace(&text).unwrap() == text.split_whitespace().collect::<Vec<_>>().join(" "));
            let pieces: Vec<&str> = pieces_at_starters(&text).map(Result::unwrap).collect();
            assert!(pieces.len() > 1);
            assert!(pieces.iter().flat_map(|piece| piece.nfc()).eq(text.nfc()));
            assert!(pieces.iter().flat_map(|piece| piece.nfkd()).eq(text.nfkd()));
            assert!(pieces.iter().flat_map(|piece| piece.nfkc()).eq(text.nfkc()));
        }
    }

    #[test]
    fn a_character_is_found_by_its_number() {
        let text = "aé".repeat(PIECE_BYTES);
        for number in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, 2 * PIECE_BYTES - 1, 2 * PIECE_BYTES, usize::MAX] {
            let expected = text.char_indices().nth(number).map_or(text.len(), |(at, _)| at);
            assert_eq!(byte_index(&text, number).unwrap(), expected);
        }
        assert_eq!(repeat_to_length("ab", 5).unwrap(), "ababa");
        assert_eq!(repeat_to_length("é", 3 * PIECE_BYTES).unwrap().chars().count(), 3 * PIECE_BYTES);
    }
}
