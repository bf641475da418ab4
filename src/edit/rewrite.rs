//! Rewrites YAML maps with their keys in a given order, and each unchanged value in its old layout.

use super::yaml_tree::{LayoutEntry, LayoutNode, LayoutShape, read_layout};
use crate::bounded::BoundedText;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM};
use crate::parse::{ParserInput, parse_yaml, yaml_flush, yaml_scalar};
use crate::value::{Json, Value, order_keys};
use granit_parser::ScalarStyle;
use serde_json::Map as JsonMap;
use std::collections::HashMap;

/// The code of a text that cannot be rewritten without loss.
const REFUSED: Code = Code("parse.yaml");

/// The units of work to read a key and write it again.
const KEY_COST: usize = 4 << 10;

/// Rewrites the text of a YAML map with `changes` applied, where `null` removes a key. The keys of `order` come first,
/// in that order, followed by the others, sorted by name.
///
/// Unchanged values keep their form: `[…]` and `{…}` stay on their line, block scalars stay block scalars, and numbers,
/// dates and the order of inner keys stay as written. Block lists are flush with their key, inner blocks are indented
/// by two, unnecessary quotes are removed, and booleans and null get one spelling. Comments and blank lines within
/// lists and maps are kept; those next to and between the outermost keys are dropped. The rules are those of
/// ruamel.yaml when it loads and dumps YAML 1.2 without preserving quotes.
///
/// An entry with an anchor, an alias, a tag or a key that is not a text stays as written. If an alias would precede or
/// lose its anchor, it is replaced by the value it refers to. A rewrite that would lose a tag is an error. The result
/// is parsed again and must contain exactly the wanted data, key by key.
pub fn rewrite_yaml(input: &ParserInput<'_>, changes: &Json, order: &[String]) -> Result<String> {
    let (data, is_map) = match parse_yaml(input)? {
        Value::Map(data) => (Value::Map(data).to_json(), true),
        Value::Null => (Json::Object(serde_json::Map::new()), false),
        _ => {
            let error = Diagnostic::new(Code::ARGUMENTS, "the text is not a YAML map");
            return Err(error.help("`rewrite_yaml` orders the keys of a map"));
        }
    };
    let empty = serde_json::Map::new();
    let (data, changes) = (data.as_object().unwrap_or(&empty), changes.as_object().unwrap_or(&empty));
    let layout = read_layout(input.text())?;
    let entries: HashMap<&String, &LayoutEntry> =
        layout.entries.iter().flatten().rev().map(|entry| (&entry.key, entry)).collect_checked()?;
    let rewrite = Rewrite {
        input,
        data,
        changes,
        order,
        keys: ordered_keys(data, changes, order)?,
        entries,
        tag: layout.tag,
        is_map,
    };
    let odd = rewrite.entries.values().any(|entry| entry.properties.is_any());
    if odd
        && let Some(text) = rewrite.text(AliasHandling::Stay)?
        && rewrite.is_fulfilled_by(&text)
    {
        return Ok(text);
    }
    let text = rewrite.text(AliasHandling::WrittenOut)?.unwrap_or_default();
    match rewrite.is_fulfilled_by(&text) {
        true => Ok(text),
        false => Err(rewrite.refused(rewrite.first_odd(), "rewriting it would change its values")),
    }
}

/// The keys of the result, in order.
fn ordered_keys<'a>(
    data: &'a JsonMap<String, Json>,
    changes: &'a JsonMap<String, Json>,
    order: &[String],
) -> Result<Vec<&'a String>> {
    let mut keys: Vec<&String> = data.keys().chain(changes.keys().filter(|key| !data.contains_key(*key))).collect();
    keys.retain(|key| changes.get(*key).is_none_or(|value| !value.is_null()));
    // If a key is named twice, its first position is used.
    let places: HashMap<&String, usize> =
        order.iter().enumerate().map(|(place, key)| (key, place)).rev().collect_checked()?;
    let place = |key: &String| places.get(key).copied().unwrap_or(order.len());
    keys.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| a.cmp(b)));
    Ok(keys)
}

