//! Passages: texts joined from lines that record which line each byte came from; and the search for quotes in them,
//! which may differ in white space or by one edit.

use super::lines::Lines;
use super::spans::Spans;
use crate::diagnostic::Result;
use crate::guard::{self, BYTE, CheckedIterator, ITEM};
use crate::value::{Json, Kind, Object, Text, Value, no_field};
use memchr::memmem;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// The non-blank lines, trimmed and joined by single spaces.
#[derive(Debug)]
pub struct Passage {
    text: Text,
    pieces: Vec<LinePiece>,
    letters: OnceLock<CompactText>,
}

/// The part of a passage that comes from one line. It begins at `at` and ends before the space in front of the next
/// piece.
#[derive(Debug)]
struct LinePiece {
    at: usize,
    line: usize,
}

/// How much a quote may differ from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuoteTolerance {
    /// Not at all.
    Exact,
    /// In white space: between two letters or digits, a run of white space counts as its first character; elsewhere it
    /// is ignored.
    Letters,
    /// As `Letters`, and also by one inserted, removed or replaced byte.
    OneEdit,
}

impl QuoteTolerance {
    /// All of them, from the strictest to the loosest.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Letters, Self::OneEdit];

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Letters => "ignore_whitespace",
            Self::OneEdit => "one_edit",
        }
    }
}

/// A quote found in a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LocatedQuote {
    /// The spans that it covers.
    pub spans: Spans,
    /// The tolerance with which it was found.
    pub tolerance: QuoteTolerance,
    /// The numbers of its first and last line in the document; `None` for a text without lines.
    pub lines: Option<(usize, usize)>,
}

impl Passage {
    /// A passage that is not part of a document.
    pub fn from_text(text: impl Into<Text>) -> Self {
        Self { text: text.into(), pieces: Vec::new(), letters: OnceLock::new() }
    }

    /// The non-blank lines, trimmed and joined by single spaces, with their origins.
    pub fn from_lines(lines: &Lines) -> Self {
        let mut text = String::with_capacity(lines.lines().iter().map(|line| line.span.len() + 1).sum());
        let mut pieces = Vec::with_capacity(lines.lines().len());
        for (line, content) in lines.lines().iter().zip(lines.texts()) {
            if guard::is_over(ITEM + content.len()) {
                break;
            }
            let content = content.trim();
            if content.is_empty() {
                continue;
            }
            if !text.is_empty() {
                text.push(' ');
            }
            pieces.push(LinePiece { at: text.len(), line: line.number });
            text.push_str(content);
        }
        Self { text: text.into(), pieces, letters: OnceLock::new() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of the document's line from which the byte at `offset` came.
    pub fn line_at(&self, offset: usize) -> Option<usize> {
        let after = self.pieces.partition_point(|piece| piece.at <= offset);
        Some(self.pieces.get(after.checked_sub(1)?)?.line)
    }

    /// The first occurrence of `quote`, using the first of `tolerances` that finds one. A blank quote is never found.
    /// The lines of a quote are joined like those of a passage, unless the quote occurs unchanged.
    ///
    /// With `OneEdit`, the longest of the occurrences that begin first is returned. Time is linear in the passage and
    /// the quote. The compacted passage is cached.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn find_quote(&self, quote: &str, tolerances: &[QuoteTolerance]) -> Result<Option<LocatedQuote>> {
        if quote.trim().is_empty() {
            return Ok(None);
        }
        let joined;
        let quote = if quote.contains('\n') && memmem::find(self.text.as_bytes(), quote.as_bytes()).is_none() {
            joined = quote.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            &joined
        } else {
            quote
        };
        for &tolerance in tolerances {
            if let Some(range) = self.range_of(quote, tolerance)? {
                let lines = self.line_at(range.start).zip(self.line_at(range.end.saturating_sub(1)));
                return Ok(Some(LocatedQuote { spans: Spans::new([range]), tolerance, lines }));
            }
        }
        Ok(None)
    }

    fn range_of(&self, quote: &str, tolerance: QuoteTolerance) -> Result<Option<Range<usize>>> {
        guard::spend(quote.len())?;
        if tolerance == QuoteTolerance::Exact {
            let start = memmem::find(self.text.as_bytes(), quote.as_bytes());
            return Ok(start.map(|start| start..start + quote.len()));
        }
        let (needle, hay) = (CompactText::from_text(quote)?, self.letters()?);
        let found = match (memmem::find(hay.bytes(), needle.bytes()), tolerance) {
            (Some(start), _) => Some(start..start + needle.bytes().len()),
            (None, QuoteTolerance::OneEdit) => locate_with_one_edit(hay.bytes(), needle.bytes())?,
            (None, _) => None,
        };
        Ok(found.map(|found| hay.origin(&self.text, found)))
    }

    fn letters(&self) -> Result<&CompactText> {
        match self.letters.get() {
            Some(known) => Ok(known),
            None => CompactText::from_text(&self.text).map(|letters| self.letters.get_or_init(|| letters)),
        }
    }
}

impl Object for Passage {
    fn kind(&self) -> Kind {
        Kind::Passage
    }

