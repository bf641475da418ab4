//! XML 1.0 as a tree of elements behind a handle.

#[cfg(test)]
mod tests;

use super::input::ParserInput;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Json, Kind, Map, Object, Text, Value, no_field};
use serde_json::json;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// The code of errors in the text.
const CODE: Code = Code("parse.xml");

/// The maximum number of elements, texts and comments.
const MAX_NODES: u32 = 4_000_000;

/// Declarations of entities, which can expand without bound if they refer to others, and of attributes, which an
/// element can then have without stating them.
const DECLARED: [&[u8]; 2] = [b"<!ENTITY", b"<!ATTLIST"];

/// An element. Its children are the items of the handle.
#[derive(Clone)]
pub struct Xml {
    tree: Arc<XmlTree>,
    at: usize,
}

struct XmlTree {
    /// The elements in document order.
    elements: Vec<XmlElement>,
    /// The text of all elements, in document order.
    text: String,
    /// The children of all elements. Each element has a contiguous run of them.
    children: Vec<u32>,
}

struct XmlElement {
    name: Text,
    attributes: Vec<(Text, Text)>,
    line: usize,
    /// The part of the tree's text that is in it.
    text: Range<usize>,
    children: Range<usize>,
}

impl Xml {
    /// The root element of a text. Names have no prefix, except that the later of two attributes that differ only in
    /// the prefix keeps its own. A document type declaration is skipped. One that declares entities or attributes is
    /// refused, so the only entities are the five of XML, and the only attributes are those that are written out.
    /// Elements nested more than 256 levels deep, and more than a thousand attributes of one element, are refused too.
    pub fn parse(input: &ParserInput<'_>) -> Result<Value> {
        if let Some((at, message, help)) = find_out_of_bounds(input.text())? {
            return Err(input.error(CODE, at, message).help(help));
        }
        let options = roxmltree::ParsingOptions {
            nodes_limit: MAX_NODES,
            // External declarations are never read.
            allow_dtd: DECLARED.iter().all(|word| memchr::memmem::find(input.text().as_bytes(), word).is_none()),
            ..roxmltree::ParsingOptions::default()
        };
        let document = roxmltree::Document::parse_with_options(input.text(), options);
        guard::check()?;
        let document = document.map_err(|error| {
            let at = match error {
                roxmltree::Error::DtdDetected => input.text().find("<!DOCTYPE").unwrap_or_default(),
                _ => input.offset(error.pos().row as usize, error.pos().col as usize),
            };
            let message = match error {
                roxmltree::Error::DtdDetected => {
                    "the text has a document type declaration with `<!ENTITY` or `<!ATTLIST`".to_owned()
                }
                _ => error.to_string(),
            };
            let message = message.split(" at ").next().unwrap_or_default();
            let help = match error {
                roxmltree::Error::DtdDetected => {
                    "declared entities and attributes are not supported: write out their values and remove the declarations"
                }
                _ => "close every element, quote attributes, and write `&` and `<` as `&amp;` and `&lt;`",
            };
            input.error(CODE, at, message).help(help)
        })?;
        let tree = XmlTree::read(input, &document)?;
        Ok(Value::handle(Self { tree: Arc::new(tree), at: 0 }))
    }

    /// The value of an attribute, by its name as in `attributes`.
    pub fn attribute(&self, name: &str) -> Option<Text> {
        self.element().attributes.iter().find(|(known, _)| &**known == name).map(|(_, value)| Arc::clone(value))
    }

    /// The elements that a path from here leads to, in document order and without duplicates. A step is a name, `*` for
    /// any one element, or `**` for any number of elements, including none.
    pub fn select(&self, path: &str) -> Result<Vec<Value>> {
        let mut found = vec![self.at];
        for step in path.split('/') {
            guard::check()?;
            found = match step {
                "" => {
                    let message = format!("`{path}` is not a path of elements: it has an empty step");
                    return Err(Diagnostic::new(Code::ARGUMENTS, message)
                        .help("write steps as `a/b`, `*/b` or `**/b`; the path starts below the element"));
                }
                "**" => self.tree.with_all_below(&found)?,
                name => self.tree.children_named(&found, name)?,
            };
        }
        Ok(found.into_iter().map(|at| self.handle(at)).collect())
    }

    fn handle(&self, at: usize) -> Value {
        Value::handle(Self { tree: Arc::clone(&self.tree), at })
    }

    fn element(&self) -> &XmlElement {
        &self.tree.elements[self.at]
    }

    fn text(&self) -> &str {
        &self.tree.text[self.element().text.clone()]
    }

    fn attributes(&self) -> impl Iterator<Item = &(Text, Text)> {
        self.element().attributes.iter()
    }

