//! The input of a reader: a text, or a document whose path appears in errors.

use crate::diagnostic::{Code, Diagnostic};
use crate::document::Document;
use crate::source::Source;
use crate::value::{Kind, Value};
use crate::world::BYTE_ORDER_MARK;
use std::sync::Arc;

/// The kinds of values that a reader accepts.
pub const TEXT_KINDS: &[Kind] = &[Kind::Text, Kind::Document];

/// The name of a text that has no path.
const NAMELESS: &str = "text";

/// A text to read. A byte order mark at its beginning is not part of it.
#[derive(Clone, Copy)]
pub struct ParserInput<'a> {
    text: &'a str,
    /// The length of the byte order mark in bytes.
    mark: usize,
    document: Option<&'a Document>,
}

impl<'a> ParserInput<'a> {
    /// The text of a value of one of the [`TEXT_KINDS`].
    pub fn from_value(value: &'a Value) -> Self {
        let document = value.as_object::<Document>();
        let whole = document.map_or_else(|| value.as_text().unwrap_or_default(), Document::text);
        let text = whole.strip_prefix(BYTE_ORDER_MARK).unwrap_or(whole);
        Self { text, mark: whole.len() - text.len(), document }
    }

    /// The text to read.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The document; created here if the value is a plain text.
    pub fn document(&self) -> Document {
        self.document.cloned().unwrap_or_else(|| Document::from_source(self.source()))
    }

    fn source(&self) -> Arc<Source> {
        match self.document {
            Some(document) => Arc::clone(document.source()),
            None => Source::new(NAMELESS, format!("{}{}", &BYTE_ORDER_MARK[..self.mark], self.text)),
        }
    }

    /// Creates an error at byte `at` of the text.
    pub fn error(&self, code: Code, at: usize, message: impl Into<String>) -> Box<Diagnostic> {
        let at = at.saturating_add(self.mark);
        Diagnostic::new(code, message).at(self.source().place(at..at))
    }

    /// The byte at which the one-based `line` begins, or the end of the text if it has fewer lines.
    pub fn line_start(&self, line: usize) -> usize {
        match line.checked_sub(2) {
            None => 0,
            Some(nth) => memchr::memchr_iter(b'\n', self.text.as_bytes()).nth(nth).map_or(self.text.len(), |at| at + 1),
        }
    }

    /// The byte of a one-based line and a one-based column, which is counted in characters.
    pub fn offset(&self, line: usize, column: usize) -> usize {
        let start = self.line_start(line);
        let rest = self.text[start..].split('\n').next().unwrap_or_default();
        start + rest.char_indices().nth(column.saturating_sub(1)).map_or(rest.len(), |(at, _)| at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_document_and_count_characters() {
        let text = Value::from("\u{feff}a\nöä\n");
        let input = ParserInput::from_value(&text);
        let error = input.error(Code::PARSE, input.offset(2, 2), "bad");
        assert_eq!(error.to_string(), "text:2:2: bad");
        let document = Value::handle(Document::new("x.csv", "a"));
        let input = ParserInput::from_value(&document);
        assert_eq!(input.error(Code::PARSE, input.offset(9, 9), "bad").to_string(), "x.csv:1:2: bad");
    }
}
