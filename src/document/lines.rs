//! A run of lines of a document: texts for a script, places for the parsers.

use super::{Document, Passage};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::value::{Json, Kind, Object, Value, no_field};
use std::ops::Range;

/// One line of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes in the document, without the line's end.
    pub span: Range<usize>,
    /// Its one-based number in the document.
    pub number: usize,
}

/// Lines of a document, in order; not always adjacent ones (page furniture is left out).
///
/// A *break* is a place between two lines where no sentence goes on: the edge of a list item. It is no line
/// of its own, scripts do not see it.
#[derive(Clone, Debug)]
pub struct Lines {
    document: Document,
    lines: Vec<Line>,
    breaks: Vec<usize>,
}

impl Lines {
    /// Lines of `document`. `breaks`: indexes of lines that a break stands before, ascending; the number of
    /// lines stands for a break after the last one.
    pub fn new(document: Document, lines: Vec<Line>, breaks: Vec<usize>) -> Self {
        Self { document, lines, breaks }
    }

    /// The document they are lines of.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The lines.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The text of the line at `index`, which must be less than the number of lines.
    pub fn text_of(&self, index: usize) -> &str {
        &self.document.text()[self.lines[index].span.clone()]
    }

    /// The texts.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &self.document.text()[line.span.clone()])
    }

    /// Whether a break stands before the line at `index`.
    pub fn is_break_before(&self, index: usize) -> bool {
        self.breaks.binary_search(&index).is_ok()
    }

    /// The texts, joined by line feeds.
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.lines.iter().map(|line| line.span.len() + 1).sum());
        for (index, line) in self.texts().enumerate() {
            if guard::is_over(ITEM + line.len()) {
                break;
            }
            if index > 0 {
                text.push('\n');
            }
            text.push_str(line);
        }
        text
    }

    /// The lines that are not blank, trimmed, joined by one blank, with the places they came from.
    pub fn joined(&self) -> Passage {
        Passage::of_lines(self)
    }
}

impl Object for Lines {
    fn kind(&self) -> Kind {
        Kind::Lines
    }

    /// `text`: the lines joined by line feeds; `from` and `to`: the numbers of the first and the last line,
    /// `()` if there is none; `path`: of the document.
    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "text" => Ok(self.text().into()),
            "from" => Ok(self.lines.first().map(|line| line.number).into()),
            "to" => Ok(self.lines.last().map(|line| line.number).into()),
            "path" => Ok(self.document.path().into()),
            _ => Err(no_field(Kind::Lines, name, &["text", "from", "to", "path"])),
        }
    }

    /// The list of texts.
    fn to_json(&self) -> Json {
        Json::Array(self.texts().take_while(|line| !guard::is_over(ITEM + line.len())).map(Json::from).collect())
    }

    fn length(&self) -> Option<usize> {
        Some(self.lines.len())
    }

    fn item(&self, index: usize) -> Option<Value> {
        (index < self.lines.len()).then(|| self.text_of(index).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_a_sequence_of_texts_with_their_numbers() {
        let lines = Document::new("a.txt", "one\n\n two \n").lines(2, 3);
        assert_eq!(lines.length(), Some(2));
        assert_eq!(lines.item(1), Some(" two ".into()));
        assert_eq!(lines.item(2), None);
        assert_eq!(lines.field("text"), Ok("\n two ".into()));
        assert_eq!(lines.field("from"), Ok(2_i64.into()));
        assert_eq!(lines.joined().text(), "two");
    }
}