    /// `text`.
    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "text" => Ok(Value::Text(Arc::clone(&self.text))),
            _ => Err(no_field(Kind::Passage, name, &["text"])),
        }
    }

    /// Its text.
    fn to_json(&self) -> Json {
        Json::from(&*self.text)
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.text == other.text)
    }
}

/// If one half occurs more often than this, the whole text is searched.
const MAX_OCCURRENCES: usize = 32;

/// The units of work per byte of the text.
const BYTE_COST: usize = 4;

/// The first part of `hay` that becomes `needle` by one inserted, removed or replaced byte, and the longest of those
/// that begin there. Neither is empty.
///
/// One edit leaves one half of the needle unchanged, so only the surroundings of each half are searched.
///
/// # Errors
/// The running call was stopped.
fn locate_with_one_edit(hay: &[u8], needle: &[u8]) -> Result<Option<Range<usize>>> {
    let windows = windows_around_halves(hay, needle).unwrap_or_else(|| std::iter::once(0..hay.len()).collect());
    for window in windows {
        if let Some(part) = locate_at_any_place(&hay[window.clone()], needle)? {
            return Ok(Some(window.start + part.start..window.start + part.end));
        }
    }
    Ok(None)
}

/// The parts of `hay` that contain every occurrence, in order and disjoint; `None` if there would be too many.
fn windows_around_halves(hay: &[u8], needle: &[u8]) -> Option<Vec<Range<usize>>> {
    let (size, half) = (needle.len(), needle.len() / 2);
    let mut windows = Vec::new();
    for (part, before) in [(&needle[..half], 0), (&needle[half..], half + 1)] {
        let finder = memmem::Finder::new(part);
        let mut from = 0;
        while let Some(found) = hay.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + found;
            let start = at.saturating_sub(before);
            windows.push(start..(at + size + 1).min(hay.len()));
            if windows.len() > MAX_OCCURRENCES {
                return None;
            }
            from = at + 1;
        }
    }
    windows.sort_by_key(|window| window.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(windows.len());
    for window in windows {
        match apart.last_mut().filter(|last| window.start <= last.end) {
            Some(last) => last.end = last.end.max(window.end),
            None => apart.push(window),
        }
    }
    Some(apart)
}

