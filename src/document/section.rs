//! The sections of a text, flat and in order, as returned by the readers of Markdown and of IETF texts.

use super::lines::Lines;
use crate::value::Value;

/// A heading and the lines up to the next heading of any level.
#[derive(Clone, Debug)]
pub struct Section {
    /// The id by which references name it, unique in its text.
    pub id: String,
    /// The words of its heading.
    pub title: String,
    /// Its level; 1 is a chapter.
    pub level: usize,
    /// The one-based number of its heading's first line.
    pub line: usize,
    /// Its lines, without blank ones at both ends.
    pub lines: Lines,
}

/// A text divided into sections. Text before the first heading is in no section.
#[derive(Clone, Debug, Default)]
pub struct Sections {
    /// The title of the whole text.
    pub title: Option<String>,
    /// The short summary that the text contains.
    pub summary: Option<String>,
    /// Its sections in order.
    pub sections: Vec<Section>,
}

impl Sections {
    /// `#{ title, abstract, sections: [#{ id, title, level, line, lines }] }`.
    pub fn into_value(self) -> Value {
        let sections = self.sections.into_iter().map(|section| {
            Value::map([
                ("id", section.id.into()),
                ("title", section.title.into()),
                ("level", section.level.into()),
                ("line", section.line.into()),
                ("lines", Value::handle(section.lines)),
            ])
        });
        let sections = Value::list(sections);
        Value::map([("title", self.title.into()), ("abstract", self.summary.into()), ("sections", sections)])
    }
}
