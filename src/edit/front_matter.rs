//! Edits of front matter: keys are set and removed, and nothing else is touched.

mod style;
#[cfg(test)]
mod tests;

pub use style::QuoteStyle;

use super::replacements::{Replacements, line_end, with_byte_order_mark_of, with_line_end};
use super::yaml_tree::{SourceEntry, SourceNode, SourceShape, read_source_tree};
use crate::diagnostic::{Code, Result};
use crate::guard::{self, CheckedIterator, ITEM};
use crate::parse::{ParserInput, parse_front_matter};
use crate::value::{Json, Map, Value, order_keys};
use granit_parser::ScalarStyle;
use serde_json::Map as JsonMap;
use std::collections::HashMap;
use std::ops::Range;
use style::{YamlStyle, is_bare};

/// The code of its errors.
const CODE: Code = Code("parse.front_matter");

/// How changed values are written.
#[derive(Clone, Debug, Default)]
pub struct FrontMatterOptions {
    /// New keys are inserted before this key, if it exists.
    pub before: Option<String>,
    /// How new texts are quoted. Otherwise they are quoted like the text that they replace, or plain if there was none.
    pub quote: Option<QuoteStyle>,
    /// The keys that come first in new maps, in this order.
    pub order: Vec<String>,
}

/// The text with the keys of `changes` set in its front matter. Keys whose value is `null` are removed.
///
/// Only lines of values that change are touched. A list keeps the lines of unchanged items, a map those of unchanged
/// entries, and `[…]` and `{…}` the bytes of unchanged parts. Comments after or above unchanged parts, quotes, the
/// order of keys, a byte order mark and line ends are kept. A text without front matter gets one if there is something
/// to set. A change that cannot be made line by line rewrites whole keys.
///
/// The result is parsed again. Unless it contains exactly the wanted data, the edit is an error `parse.front_matter`,
/// and so is front matter that cannot be read.
pub fn edit_front_matter(input: &Value, changes: &Json, how: &FrontMatterOptions) -> Result<String> {
    let whole = ParserInput::from_value(input);
    let text = whole.text();
    let empty = serde_json::Map::new();
    let changes = order_keys(changes.clone(), &how.order);
    let changes = changes.as_object().unwrap_or(&empty);
    let found = FoundFrontMatter::find(&whole)?;
    let wanted = apply_changes(&found.data, changes);
    if wanted == found.data {
        return Ok(with_byte_order_mark_of(input, text.to_owned()));
    }
    let Some(block) = found.block.clone() else {
        let block = edit_block(&found, "", changes, how, false)?.unwrap_or_default();
        return Ok(with_byte_order_mark_of(input, with_line_end(&format!("---\n{block}---\n"), found.end) + text));
    };
    let plain = text[block.clone()].to_owned();
    //= docs/spec.md#edits
    //# An edit of front matter MUST change only the lines whose values change, and MUST be refused if reading the
    //# result does not return the requested values.
    for anew in [false, true] {
        let Some(written) = edit_block(&found, &plain, changes, how, anew)? else { continue };
        let result = format!("{}{written}{}", &text[..block.start], &text[block.end..]);
        let read = FoundFrontMatter::find(&ParserInput::from_value(&result.as_str().into()));
        if read.is_ok_and(|read| read.data == wanted) {
            return Ok(with_byte_order_mark_of(input, result));
        }
    }
    let names: Vec<String> = changes.keys().map(|key| format!("`{key}`")).collect();
    let message = format!("the front matter cannot be edited to contain these changes: {}", names.join(", "));
    Err(whole.error(CODE, block.start, message).help("write out its aliases, merge keys, tags and keys after `?`"))
}

/// Where the text after the front matter begins; 0 if there is no complete front matter.
pub(super) fn end_of_front_matter(input: &ParserInput<'_>) -> Result<usize> {
    let Value::Map(parts) = parse_front_matter(input)? else { return Ok(0) };
    let to = parts.get("to").and_then(Value::as_integer).and_then(|line| usize::try_from(line).ok()).unwrap_or(0);
    Ok(if to == 0 { 0 } else { input.line_start(to + 1) })
}

/// The front matter of a text.
struct FoundFrontMatter {
    data: Map,
    /// The bytes between the fences.
    block: Option<Range<usize>>,
    /// The line end of the text.
    end: &'static str,
}

