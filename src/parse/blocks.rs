//! Blocks of a text, found by rules that define where blocks begin and end and what fields, items, sections and lists
//! they have.

#![allow(missing_docs, reason = "plain fields whose names say it")]

mod rules;
#[cfg(test)]
mod tests;

pub use rules::{BlockRules, NamedValues};

use crate::diagnostic::Result;
use crate::document::Document;
use crate::guard;
use crate::value::{Map, Text, Value};
use rules::ItemRules;
use std::ops::Range;
use std::sync::Arc;

/// The blocks of a document, in order: `#{ line, end_line, groups, fields, items, sections, lists, text, preamble }`.
///
/// Each line is tested in this order. A line that matches `start` begins a block and ends the one before it. A line
/// that matches `end` ends the open block. If `end_takes`, the line belongs to that block, and so does the next line if
/// it matches `tail`. All other lines of a block are its body. A block without an end line ends before the next block
/// or at the end of the text. Lines in code fences belong to the body and are not tested, unless fences are plain.
pub fn parse_blocks(document: &Document, rules: &BlockRules) -> Result<Vec<ParsedBlock>> {
    let mut blocks = Vec::new();
    let mut open: Option<OpenBlock<'_>> = None;
    let mut fences = Fences::default();
    let lines = document.line_ranges();
    let text = |at: usize| lines.get(at).map(|range| &document.text()[range.clone()]);
    for at in 0..lines.len() {
        guard::check()?;
        let line = text(at).unwrap_or_default();
        if rules.opaque && fences.covers(line) {
            if let Some(open) = &mut open {
                open.pass();
            }
            continue;
        }
        if let Some(found) = rules.start.find(line)? {
            let fresh = OpenBlock::new(document, rules, at, rules.start.groups(line, &found), line)?;
            if let Some(before) = open.replace(fresh) {
                blocks.push(before.close(at, at)?);
            }
        } else if let Some(mut block) = open.take() {
            match rules.end_of(line)? {
                Some(groups) if rules.end_takes => {
                    block.end_line(groups, line)?;
                    let tail = text(at + 1).map_or(Ok(false), |next| rules.is_tail(next))?;
                    blocks.push(block.close(at, at + 1 + usize::from(tail))?);
                }
                Some(_) => blocks.push(block.close(at, at)?),
                None => {
                    block.body_line(at, line)?;
                    open = Some(block);
                }
            }
        }
    }
    if let Some(last) = open {
        blocks.push(last.close(lines.len(), lines.len())?);
    }
    Ok(blocks)
}

/// A block. Line numbers are one-based.
pub struct ParsedBlock {
    /// Its first line.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The first line of its body that is not blank, or its last line if there is none.
    pub first_line: usize,
    /// The named groups of its first and its end line.
    pub groups: NamedValues,
    /// The fields that single lines set for the whole block.
    pub fields: NamedValues,
    /// Lines that were read as records.
    pub items: Vec<BlockItem>,
    pub sections: Vec<BlockSection>,
    /// Fields that were split into records, by name.
    pub lists: Vec<(Text, Vec<NamedValues>)>,
    /// The text between its first and its end line.
    pub text: String,
    /// The text before its first section, without lines of fields; `None` if the rules have no sections.
    pub preamble: Option<String>,
}

/// A line and its continuation lines, as a record.
pub struct BlockItem {
    /// The named groups, except `text`.
    pub groups: NamedValues,
    pub text: String,
    /// Its first line.
    pub line: usize,
}

pub struct BlockSection {
    /// The named groups of its heading, including `title`.
    pub groups: NamedValues,
    /// The line of its heading.
    pub line: usize,
    /// Its last line.
    pub end_line: usize,
    /// The text below its heading.
    pub text: String,
}

fn value_named<'a>(pairs: &'a NamedValues, name: &str) -> Option<&'a Value> {
    pairs.iter().find(|(known, _)| **known == *name).map(|(_, value)| value)
}

fn map_with(pairs: NamedValues, more: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    let more = more.into_iter().map(|(name, value)| (name.into(), value));
    Value::Map(pairs.into_iter().chain(more).collect())
}

impl ParsedBlock {
    /// The value with this name: a group, a field, `text`, `preamble`, `line` or `end_line`; `None` if there is none.
    pub fn value_named(&self, name: &str) -> Option<Value> {
        value_named(&self.groups, name).or_else(|| value_named(&self.fields, name)).cloned().or_else(|| match name {
            "text" => Some(self.text.as_str().into()),
            "preamble" => Some(self.preamble.as_deref().map(Value::from).into()),
            "line" => Some(self.line.into()),
            "end_line" => Some(self.end_line.into()),
            _ => None,
        })
    }

    /// Converts the block to the map that scripts see.
    pub fn into_value(self) -> Value {
        let lists = self
            .lists
            .into_iter()
            .map(|(name, records)| (name, Value::list(records.into_iter().map(|record| map_with(record, [])))));
        Value::map([
            ("line", self.line.into()),
            ("end_line", self.end_line.into()),
            ("groups", map_with(self.groups, [])),
            ("fields", map_with(self.fields, [])),
            ("items", Value::list(self.items.into_iter().map(BlockItem::into_value))),
            ("sections", Value::list(self.sections.into_iter().map(BlockSection::into_value))),
            ("lists", lists.collect::<Map>().into()),
            ("text", self.text.into()),
            ("preamble", self.preamble.map(Value::from).into()),
        ])
    }
}

