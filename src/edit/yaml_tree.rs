//! Trees of a valid YAML text, built from its parser events: the positions of keys and values, for edits that leave the
//! rest untouched; and their layout, for maps that are rewritten.

use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use granit_parser::{Event, Parser, ScalarStyle, Span, StrInput, StructureStyle};
use std::collections::HashMap;
use std::ops::Range;

/// The events of a YAML text without its comments.
pub(super) struct YamlEvents<'a> {
    parser: Parser<'a, StrInput<'a>>,
    seen: usize,
}

impl<'a> YamlEvents<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { parser: Parser::new_from_str(text), seen: 0 }
    }

    /// The next event that is not a comment; `None` at the end, or where the text is not YAML.
    pub(super) fn next(&mut self) -> Result<Option<(Event<'a>, Span)>> {
        loop {
            self.seen += 1;
            if self.seen.is_multiple_of(1024) {
                guard::check()?;
            }
            match self.parser.next_event() {
                Some(Ok((Event::Comment(..), _))) => {}
                Some(Ok(found)) => return Ok(Some(found)),
                Some(Err(_)) | None => return Ok(None),
            }
        }
    }
}

/// How a value is written.
pub(super) enum SourceShape {
    /// On one line, or folded over several lines.
    Scalar(ScalarStyle),
    /// `*name`.
    Alias,
    /// `- a`, or `[a]` if `flow`.
    List { flow: bool, items: Vec<SourceNode> },
    /// `a: b`, or `{a: b}` if `flow`.
    Map { flow: bool, entries: Vec<SourceEntry> },
}

/// A value and its position, without its anchor and its tag.
pub(super) struct SourceNode {
    pub(super) shape: SourceShape,
    pub(super) bytes: Range<usize>,
}

/// A key and its value.
pub(super) struct SourceEntry {
    pub(super) key: String,
    /// The position of the key.
    pub(super) at: usize,
    /// The position after its colon.
    pub(super) colon: usize,
    pub(super) value: SourceNode,
}

impl SourceNode {
    /// Whether it is a list or a map in block style.
    pub(super) fn is_block(&self) -> bool {
        matches!(self.shape, SourceShape::List { flow: false, .. } | SourceShape::Map { flow: false, .. })
    }
}

/// The tree of a valid YAML text; `None` if it has no value, or if a key is not a scalar on its line.
pub(super) fn read_source_tree(text: &str) -> Result<Option<SourceNode>> {
    let mut reader = SourceReader { text, events: YamlEvents::new(text) };
    loop {
        match reader.events.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((event, span)) => return reader.node(event, span),
            None => return Ok(None),
        }
    }
}

struct SourceReader<'a> {
    text: &'a str,
    events: YamlEvents<'a>,
}

impl<'a> SourceReader<'a> {
    fn node(&mut self, event: Event<'a>, span: Span) -> Result<Option<SourceNode>> {
        let Some(bytes) = span.byte_range() else { return Ok(None) };
        Ok(match event {
            Event::Scalar(text, style, _, _) => {
                let keeps_ends = text.ends_with("\n\n");
                Some(SourceNode { shape: SourceShape::Scalar(style), bytes: self.trimmed(bytes, keeps_ends) })
            }
            Event::Alias(_) => Some(SourceNode { shape: SourceShape::Alias, bytes }),
            Event::SequenceStart(style, ..) => self.list(style == StructureStyle::Flow, bytes.start)?,
            Event::MappingStart(style, ..) => self.map(style == StructureStyle::Flow, bytes.start)?,
            _ => None,
        })
    }

    fn list(&mut self, flow: bool, start: usize) -> Result<Option<SourceNode>> {
        let mut items: Vec<SourceNode> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            if matches!(event, Event::SequenceEnd) {
                let last = items.last().map_or(start, |item| item.bytes.end);
                let end = if flow { span.byte_range().map_or(last, |bytes| bytes.end) } else { last };
                return Ok(Some(SourceNode { shape: SourceShape::List { flow, items }, bytes: start..end }));
            }
            let Some(item) = self.node(event, span)? else { return Ok(None) };
            items.push(item);
        }
    }

    fn map(&mut self, flow: bool, start: usize) -> Result<Option<SourceNode>> {
        let mut entries: Vec<SourceEntry> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            let Some(bytes) = span.byte_range() else { return Ok(None) };
            match event {
                Event::MappingEnd => {
                    let last = entries.last().map_or(start, |entry| entry.value.bytes.end);
                    let end = if flow { bytes.end } else { last };
                    return Ok(Some(SourceNode { shape: SourceShape::Map { flow, entries }, bytes: start..end }));
                }
                Event::Scalar(key, ..) => {
                    let Some(colon) = self.colon(&bytes, flow) else { return Ok(None) };
                    let Some((event, span)) = self.events.next()? else { return Ok(None) };
                    let Some(mut value) = self.node(event, span)? else { return Ok(None) };
                    if value.bytes.is_empty() {
                        value.bytes = colon..colon;
                    }
                    entries.push(SourceEntry { key: key.into_owned(), at: bytes.start, colon, value });
                }
                _ => return Ok(None),
            }
        }
    }

    /// The position after the colon of a key; if it has no colon, as flow maps allow, the end of the key.
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

    /// The bytes without the line end that the parser includes in a block scalar, and without blank lines below it,
    /// unless they are part of the text.
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