impl FoundFrontMatter {
    fn find(input: &ParserInput<'_>) -> Result<Self> {
        let found = parse_front_matter(input)?;
        let Value::Map(parts) = found else { return Ok(Self { data: Map::new(), block: None, end: "\n" }) };
        if let Some(error) = parts.get("error").and_then(Value::as_text) {
            let message = format!("the front matter cannot be read: {error}");
            return Err(input.error(CODE, 0, message).help("fix it by hand first"));
        }
        let line = |name: &str| parts.get(name).and_then(Value::as_integer).and_then(|line| usize::try_from(line).ok());
        let (from, to) = (line("from").unwrap_or(0), line("to").unwrap_or(0));
        let data = match parts.get("data") {
            Some(Value::Map(data)) => data.clone(),
            _ => Map::new(),
        };
        let block = (from > 0).then(|| input.line_start(from + 1)..input.line_start(to));
        Ok(Self { data, block, end: line_end(input.text()) })
    }
}

fn apply_changes(data: &Map, changes: &serde_json::Map<String, Json>) -> Map {
    let mut wanted = data.clone();
    for (key, value) in changes {
        if guard::is_over(ITEM) {
            break;
        }
        match value {
            Json::Null => wanted.remove(key.as_str()),
            value => wanted.insert(key.as_str().into(), Value::from_json(value)),
        };
    }
    wanted
}

/// The block with the changes, line by line, or with whole entries rewritten if `anew`; `None` if that is impossible.
fn edit_block(
    found: &FoundFrontMatter,
    block: &str,
    changes: &serde_json::Map<String, Json>,
    how: &FrontMatterOptions,
    anew: bool,
) -> Result<Option<String>> {
    let style = YamlStyle { quote: QuoteStyle::Plain, bare: false, item_indent: 2 };
    let mut change = YamlChange { text: block, how, style, replacements: Replacements::default() };
    match read_source_tree(block)? {
        Some(node @ SourceNode { shape: SourceShape::Map { flow: true, .. }, .. }) => {
            let SourceShape::Map { entries, .. } = &node.shape else { return Ok(None) };
            let whole = Value::Map(apply_changes(&found.data, changes)).to_json();
            let Json::Object(whole) = whole else { return Ok(None) };
            if anew || !change.flowing_map(&node, entries, &found.data, &whole)? {
                change.replacements.replace(node.bytes.clone(), change.style.flowing(&Json::Object(whole))?);
            }
        }
        Some(node) => {
            change.style.item_indent = change.item_indent(&node).unwrap_or(2);
            match &node.shape {
                SourceShape::Map { entries, .. } if anew => change.whole_entries(entries, changes)?,
                SourceShape::Map { entries, .. } => change.outermost(entries, &found.data, changes)?,
                _ => change.outermost(&[], &found.data, changes)?,
            }
        }
        None if found.data.is_empty() => change.outermost(&[], &found.data, changes)?,
        None => return Ok(None),
    }
    Ok(change.replacements.apply(block, found.end))
}

/// Two lists are not compared item by item if the product of the numbers of their differing items exceeds this.
const MAX_COMPARED_ITEM_PAIRS: usize = 1_000_000;

/// Collects the replacements that give a YAML text the wanted values.
struct YamlChange<'a> {
    text: &'a str,
    how: &'a FrontMatterOptions,
    style: YamlStyle,
    replacements: Replacements,
}

