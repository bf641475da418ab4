//! Blocks of consecutive lines that begin with a marker, in any text.

use super::lines::Document;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, checked};
use memchr::memmem;
use std::ops::Range;

/// A run of consecutive lines that each begin with a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerBlock<'a> {
    /// Its lines, in order; at least one.
    pub parts: Vec<MarkedLine<'a>>,
}

/// One line of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedLine<'a> {
    /// The marker, as an index into the list of markers.
    pub marker: usize,
    /// What follows the marker, trimmed.
    pub text: &'a str,
    /// The line from its marker on, without the line end.
    pub raw: &'a str,
    /// Its one-based number.
    pub line: usize,
}

impl MarkerBlock<'_> {
    /// The number of its first line.
    pub fn line(&self) -> usize {
        self.parts.first().map_or(0, |part| part.line)
    }

    /// The number of its last line.
    pub fn end_line(&self) -> usize {
        self.parts.last().map_or(0, |part| part.line)
    }

    /// Its lines, each from its marker on, joined by line feeds.
    pub fn raw(&self) -> String {
        self.parts.iter().map(|part| part.raw).collect::<Vec<_>>().join("\n")
    }
}

/// The marker blocks of `document`.
///
/// A line belongs to a block if it starts with a marker after optional white space; the longest matching marker is
/// used. Any other line ends the block. A line with one of the `leads` (indexes of markers) begins a new block if the
/// current block already has a line with text and a marker that is not in `leads`.
///
/// The language is not known: a marker in a string counts, but one after code does not. An empty marker, or one that
/// begins with white space, is an error.
pub fn marker_blocks<'a>(document: &'a Document, markers: &[String], leads: &[usize]) -> Result<Vec<MarkerBlock<'a>>> {
    if let Some(bad) = markers.iter().find(|marker| !marker.starts_with(|letter: char| !letter.is_whitespace())) {
        let message = format!("the marker `{bad}` is empty or begins with white space");
        return Err(
            Diagnostic::new(Code::ARGUMENTS, message).help("remove the white space: it is ignored before a marker")
        );
    }
    let text = document.text();
    let mut blocks: Vec<MarkerBlock<'a>> = Vec::new();
    let mut number = LineCounter { text, at: 0, line: 1 };
    let mut filled = false;
    for start in starts(text, markers)? {
        guard::spend(ITEM + markers.len())?;
        let Some(part) = part(text, markers, start, &mut number) else { continue };
        let lead = leads.contains(&part.marker);
        let joins = blocks.last().is_some_and(|block| block.end_line() + 1 == part.line) && !(lead && filled);
        filled = (joins && filled) || (!lead && !part.text.is_empty());
        match blocks.last_mut().filter(|_| joins) {
            Some(block) => block.parts.push(part),
            None => blocks.push(MarkerBlock { parts: vec![part] }),
        }
    }
    Ok(blocks)
}

fn part<'a>(text: &'a str, markers: &[String], start: usize, number: &mut LineCounter<'_>) -> Option<MarkedLine<'a>> {
    let rest = &text[start..];
    let raw = &rest[..memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())];
    let raw = raw.strip_suffix('\r').unwrap_or(raw);
    let fits = markers.iter().enumerate().filter(|(_, marker)| raw.starts_with(marker.as_str()));
    let (marker, word) = fits.max_by_key(|(index, marker)| (marker.len(), std::cmp::Reverse(*index)))?;
    Some(MarkedLine { marker, text: raw[word.len()..].trim(), raw, line: number.line(start) })
}

/// The positions, in ascending order, of all markers that only white space precedes on their line.
fn starts(text: &str, markers: &[String]) -> Result<Vec<usize>> {
    let mut starts = Vec::new();
    for marker in markers {
        guard::spend(text.len())?;
        let finder = memmem::Finder::new(marker.as_bytes());
        for at in checked(finder.find_iter(text.as_bytes())) {
            let at = at?;
            if is_first(text, at) {
                starts.push(at);
            }
        }
    }
    starts.sort_unstable();
    starts.dedup();
    Ok(starts)
}

fn is_first(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches(|letter: char| letter != '\n' && letter.is_whitespace());
    before.is_empty() || before.ends_with('\n')
}

/// Converts bytes to line numbers. It must be queried in ascending order.
struct LineCounter<'a> {
    text: &'a str,
    at: usize,
    line: usize,
}

impl LineCounter<'_> {
    fn line(&mut self, at: usize) -> usize {
        let between: Range<usize> = self.at..at;
        self.line += memchr::memchr_iter(b'\n', &self.text.as_bytes()[between]).count();
        self.at = at;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Vec<(usize, String, usize)>> {
        let document = Document::new("a.rs", text);
        let markers = ["//=".to_owned(), "//#".to_owned()];
        let blocks = marker_blocks(&document, &markers, &[0]).unwrap_or_default();
        let part = |part: &MarkedLine<'_>| (part.marker, part.text.to_owned(), part.line);
        blocks.iter().map(|block| block.parts.iter().map(part).collect()).collect()
    }

    #[test]
    fn a_run_of_marked_lines_is_a_block() {
        let meta = |text: &str, line| (0, text.to_owned(), line);
        let content = |text: &str, line| (1, text.to_owned(), line);
        assert_eq!(
            read("x //= no\r\n \t//= a \r\n//=b\r\n//#\r\n//# c\r\n\r\n//# d"),
            [vec![meta("a", 2), meta("b", 3), content("", 4), content("c", 5)], vec![content("d", 7)]]
        );
        assert_eq!(read("//= a\n//# b\n//= c"), [vec![meta("a", 1), content("b", 2)], vec![meta("c", 3)]]);
        assert_eq!(read("//= a\n//#\n//= c"), [vec![meta("a", 1), content("", 2), meta("c", 3)]]);
        assert_eq!(read("\u{a0}//= a\n\u{c}//# b"), [vec![meta("a", 1), content("b", 2)]]);
        assert_eq!(read("//= a //= b //#\n//\n//# c"), [vec![meta("a //= b //#", 1)], vec![content("c", 3)]]);
    }

    #[test]
    fn the_longest_marker_counts() {
        let document = Document::new("a", "##=x\n#y\n##%z");
        let markers = ["#", "##=", "##%", "##"].map(str::to_owned);
        let blocks = marker_blocks(&document, &markers, &[]).unwrap_or_default();
        let parts: Vec<(usize, &str)> = blocks[0].parts.iter().map(|part| (part.marker, part.text)).collect();
        assert_eq!(parts, [(1, "x"), (0, "y"), (2, "z")]);
        assert_eq!(blocks[0].raw(), "##=x\n#y\n##%z");
        assert!(marker_blocks(&document, &[" #".to_owned()], &[]).is_err());
        assert!(marker_blocks(&document, &[String::new()], &[]).is_err());
    }

    proptest! {
        #[test]
        fn it_finds_what_a_loop_over_all_lines_finds(text in "(//=|//#|/|#| |\u{a0}|\n|\r\n|é|a){0,40}") {
            let found: Vec<(usize, String, usize)> = read(&text).into_iter().flatten().collect();
            let expected: Vec<(usize, String, usize)> = text.lines().enumerate().filter_map(|(index, line)| {
                let line = line.trim_start();
                let marker = ["//=", "//#"].iter().position(|marker| line.starts_with(marker))?;
                Some((marker, line[3..].trim().to_owned(), index + 1))
            }).collect();
            prop_assert_eq!(found, expected);
        }
    }
}