impl BlockItem {
    /// The value with this name: a group, `text` or `line`; `None` if there is none.
    pub fn value_named(&self, name: &str) -> Option<Value> {
        match name {
            "text" => Some(self.text.as_str().into()),
            "line" => Some(self.line.into()),
            _ => value_named(&self.groups, name).cloned(),
        }
    }

    fn into_value(self) -> Value {
        map_with(self.groups, [("text", self.text.into()), ("line", self.line.into())])
    }
}

impl BlockSection {
    /// The value with this name: a group, `text`, `line` or `end_line`; `None` if there is none.
    pub fn value_named(&self, name: &str) -> Option<Value> {
        match name {
            "text" => Some(self.text.as_str().into()),
            "line" => Some(self.line.into()),
            "end_line" => Some(self.end_line.into()),
            _ => value_named(&self.groups, name).cloned(),
        }
    }

    fn into_value(self) -> Value {
        let places = [("line", self.line.into()), ("end_line", self.end_line.into()), ("text", self.text.into())];
        map_with(self.groups, places)
    }
}

/// The state of the block that is being read. Lines are counted from 0 here.
struct OpenBlock<'a> {
    document: &'a Document,
    rules: &'a BlockRules,
    start: usize,
    groups: NamedValues,
    /// The values of fields, by the position of the field in the rules.
    fields: Vec<Option<Value>>,
    /// The body lines that set a field, in ascending order.
    field_lines: Vec<usize>,
    items: Vec<BlockItem>,
    /// Whether lines are tested for items.
    listing: bool,
    /// Whether the next line may continue the last item.
    going_on: bool,
    sections: Vec<(usize, NamedValues)>,
}

impl<'a> OpenBlock<'a> {
    /// Begins a block at the line `start`.
    fn new(
        document: &'a Document,
        rules: &'a BlockRules,
        start: usize,
        groups: NamedValues,
        line: &str,
    ) -> Result<Self> {
        let listing = rules.items.as_ref().is_some_and(|items| items.after.is_none());
        let fields = vec![None; rules.fields.len()];
        let (field_lines, items, sections) = (Vec::new(), Vec::new(), Vec::new());
        let mut open =
            Self { document, rules, start, groups, fields, field_lines, items, listing, going_on: false, sections };
        open.read_fields(line)?;
        Ok(open)
    }

    /// Reads a line of the body against the rules.
    fn body_line(&mut self, at: usize, line: &str) -> Result<()> {
        if self.read_fields(line)? {
            self.field_lines.push(at);
        }
        if let Some(rule) = &self.rules.sections
            && let Some(found) = rule.find(line)?
        {
            let mut section = rule.groups(line, &found);
            let title = rule.main_group("title", line, &found);
            section.retain(|(name, _)| &**name != "title");
            section.push(("title".into(), title));
            self.sections.push((at, section));
        }
        match &self.rules.items {
            Some(items) => self.read_item(items, at, line),
            None => Ok(()),
        }
    }

    /// Skips a line of the body without testing it.
    fn pass(&mut self) {
        self.going_on = false;
    }

    /// Reads the end line, which belongs to the block.
    fn end_line(&mut self, groups: NamedValues, line: &str) -> Result<()> {
        self.groups.retain(|(known, _)| !groups.iter().any(|(name, _)| name == known));
        self.groups.extend(groups);
        self.read_fields(line).map(drop)
    }

    /// Reads the fields of a line, and returns whether it set one. The first line that sets a field wins.
    fn read_fields(&mut self, line: &str) -> Result<bool> {
        let mut any = false;
        for (value, field) in self.fields.iter_mut().zip(&self.rules.fields) {
            if value.is_none()
                && let Some(found) = field.rule.find(line)?
            {
                *value = Some(field.rule.main_group("value", line, &found));
                any = true;
            }
        }
        Ok(any)
    }

    fn read_item(&mut self, items: &ItemRules, at: usize, line: &str) -> Result<()> {
        if let Some(after) = &items.after
            && after.matches(line)?
        {
            self.listing = true;
            self.going_on = false;
            return Ok(());
        }
        if !self.listing {
            return Ok(());
        }
        if let Some(stop) = &items.stop
            && stop.matches(line)?
        {
            self.listing = false;
            return Ok(());
        }
        if let Some(found) = items.item.expect(line)? {
            let mut groups = items.item.groups(line, &found);
            let place = groups.iter().position(|(name, _)| &**name == "text");
            let text = place.map(|place| groups.remove(place).1);
            let text = match text {
                Some(_) if items.rest => {
                    let start = items.item.start_of("text", &found).unwrap_or(line.len());
                    line[start..].trim().to_owned()
                }
                Some(Value::Text(text)) => text.trim().to_owned(),
                _ => line.trim().to_owned(),
            };
            self.items.push(BlockItem { groups, text, line: at + 1 });
            self.going_on = true;
            return Ok(());
        }
        self.going_on = self.going_on
            && match (&items.continues, self.items.last_mut()) {
                (Some(continues), Some(item)) if continues.matches(line)? => {
                    item.text.push(' ');
                    item.text.push_str(line.trim());
                    true
                }
                _ => false,
            };
        Ok(())
    }