/// A value and its position.
pub(super) struct LayoutNode {
    pub(super) shape: LayoutShape,
    /// Whether it is written as `[…]` or `{…}`.
    pub(super) flows: bool,
    pub(super) bytes: Range<usize>,
}

/// The structure of a value.
pub(super) enum LayoutShape {
    Text(String, ScalarStyle),
    List(Vec<LayoutNode>),
    Map(Vec<(String, LayoutNode)>),
}

/// An entry of the outermost map.
pub(super) struct LayoutEntry {
    pub(super) key: String,
    pub(super) value: LayoutNode,
    /// The positions where its keys and values begin, followed by the position where the entry ends.
    pub(super) stops: Vec<usize>,
    pub(super) properties: NodeProperties,
}

/// Properties of an entry that its structure does not show: the position of the first of each.
#[derive(Clone, Copy, Default)]
pub(super) struct NodeProperties {
    /// A tag, or a key that is not a text. Such an entry is copied as written, or not at all.
    pub(super) tag: Option<usize>,
    /// An anchor or an alias. The structure contains the value that it refers to.
    pub(super) link: Option<usize>,
}

impl NodeProperties {
    pub(super) fn is_any(self) -> bool {
        self.tag.or(self.link).is_some()
    }

    fn add(&mut self, other: Self) {
        self.tag = self.tag.or(other.tag);
        self.link = self.link.or(other.link);
    }
}

/// The outermost map of a text that was parsed before.
pub(super) struct YamlLayout {
    /// Its entries; `None` if it is written as `{…}`.
    pub(super) entries: Option<Vec<LayoutEntry>>,
    /// The position of the first tag that belongs to no entry.
    pub(super) tag: Option<usize>,
}

/// The outermost map of a text. Aliases are replaced by the values they refer to.
pub(super) fn read_layout(text: &str) -> Result<YamlLayout> {
    let mut reader = LayoutReader {
        text,
        events: YamlEvents::new(text),
        stops: Vec::new(),
        properties: NodeProperties::default(),
        anchors: HashMap::new(),
    };
    loop {
        match reader.events.next()? {
            Some((Event::StreamStart | Event::DocumentStart(..), _)) => {}
            Some((Event::MappingStart(StructureStyle::Block, _, tag), span)) => {
                let tag = tag.and(span.byte_range()).map(|bytes| bytes.start);
                return Ok(YamlLayout { entries: reader.outermost()?, tag });
            }
            Some((event, span)) => {
                reader.node_of(event, span)?;
                return Ok(YamlLayout { entries: None, tag: reader.properties.tag });
            }
            None => return Ok(YamlLayout { entries: None, tag: None }),
        }
    }
}

struct LayoutReader<'a> {
    text: &'a str,
    events: YamlEvents<'a>,
    stops: Vec<usize>,
    /// The properties found so far in the current entry.
    properties: NodeProperties,
    /// The values of anchors, and their properties.
    anchors: HashMap<usize, (LayoutNode, NodeProperties)>,
}

