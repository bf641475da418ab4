//! A heading: what a reader sees of it, and its source.

use crate::document::add_seen;
use pulldown_cmark::{CowStr, Event, HeadingLevel};
use std::ops::Range;

/// A heading and where its words stand.
pub(super) struct Heading {
    pub(super) level: usize,
    /// The id that its attributes give it.
    pub(super) id: Option<String>,
    /// Its bytes, the line end included.
    pub(super) span: Range<usize>,
    /// Its words without markup.
    pub(super) text: String,
    /// Where its first text begins.
    first: Option<usize>,
    /// Where its last text, code, link, … ends.
    end: usize,
}

impl Heading {
    pub(super) fn new(level: HeadingLevel, id: Option<CowStr<'_>>, span: Range<usize>) -> Self {
        let (id, end) = (id.map(CowStr::into_string), span.start);
        Self { level: level as usize, id, span, text: String::new(), first: None, end }
    }

    /// Takes in what stands inside the heading.
    pub(super) fn add(&mut self, source: &str, event: &Event<'_>, span: Range<usize>) {
        add_seen(&mut self.text, event);
        match event {
            // a character reference: its text is not in the source, so a cut neither begins nor ends with it
            Event::Text(text) if source.get(span.clone()) != Some(&**text) => {}
            Event::Text(_) => {
                self.first.get_or_insert(span.start);
                self.end = self.end.max(span.end);
            }
            _ => self.end = self.end.max(span.end),
        }
    }

    /// Its source from the first text on; all of it if there is none.
    pub(super) fn source(&self, source: &str) -> String {
        let whole = self.span.clone();
        let cut = self.first.map_or(whole, |first| first..self.end);
        let raw = source.get(cut).unwrap_or_default();
        let raw = raw.strip_suffix('\n').unwrap_or(raw);
        raw.strip_suffix('\r').unwrap_or(raw).replace("\r\n", " ").replace('\n', " ")
    }
}