/// Whether anchors and aliases are kept, or aliases are replaced by the values they refer to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AliasHandling {
    Stay,
    WrittenOut,
}

/// A text to rewrite, with its changes.
struct Rewrite<'a> {
    input: &'a ParserInput<'a>,
    data: &'a JsonMap<String, Json>,
    changes: &'a JsonMap<String, Json>,
    order: &'a [String],
    keys: Vec<&'a String>,
    entries: HashMap<&'a String, &'a LayoutEntry>,
    /// The position of the first tag that belongs to no entry.
    tag: Option<usize>,
    /// Whether the text is a map, as opposed to empty.
    is_map: bool,
}

impl Rewrite<'_> {
    /// The rewritten text; `None` if aliases should be kept and cannot be.
    ///
    /// # Errors
    /// A tag would be lost.
    fn text(&self, links: AliasHandling) -> Result<Option<String>> {
        if let Some(at) = self.tag {
            return Err(self.refused(at, "its tag would be lost"));
        }
        let source = self.input.text();
        let mut text = BoundedText::default();
        for key in &self.keys {
            guard::spend(KEY_COST)?;
            let entry = self.entries.get(key).copied().filter(|_| !self.changes.contains_key(*key));
            let kept = match entry {
                Some(entry) if self.stands(entry, links) => as_it_stands(source, entry)?,
                Some(entry) if let (Some(at), Some(_)) = (entry.properties.tag, entry.properties.link) => {
                    return match links {
                        AliasHandling::Stay => Ok(None),
                        AliasHandling::WrittenOut => {
                            Err(self.refused(at, "its tag would be lost where its alias is replaced by the value"))
                        }
                    };
                }
                Some(entry) => in_its_shape(source, entry, self.data.get(*key))?,
                None => None,
            };
            match kept {
                Some(kept) => text.push(&kept)?,
                None if let Some(at) = self.tag_of(key, entry) => {
                    return Err(self.refused(at, "its tag would be lost"));
                }
                None => {
                    let value = self.changes.get(*key).or_else(|| self.data.get(*key)).cloned().unwrap_or_default();
                    let pair = Json::Object([((*key).clone(), value)].into_iter().collect());
                    text.push(&yaml_flush(&order_keys(pair, self.order))?)?;
                }
            }
        }
        // A map that lost its last key is still a map, but an empty text would be read as null.
        if self.keys.is_empty() && self.is_map {
            text.push("{}\n")?;
        }
        Ok(Some(text.into_text()))
    }

    /// The position of the first tag of a value that is rewritten although it does not change.
    fn tag_of(&self, key: &String, entry: Option<&LayoutEntry>) -> Option<usize> {
        // A key without an entry of its own comes from a merge.
        let merged = || self.entries.iter().find(|(name, _)| name.as_str() == "<<").map(|(_, entry)| *entry);
        match self.changes.contains_key(key) {
            true => None,
            false => entry.or_else(merged).and_then(|entry| entry.properties.tag),
        }
    }

    /// Whether an entry is copied unchanged.
    fn stands(&self, entry: &LayoutEntry, links: AliasHandling) -> bool {
        match links {
            AliasHandling::Stay => entry.properties.is_any(),
            AliasHandling::WrittenOut => entry.properties.tag.is_some() && entry.properties.link.is_none(),
        }
    }

    /// Whether a text parses to exactly the wanted data.
    fn is_fulfilled_by(&self, text: &str) -> bool {
        let Ok(read) = parse_yaml(&ParserInput::from_value(&text.into())) else { return false };
        let read = read.to_json();
        let count = read.as_object().map_or(0, JsonMap::len);
        let wanted = |key: &String| self.changes.get(key).or_else(|| self.data.get(key));
        count == self.keys.len() && self.keys.iter().all(|key| is_same(self.input.text(), read.get(*key), wanted(key)))
    }

    fn first_odd(&self) -> usize {
        let odd = self.entries.values().filter_map(|entry| entry.properties.tag.or(entry.properties.link));
        odd.min().unwrap_or(0)
    }

    fn refused(&self, at: usize, why: &str) -> Box<Diagnostic> {
        let line = self.input.text()[..at].matches('\n').count() + 1;
        let message = format!("line {line} of the text cannot be rewritten: {why}");
        self.input
            .error(REFUSED, at, message)
            .help("use `edit_front_matter`, which touches only what changes, or write out tags and aliases")
    }
}

