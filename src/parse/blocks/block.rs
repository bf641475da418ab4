//! A block that was read, and what of it has a name.

use super::Pairs;
use crate::value::{Map, Text, Value};

/// A block. Lines are counted from 1.
pub struct Block {
    /// Its first line.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The first line of its body that is not blank; its last line, if there is none.
    pub first_line: usize,
    /// The named groups of its first and its end line.
    pub groups: Pairs,
    /// What single lines say of all of it.
    pub fields: Pairs,
    /// Lines that became records.
    pub items: Vec<Item>,
    /// Its sections.
    pub sections: Vec<Section>,
    /// Fields that were split, by name.
    pub lists: Vec<(Text, Vec<Pairs>)>,
    /// What stands between its first and its end line.
    pub text: String,
    /// What stands before its first section, without lines of fields; none where sections are not looked for.
    pub preamble: Option<String>,
}

/// A line, and those that go on with it, as a record.
pub struct Item {
    /// The named groups, but for `text`.
    pub groups: Pairs,
    /// What it says.
    pub text: String,
    /// Its first line.
    pub line: usize,
}

/// A section of a block.
pub struct Section {
    /// The named groups of its heading, with `title`.
    pub groups: Pairs,
    /// The line of its heading.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// What stands below its heading.
    pub text: String,
}

fn named<'a>(pairs: &'a Pairs, name: &str) -> Option<&'a Value> {
    pairs.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
}

fn map(pairs: Pairs, more: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let more = more.into_iter().map(|(name, value)| (name.into(), value));
    Value::Map(pairs.into_iter().chain(more).collect())
}

impl Block {
    /// What has this name: a group, a field, `text`, `preamble`, `line` or `end_line`; `None` if nothing has.
    pub fn named(&self, name: &str) -> Option<Value> {
        named(&self.groups, name).or_else(|| named(&self.fields, name)).cloned().or_else(|| match name {
            "text" => Some(self.text.as_str().into()),
            "preamble" => Some(self.preamble.as_deref().map(Value::from).into()),
            "line" => Some(self.line.into()),
            "end_line" => Some(self.end_line.into()),
            _ => None,
        })
    }

    /// The block as scripts see it.
    pub fn into_value(self) -> Value {
        let lists = self
            .lists
            .into_iter()
            .map(|(name, records)| (name, Value::list(records.into_iter().map(|record| map(record, [])))));
        Value::map([
            ("line", self.line.into()),
            ("end_line", self.end_line.into()),
            ("groups", map(self.groups, [])),
            ("fields", map(self.fields, [])),
            ("items", Value::list(self.items.into_iter().map(Item::into_value))),
            ("sections", Value::list(self.sections.into_iter().map(Section::into_value))),
            ("lists", lists.collect::<Map>().into()),
            ("text", self.text.into()),
            ("preamble", self.preamble.map(Value::from).into()),
        ])
    }
}

impl Item {
    /// What has this name: a group, `text` or `line`; `None` if nothing has.
    pub fn named(&self, name: &str) -> Option<Value> {
        match name {
            "text" => Some(self.text.as_str().into()),
            "line" => Some(self.line.into()),
            _ => named(&self.groups, name).cloned(),
        }
    }

    fn into_value(self) -> Value {
        map(self.groups, [("text", self.text.into()), ("line", self.line.into())])
    }
}

impl Section {
    /// What has this name: a group, `text`, `line` or `end_line`; `None` if nothing has.
    pub fn named(&self, name: &str) -> Option<Value> {
        match name {
            "text" => Some(self.text.as_str().into()),
            "line" => Some(self.line.into()),
            "end_line" => Some(self.end_line.into()),
            _ => named(&self.groups, name).cloned(),
        }
    }

    fn into_value(self) -> Value {
        let places = [("line", self.line.into()), ("end_line", self.end_line.into()), ("text", self.text.into())];
        map(self.groups, places)
    }
}