    fn children(&self) -> &[u32] {
        &self.tree.children[self.element().children.clone()]
    }
}

impl XmlTree {
    fn read(input: &ParserInput<'_>, document: &roxmltree::Document<'_>) -> Result<Self> {
        let mut tree = Self { elements: Vec::new(), text: String::new(), children: Vec::new() };
        let (mut seen, mut line) = (0, 1);
        // The enclosing elements, each with the node that ends it and the children found so far.
        let mut open: Vec<(roxmltree::NodeId, usize, Vec<u32>)> = Vec::new();
        for node in document.root().descendants().skip(1) {
            guard::check()?;
            while open.last().is_some_and(|(id, ..)| node.parent().map(|parent| parent.id()) != Some(*id)) {
                tree.close(open.pop());
            }
            if node.is_text() {
                tree.text.push_str(node.text().unwrap_or_default());
            } else if node.is_element() {
                let start = node.range().start;
                line += memchr::memchr_iter(b'\n', &input.text().as_bytes()[seen..start]).count();
                seen = start;
                if open.len() == MAX_DEPTH {
                    let message = format!("elements are nested more than {MAX_DEPTH} levels deep");
                    return Err(input.error(CODE, start, message).help("flatten the text; deeper nesting is not read"));
                }
                let at = tree.elements.len();
                if let Some((.., children)) = open.last_mut() {
                    children.push(u32::try_from(at).unwrap_or(u32::MAX));
                }
                open.push((node.id(), at, Vec::new()));
                tree.elements.push(XmlElement {
                    name: node.tag_name().name().into(),
                    attributes: attributes_of(&node),
                    line,
                    text: tree.text.len()..tree.text.len(),
                    children: 0..0,
                });
            }
        }
        while !open.is_empty() {
            tree.close(open.pop());
        }
        Ok(tree)
    }

    fn close(&mut self, open: Option<(roxmltree::NodeId, usize, Vec<u32>)>) {
        let Some((_, at, children)) = open else { return };
        let start = self.children.len();
        self.children.extend(children);
        let element = &mut self.elements[at];
        element.text.end = self.text.len();
        element.children = start..self.children.len();
    }

    fn children_of(&self, at: usize) -> impl Iterator<Item = usize> {
        self.children[self.elements[at].children.clone()].iter().map(|child| *child as usize)
    }

    fn children_named(&self, parents: &[usize], name: &str) -> Result<Vec<usize>> {
        let mut found = Vec::new();
        for parent in parents {
            guard::check()?;
            found.extend(self.children_of(*parent).filter(|at| name == "*" || &*self.elements[*at].name == name));
        }
        // If one parent contains another, the children of both are interleaved.
        found.sort_unstable();
        Ok(found)
    }

    /// The sorted indexes `found` and all elements below them. Elements are in document order, so one forward pass
    /// marks them.
    fn with_all_below(&self, found: &[usize]) -> Result<Vec<usize>> {
        let mut inside = vec![false; self.elements.len()];
        for at in found {
            inside[*at] = true;
        }
        for at in found.first().copied().unwrap_or(0)..inside.len() {
            guard::check()?;
            if inside[at] {
                self.children_of(at).for_each(|child| inside[child] = true);
            }
        }
        Ok(inside.iter().enumerate().filter(|(_, inside)| **inside).map(|(at, _)| at).collect())
    }
}

/// The attributes of an element, each name once. An attribute without a prefix always keeps its plain name.
fn attributes_of(node: &roxmltree::Node<'_, '_>) -> Vec<(Text, Text)> {
    let bare = node.attributes().filter(|attribute| attribute.namespace().is_none());
    let mut names: BTreeSet<&str> = bare.map(|attribute| attribute.name()).collect();
    let named = node.attributes().map(|attribute| {
        let name = attribute.name();
        let prefix = attribute.namespace().and_then(|space| node.lookup_prefix(space));
        let name: Text = match prefix {
            Some(prefix) if !names.insert(name) => format!("{prefix}:{name}").into(),
            _ => name.into(),
        };
        (name, attribute.value().into())
    });
    named.collect()
}

impl Object for Xml {
    fn kind(&self) -> Kind {
        Kind::Xml
    }

    /// `name` without prefix; `text` of the element and everything below; `line` of its start tag; `attributes` as a
    /// map.
    fn field(&self, name: &str) -> Result<Value> {
        Ok(match name {
            "name" => Value::Text(Arc::clone(&self.element().name)),
            "text" => self.text().into(),
            "line" => self.element().line.into(),
            "attributes" => Value::Map(
                self.attributes()
                    .map(|(name, value)| (Arc::clone(name), Value::Text(Arc::clone(value))))
                    .collect::<Map>(),
            ),
            _ => return Err(no_field(Kind::Xml, name, &["name", "text", "line", "attributes"])),
        })
    }