/// The lines of an entry, without trailing comments that belong to no value; `None` if the lines cannot be parsed on
/// their own.
fn as_it_stands(source: &str, entry: &LayoutEntry) -> Result<Option<String>> {
    let (Some(first), Some(last)) = (entry.stops.first(), entry.stops.last()) else { return Ok(None) };
    let line_start = |at: usize| source[..at].rfind('\n').map_or(0, |end| end + 1);
    let (start, end) = (line_start(*first), if *last == source.len() { *last } else { line_start(*last) });
    let column = source[start..].len() - source[start..].trim_start_matches(' ').len();
    let mut lines: Vec<&str> = source.get(start..end).unwrap_or_default().split_inclusive('\n').collect();
    guard::spend(lines.len() * ITEM)?;
    // Blank lines may belong to a block scalar that keeps them.
    let keeps = lines.iter().any(|line| line.contains("|+") || line.contains(">+"));
    let is_loose = |line: &str| {
        let inked = line.trim_end();
        (inked.is_empty() && !keeps) || inked.starts_with('#') || inked == "..."
    };
    while lines.last().is_some_and(|line| is_loose(line)) {
        lines.pop();
    }
    let mut text = String::new();
    for line in lines {
        let indent = line.len() - line.trim_start_matches(' ').len();
        if indent < column && !line.trim().is_empty() {
            return Ok(None);
        }
        text.push_str(&line[indent.min(column)..]);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    Ok(Some(text.replace("\r\n", "\n")))
}

/// An entry in its old layout; `None` if that would be read as a different value.
fn in_its_shape(source: &str, entry: &LayoutEntry, value: Option<&Json>) -> Result<Option<String>> {
    let mut writer = EntryWriter { source, stops: &entry.stops, text: BoundedText::default(), column: 0 };
    writer.entry(&entry.key, &entry.value, 0)?;
    let text = writer.text.into_text();
    let read = parse_yaml(&ParserInput::from_value(&text.as_str().into()));
    Ok(read.is_ok_and(|read| is_same(source, read.to_json().get(&entry.key), value)).then_some(text))
}

fn is_same(source: &str, read: Option<&Json>, value: Option<&Json>) -> bool {
    match (read, value) {
        // At the end of the text, a block scalar may lack its final line end.
        (Some(Json::String(read)), Some(Json::String(value))) => {
            read == value || !source.ends_with('\n') && value.strip_suffix('\n') == Some(read)
        }
        (read, value) => read == value,
    }
}

/// Writes an entry in the layout that it has in the source.
struct EntryWriter<'a> {
    source: &'a str,
    /// The positions where keys and values of the current entry begin, followed by the end of the entry.
    stops: &'a [usize],
    text: BoundedText,
    /// The number of characters of the line that is being written.
    column: usize,
}

