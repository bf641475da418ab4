//! Where every key and every value of a YAML text stands.

use super::Events;
use crate::diagnostic::Result;
use granit_parser::{Event, ScalarStyle, Span, StructureStyle};
use std::ops::Range;

/// How a value is written.
pub(super) enum Shape {
    /// On one line, or folded by its indentation.
    Scalar(ScalarStyle),
    /// `*name`.
    Alias,
    /// `- a`, or `[a]` if it flows.
    List { flow: bool, items: Vec<Node> },
    /// `a: b`, or `{a: b}` if it flows.
    Map { flow: bool, entries: Vec<Entry> },
}

/// A value and where it stands, without its anchor and its tag.
pub(super) struct Node {
    pub(super) shape: Shape,
    pub(super) bytes: Range<usize>,
}

/// A key and its value.
pub(super) struct Entry {
    pub(super) key: String,
    /// Where the key begins.
    pub(super) at: usize,
    /// Behind its colon.
    pub(super) colon: usize,
    pub(super) value: Node,
}

impl Node {
    /// Whether it is a list or a map in block style.
    pub(super) fn is_block(&self) -> bool {
        matches!(self.shape, Shape::List { flow: false, .. } | Shape::Map { flow: false, .. })
    }
}

/// The tree of a YAML text that was read before; nothing if it has no value, or a key that is no text on its line.
pub(super) fn tree(text: &str) -> Result<Option<Node>> {
    let mut reader = Reader { text, events: Events::of(text) };
    loop {
        match reader.events.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((event, span)) => return reader.node(event, span),
            None => return Ok(None),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    events: Events<'a>,
}

impl<'a> Reader<'a> {
    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Option<Node>> {
        let Some(bytes) = span.byte_range() else { return Ok(None) };
        Ok(match event {
            Event::Scalar(text, style, _, _) => {
                let keeps_ends = text.ends_with("\n\n");
                Some(Node { shape: Shape::Scalar(style), bytes: self.trimmed(bytes, keeps_ends) })
            }
            Event::Alias(_) => Some(Node { shape: Shape::Alias, bytes }),
            Event::SequenceStart(style, ..) => self.list(style == StructureStyle::Flow, bytes.start)?,
            Event::MappingStart(style, ..) => self.map(style == StructureStyle::Flow, bytes.start)?,
            _ => None,
        })
    }

    fn list(&mut self, flow: bool, start: usize) -> Result<Option<Node>> {
        let mut items: Vec<Node> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            if matches!(event, Event::SequenceEnd) {
                let last = items.last().map_or(start, |item| item.bytes.end);
                let end = if flow { span.byte_range().map_or(last, |bytes| bytes.end) } else { last };
                return Ok(Some(Node { shape: Shape::List { flow, items }, bytes: start..end }));
            }
            let Some(item) = self.node(event, span)? else { return Ok(None) };
            items.push(item);
        }
    }

    fn map(&mut self, flow: bool, start: usize) -> Result<Option<Node>> {
        let mut entries: Vec<Entry> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            let Some(bytes) = span.byte_range() else { return Ok(None) };
            match event {
                Event::MappingEnd => {
                    let last = entries.last().map_or(start, |entry| entry.value.bytes.end);
                    let end = if flow { bytes.end } else { last };
                    return Ok(Some(Node { shape: Shape::Map { flow, entries }, bytes: start..end }));
                }
                Event::Scalar(key, ..) => {
                    let Some(colon) = self.colon(&bytes, flow) else { return Ok(None) };
                    let Some((event, span)) = self.events.next()? else { return Ok(None) };
                    let Some(mut value) = self.node(event, span)? else { return Ok(None) };
                    if value.bytes.is_empty() {
                        value.bytes = colon..colon;
                    }
                    entries.push(Entry { key: key.into_owned(), at: bytes.start, colon, value });
                }
                _ => return Ok(None),
            }
        }
    }

    /// Behind the colon of a key; where it ends, if it has none, as a flowing map allows.
    fn colon(&self, key: &Range<usize>, flow: bool) -> Option<usize> {
        let before = self.text[..key.start].trim_end_matches([' ', '\t']);
        if before.ends_with('?') {
            return None;
        }
        let rest = &self.text[key.end..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest[blanks..].starts_with(':') {
            return Some(key.end + blanks + 1);
        }
        flow.then_some(key.end)
    }

    /// The bytes without the line end that the parser counts to a block of text, and without the blank lines below
    /// it, unless those belong to the text.
    fn trimmed(&self, bytes: Range<usize>, keeps_ends: bool) -> Range<usize> {
        let text = &self.text[bytes.clone()];
        let kept = match text.strip_suffix('\n') {
            Some(text) if keeps_ends => text.strip_suffix('\r').unwrap_or(text),
            Some(text) => text.trim_end_matches(['\n', '\r', ' ', '\t']),
            None => text,
        };
        bytes.start..bytes.start + kept.len()
    }
}