impl YamlChange<'_> {
    /// Changes the entries of the outermost map. Entries that `changes` does not name are kept.
    fn outermost(&mut self, entries: &[SourceEntry], old: &Map, changes: &JsonMap<String, Json>) -> Result<()> {
        let there: HashMap<&str, &SourceEntry> =
            entries.iter().rev().map(|entry| (&*entry.key, entry)).collect_checked()?;
        let there = |key: &str| there.get(key).copied();
        for (key, new) in changes {
            guard::spend(ITEM)?;
            match there(key) {
                Some(entry) if new.is_null() => self.replacements.replace(self.entry_lines(entry), ""),
                Some(entry) => self.entry(entry, old.get(key.as_str()), new)?,
                None => {}
            }
        }
        // New entries come after insertions at the end of an old entry, because both may have the same position.
        for (key, new) in changes.iter().filter(|(key, new)| there(key).is_none() && !new.is_null()) {
            guard::spend(ITEM + entries.len())?;
            let at = self.place_of_new(entries);
            self.replacements.replace(at..at, self.added_style().entry(key, new, 0)?);
        }
        Ok(())
    }

    /// Rewrites every changed entry of the outermost map, whatever its shape.
    fn whole_entries(&mut self, entries: &[SourceEntry], changes: &JsonMap<String, Json>) -> Result<()> {
        for (key, new) in changes {
            guard::spend(ITEM + 4 * entries.len())?;
            let written = if new.is_null() { String::new() } else { self.added_style().entry(key, new, 0)? };
            let bytes = match entries.iter().find(|entry| entry.key == *key) {
                Some(entry) => self.entry_lines(entry),
                None => self.place_of_new(entries)..self.place_of_new(entries),
            };
            self.replacements.replace(bytes, written);
        }
        Ok(())
    }

    fn added_style(&self) -> YamlStyle {
        YamlStyle { quote: self.how.quote.unwrap_or(QuoteStyle::Plain), ..self.style }
    }

    fn place_of_new(&self, entries: &[SourceEntry]) -> usize {
        if let Some(entry) = entries.iter().find(|entry| Some(&entry.key) == self.how.before.as_ref()) {
            let mut at = self.line_start(entry.at);
            // Comments directly above a key belong to it.
            while at > 0 && self.text[self.line_start(at - 1)..].starts_with('#') {
                at = self.line_start(at - 1);
            }
            return at;
        }
        entries.last().map_or(self.text.len(), |entry| self.entry_lines(entry).end)
    }

    /// Changes one entry to its wanted value.
    fn entry(&mut self, entry: &SourceEntry, old: Option<&Value>, new: &Json) -> Result<()> {
        if old == Some(&Value::from_json(new)) {
            return Ok(());
        }
        let column = self.column(entry.at);
        if let Some(old) = old
            && self.change_inside(&entry.value, entry.colon, old, new)?
        {
            return Ok(());
        }
        let written = self.style_of(&entry.value)?.after_colon(new, column)?;
        self.rewrite(entry.colon..entry.value.bytes.end, &entry.value, &written);
        Ok(())
    }

    /// Changes a list or a map in place. Returns `false` if it must be rewritten. `from` is the position after the
    /// colon or dash that introduces it.
    fn change_inside(&mut self, node: &SourceNode, from: usize, old: &Value, new: &Json) -> Result<bool> {
        match (&node.shape, old, new) {
            (SourceShape::Map { flow: true, entries }, Value::Map(old), Json::Object(new)) => {
                self.flowing_map(node, entries, old, new)
            }
            (SourceShape::List { flow: true, items }, Value::List(old), Json::Array(new)) => {
                self.flowing_list(node, items, old, new)
            }
            (SourceShape::Map { flow: false, entries }, Value::Map(old), Json::Object(new)) => {
                self.map(entries, old, new)
            }
            (SourceShape::List { flow: false, items }, Value::List(old), Json::Array(new)) => {
                self.list(items, from, old, new)
            }
            _ => Ok(false),
        }
    }

    /// Changes a map in block style, including a map that is a list item.
    fn map(&mut self, entries: &[SourceEntry], old: &Map, new: &JsonMap<String, Json>) -> Result<bool> {
        let stays = |entry: &&SourceEntry| new.contains_key(&entry.key);
        let (Some(first), Some(last)) = (entries.iter().find(stays), entries.last()) else { return Ok(false) };
        let column = self.column(entries[0].at);
        let shares_line = !self.text[self.line_start(entries[0].at)..entries[0].at].trim().is_empty();
        let mut skip = 0;
        if shares_line && first.at != entries[0].at {
            // The first key follows a dash, so the first remaining key moves there.
            self.replacements.replace(entries[0].at..first.at, "");
            skip = entries.iter().take_while(|entry| entry.at != first.at).count();
        }
        for entry in &entries[skip..] {
            match new.get(&entry.key) {
                None => self.replacements.replace(self.entry_lines(entry), ""),
                Some(new) => self.entry(entry, old.get(entry.key.as_str()), new)?,
            }
        }
        let end = self.own_end(last.value.bytes.end, column);
        for (key, value) in new.iter().filter(|(key, _)| !entries.iter().any(|entry| entry.key == **key)) {
            guard::spend(ITEM + 4 * entries.len())?;
            let written = self.added_style().entry(key, value, column)?;
            self.replacements.replace(end..end, written);
        }
        Ok(true)
    }

    /// Changes a list in block style. Unchanged items keep their lines.
    fn list(&mut self, items: &[SourceNode], from: usize, old: &[Value], new: &[Json]) -> Result<bool> {
        let places = self.places(items, from).filter(|_| !new.is_empty() && old.len() == items.len());
        let Some(places) = places else { return Ok(false) };
        let column = self.column(places[0].start);
        let wanted: Vec<Value> = new.iter().map(Value::from_json).collect();
        for (gone, come) in list_differences(old, &wanted) {
            let mut at = match gone.start.checked_sub(1) {
                Some(before) => self.own_end(places[before].end, column),
                None => self.line_start(places[0].start),
            };
            let is_short = gone.len() * come.len() <= MAX_COMPARED_ITEM_PAIRS;
            let mut next = come.start;
            for index in gone {
                let like = (next..come.end).find(|other| is_short && is_like(&old[index], &wanted[*other]));
                if let Some(like) = like {
                    self.added_items(at, column, &new[next..like])?;
                    self.item(&items[index], &places[index], column, &old[index], &new[like])?;
                    next = like + 1;
                }
                let lines = self.line_start(places[index].start)..self.own_end(places[index].end, column);
                at = lines.end;
                if like.is_none() {
                    self.replacements.replace(lines, "");
                }
            }
            self.added_items(at, column, &new[next..come.end])?;
        }
        Ok(true)
    }

    fn added_items(&mut self, at: usize, column: usize, items: &[Json]) -> Result<()> {
        for item in items {
            let written = self.added_style().after_dash(item, column)?;
            self.replacements.replace(at..at, format!("{}-{written}", " ".repeat(column)));
        }
        Ok(())
    }

    /// Changes an item into a similar one. `place` ranges from its dash to its end.
    fn item(&mut self, item: &SourceNode, place: &Range<usize>, column: usize, old: &Value, new: &Json) -> Result<()> {
        let from = place.start + 1;
        if self.change_inside(item, from, old, new)? {
            return Ok(());
        }
        let written = self.style_of(item)?.after_dash(new, column)?;
        self.rewrite(from..place.end, item, &written);
        Ok(())
    }

    /// The range from the dash to the end of each item, if each dash is the first character of its line.
    fn places(&self, items: &[SourceNode], from: usize) -> Option<Vec<Range<usize>>> {
        let rest = self.text[from..self.line_of(from).end].trim_start();
        if !rest.is_empty() && !rest.starts_with('#') {
            return None;
        }
        let mut places: Vec<Range<usize>> = Vec::with_capacity(items.len());
        let mut at = from;
        for item in items {
            let line = self.next_line_with_data(at)?;
            let dash = line.start + (line.len() - self.text[line.clone()].trim_start_matches(' ').len());
            if !self.text[dash..].starts_with('-')
                || places.first().is_some_and(|first| self.column(first.start) != self.column(dash))
            {
                return None;
            }
            at = if item.bytes.is_empty() { dash + 1 } else { item.bytes.end };
            places.push(dash..at);
        }
        (!places.is_empty()).then_some(places)
    }

    /// Changes `[a, b]`. Unchanged items keep their bytes, and so do the separators between them.
    fn flowing_list(&mut self, node: &SourceNode, items: &[SourceNode], old: &[Value], new: &[Json]) -> Result<bool> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return Ok(false) };
        if new.is_empty() || old.len() != items.len() {
            return Ok(false);
        }
        let wanted: Vec<Value> = new.iter().map(Value::from_json).collect();
        let mut pieces = Vec::with_capacity(new.len());
        let mut done = 0;
        let kept = |bytes: &Range<usize>| self.text[self.with_properties(bytes)].to_owned();
        for (gone, come) in list_differences(old, &wanted) {
            pieces.extend(items[done..gone.start].iter().map(|item| kept(&item.bytes)));
            done = gone.end;
            for next in come {
                pieces.push(self.added_style().flowing(&new[next])?);
            }
        }
        pieces.extend(items[done..].iter().map(|item| kept(&item.bytes)));
        let second = items.get(1).map(|second| first.bytes.end..self.with_properties(&second.bytes).start);
        self.join(node, self.with_properties(&first.bytes).start..last.bytes.end, second, &pieces);
        Ok(true)
    }

    /// Changes `{a: b, c: d}` in the same way.
    fn flowing_map(
        &mut self,
        node: &SourceNode,
        entries: &[SourceEntry],
        old: &Map,
        new: &JsonMap<String, Json>,
    ) -> Result<bool> {
        let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Ok(false) };
        if new.is_empty() {
            return Ok(false);
        }
        let mut pieces = Vec::with_capacity(new.len());
        for entry in entries {
            let Some(new) = new.get(&entry.key) else { continue };
            if old.get(entry.key.as_str()) == Some(&Value::from_json(new)) {
                pieces.push(self.text[self.with_properties(&(entry.at..entry.value.bytes.end))].to_owned());
            } else {
                pieces.push(self.style_of(&entry.value)?.flowing_entry(&entry.key, new)?);
            }
        }
        for (key, value) in new.iter().filter(|(key, _)| !entries.iter().any(|entry| entry.key == **key)) {
            guard::spend(ITEM + 4 * entries.len())?;
            pieces.push(self.added_style().flowing_entry(key, value)?);
        }
        let start = |entry: &SourceEntry| self.with_properties(&(entry.at..entry.at)).start;
        let second = entries.get(1).map(|second| first.value.bytes.end..start(second));
        self.join(node, start(first)..last.value.bytes.end, second, &pieces);
        Ok(true)
    }

    /// The bytes of an item of a flow collection, including the tags and anchors before it, which belong to it.
    fn with_properties(&self, bytes: &Range<usize>) -> Range<usize> {
        let mut start = bytes.start;
        loop {
            let before = self.text[..start].trim_end();
            let word = match before.ends_with('>').then(|| before.rfind("!<")).flatten() {
                Some(at) => at,
                None => before.rfind(|c: char| c.is_whitespace() || ",[{".contains(c)).map_or(0, |at| at + 1),
            };
            let is_comment = before[self.line_start(word)..].contains('#');
            if is_comment || !before[word..].starts_with(['!', '&']) {
                return start..bytes.end;
            }
            start = word;
        }
    }

    /// Writes `pieces` into a flow collection. `inner` is the range from its first item to its last, and `between` is
    /// the separator of the first two.
    fn join(&mut self, node: &SourceNode, inner: Range<usize>, between: Option<Range<usize>>, pieces: &[String]) {
        let parting = between.map_or(", ", |between| &self.text[between]);
        // A comment in the separator belongs to one item, so the separator cannot be repeated.
        let parting = if parting.contains('#') || !parting.contains(',') { ", " } else { parting };
        debug_assert!(node.bytes.start <= inner.start && inner.end <= node.bytes.end, "items are inside the node");
        self.replacements.replace(inner, pieces.join(parting));
    }

    /// Replaces a value by a rewritten one, including its line end. A comment after a single-line value stays on its
    /// line.
    fn rewrite(&mut self, bytes: Range<usize>, old: &SourceNode, written: &str) {
        let written = written.strip_suffix('\n').unwrap_or(written);
        let end = self.line_of(bytes.end).end;
        let is_of_lines = old.is_block() || self.text[bytes.clone()].contains('\n');
        match written.split_once('\n') {
            Some((first, rest)) if !is_of_lines => {
                let behind = &self.text[bytes.end..end];
                self.replacements.replace(bytes.start..end, format!("{first}{behind}\n{rest}"));
            }
            Some(_) => self.replacements.replace(bytes.start..end, written),
            None => self.replacements.replace(bytes, written),
        }
    }

    /// The style of a value that replaces `node`: a text keeps the quotes of the old text.
    fn style_of(&self, node: &SourceNode) -> Result<YamlStyle> {
        let there = match node.shape {
            SourceShape::Scalar(ScalarStyle::DoubleQuoted) => QuoteStyle::Double,
            SourceShape::Scalar(ScalarStyle::SingleQuoted) => QuoteStyle::Single,
            _ => QuoteStyle::Plain,
        };
        let is_plain = matches!(node.shape, SourceShape::Scalar(ScalarStyle::Plain));
        let bare = is_plain && is_bare(&self.text[node.bytes.clone()])?;
        Ok(YamlStyle { quote: self.how.quote.unwrap_or(there), bare, ..self.style })
    }

    /// The indentation of list items relative to their key: that of the first list in the text, otherwise two spaces.
    fn item_indent(&self, node: &SourceNode) -> Option<usize> {
        let entries = match &node.shape {
            SourceShape::Map { flow: false, entries } => entries,
            SourceShape::List { flow: false, items } => return items.iter().find_map(|item| self.item_indent(item)),
            _ => return None,
        };
        entries.iter().find_map(|entry| match &entry.value.shape {
            SourceShape::List { flow: false, items } => {
                let places = self.places(items, entry.colon)?;
                self.column(places[0].start).checked_sub(self.column(entry.at))
            }
            _ => self.item_indent(&entry.value),
        })
    }

    /// All lines of an entry of the outermost map.
    fn entry_lines(&self, entry: &SourceEntry) -> Range<usize> {
        self.line_start(entry.at)..self.own_end(entry.value.bytes.end, self.column(entry.at))
    }

    /// The start of the line after a value that ends at `end`. Comments below it that are indented deeper than `column`
    /// belong to the value.
    fn own_end(&self, end: usize, column: usize) -> usize {
        let mut at = self.next_line(end);
        while at < self.text.len() {
            let line = self.line_of(at);
            let text = &self.text[line.clone()];
            let deep = text.len() - text.trim_start_matches(' ').len() > column;
            if !(deep && text.trim_start().starts_with('#')) {
                break;
            }
            at = self.next_line(at);
        }
        at
    }

    fn next_line_with_data(&self, at: usize) -> Option<Range<usize>> {
        let mut start = self.next_line(at);
        while start < self.text.len() {
            let line = self.line_of(start);
            let text = self.text[line.clone()].trim_start();
            if !text.is_empty() && !text.starts_with('#') {
                return Some(line);
            }
            start = self.next_line(start);
        }
        None
    }

    fn column(&self, at: usize) -> usize {
        at - self.line_start(at)
    }

    fn line_start(&self, at: usize) -> usize {
        memchr::memrchr(b'\n', &self.text.as_bytes()[..at]).map_or(0, |end| end + 1)
    }

    /// The start of the next line after a byte.
    fn next_line(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.text.as_bytes()[at..]).map_or(self.text.len(), |end| at + end + 1)
    }

    /// The line that contains a byte, without its line end.
    fn line_of(&self, at: usize) -> Range<usize> {
        let start = self.line_start(at);
        let line = &self.text[start..self.next_line(at)];
        let line = line.strip_suffix('\n').unwrap_or(line);
        start..start + line.strip_suffix('\r').unwrap_or(line).len()
    }
}

