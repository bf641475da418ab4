//! Named source texts and locations in them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A named text: a definition file, a script, a template, or a file of the workspace.
#[derive(Debug)]
pub struct Source {
    /// The path as a person would type it, relative to the layer or workspace that it came from.
    pub path: String,
    /// The whole text. It is not copied if it is part of the binary.
    pub text: Cow<'static, str>,
    /// The byte offset of each line start, computed on first use. A survey of a script needs thousands of lines.
    starts: OnceLock<Box<[usize]>>,
}

impl PartialEq for Source {
    fn eq(&self, other: &Self) -> bool {
        (&self.path, &self.text) == (&other.path, &other.text)
    }
}

impl Eq for Source {}

impl Source {
    /// Creates a shared source.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Arc<Self> {
        Self::from_text(path, Cow::Owned(text.into()))
    }

    /// Creates a shared source from a text that may be borrowed from the binary.
    pub fn from_text(path: impl Into<String>, text: Cow<'static, str>) -> Arc<Self> {
        Arc::new(Self { path: path.into(), text, starts: OnceLock::new() })
    }

    /// The place of `span` in bytes. Both ends are clamped to the text and moved down to character boundaries.
    pub fn place(self: &Arc<Self>, span: Range<usize>) -> Place {
        //= docs/spec.md#robustness
        //# A parser MUST NOT panic, whatever text it is given.
        let start = floor_boundary(&self.text, span.start);
        let end = floor_boundary(&self.text, span.end).max(start);
        Place { source: Arc::clone(self), span: start..end }
    }

    /// The byte offset of a one-based line and a one-based column, which is counted in characters. A column beyond the
    /// end of the line refers to the end of the line.
    pub fn offset(&self, line: usize, column: usize) -> usize {
        let starts = self.starts.get_or_init(|| {
            let ends = memchr::memchr_iter(b'\n', self.text.as_bytes());
            std::iter::once(0).chain(ends.map(|end| end + 1)).collect()
        });
        let Some(&start) = starts.get(line.saturating_sub(1)) else { return self.text.len() };
        let rest = &self.text[start..];
        let rest = &rest[..rest.find('\n').unwrap_or(rest.len())];
        let within = rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at);
        start + within
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at.min(text.len()))
}

/// A span of bytes in a source.
#[derive(Clone, PartialEq, Eq)]
pub struct Place {
    /// The source.
    pub source: Arc<Source>,
    /// The byte range. Both ends are character boundaries inside the text.
    pub span: Range<usize>,
}

impl Place {
    /// The one-based line and column of the first byte. The column is counted in characters.
    pub fn line_column(&self) -> (usize, usize) {
        let before = &self.source.text[..self.span.start];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (line, before[start..].chars().count() + 1)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_column();
        write!(formatter, "{}:{line}:{column}", self.source.path)
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_and_column_count_characters() {
        let source = Source::new("a.toml", "é = 1\nöä = 2\n");
        let place = source.place(source.offset(2, 3)..source.text.len());
        assert_eq!(place.line_column(), (2, 3));
        assert_eq!(place.to_string(), "a.toml:2:3");
        assert_eq!(&source.text[place.span], " = 2\n");
    }

    //= docs/spec.md#robustness
    //= type=test
    //# A parser MUST NOT panic, whatever text it is given.
    #[test]
    fn a_place_never_leaves_the_text_or_splits_a_character() {
        let source = Source::new("a", "é");
        assert_eq!(source.place(1..99).span, 0..2);
        assert_eq!(source.offset(9, 9), 2);
    }
}