impl EntryWriter<'_> {
    fn push(&mut self, text: &str) -> Result<()> {
        self.column = text.rfind('\n').map_or(self.column + text.chars().count(), |at| text[at + 1..].chars().count());
        self.text.push(text)
    }

    fn entry(&mut self, key: &str, value: &LayoutNode, indent: usize) -> Result<()> {
        self.push(&yaml_scalar(key, false, false))?;
        self.push(":")?;
        match &value.shape {
            LayoutShape::List(items) if !value.flows => {
                self.push("\n")?;
                self.above(value.bytes.start)?;
                self.list(items, indent, false)
            }
            LayoutShape::Map(entries) if !value.flows => {
                self.push("\n")?;
                self.above(value.bytes.start)?;
                self.map(entries, indent + 2, false)
            }
            shape => {
                let text = scalar(shape, self.source, value, indent + 2);
                if !text.is_empty() {
                    self.push(" ")?;
                }
                self.push(&text)?;
                self.end(value, indent == 0)
            }
        }
    }

    /// If `begun`, the first entry follows the `- ` of a list item.
    fn map(&mut self, entries: &[(String, LayoutNode)], indent: usize, mut begun: bool) -> Result<()> {
        for (key, value) in entries {
            if !std::mem::take(&mut begun) {
                self.push(&" ".repeat(indent))?;
            }
            self.entry(key, value, indent)?;
        }
        Ok(())
    }

    fn list(&mut self, items: &[LayoutNode], indent: usize, mut begun: bool) -> Result<()> {
        for item in items {
            if !std::mem::take(&mut begun) {
                self.push(&" ".repeat(indent))?;
            }
            self.push("- ")?;
            match &item.shape {
                LayoutShape::List(items) if !item.flows => self.list(items, indent + 2, true)?,
                LayoutShape::Map(entries) if !item.flows => self.map(entries, indent + 2, true)?,
                shape => {
                    self.push(&scalar(shape, self.source, item, indent + 2))?;
                    self.end(item, false)?;
                }
            }
        }
        Ok(())
    }

    /// Writes the line end of a value and the comments and blank lines after it. After an `outermost` value they are
    /// dropped, except for a comment next to a flow collection.
    fn end(&mut self, value: &LayoutNode, outermost: bool) -> Result<()> {
        guard::spend(self.stops.len())?;
        let at = value.bytes.end;
        if self.is_elsewhere(value) {
            return self.push("\n");
        }
        let stop = self.stops.iter().copied().find(|stop| *stop >= at && *stop > value.bytes.start).unwrap_or(at);
        let rest = self.source.get(at..stop).unwrap_or_default();
        let (line, below) = rest.split_once('\n').unwrap_or((rest, ""));
        if outermost && !(value.flows && line.trim_start().starts_with('#')) {
            return self.push("\n");
        }
        if line.trim_start().starts_with('#') {
            let line_start = self.source[..at].rfind('\n').map_or(0, |at| at + 1);
            let column = self.source[line_start..at].chars().count() + line.len() - line.trim_start().len();
            let blanks = column.saturating_sub(self.column).max(1);
            self.push(&" ".repeat(blanks))?;
            self.push(line.trim())?;
        }
        self.push("\n")?;
        self.gap(below)
    }

    /// Whether a value is in another entry and was reached through an alias. If so, its surroundings there are not
    /// copied.
    fn is_elsewhere(&self, value: &LayoutNode) -> bool {
        self.stops.first().is_some_and(|first| value.bytes.start < *first)
    }

    /// Writes the comments and blank lines between a key and its block.
    fn above(&mut self, start: usize) -> Result<()> {
        guard::spend(self.stops.len())?;
        let from = self.stops.iter().copied().rfind(|stop| *stop < start).unwrap_or(start);
        let Some((_, below)) = self.source.get(from..start).unwrap_or_default().split_once('\n') else { return Ok(()) };
        self.gap(below)
    }

    /// Writes those lines that contain no part of a value.
    fn gap(&mut self, lines: &str) -> Result<()> {
        for line in lines.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let line = line.trim_end();
            if line.is_empty() || line.trim_start().starts_with('#') {
                self.push(line)?;
                self.push("\n")?;
            }
        }
        Ok(())
    }
}

/// A value on its line, or a block scalar whose lines after the first are indented by `indent`.
fn scalar(shape: &LayoutShape, source: &str, node: &LayoutNode, indent: usize) -> String {
    match shape {
        LayoutShape::Text(text, ScalarStyle::Literal | ScalarStyle::Folded) => block(source, node, text, indent),
        LayoutShape::Text(text, style) => one_line(text, *style, false),
        shape => flow(shape),
    }
}

