//! The entries of a YAML map as they are written: texts with their quotes, and whether lists and maps flow.

use super::Events;
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use granit_parser::{Event, ScalarStyle, Span, StructureStyle};
use std::collections::HashMap;
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
    pub(super) odd: Odd,
}

/// What an entry has that its shape does not say: where the first of each stands.
#[derive(Clone, Copy, Default)]
pub(super) struct Odd {
    /// A tag, or a key that is no text: an entry is written as it stands, or not at all.
    pub(super) tag: Option<usize>,
    /// An anchor or an alias: its shape says what it stands for.
    pub(super) link: Option<usize>,
}

impl Odd {
    pub(super) fn is_any(self) -> bool {
        self.tag.or(self.link).is_some()
    }

    fn add(&mut self, other: Self) {
        self.tag = self.tag.or(other.tag);
        self.link = self.link.or(other.link);
    }
}

/// The outermost map of a text that was read before.
pub(super) struct Layout {
    /// Its entries; nothing if it flows.
    pub(super) entries: Option<Vec<Entry>>,
    /// Where the first tag stands that belongs to no entry.
    pub(super) tag: Option<usize>,
}

/// The outermost map of a text. Aliases are what they stand for.
pub(super) fn layout(text: &str) -> Result<Layout> {
    let mut reader =
        Reader { text, events: Events::of(text), stops: Vec::new(), odd: Odd::default(), anchors: HashMap::new() };
    loop {
        match reader.events.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::MappingStart(StructureStyle::Block, _, tag), span)) => {
                let tag = tag.and(span.byte_range()).map(|bytes| bytes.start);
                return Ok(Layout { entries: reader.outermost()?, tag });
            }
            Some((event, span)) => {
                reader.node_of(event, span)?;
                return Ok(Layout { entries: None, tag: reader.odd.tag });
            }
            None => return Ok(Layout { entries: None, tag: None }),
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    events: Events<'a>,
    stops: Vec<usize>,
    /// What was found in the entry at work.
    odd: Odd,
    /// What aliases stand for, and what is odd in it.
    anchors: HashMap<usize, (Node, Odd)>,
}

impl<'a> Reader<'a> {
    fn outermost(&mut self) -> Result<Option<Vec<Entry>>> {
        let mut found: Vec<Entry> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            let Some(bytes) = span.byte_range() else { return Ok(None) };
            self.odd = Odd::default();
            let key = match event {
                Event::MappingEnd => break,
                event => self.key(event, span)?,
            };
            if let Some(entry) = found.last_mut() {
                entry.stops.push(bytes.start);
            }
            self.stops = vec![bytes.start];
            let Some(value) = self.node()? else { return Ok(None) };
            found.push(Entry { key, value, stops: std::mem::take(&mut self.stops), odd: self.odd });
        }
        if let Some(entry) = found.last_mut() {
            entry.stops.push(self.text.len());
        }
        Ok(Some(found))
    }

    /// A key, which is a text that stands there; any other is odd.
    fn key(&mut self, event: Event<'a>, span: Span) -> Result<String> {
        let at = span.byte_range().map(|bytes| bytes.start);
        if let Event::Scalar(key, _, 0, None) = event {
            return Ok(key.into_owned());
        }
        self.odd.tag = self.odd.tag.or(at);
        Ok(match self.node_of(event, span)?.map(|node| node.shape) {
            Some(Shape::Text(key, _)) => key,
            _ => String::new(),
        })
    }

    fn node(&mut self) -> Result<Option<Node>> {
        let Some((event, span)) = self.events.next()? else { return Ok(None) };
        self.node_of(event, span)
    }

    fn node_of(&mut self, event: Event<'a>, span: Span) -> Result<Option<Node>> {
        let Some(bytes) = span.byte_range() else { return Ok(None) };
        self.stops.push(bytes.start);
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(_, anchor, tag)
            | Event::MappingStart(_, anchor, tag) => (*anchor, tag.is_some()),
            Event::Alias(anchor) => {
                let Some((node, odd)) = self.anchors.get(anchor) else { return Ok(None) };
                self.odd.add(*odd);
                self.odd.link = self.odd.link.or(Some(bytes.start));
                return copy(node).map(Some);
            }
            _ => return Ok(None),
        };
        let outer = std::mem::take(&mut self.odd);
        if tag {
            self.odd.tag = Some(bytes.start);
        }
        let node = match event {
            Event::Scalar(text, style, ..) => {
                let bytes = self.trimmed(bytes, style);
                Some(Node { shape: Shape::Text(text.into_owned(), style), flows: false, bytes })
            }
            Event::SequenceStart(style, ..) => self.list(style == StructureStyle::Flow, bytes.start)?,
            Event::MappingStart(style, ..) => self.map(style == StructureStyle::Flow, bytes.start)?,
            _ => None,
        };
        if let (Some(node), true) = (&node, anchor != 0) {
            self.anchors.insert(anchor, (copy(node)?, self.odd));
            self.odd.link = self.odd.link.or(Some(node.bytes.start));
        }
        let own = std::mem::replace(&mut self.odd, outer);
        self.odd.add(own);
        Ok(node)
    }

    fn list(&mut self, flows: bool, start: usize) -> Result<Option<Node>> {
        let mut items = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            if matches!(event, Event::SequenceEnd) {
                let end = span.byte_range().map_or(start, |end| end.end);
                return Ok(Some(Node { shape: Shape::List(items), flows, bytes: start..end }));
            }
            let Some(item) = self.node_of(event, span)? else { return Ok(None) };
            items.push(item);
        }
    }

    fn map(&mut self, flows: bool, start: usize) -> Result<Option<Node>> {
        let mut entries = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            if matches!(event, Event::MappingEnd) {
                let end = span.byte_range().map_or(start, |end| end.end);
                return Ok(Some(Node { shape: Shape::Map(entries), flows, bytes: start..end }));
            }
            self.stops.extend(span.byte_range().map(|bytes| bytes.start));
            let key = self.key(event, span)?;
            let Some(value) = self.node()? else { return Ok(None) };
            entries.push((key, value));
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

/// The same node once more: an alias of an alias may make it large.
fn copy(node: &Node) -> Result<Node> {
    guard::spend(ITEM)?;
    let shape = match &node.shape {
        Shape::Text(text, style) => Shape::Text(text.clone(), *style),
        Shape::List(items) => Shape::List(items.iter().map(copy).collect::<Result<_>>()?),
        Shape::Map(entries) => {
            let entry = |(key, value): &(String, Node)| Ok((key.clone(), copy(value)?));
            Shape::Map(entries.iter().map(entry).collect::<Result<_>>()?)
        }
    };
    Ok(Node { shape, flows: node.flows, bytes: node.bytes.clone() })
}
