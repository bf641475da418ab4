//! Edits of texts: text in, text out, and nothing touched that was not named.

mod events;
mod fill;
mod front_matter;
mod lines;
mod rewrite;
mod section;

pub use fill::{fill, tokens};
pub use front_matter::{FrontMatter, Quote, edit_front_matter};
pub use lines::{Edit, edit_lines, edit_spans, edits_of};
pub use rewrite::rewrite_yaml;
pub use section::{SectionEdit, edit_section};

use events::Events;

use crate::document::Document;
use crate::guard::{self, ITEM};
use crate::value::Value;

const MARK: char = '\u{feff}';

/// The edited text, behind a byte order mark if the one it came from began with one.
pub fn with_mark_of(input: &Value, edited: String) -> String {
    let document = input.as_object::<Document>();
    let text = document.map_or_else(|| input.as_text().unwrap_or_default(), Document::text);
    if text.starts_with(MARK) { format!("{MARK}{edited}") } else { edited }
}

/// The end of the first line of a text; `\n` if it has none.
fn line_end(text: &str) -> &'static str {
    match memchr::memchr(b'\n', text.as_bytes()) {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The text with `end` at the end of each of its lines.
fn with_line_end(text: &str, end: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if end == "\n" { plain } else { plain.replace('\n', end) }
}

/// Replacements of a text, made at once: none knows of the others.
#[derive(Default)]
struct Cuts(Vec<(std::ops::Range<usize>, String)>);

impl Cuts {
    /// These bytes become `text`; an empty range inserts, behind what was inserted at that place before.
    fn replace(&mut self, bytes: std::ops::Range<usize>, text: impl Into<String>) {
        self.0.push((bytes, text.into()));
    }

    /// The text after all of them, in which each line that came ends with `end`; nothing if two overlap.
    fn apply(mut self, text: &str, end: &str) -> Option<String> {
        self.0.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
        let mut edited = String::with_capacity(text.len());
        let mut at = 0;
        for (bytes, by) in self.0 {
            if guard::is_over(ITEM + by.len()) {
                return None;
            }
            edited.push_str(text.get(at..bytes.start)?);
            edited.push_str(&with_line_end(&by, end));
            at = bytes.end;
        }
        edited.push_str(text.get(at..)?);
        Some(edited)
    }
}
