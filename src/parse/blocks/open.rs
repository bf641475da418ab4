//! A block that is being read.

use super::{Block, Item, Items, Pairs, Rules, Section};
use crate::diagnostic::Result;
use crate::document::Document;
use crate::value::{Text, Value};
use std::ops::Range;
use std::sync::Arc;

/// What is known of a block so far. Lines are counted from 0 here.
pub(super) struct Open<'a> {
    document: &'a Document,
    rules: &'a Rules,
    start: usize,
    groups: Pairs,
    /// By the place of the field in the rules.
    fields: Vec<Option<Value>>,
    /// Lines of the body that gave a field, ascending.
    field_lines: Vec<usize>,
    items: Vec<Item>,
    /// Whether items are looked for.
    listing: bool,
    /// Whether the last item may go on.
    going_on: bool,
    sections: Vec<(usize, Pairs)>,
}

impl<'a> Open<'a> {
    /// A block whose first line is the one at `start`.
    pub(super) fn new(
        document: &'a Document,
        rules: &'a Rules,
        start: usize,
        groups: Pairs,
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

    /// A line of the body that is looked at.
    pub(super) fn body_line(&mut self, at: usize, line: &str) -> Result<()> {
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

    /// A line of the body that is not looked at.
    pub(super) fn pass(&mut self) {
        self.going_on = false;
    }

    /// The end line, which belongs to the block.
    pub(super) fn end_line(&mut self, groups: Pairs, line: &str) -> Result<()> {
        self.groups.retain(|(known, _)| !groups.iter().any(|(name, _)| name == known));
        self.groups.extend(groups);
        self.read_fields(line).map(drop)
    }

    /// Whether the line gave a field. The first line that has one counts.
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

    fn read_item(&mut self, items: &Items, at: usize, line: &str) -> Result<()> {
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
            self.items.push(Item { groups, text, line: at + 1 });
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

    /// The block, whose body ends before the line at `body_end` and which itself ends before the one at `end`.
    pub(super) fn close(mut self, body_end: usize, end: usize) -> Result<Block> {
        let lists = self.lists()?;
        let text = self.text(self.start + 1..body_end);
        let preamble = self.rules.sections.as_ref().map(|_| self.preamble(body_end)).transpose()?;
        let sections = self.sections(body_end);
        let given = std::mem::take(&mut self.fields).into_iter().zip(&self.rules.fields);
        let fields = given.map(|(value, field)| (Arc::clone(&field.name), field.meant(value))).collect();
        let (line, end_line) = (self.start + 1, end);
        let first_line = (self.start + 1..end).find(|at| !self.line(*at).trim().is_empty()).map_or(end, |at| at + 1);
        let (groups, items) = (self.groups, self.items);
        Ok(Block { line, end_line, first_line, groups, fields, items, sections, lists, text, preamble })
    }

    fn lists(&self) -> Result<Vec<(Text, Vec<Pairs>)>> {
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

    fn sections(&mut self, body_end: usize) -> Vec<Section> {
        let sections = std::mem::take(&mut self.sections);
        let ends: Vec<usize> = sections.iter().skip(1).map(|(at, _)| *at).chain([body_end]).collect();
        let text = |at: usize, end: usize| self.text(at + 1..end).trim().to_owned();
        let section = |((at, groups), end)| Section { groups, line: at + 1, end_line: end, text: text(at, end) };
        sections.into_iter().zip(ends).map(section).collect()
    }

    fn line(&self, at: usize) -> &'a str {
        &self.document.text()[self.document.line_ranges()[at].clone()]
    }

    /// The lines without the blank ones at both ends.
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

    /// The lines, joined by line feeds, blank ones at both ends left out.
    fn text(&self, lines: Range<usize>) -> String {
        let lines = self.trimmed(lines);
        if lines.is_empty() {
            return String::new();
        }
        let ranges = self.document.line_ranges();
        let text = &self.document.text()[ranges[lines.start].start..ranges[lines.end - 1].end];
        if text.contains('\r') { text.replace("\r\n", "\n") } else { text.to_owned() }
    }

    /// What stands before the first section, without the lines that gave a field, or those that the rules name.
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
