//! Texts as handles: documents, runs of their lines, passages joined from lines, spans within passages.

mod bounds;
mod ietf;
mod letters;
mod lines;
mod links;
mod markdown;
mod markers;
mod passage;
mod section;
mod seen;
mod sentences;
mod spans;

pub use bounds::refuse_unbounded;
pub use ietf::parse_ietf;
pub use lines::{Line, Lines};
pub use links::{Link, LinkKind, links, plain_text};
pub use markdown::{Anchor, Markdown, Title, parse_markdown};
pub use markers::{Block, Part, marker_blocks};
pub use passage::{Found, Passage, Way};
pub use section::{Section, Sections};
pub use seen::add_seen;
pub use sentences::{Keywords, Sentence, keyword_sentences};
pub use spans::Spans;

use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::source::Source;
use crate::value::{Json, Kind, Object, Text, Value, no_field};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A text with a name. Cloning it copies pointers; its tables are made when first asked for.
#[derive(Clone, Debug)]
pub struct Document(Arc<Parts>);

#[derive(Debug)]
struct Parts {
    source: Arc<Source>,
    text: OnceLock<Text>,
    lines: OnceLock<Vec<Range<usize>>>,
}

impl Document {
    /// A document of the workspace: `path` as the script wrote it, `text` the whole file.
    pub fn new(path: impl Into<String>, text: impl Into<String>) -> Self {
        Self::of(Source::new(path, text))
    }

    /// A document over a source that something else holds too.
    pub fn of(source: Arc<Source>) -> Self {
        Self(Arc::new(Parts { source, text: OnceLock::new(), lines: OnceLock::new() }))
    }

    /// The document behind a value, or one named `text` over a text.
    pub fn of_value(value: &Value) -> Self {
        match value.as_object::<Self>() {
            Some(document) => document.clone(),
            None => Self::new("text", value.as_text().unwrap_or_default()),
        }
    }

    /// The name and the text, as diagnostics want them.
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

    /// The bytes of every line without its end: `\n`, or `\r\n`. A text that ends with a line end has no
    /// empty line after it.
    ///
    /// None, if the running call was stopped while they were looked for: see [`guard::is_over`].
    pub fn line_ranges(&self) -> &[Range<usize>] {
        if let Some(known) = self.0.lines.get() {
            return known;
        }
        // What is cut short is not kept: others may hold the same document.
        line_ranges(self.text()).map_or(&[], |ranges| self.0.lines.get_or_init(|| ranges))
    }

    /// The lines `from` to `to`, one-based and inclusive, cut at the ends of the document.
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
        let fault = document.field("texts").err().map(|fault| fault.to_string());
        assert_eq!(fault.as_deref(), Some("a document has no field `texts` (did you mean `text`?)"));
    }
}