    /// Its name, attributes and children; its text if it has no children.
    fn to_json(&self) -> Json {
        let attributes: serde_json::Map<String, Json> =
            self.attributes().map(|(name, value)| (name.to_string(), Json::from(&**value))).collect();
        let mut json = json!({ "name": &*self.element().name, "attributes": attributes });
        if self.children().is_empty() {
            json["text"] = self.text().into();
        } else {
            let child = |at: &u32| Self { tree: Arc::clone(&self.tree), at: *at as usize }.to_json();
            json["children"] = Json::Array(self.children().iter().map(child).collect());
        }
        json
    }

    fn length(&self) -> Option<usize> {
        Some(self.children().len())
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.children().get(index).map(|at| self.handle(*at as usize))
    }
}

/// The maximum nesting depth of elements.
const MAX_DEPTH: usize = 256;

/// The maximum number of attributes of one element. The XML library compares each with each.
const MAX_ATTRIBUTES: usize = 1_000;

/// The position, the message and the next step.
type OutOfBounds = (usize, String, &'static str);

/// The next step if a limit is exceeded.
const FLATTER: &str = "split the text, or flatten it";

/// The first position that exceeds a limit, with the reason. The XML library takes quadratic time there. This is one
/// pass over the tags, which need not be well-formed.
fn find_out_of_bounds(text: &str) -> Result<Option<OutOfBounds>> {
    //= docs/spec.md#robustness
    //# A parser MUST NOT panic, whatever text it is given.
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        guard::check()?;
        let start = at + found;
        if let Some(wrong) = wrong_reference(bytes, at..start)? {
            return Ok(Some(wrong));
        }
        let rest = &bytes[start..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((begin, end)) = special.iter().find(|(begin, _)| rest.starts_with(begin.as_bytes())) {
            let inner = &rest[begin.len()..];
            let length = memchr::memmem::find(inner, end.as_bytes()).map_or(inner.len(), |found| found + end.len());
            at = start + begin.len() + length;
            continue;
        }
        let (length, attributes) = scan_tag(rest);
        at = start + length;
        if let Some(wrong) = wrong_reference(bytes, start..at)? {
            return Ok(Some(wrong));
        }
        if attributes > MAX_ATTRIBUTES {
            return Ok(Some((start, format!("an element has more than {MAX_ATTRIBUTES} attributes"), FLATTER)));
        }
        match rest.get(1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!') | None => {}
            _ if bytes[start..at].ends_with(b"/>") => {}
            _ => depth += 1,
        }
        if depth > MAX_DEPTH {
            return Ok(Some((start, format!("elements are nested more than {MAX_DEPTH} levels deep"), FLATTER)));
        }
    }
    wrong_reference(bytes, at.min(bytes.len())..bytes.len())
}

/// The first reference, in a part of a text, to something that is not a character (XML 1.0, section 4.1). The XML
/// library would substitute a placeholder for it.
fn wrong_reference(bytes: &[u8], part: Range<usize>) -> Result<Option<OutOfBounds>> {
    let mut from = part.start;
    while let Some(found) = memchr::memmem::find(&bytes[from..part.end], b"&#") {
        guard::check()?;
        let start = from + found;
        from = start + 2;
        let Some(length) = memchr::memchr(b';', &bytes[from..part.end.min(from + MAX_CODE_POINT_DIGITS)]) else {
            continue;
        };
        let digits = std::str::from_utf8(&bytes[from..from + length]).unwrap_or_default();
        let number = match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let is_character = |one: char| matches!(one, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
        if !number.is_ok_and(|number| char::from_u32(number).is_some_and(is_character)) {
            let help = "write the character itself, or remove it";
            return Ok(Some((start, format!("`&#{digits};` is not a character"), help)));
        }
    }
    Ok(None)
}

/// A longer number is not a character, however many leading zeros it has.
const MAX_CODE_POINT_DIGITS: usize = 32;

/// The length of a tag and the number of its attributes.
fn scan_tag(text: &[u8]) -> (usize, usize) {
    let (mut at, mut attributes) = (1, 0);
    while let Some(sign) = text.get(at) {
        match sign {
            b'>' => return (at + 1, attributes),
            b'=' => attributes += 1,
            b'"' | b'\'' => at += memchr::memchr(*sign, &text[at + 1..]).map_or(text.len(), |found| found + 1),
            _ => {}
        }
        at += 1;
    }
    (text.len(), attributes)
}
