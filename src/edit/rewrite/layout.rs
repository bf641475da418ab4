//! The entries of a YAML map as they are written: texts with their quotes, and whether lists and maps flow.

use super::Events;
use crate::diagnostic::Result;
use granit_parser::{Event, ScalarStyle, Span, StructureStyle};
use std::ops::Range;

/// A value and where it stands.
pub(super) struct Node {
    pub(super) shape: Shape,
    /// Whether it is written as `[…]` or `{…}`.
    pub(super) flows: bool,
    pub(super) bytes: Range<usize>,
}

/// What a value is.
pub(super) enum Shape {
    Text(String, ScalarStyle),
    List(Vec<Node>),
    Map(Vec<(String, Node)>),
}

/// An entry of the outermost map.
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) value: Node,
    /// Where its keys and values begin, and behind them where it ends.
    pub(super) stops: Vec<usize>,
}

/// The entries of the outermost map of a text that was read before; nothing where it has aliases, anchors, tags, or
/// keys that are no text.
pub(super) fn entries(text: &str) -> Result<Option<Vec<Entry>>> {
    let mut reader = Reader { text, events: Events::of(text), stops: Vec::new() };
    loop {
        match reader.events.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::MappingStart(StructureStyle::Block, ..), _)) => return reader.outermost(),
            _ => return Ok(None),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    events: Events<'a>,
    stops: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn outermost(&mut self) -> Result<Option<Vec<Entry>>> {
        let mut found: Vec<Entry> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            let key = match event {
                Event::MappingEnd => break,
                Event::Scalar(key, _, 0, None) => key.into_owned(),
                _ => return Ok(None),
            };
            let Some(bytes) = span.byte_range() else { return Ok(None) };
            if let Some(entry) = found.last_mut() {
                entry.stops.push(bytes.start);
            }
            self.stops = vec![bytes.start];
            let Some(value) = self.node()? else { return Ok(None) };
            found.push(Entry { key, value, stops: std::mem::take(&mut self.stops) });
        }
        if let Some(entry) = found.last_mut() {
            entry.stops.push(self.text.len());
        }
        Ok(Some(found))
    }

    fn node(&mut self) -> Result<Option<Node>> {
        let Some((event, span)) = self.events.next()? else { return Ok(None) };
        self.node_of(event, span)
    }

    fn node_of(&mut self, event: Event<'a>, span: Span) -> Result<Option<Node>> {
        let Some(bytes) = span.byte_range() else { return Ok(None) };
        self.stops.push(bytes.start);
        match event {
            Event::Scalar(text, style, 0, None) => {
                let bytes = self.trimmed(bytes, style);
                Ok(Some(Node { shape: Shape::Text(text.into_owned(), style), flows: false, bytes }))
            }
            Event::SequenceStart(style, 0, None) => {
                let mut items = Vec::new();
                loop {
                    let Some((event, span)) = self.events.next()? else { return Ok(None) };
                    if matches!(event, Event::SequenceEnd) {
                        let flows = style == StructureStyle::Flow;
                        let end = span.byte_range().map_or(bytes.start, |end| end.end);
                        return Ok(Some(Node { shape: Shape::List(items), flows, bytes: bytes.start..end }));
                    }
                    let Some(item) = self.node_of(event, span)? else { return Ok(None) };
                    items.push(item);
                }
            }
            Event::MappingStart(style, 0, None) => {
                let mut entries = Vec::new();
                loop {
                    let Some((event, span)) = self.events.next()? else { return Ok(None) };
                    let key = match event {
                        Event::MappingEnd => {
                            let flows = style == StructureStyle::Flow;
                            let end = span.byte_range().map_or(bytes.start, |end| end.end);
                            return Ok(Some(Node { shape: Shape::Map(entries), flows, bytes: bytes.start..end }));
                        }
                        Event::Scalar(key, _, 0, None) => key.into_owned(),
                        _ => return Ok(None),
                    };
                    self.stops.extend(span.byte_range().map(|bytes| bytes.start));
                    let Some(value) = self.node()? else { return Ok(None) };
                    entries.push((key, value));
                }
            }
            _ => Ok(None),
        }
    }

    /// The bytes without the blank lines and line ends that the parser counts to a text.
    fn trimmed(&self, bytes: Range<usize>, style: ScalarStyle) -> Range<usize> {
        let text = &self.text[bytes.clone()];
        let kept = if matches!(style, ScalarStyle::Plain | ScalarStyle::Literal | ScalarStyle::Folded) {
            text.trim_end()
        } else {
            text
        };
        bytes.start..bytes.start + kept.len()
    }
}