    /// Completes the block. Its body ends before the line `body_end`, and the block ends before the line `end`.
    fn close(mut self, body_end: usize, end: usize) -> Result<ParsedBlock> {
        let lists = self.lists()?;
        let text = self.text(self.start + 1..body_end);
        let preamble = self.rules.sections.as_ref().map(|_| self.preamble(body_end)).transpose()?;
        let sections = self.sections(body_end);
        let given = std::mem::take(&mut self.fields).into_iter().zip(&self.rules.fields);
        let fields = given.map(|(value, field)| (Arc::clone(&field.name), field.meant(value))).collect();
        let (line, end_line) = (self.start + 1, end);
        let first_line = (self.start + 1..end).find(|at| !self.line(*at).trim().is_empty()).map_or(end, |at| at + 1);
        let (groups, items) = (self.groups, self.items);
        Ok(ParsedBlock { line, end_line, first_line, groups, fields, items, sections, lists, text, preamble })
    }

    fn lists(&self) -> Result<Vec<(Text, Vec<NamedValues>)>> {
        let mut lists = Vec::new();
        for list in &self.rules.lists {
            let place = self.rules.fields.iter().position(|field| field.name == list.name);
            let group = || self.groups.iter().find(|(name, _)| *name == list.name).map(|(_, value)| value);
            let field = place.and_then(|place| self.fields[place].as_ref()).or_else(group);
            let records = field.and_then(Value::as_text).map(|text| list.records(text)).transpose()?;
            lists.push((Text::clone(&list.name), records.unwrap_or_default()));
        }
        Ok(lists)
    }

    fn sections(&mut self, body_end: usize) -> Vec<BlockSection> {
        let sections = std::mem::take(&mut self.sections);
        let ends: Vec<usize> = sections.iter().skip(1).map(|(at, _)| *at).chain([body_end]).collect();
        let text = |at: usize, end: usize| self.text(at + 1..end).trim().to_owned();
        let section = |((at, groups), end)| BlockSection { groups, line: at + 1, end_line: end, text: text(at, end) };
        sections.into_iter().zip(ends).map(section).collect()
    }

    fn line(&self, at: usize) -> &'a str {
        &self.document.text()[self.document.line_ranges()[at].clone()]
    }

    /// The range of lines without the blank lines at both ends.
    fn trimmed(&self, mut lines: Range<usize>) -> Range<usize> {
        let is_blank = |at: usize| self.line(at).trim().is_empty();
        while !lines.is_empty() && is_blank(lines.start) {
            lines.start += 1;
        }
        while !lines.is_empty() && is_blank(lines.end - 1) {
            lines.end -= 1;
        }
        lines
    }

    /// The lines joined by line feeds, without the blank lines at both ends.
    fn text(&self, lines: Range<usize>) -> String {
        let lines = self.trimmed(lines);
        if lines.is_empty() {
            return String::new();
        }
        let ranges = self.document.line_ranges();
        let text = &self.document.text()[ranges[lines.start].start..ranges[lines.end - 1].end];
        if text.contains('\r') { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    /// The text before the first section, without the lines that set a field or that the rules exclude.
    fn preamble(&self, body_end: usize) -> Result<String> {
        let end = self.sections.first().map_or(body_end, |(at, _)| *at);
        let mut kept = Vec::new();
        for at in self.start + 1..end {
            let is_beside = match &self.rules.beside {
                Some(rule) => rule.matches(self.line(at))?,
                None => self.field_lines.binary_search(&at).is_ok(),
            };
            if !is_beside {
                kept.push(self.line(at));
            }
        }
        Ok(kept.join("\n").trim().to_owned())
    }
}

/// The state of code fences between two lines (CommonMark 0.31, section 4.5, without nesting in lists and quotes).
#[derive(Default)]
struct Fences {
    /// The character and the length of the open fence.
    open: Option<(u8, usize)>,
}

impl Fences {
    /// Whether the next line is a fence or inside one. A fence that is never closed covers the rest of the text.
    fn covers(&mut self, line: &str) -> bool {
        let inner = line.trim_start_matches(' ');
        let sign = match inner.as_bytes() {
            [sign @ (b'`' | b'~'), ..] if line.len() - inner.len() <= 3 => *sign,
            _ => return self.open.is_some(),
        };
        let length = inner.bytes().take_while(|byte| *byte == sign).count();
        let rest = &inner[length..];
        match self.open {
            Some((known, least)) => {
                if known == sign && length >= least && rest.trim().is_empty() {
                    self.open = None;
                }
                true
            }
            None if length < 3 || (sign == b'`' && rest.contains('`')) => false,
            None => {
                self.open = Some((sign, length));
                true
            }
        }
    }
}