impl<'a> LayoutReader<'a> {
    fn outermost(&mut self) -> Result<Option<Vec<LayoutEntry>>> {
        let mut found: Vec<LayoutEntry> = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            let Some(bytes) = span.byte_range() else { return Ok(None) };
            self.properties = NodeProperties::default();
            let key = match event {
                Event::MappingEnd => break,
                event => self.key(event, span)?,
            };
            if let Some(entry) = found.last_mut() {
                entry.stops.push(bytes.start);
            }
            self.stops = vec![bytes.start];
            let Some(value) = self.node()? else { return Ok(None) };
            found.push(LayoutEntry { key, value, stops: std::mem::take(&mut self.stops), properties: self.properties });
        }
        if let Some(entry) = found.last_mut() {
            entry.stops.push(self.text.len());
        }
        Ok(Some(found))
    }

    /// Reads a key, which must be a text as written. Any other key is recorded as odd.
    fn key(&mut self, event: Event<'a>, span: Span) -> Result<String> {
        let at = span.byte_range().map(|bytes| bytes.start);
        if let Event::Scalar(key, _, 0, None) = event {
            return Ok(key.into_owned());
        }
        self.properties.tag = self.properties.tag.or(at);
        Ok(match self.node_of(event, span)?.map(|node| node.shape) {
            Some(LayoutShape::Text(key, _)) => key,
            _ => String::new(),
        })
    }

    fn node(&mut self) -> Result<Option<LayoutNode>> {
        let Some((event, span)) = self.events.next()? else { return Ok(None) };
        self.node_of(event, span)
    }

    fn node_of(&mut self, event: Event<'a>, span: Span) -> Result<Option<LayoutNode>> {
        let Some(bytes) = span.byte_range() else { return Ok(None) };
        self.stops.push(bytes.start);
        let (anchor, tag) = match &event {
            Event::Scalar(_, _, anchor, tag)
            | Event::SequenceStart(_, anchor, tag)
            | Event::MappingStart(_, anchor, tag) => (*anchor, tag.is_some()),
            Event::Alias(anchor) => {
                let Some((node, properties)) = self.anchors.get(anchor) else { return Ok(None) };
                self.properties.add(*properties);
                self.properties.link = self.properties.link.or(Some(bytes.start));
                return copy_node(node).map(Some);
            }
            _ => return Ok(None),
        };
        let outer = std::mem::take(&mut self.properties);
        if tag {
            self.properties.tag = Some(bytes.start);
        }
        let node = match event {
            Event::Scalar(text, style, ..) => {
                let bytes = self.trimmed(bytes, style);
                Some(LayoutNode { shape: LayoutShape::Text(text.into_owned(), style), flows: false, bytes })
            }
            Event::SequenceStart(style, ..) => self.list(style == StructureStyle::Flow, bytes.start)?,
            Event::MappingStart(style, ..) => self.map(style == StructureStyle::Flow, bytes.start)?,
            _ => None,
        };
        if let (Some(node), true) = (&node, anchor != 0) {
            self.anchors.insert(anchor, (copy_node(node)?, self.properties));
            self.properties.link = self.properties.link.or(Some(node.bytes.start));
        }
        let own = std::mem::replace(&mut self.properties, outer);
        self.properties.add(own);
        Ok(node)
    }

    fn list(&mut self, flows: bool, start: usize) -> Result<Option<LayoutNode>> {
        let mut items = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            if matches!(event, Event::SequenceEnd) {
                let end = span.byte_range().map_or(start, |end| end.end);
                return Ok(Some(LayoutNode { shape: LayoutShape::List(items), flows, bytes: start..end }));
            }
            let Some(item) = self.node_of(event, span)? else { return Ok(None) };
            items.push(item);
        }
    }

    fn map(&mut self, flows: bool, start: usize) -> Result<Option<LayoutNode>> {
        let mut entries = Vec::new();
        loop {
            let Some((event, span)) = self.events.next()? else { return Ok(None) };
            if matches!(event, Event::MappingEnd) {
                let end = span.byte_range().map_or(start, |end| end.end);
                return Ok(Some(LayoutNode { shape: LayoutShape::Map(entries), flows, bytes: start..end }));
            }
            self.stops.extend(span.byte_range().map(|bytes| bytes.start));
            let key = self.key(event, span)?;
            let Some(value) = self.node()? else { return Ok(None) };
            entries.push((key, value));
        }
    }

    /// The bytes without the blank lines and line ends that the parser includes in a scalar.
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

/// Copies a node. Aliases of aliases can make it large.
fn copy_node(node: &LayoutNode) -> Result<LayoutNode> {
    guard::spend(ITEM)?;
    let shape = match &node.shape {
        LayoutShape::Text(text, style) => LayoutShape::Text(text.clone(), *style),
        LayoutShape::List(items) => LayoutShape::List(items.iter().map(copy_node).collect::<Result<_>>()?),
        LayoutShape::Map(entries) => {
            let entry = |(key, value): &(String, LayoutNode)| Ok((key.clone(), copy_node(value)?));
            LayoutShape::Map(entries.iter().map(entry).collect::<Result<_>>()?)
        }
    };
    Ok(LayoutNode { shape, flows: node.flows, bytes: node.bytes.clone() })
}
