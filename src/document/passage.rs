//! A text joined from lines, which remembers where it came from, and quotes found in it.

mod edit;

use super::letters::Letters;
use super::{Lines, Spans};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::value::{Json, Kind, Object, Text, Value, no_field};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// Lines that are not blank, trimmed, joined by one blank.
#[derive(Debug)]
pub struct Passage {
    text: Text,
    pieces: Vec<Piece>,
    letters: OnceLock<Letters>,
}

/// A line's part of a passage: from `at` up to the blank before the next piece.
#[derive(Debug)]
struct Piece {
    at: usize,
    line: usize,
}

/// How a quote may differ from the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Not at all.
    Exact,
    /// In white space: a run of it between two letters or digits is its first character, next to
    /// anything else it does not count.
    Letters,
    /// As `Letters`, and by one byte inserted, left out or put for another.
    OneEdit,
}

impl Way {
    /// All of them, strictest first.
    pub const ALL: [Self; 3] = [Self::Exact, Self::Letters, Self::OneEdit];

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Letters => "letters",
            Self::OneEdit => "one_edit",
        }
    }
}

/// A quote found in a passage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// What it covers.
    pub spans: Spans,
    /// The way that found it.
    pub how: Way,
    /// The numbers of its first and last line in the document; nothing in a text that has none.
    pub lines: Option<(usize, usize)>,
}

impl Passage {
    /// A text that is no part of a document.
    pub fn of_text(text: impl Into<Text>) -> Self {
        Self { text: text.into(), pieces: Vec::new(), letters: OnceLock::new() }
    }

    pub(super) fn of_lines(lines: &Lines) -> Self {
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
            pieces.push(Piece { at: text.len(), line: line.number });
            text.push_str(content);
        }
        Self { text: text.into(), pieces, letters: OnceLock::new() }
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of the document's line that the byte at `offset` came from.
    pub fn line_at(&self, offset: usize) -> Option<usize> {
        let after = self.pieces.partition_point(|piece| piece.at <= offset);
        Some(self.pieces.get(after.checked_sub(1)?)?.line)
    }

    /// The first place of `quote`, by the first of `ways` that finds one. A quote without ink is nowhere; the
    /// lines of a longer one are joined as those of a passage are, unless it stands there as it is.
    ///
    /// For `OneEdit` the longest of the places that begin first counts. Time is linear in the passage and the
    /// quote; the passage's letters are kept.
    pub fn locate(&self, quote: &str, ways: &[Way]) -> Result<Option<Found>> {
        if quote.trim().is_empty() {
            return Ok(None);
        }
        let joined;
        let quote = if quote.contains('\n') && memchr::memmem::find(self.text.as_bytes(), quote.as_bytes()).is_none() {
            joined = quote.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
            &joined
        } else {
            quote
        };
        for &how in ways {
            if let Some(range) = self.range_of(quote, how)? {
                let lines = self.line_at(range.start).zip(self.line_at(range.end.saturating_sub(1)));
                return Ok(Some(Found { spans: Spans::new([range]), how, lines }));
            }
        }
        Ok(None)
    }

    fn range_of(&self, quote: &str, how: Way) -> Result<Option<Range<usize>>> {
        guard::spend(quote.len())?;
        if how == Way::Exact {
            let start = memchr::memmem::find(self.text.as_bytes(), quote.as_bytes());
            return Ok(start.map(|start| start..start + quote.len()));
        }
        let (needle, hay) = (Letters::of(quote)?, self.letters()?);
        let found = match (memchr::memmem::find(hay.bytes(), needle.bytes()), how) {
            (Some(start), _) => Some(start..start + needle.bytes().len()),
            (None, Way::OneEdit) => edit::locate(hay.bytes(), needle.bytes())?,
            (None, _) => None,
        };
        Ok(found.map(|found| hay.origin(&self.text, found)))
    }

    fn letters(&self) -> Result<&Letters> {
        match self.letters.get() {
            Some(known) => Ok(known),
            None => Letters::of(&self.text).map(|letters| self.letters.get_or_init(|| letters)),
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

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::super::Document;
    use super::*;
    use proptest::prelude::*;

    fn found(text: &str, quote: &str) -> Option<(&'static str, String)> {
        let passage = Passage::of_text(text);
        let found = passage.locate(quote, &Way::ALL).unwrap()?;
        let range = found.spans.ranges().first().cloned().unwrap_or_default();
        Some((found.how.name(), text[range].to_owned()))
    }

    #[test]
    fn a_quote_is_found_exactly_then_by_letters_then_with_one_edit() {
        let text = "A pot (or a can) MUST brew . A lid, too; a pot MUST boil.";
        assert_eq!(found(text, "MUST"), Some(("exact", "MUST".into())));
        assert_eq!(found(text, "A\tpot (or a\tcan)"), None);
        assert_eq!(found(text, "( or a can ) MUST brew.A"), Some(("letters", "(or a can) MUST brew . A".into())));
        assert_eq!(found(text, "A lid, too. a pot"), Some(("one_edit", "A lid, too; a pot".into())));
        assert_eq!(found(text, "a pot MUSTS boil"), Some(("one_edit", "a pot MUST boil".into())));
        assert_eq!(found(text, "a po MUST boil"), Some(("one_edit", "a pot MUST boil".into())));
        assert_eq!(found(text, "a pan MUST brew"), None);
        assert_eq!(found(text, " \n"), None);
    }

    #[test]
    fn a_place_knows_its_lines() {
        let passage = Document::new("a.txt", "one\n\n  two three \nfour\n").lines(1, 4).joined();
        assert_eq!(passage.text(), "one two three four");
        let found = passage.locate(" three\n\n four", &[Way::Exact]).unwrap();
        assert_eq!(found.and_then(|found| found.lines), Some((3, 4)));
    }

    proptest! {
        #[test]
        fn places_are_valid_whatever_the_texts(text in "\\PC{0,40}|[ab .é\t]{0,40}", quote in "\\PC{0,9}|[ab .é\t]{0,9}") {
            let passage = Passage::of_text(text.as_str());
            for way in Way::ALL {
                if let Some(found) = passage.locate(&quote, &[way]).unwrap() {
                    for range in found.spans.ranges() {
                        prop_assert!(text.get(range.clone()).is_some_and(|part| !part.is_empty()));
                    }
                }
            }
        }
    }
}