/// Like [`locate_with_one_edit`], but tries every start. A part matches if its common prefix and its common suffix with
/// the needle leave at most one byte of either.
fn locate_at_any_place(hay: &[u8], needle: &[u8]) -> Result<Option<Range<usize>>> {
    let heads = shared(hay.iter(), needle.iter(), hay.len())?;
    let tails = shared(hay.iter().rev(), needle.iter().rev(), hay.len())?;
    let size = needle.len();
    let fits = |start: usize, length: usize, least: usize| {
        let end = start + length;
        length > 0 && end <= hay.len() && heads[start] + tails[hay.len() - end] >= least
    };
    let tolerances =
        [(size + 1, size), (size, size.saturating_sub(1)), (size.saturating_sub(1), size.saturating_sub(1))];
    for start in 0..hay.len() {
        guard::spend(BYTE_COST)?;
        if let Some((length, _)) = tolerances.into_iter().find(|(length, least)| fits(start, *length, *least)) {
            return Ok(Some(start..start + length));
        }
    }
    Ok(None)
}

/// For every position of `hay`, including its end, the length of the common prefix of the needle and the rest of `hay`
/// (Z algorithm).
fn shared<'a>(
    hay: impl Iterator<Item = &'a u8>,
    needle: impl Iterator<Item = &'a u8>,
    length: usize,
) -> Result<Vec<usize>> {
    let mut text: Vec<u8> = needle.copied().collect_checked()?;
    let size = text.len();
    guard::reserve_memory((length + size).saturating_mul(size_of::<usize>()))?;
    text.append(&mut hay.copied().collect_checked()?);
    let mut shares = vec![0; text.len() + 1];
    let (mut left, mut right) = (0, 0);
    for at in 1..text.len() {
        guard::spend(BYTE_COST)?;
        let mut share = if at < right { shares[at - left].min(right - at) } else { 0 };
        while at + share < text.len() && text[at + share] == text[share] {
            share += 1;
        }
        if at + share > right {
            (left, right) = (at, at + share);
        }
        shares[at] = share;
    }
    shares.drain(..size);
    shares.iter_mut().for_each(|share| *share = (*share).min(size));
    debug_assert_eq!(shares.len(), length + 1, "one for every position and one for the end");
    Ok(shares)
}

/// A text without insignificant white space. A run between two letters or digits is reduced to its first character.
/// White space next to any other character, and at both ends, is dropped. All other characters are kept.
#[derive(Debug, Default)]
pub(super) struct CompactText {
    text: String,
    /// Where white space was dropped: the position in the compact text, and the total number of bytes dropped so far.
    drops: Vec<(usize, usize)>,
}

impl CompactText {
    /// Compacts `text`.
    ///
    /// # Errors
    /// The running call was stopped.
    pub(super) fn from_text(text: &str) -> Result<Self> {
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

    /// The compact text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Its bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.text.as_bytes()
    }

    /// The bytes of `whole`, the original text, that correspond to the non-empty `range`, extended to whole characters.
    pub(super) fn origin(&self, whole: &str, range: Range<usize>) -> Range<usize> {
        let place = |index: usize| {
            let after = self.drops.partition_point(|(at, _)| *at <= index);
            index + after.checked_sub(1).map_or(0, |drop| self.drops[drop].1)
        };
        let start = whole.floor_char_boundary(place(range.start));
        start..whole.ceil_char_boundary(place(range.end.saturating_sub(1)) + 1)
    }
}