fn flow(shape: &LayoutShape) -> String {
    match shape {
        LayoutShape::Text(text, style) => one_line(text, *style, true),
        LayoutShape::List(items) => {
            // A map with one pair needs no braces in a flow list.
            let item = |item: &LayoutNode| match (&item.shape, flow(&item.shape)) {
                (LayoutShape::Map(entries), text) if entries.len() == 1 => text[1..text.len() - 1].to_owned(),
                (_, text) => text,
            };
            let items: Vec<String> = items.iter().map(item).collect();
            format!("[{}]", items.join(", "))
        }
        LayoutShape::Map(entries) => {
            let pair = |(key, value): &(String, LayoutNode)| {
                format!("{}: {}", yaml_scalar(key, true, false), flow(&value.shape))
            };
            format!("{{{}}}", entries.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

fn one_line(text: &str, style: ScalarStyle, flows: bool) -> String {
    match (text, style) {
        ("" | "~" | "null" | "Null" | "NULL", ScalarStyle::Plain) => if flows { "null" } else { "" }.to_owned(),
        ("true" | "True" | "TRUE", ScalarStyle::Plain) => "true".to_owned(),
        ("false" | "False" | "FALSE", ScalarStyle::Plain) => "false".to_owned(),
        (text, ScalarStyle::Plain) => text.to_owned(),
        (text, _) => yaml_scalar(text, flows, false),
    }
}

/// A block scalar as written, at another indentation. Its bytes begin with its first line.
fn block(source: &str, node: &LayoutNode, text: &str, indent: usize) -> String {
    let above = source.get(..node.bytes.start).unwrap_or_default().trim_end();
    let head = above.rsplit('\n').next().unwrap_or_default();
    let head = head.split(" #").next().unwrap_or_default().trim_end();
    let head = &head[head.rfind(['|', '>']).unwrap_or(head.len())..];
    let mut made: String = head.chars().filter(|c| "|>+".contains(*c)).collect();
    let is_last = source.get(node.bytes.end..).unwrap_or_default().trim().is_empty();
    if !text.ends_with('\n') || is_last && !source.ends_with('\n') {
        made.push('-');
    }
    let lines = source.get(above.len()..node.bytes.end).unwrap_or_default().split('\n').skip(1);
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let outdent = lines.clone().filter(|line| !line.trim().is_empty()).map(blanks).min().unwrap_or(0);
    for line in lines {
        made.push('\n');
        if !line.trim().is_empty() {
            made.push_str(&" ".repeat(indent));
            made.push_str(&line[outdent..]);
        }
    }
    let kept = if head.contains('+') { text.len() - text.trim_end_matches('\n').len() } else { 1 };
    format!("{}{}", made.trim_end(), "\n".repeat(kept.saturating_sub(1)))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn rewritten(text: &str, changes: &Json, order: &[&str]) -> String {
        let order: Vec<String> = order.iter().map(|key| (*key).to_owned()).collect();
        rewrite_yaml(&ParserInput::from_value(&text.into()), changes, &order)
            .unwrap_or_else(|error| panic!("{error}\n{text}"))
    }

    /// The results of ruamel.yaml 0.18 for the same texts.
    #[test]
    fn it_writes_as_the_dumper_of_python_does() {
        let table = [
            ("b: 'x'\na: \"no\"\n", "a: no\nb: x\n"),
            ("a: True\nb: NULL\nc: 1_000\nd: 007\ne: \"12\"\n", "a: true\nb:\nc: 1_000\nd: 007\ne: '12'\n"),
            ("a: [null, {k: \"v, w\"}, {x: 1, y: 2}]\n", "a: [null, k: 'v, w', {x: 1, y: 2}]\n"),
            (
                "a:\n  - |\n    one\n\n    two\n  - >-\n      fo\n      ld\n",
                "a:\n- |\n  one\n\n  two\n- >-\n  fo\n  ld\n",
            ),
            ("a: |+\n  keep\n\nb: |\n  last", "a: |+\n  keep\n\nb: |-\n  last\n"),
            (
                "a: x # gone\n# gone\nb:\n  # stays\n  - T1 # too\n\n  - ~\n# and this\nc: 1\n",
                "a: x\nb:\n  # stays\n- T1   # too\n\n- \n# and this\nc: 1\n",
            ),
            ("a: plain\n  cont\nb: \"it's: so\"\n", "a: plain cont\nb: \"it's: so\"\n"),
            ("a:\n    b:\n        - c\n        - d: 1\n          e: {}\n", "a:\n  b:\n  - c\n  - d: 1\n    e: {}\n"),
        ];
        for (text, wanted) in table {
            assert_eq!(rewritten(text, &json!({}), &[]), wanted, "{text}");
        }
    }

    #[test]
    fn changes_apply_in_the_given_order() {
        let changes = json!({ "c": ["x"], "a": null, "d": "" });
        assert_eq!(rewritten("a: 1\nb: [x]\n", &changes, &["d", "b"]), "d: ''\nb: [x]\nc:\n- x\n");
        assert_eq!(rewritten("a: 1\n", &json!({ "a": null }), &[]), "{}\n");
    }

    #[test]
    fn anchors_aliases_and_tags_stay_or_the_text_is_refused() {
        let table = [
            // The alias still follows its anchor, so both stay, and so does everything that belongs to them.
            ("a: &n [1] # why\nb: *n\n", json!({ "c": 1 }), "a: &n [1] # why\nb: *n\nc: 1\n"),
            ("b: !x\n  k: v # why\na: 'q'\n", json!({}), "a: q\nb: !x\n  k: v # why\n"),
            ("a: !!str 12\nb: 0x1F\nc: .inf\n", json!({ "b": null }), "a: !!str 12\nc: .inf\n"),
            (
                "base: &b {x: 1}\nown:\n  <<: *b # why\n  y: 2\n",
                json!({ "z": 3 }),
                "base: &b {x: 1}\nown:\n  <<: *b # why\n  y: 2\nz: 3\n",
            ),
            // The alias would precede or lose its anchor, so it is replaced by the value, in the layout that the value
            // has.
            ("b: &n [1, .inf, 2024-01-02]\na: *n\n", json!({}), "a: [1, .inf, 2024-01-02]\nb: [1, .inf, 2024-01-02]\n"),
            ("a: &n [1]\nb: *n\n", json!({ "a": 2 }), "a: 2\nb: [1]\n"),
        ];
        for (text, changes, wanted) in table {
            assert_eq!(rewritten(text, &changes, &[]), wanted, "{text}");
        }
        for (text, line) in [
            ("b: &n !x [1]\na: *n\n", "line 1"),
            ("# why\nb: &n [!x 1]\na: *n\n", "line 2"),
            ("!x\na: 1\n", "line "),
            ("{a: !x 1}\n", "line 1"),
            ("a: &n {k: !x 1}\n<<: *n\n", "line 1"),
        ] {
            let refused = rewrite_yaml(&ParserInput::from_value(&text.into()), &json!({}), &[])
                .map_err(|error| error.to_string());
            assert!(
                refused.as_ref().is_err_and(|why| why.contains(line) && why.contains("tag")),
                "{text}: {refused:?}"
            );
        }
    }

    fn value(depth: u32) -> BoxedStrategy<Json> {
        let scalar = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::from),
            any::<i32>().prop_map(Json::from),
            "[ -~é\u{1f43e}]{0,12}".prop_map(Json::from),
            "[a-z]{1,4}(\n{1,2}[a-z #:]{1,5}){0,3}\n?".prop_map(Json::from),
        ];
        scalar
            .prop_recursive(depth, 24, 4, |inner| {
                prop_oneof![
                    proptest::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                    proptest::collection::hash_map("[a-z ]{1,5}", inner, 0..4)
                        .prop_map(|map| Json::Object(map.into_iter().collect())),
                ]
            })
            .boxed()
    }

    proptest! {
        /// Both YAML styles, and JSON as flow style, keep the same data.
        #[test]
        fn nothing_is_lost(values in proptest::collection::vec(value(3), 1..5)) {
            let tree = Json::Object(values.into_iter().enumerate().map(|(at, value)| (format!("k{at}"), value)).collect());
            let flowing: String = tree.as_object().unwrap().iter().map(|(key, value)| format!("{key}: {value}\n")).collect();
            for text in [yaml_flush(&tree).unwrap(), crate::parse::yaml_text(&tree).unwrap(), flowing] {
                let once = rewritten(&text, &json!({}), &[]);
                let read = parse_yaml(&ParserInput::from_value(&once.as_str().into())).unwrap_or_else(|error| panic!("{error}\n{text}\n{once}"));
                prop_assert_eq!(read.to_json(), tree.clone(), "{}\n{}", text, once);
            }
        }

        /// For any text, an edit of one key leaves the data of all other keys unchanged, and its result can be edited
        /// again with the same result.
        #[test]
        fn an_edit_changes_what_it_names_and_nothing_else(text in document(), key in 0..8_usize, value in value(2)) {
            let Ok(read) = parse_yaml(&ParserInput::from_value(&text.as_str().into())) else { return Ok(()) };
            let mut wanted = read.to_json();
            let key = format!("k{key}");
            let changes = json!({ key.as_str(): value });
            match &value {
                Json::Null => drop(wanted.as_object_mut().unwrap().remove(&key)),
                value => drop(wanted.as_object_mut().unwrap().insert(key, value.clone())),
            }
            let tags = |text: &str| text.matches("!x").count();
            if let Ok(once) = rewrite_yaml(&ParserInput::from_value(&text.as_str().into()), &changes, &[]) {
                let read = parse_yaml(&ParserInput::from_value(&once.as_str().into())).unwrap_or_else(|error| panic!("{error}\n{text}\n{once}"));
                prop_assert_eq!(read.to_json(), wanted.clone(), "{}\n{}", text, once);
                let twice = rewrite_yaml(&ParserInput::from_value(&once.as_str().into()), &changes, &[]).unwrap();
                let read = parse_yaml(&ParserInput::from_value(&twice.as_str().into())).unwrap();
                prop_assert_eq!(read.to_json(), wanted.clone(), "{}\n{}", once, twice);
            }
            // The same edit in front matter, where only lines of changed values are touched.
            let fenced = format!("---\n{text}---\nText\n");
            if let Ok(edited) = crate::edit::edit_front_matter(&fenced.as_str().into(), &changes, &Default::default()) {
                let read = crate::parse::parse_front_matter(&ParserInput::from_value(&edited.as_str().into())).unwrap().to_json();
                prop_assert_eq!(&read["data"], &wanted, "{}\n{}", fenced, edited);
                let lost = tags(&fenced).saturating_sub(tags(&edited));
                let own = text.lines().skip_while(|line| !line.starts_with(&format!("{}:", changes.as_object().unwrap().keys().next().unwrap())));
                let own: String = own.enumerate().take_while(|(at, line)| *at == 0 || line.starts_with(' ') || line.starts_with('-')).map(|(_, line)| line).collect();
                prop_assert!(lost <= tags(&own), "{}\n{}", fenced, edited);
            }
        }
    }

    /// A document made of some of these entries, each with its own number. Anchors mostly precede their aliases.
    fn document() -> impl Strategy<Value = String> {
        let entry = proptest::sample::select(vec![
            "&a {x: 1, y: [2, 3]}",
            "&a [one, 'two', .inf]",
            "&a plain # beside",
            "*a",
            "[*a, 0123, 1_000]",
            "\n  <<: *a\n  own: ~",
            "{<<: *a, z: 0x1F}",
            "!x tagged",
            "!x [1, !x 2]",
            "[!x 1, !!str 2, \"3\"]",
            "\n- !x\n  k: v\n- 2024-01-02",
            "|\n  block #\n\n  text\n",
            "|+\n  keeps\n\n",
            ">-\n  folded\n  text",
            "\n  # above\n  - {a: b} # beside\n  - ~",
            "\n    deep:\n        deeper: 1:30",
            "\"double \\n: quoted\"",
            "yes",
            "-.INF",
            "12345678901234567890",
            "1e3",
            "!!binary aGk=",
        ]);
        proptest::collection::vec((entry, proptest::option::of(Just("# between\n"))), 1..7).prop_map(|entries| {
            let lines = entries.into_iter().enumerate().map(|(at, (entry, comment))| {
                let text = format!("{}k{at}: {entry}", comment.unwrap_or_default());
                if text.ends_with('\n') { text } else { text + "\n" }
            });
            lines.collect()
        })
    }
}