/// The differences between two lists: ranges of removed items, and the ranges of items that replace them.
fn list_differences(old: &[Value], new: &[Value]) -> Vec<(Range<usize>, Range<usize>)> {
    let same = |(old, new): &(&Value, &Value)| old == new;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let (gone, come) = (head..old.len() - tail, head..new.len() - tail);
    if gone.len() * come.len() > MAX_COMPARED_ITEM_PAIRS {
        return vec![(gone, come)];
    }
    let words = |values: &[Value]| values.iter().map(|value| value.to_json().to_string()).collect::<Vec<_>>();
    similar::capture_diff_slices(similar::Algorithm::Myers, &words(old), &words(new))
        .into_iter()
        .filter(|part| part.tag() != similar::DiffTag::Equal)
        .map(|part| (part.old_range(), part.new_range()))
        .collect()
}

/// Whether one item is a changed version of the other: two maps that share a value, or a value and a map that contains
/// it.
fn is_like(old: &Value, new: &Value) -> bool {
    match (old, new) {
        (Value::Map(old), Value::Map(new)) => {
            old.iter().any(|(key, value)| matches!(value, Value::Text(_)) && new.get(key) == Some(value))
        }
        (Value::Map(map), value @ Value::Text(_)) | (value @ Value::Text(_), Value::Map(map)) => {
            map.values().any(|one| one == value)
        }
        _ => false,
    }
}