/// The byte index of the first white space at or after `from`.
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
    use crate::document::Document;
    use proptest::prelude::*;

    fn found(text: &str, quote: &str) -> Option<(&'static str, String)> {
        let passage = Passage::from_text(text);
        let found = passage.find_quote(quote, &QuoteTolerance::ALL).unwrap()?;
        let range = found.spans.ranges().first().cloned().unwrap_or_default();
        Some((found.tolerance.name(), text[range].to_owned()))
    }

    #[test]
    fn a_quote_is_found_exactly_then_by_letters_then_with_one_edit() {
        let text = "A pot (or a can) MUST brew . A lid, too; a pot MUST boil.";
        assert_eq!(found(text, "MUST"), Some(("exact", "MUST".into())));
        assert_eq!(found(text, "A\tpot (or a\tcan)"), None);
        assert_eq!(
            found(text, "( or a can ) MUST brew.A"),
            Some(("ignore_whitespace", "(or a can) MUST brew . A".into()))
        );
        assert_eq!(found(text, "A lid, too. a pot"), Some(("one_edit", "A lid, too; a pot".into())));
        assert_eq!(found(text, "a pot MUSTS boil"), Some(("one_edit", "a pot MUST boil".into())));
        assert_eq!(found(text, "a po MUST boil"), Some(("one_edit", "a pot MUST boil".into())));
        assert_eq!(found(text, "a pan MUST brew"), None);
        assert_eq!(found(text, " \n"), None);
    }

    #[test]
    fn a_place_knows_its_lines() {
        let passage = Passage::from_lines(&Document::new("a.txt", "one\n\n  two three \nfour\n").lines(1, 4));
        assert_eq!(passage.text(), "one two three four");
        let found = passage.find_quote(" three\n\n four", &[QuoteTolerance::Exact]).unwrap();
        assert_eq!(found.and_then(|found| found.lines), Some((3, 4)));
    }

    proptest! {
        #[test]
        fn places_are_valid_whatever_the_texts(text in "\\PC{0,40}|[ab .é\t]{0,40}", quote in "\\PC{0,9}|[ab .é\t]{0,9}") {
            let passage = Passage::from_text(text.as_str());
            for way in QuoteTolerance::ALL {
                if let Some(found) = passage.find_quote(&quote, &[way]).unwrap() {
                    for range in found.spans.ranges() {
                        prop_assert!(text.get(range.clone()).is_some_and(|part| !part.is_empty()));
                    }
                }
            }
        }
    }

    fn slow(hay: &[u8], needle: &[u8]) -> Option<Range<usize>> {
        let size = needle.len();
        let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        (0..hay.len()).find_map(|start| {
            let lengths = [size + 1, size, size.saturating_sub(1)].into_iter().filter(|length| *length > 0);
            lengths.map(|length| start..start + length).find(|range| {
                hay.get(range.clone()).is_some_and(|part| strsim::levenshtein(&text(part), &text(needle)) <= 1)
            })
        })
    }

    proptest! {
        #[test]
        fn it_finds_what_a_full_comparison_finds(hay in "[abc]{0,30}", needle in "[abc]{1,8}") {
            let (hay, needle) = (hay.as_bytes(), needle.as_bytes());
            prop_assume!(memmem::find(hay, needle).is_none());
            prop_assert_eq!(locate_with_one_edit(hay, needle), Ok(slow(hay, needle)));
        }
    }

    #[test]
    fn white_space_counts_only_between_letters() {
        assert_eq!(
            CompactText::from_text("  brew . A\n\tpot,  (9\t 8) ü\u{a0} x ").unwrap().text,
            "brew.A\npot,(9\t8)ü\u{a0}x"
        );
        assert_eq!(CompactText::from_text(" \n").unwrap().text, "");
    }

    #[test]
    fn a_range_stands_for_whole_characters() {
        let whole = "( é ) b";
        let letters = CompactText::from_text(whole).unwrap();
        assert_eq!(letters.text, "(é)b");
        assert_eq!(&whole[letters.origin(whole, 1..3)], "é");
        assert_eq!(&whole[letters.origin(whole, 2..4)], "é )");
        assert_eq!(&whole[letters.origin(whole, 0..5)], whole);
    }

    proptest! {
        #[test]
        fn every_character_knows_where_it_came_from(whole in "[ab.é \t\u{a0}]{0,30}") {
            let letters = CompactText::from_text(&whole).unwrap();
            for (at, letter) in letters.text.char_indices() {
                let mut text = [0; 4];
                let origin = letters.origin(&whole, at..at + letter.len_utf8());
                prop_assert_eq!(whole.get(origin), Some(&*letter.encode_utf8(&mut text)));
            }
        }
    }
}
