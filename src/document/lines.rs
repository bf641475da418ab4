//! Documents and runs of their lines: texts for scripts, positions for parsers.

use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::source::Source;
use crate::value::{Json, Kind, Object, Text, Value, no_field};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A text with a name. Cloning is cheap. The table of lines is built on first use.
#[derive(Clone, Debug)]
pub struct Document(Arc<DocumentData>);

#[derive(Debug)]
struct DocumentData {
    source: Arc<Source>,
    text: OnceLock<Text>,
    lines: OnceLock<Vec<Range<usize>>>,
}

impl Document {
    /// A document of the workspace. `path` is as the script wrote it, and `text` is the whole file.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self::from_source(Source::new(path, text))
    }

    /// A document backed by a shared source.
    pub fn from_source(source: Arc<Source>) -> Self {
        Self(Arc::new(DocumentData { source, text: OnceLock::new(), lines: OnceLock::new() }))
    }

    /// The document in a handle, or a document named `text` with the given text.
    pub fn from_value(value: &Value) -> Self {
        match value.as_object::<Self>() {
            Some(document) => document.clone(),
            None => Self::new("text", value.as_text().unwrap_or_default()),
        }
    }

    /// The name and the text, for diagnostics.
    pub fn source(&self) -> &Arc<Source> {
        &self.0.source
    }

    /// The path it was read from, or the name it was given.
    pub fn path(&self) -> &str {
        &self.0.source.path
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.0.source.text
    }

    /// The byte range of every line without its end, which is `\n` or `\r\n`. If the text ends with a line end, no
    /// empty line follows it.
    ///
    /// Empty if the running call was stopped: see [`guard::is_over`].
    pub fn line_ranges(&self) -> &[Range<usize>] {
        if let Some(known) = self.0.lines.get() {
            return known;
        }
        // A partial result is not cached, because others may hold the same document.
        line_ranges(self.text()).map_or(&[], |ranges| self.0.lines.get_or_init(|| ranges))
    }

    /// The lines `from` to `to`, one-based and inclusive, limited to those of the document.
    pub fn lines(&self, from: i64, to: i64) -> Lines {
        let ranges = self.line_ranges();
        let first = usize::try_from(from.max(1) - 1).unwrap_or(0);
        let end = usize::try_from(to.max(0)).unwrap_or(0).min(ranges.len());
        let numbers = (first..end).take_while(|_| !guard::is_over(ITEM));
        let lines = numbers.map(|at| Line { span: ranges[at].clone(), number: at + 1 }).collect();
        Lines::new(self.clone(), lines, Vec::new())
    }
}

fn line_ranges(text: &str) -> Option<Vec<Range<usize>>> {
    let bytes = text.as_bytes();
    let mut ranges = Vec::with_capacity(text.len() / 32);
    let mut start = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        if guard::is_over(ITEM + end - start) {
            return None;
        }
        let cut = if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end };
        ranges.push(start..cut);
        start = end + 1;
    }
    if start < bytes.len() {
        ranges.push(start..bytes.len());
    }
    Some(ranges)
}

impl Object for Document {
    fn kind(&self) -> Kind {
        Kind::Document
    }

    /// `text` and `path`.
    fn field(&self, name: &str) -> Result<Value> {
        match name {
            "text" => Ok(Value::Text(Arc::clone(self.0.text.get_or_init(|| self.text().into())))),
            "path" => Ok(self.path().into()),
            _ => Err(no_field(Kind::Document, name, &["text", "path"])),
        }
    }

    /// Its path and its text.
    fn to_json(&self) -> Json {
        serde_json::json!({ "path": self.path(), "text": self.text() })
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| self.0.source == other.0.source)
    }
}

/// One line of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its bytes in the document, without the line's end.
    pub span: Range<usize>,
    /// Its one-based number in the document.
    pub number: usize,
}

/// Lines of a document, in order. They are not always adjacent, because page headers and footers are omitted.
///
/// A *break* is a position between two lines that no sentence crosses: the edge of a list item. It is not a line, and
/// scripts do not see it.
#[derive(Clone, Debug)]
pub struct Lines {
    document: Document,
    lines: Vec<Line>,
    breaks: Vec<usize>,
}

impl Lines {
    /// Lines of `document`. `breaks` are the ascending indexes of the lines that follow a break. The number of lines
    /// stands for a break after the last one.
    pub fn new(document: Document, lines: Vec<Line>, breaks: Vec<usize>) -> Self {
        Self { document, lines, breaks }
    }

    /// The document to which the lines belong.
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The lines.
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The text of the line at `index`, which must be less than the number of lines.
    pub fn line_text(&self, index: usize) -> &str {
        &self.document.text()[self.lines[index].span.clone()]
    }

    /// The texts of the lines.
    pub fn texts(&self) -> impl Iterator<Item = &str> {
        self.lines.iter().map(|line| &self.document.text()[line.span.clone()])
    }

    /// Whether there is a break before the line at `index`.
    pub fn is_break_before(&self, index: usize) -> bool {
        self.breaks.binary_search(&index).is_ok()
    }

    /// The texts of the lines, joined by line feeds.
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
}

impl Object for Lines {
    fn kind(&self) -> Kind {
        Kind::Lines
    }

    /// `text`: the lines joined by line feeds; `from` and `to`: the numbers of the first and last line, or `()` if
    /// there is none; `path`: the path of the document.
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
        (index < self.lines.len()).then(|| self.line_text(index).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_with_a_line_feed_or_a_carriage_return_and_a_line_feed() {
        let text = "a\r\n\n b\rc\n\r\nlast";
        let lines: Vec<&str> = line_ranges(text).into_iter().flatten().map(|range| &text[range]).collect();
        assert_eq!(lines, text.lines().collect::<Vec<_>>());
        assert_eq!(lines, ["a", "", " b\rc", "", "last"]);
    }

    #[test]
    fn lines_are_cut_at_the_ends_of_the_document() {
        let document = Document::new("a.txt", "one\ntwo\nthree\n");
        let texts = |from, to| document.lines(from, to).to_json();
        assert_eq!(texts(-3, 2), serde_json::json!(["one", "two"]));
        assert_eq!(texts(3, 99), serde_json::json!(["three"]));
        assert_eq!(texts(3, 2), serde_json::json!([]));
        assert_eq!(texts(i64::MAX, i64::MIN), serde_json::json!([]));
    }

    #[test]
    fn an_unknown_field_names_the_nearest() {
        let document = Document::new("a.txt", "x");
        assert_eq!(document.field("path"), Ok("a.txt".into()));
        let error = document.field("texts").err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), Some("a document has no field `texts` (did you mean `text`?)"));
    }

    #[test]
    fn lines_are_a_sequence_of_texts_with_their_numbers() {
        let lines = Document::new("a.txt", "one\n\n two \n").lines(2, 3);
        assert_eq!(lines.length(), Some(2));
        assert_eq!(lines.item(1), Some(" two ".into()));
        assert_eq!(lines.item(2), None);
        assert_eq!(lines.field("text"), Ok("\n two ".into()));
        assert_eq!(lines.field("from"), Ok(2_i64.into()));
        assert_eq!(crate::document::Passage::from_lines(&lines).text(), "two");
    }
}
