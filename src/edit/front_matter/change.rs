//! From a tree and the data that is wanted to the cuts that lead there.

use super::tree::{Entry, Node, Shape};
use super::writing::{Style, is_bare};
use super::{FrontMatter, Quote};
use crate::diagnostic::Result;
use crate::edit::Cuts;
use crate::guard::{self, CheckedIterator, ITEM};
use crate::value::{Json, Map, Value};
use granit_parser::ScalarStyle;
use std::collections::HashMap;
use std::ops::Range;

/// Lists that differ more than this, as old items times new ones, are not compared item by item.
const MOST_COMPARED: usize = 1_000_000;

type Object = serde_json::Map<String, Json>;

/// Gathers the cuts of one YAML text.
pub(super) struct Change<'a> {
    pub(super) text: &'a str,
    pub(super) how: &'a FrontMatter,
    pub(super) style: Style,
    pub(super) cuts: Cuts,
}

impl Change<'_> {
    //= docs/spec.md#edits
    //# An edit of front matter MUST leave every line as it is that says what it said.
    /// Changes the entries of the outermost map: those that `changes` does not name stay.
    pub(super) fn outermost(&mut self, entries: &[Entry], old: &Map, changes: &Object) -> Result<()> {
        let there: HashMap<&str, &Entry> = entries.iter().rev().map(|entry| (&*entry.key, entry)).collect_checked()?;
        let there = |key: &str| there.get(key).copied();
        for (key, new) in changes {
            guard::spend(ITEM)?;
            match there(key) {
                Some(entry) if new.is_null() => self.cuts.replace(self.entry_lines(entry), ""),
                Some(entry) => self.entry(entry, old.get(key.as_str()), new)?,
                None => {}
            }
        }
        // New ones come after what was added at the end of an old one: they may begin at the same place.
        for (key, new) in changes.iter().filter(|(key, new)| there(key).is_none() && !new.is_null()) {
            guard::spend(ITEM + entries.len())?;
            let at = self.place_of_new(entries);
            self.cuts.replace(at..at, self.added_style().entry(key, new, 0)?);
        }
        Ok(())
    }

    /// Writes every changed entry of the outermost map anew, whatever its shape.
    pub(super) fn whole_entries(&mut self, entries: &[Entry], changes: &Object) -> Result<()> {
        for (key, new) in changes {
            guard::spend(ITEM + 4 * entries.len())?;
            let written = if new.is_null() { String::new() } else { self.added_style().entry(key, new, 0)? };
            let bytes = match entries.iter().find(|entry| entry.key == *key) {
                Some(entry) => self.entry_lines(entry),
                None => self.place_of_new(entries)..self.place_of_new(entries),
            };
            self.cuts.replace(bytes, written);
        }
        Ok(())
    }

    fn added_style(&self) -> Style {
        Style { quote: self.how.quote.unwrap_or(Quote::Plain), ..self.style }
    }

    fn place_of_new(&self, entries: &[Entry]) -> usize {
        if let Some(entry) = entries.iter().find(|entry| Some(&entry.key) == self.how.before.as_ref()) {
            let mut at = self.line_start(entry.at);
            // Comments right above a key speak of it.
            while at > 0 && self.text[self.line_start(at - 1)..].starts_with('#') {
                at = self.line_start(at - 1);
            }
            return at;
        }
        entries.last().map_or(self.text.len(), |entry| self.entry_lines(entry).end)
    }

    /// One entry and the value it shall have.
    fn entry(&mut self, entry: &Entry, old: Option<&Value>, new: &Json) -> Result<()> {
        if old == Some(&Value::from_json(new)) {
            return Ok(());
        }
        let column = self.column(entry.at);
        if let Some(old) = old
            && self.within(&entry.value, entry.colon, old, new)?
        {
            return Ok(());
        }
        let written = self.style_of(&entry.value)?.after_colon(new, column)?;
        self.rewrite(entry.colon..entry.value.bytes.end, &entry.value, &written);
        Ok(())
    }

    /// Changes a list or a map inside; `false` if it must be written anew. `from` is where its line begins to speak
    /// of it: behind a colon or a dash.
    fn within(&mut self, node: &Node, from: usize, old: &Value, new: &Json) -> Result<bool> {
        match (&node.shape, old, new) {
            (Shape::Map { flow: true, entries }, Value::Map(old), Json::Object(new)) => {
                self.flowing_map(node, entries, old, new)
            }
            (Shape::List { flow: true, items }, Value::List(old), Json::Array(new)) => {
                self.flowing_list(node, items, old, new)
            }
            (Shape::Map { flow: false, entries }, Value::Map(old), Json::Object(new)) => self.map(entries, old, new),
            (Shape::List { flow: false, items }, Value::List(old), Json::Array(new)) => {
                self.list(items, from, old, new)
            }
            _ => Ok(false),
        }
    }

    /// A map in block style, one of an item of a list included.
    fn map(&mut self, entries: &[Entry], old: &Map, new: &Object) -> Result<bool> {
        let stays = |entry: &&Entry| new.contains_key(&entry.key);
        let (Some(first), Some(last)) = (entries.iter().find(stays), entries.last()) else { return Ok(false) };
        let column = self.column(entries[0].at);
        let shares_line = !self.text[self.line_start(entries[0].at)..entries[0].at].trim().is_empty();
        let mut skip = 0;
        if shares_line && first.at != entries[0].at {
            // The first key stands behind a dash: the first one that stays moves there.
            self.cuts.replace(entries[0].at..first.at, "");
            skip = entries.iter().take_while(|entry| entry.at != first.at).count();
        }
        for entry in &entries[skip..] {
            match new.get(&entry.key) {
                None => self.cuts.replace(self.entry_lines(entry), ""),
                Some(new) => self.entry(entry, old.get(entry.key.as_str()), new)?,
            }
        }
        let end = self.own_end(last.value.bytes.end, column);
        for (key, value) in new.iter().filter(|(key, _)| !entries.iter().any(|entry| entry.key == **key)) {
            guard::spend(ITEM + 4 * entries.len())?;
            let written = self.added_style().entry(key, value, column)?;
            self.cuts.replace(end..end, written);
        }
        Ok(true)
    }

    /// A list in block style: items that stay keep their lines.
    fn list(&mut self, items: &[Node], from: usize, old: &[Value], new: &[Json]) -> Result<bool> {
        let places = self.places(items, from).filter(|_| !new.is_empty() && old.len() == items.len());
        let Some(places) = places else { return Ok(false) };
        let column = self.column(places[0].start);
        let wanted: Vec<Value> = new.iter().map(Value::from_json).collect();
        for (gone, come) in gaps(old, &wanted) {
            let mut at = match gone.start.checked_sub(1) {
                Some(before) => self.own_end(places[before].end, column),
                None => self.line_start(places[0].start),
            };
            let is_short = gone.len() * come.len() <= MOST_COMPARED;
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
                    self.cuts.replace(lines, "");
                }
            }
            self.added_items(at, column, &new[next..come.end])?;
        }
        Ok(true)
    }

    fn added_items(&mut self, at: usize, column: usize, items: &[Json]) -> Result<()> {
        for item in items {
            let written = self.added_style().after_dash(item, column)?;
            self.cuts.replace(at..at, format!("{}-{written}", " ".repeat(column)));
        }
        Ok(())
    }

    /// An item that becomes another one like it. `place` is that from its dash to its end.
    fn item(&mut self, item: &Node, place: &Range<usize>, column: usize, old: &Value, new: &Json) -> Result<()> {
        let from = place.start + 1;
        if self.within(item, from, old, new)? {
            return Ok(());
        }
        let written = self.style_of(item)?.after_dash(new, column)?;
        self.rewrite(from..place.end, item, &written);
        Ok(())
    }

    /// From the dash to the end of each item, if each dash begins its line.
    fn places(&self, items: &[Node], from: usize) -> Option<Vec<Range<usize>>> {
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

    /// `[a, b]`: items that stay keep their bytes, and what stands between them stays.
    fn flowing_list(&mut self, node: &Node, items: &[Node], old: &[Value], new: &[Json]) -> Result<bool> {
        let (Some(first), Some(last)) = (items.first(), items.last()) else { return Ok(false) };
        if new.is_empty() || old.len() != items.len() {
            return Ok(false);
        }
        let wanted: Vec<Value> = new.iter().map(Value::from_json).collect();
        let mut pieces = Vec::with_capacity(new.len());
        let mut done = 0;
        let kept = |bytes: &Range<usize>| self.text[self.with_properties(bytes)].to_owned();
        for (gone, come) in gaps(old, &wanted) {
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

    /// `{a: b, c: d}`, the same way.
    pub(super) fn flowing_map(&mut self, node: &Node, entries: &[Entry], old: &Map, new: &Object) -> Result<bool> {
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
        let start = |entry: &Entry| self.with_properties(&(entry.at..entry.at)).start;
        let second = entries.get(1).map(|second| first.value.bytes.end..start(second));
        self.join(node, start(first)..last.value.bytes.end, second, &pieces);
        Ok(true)
    }

    /// The bytes of something in a flowing list or map with the tags and anchors before it: they belong to it.
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

    /// Puts `pieces` into a flowing list or map: `inner` are the bytes from its first item to its last, `between`
    /// those that part the first two.
    fn join(&mut self, node: &Node, inner: Range<usize>, between: Option<Range<usize>>, pieces: &[String]) {
        let parting = between.map_or(", ", |between| &self.text[between]);
        // A comment there speaks of one item; it cannot stand between all of them.
        let parting = if parting.contains('#') || !parting.contains(',') { ", " } else { parting };
        debug_assert!(node.bytes.start <= inner.start && inner.end <= node.bytes.end, "items stand within");
        self.cuts.replace(inner, pieces.join(parting));
    }

    /// Puts a value that was written anew, with its line end, into the place of the old one. A comment behind one
    /// that stood on one line stays on that line.
    fn rewrite(&mut self, bytes: Range<usize>, old: &Node, written: &str) {
        let written = written.strip_suffix('\n').unwrap_or(written);
        let end = self.line_of(bytes.end).end;
        let is_of_lines = old.is_block() || self.text[bytes.clone()].contains('\n');
        match written.split_once('\n') {
            Some((first, rest)) if !is_of_lines => {
                let behind = &self.text[bytes.end..end];
                self.cuts.replace(bytes.start..end, format!("{first}{behind}\n{rest}"));
            }
            Some(_) => self.cuts.replace(bytes.start..end, written),
            None => self.cuts.replace(bytes, written),
        }
    }

    /// How a value that takes the place of `node` is written: a text in the quotes that were there.
    fn style_of(&self, node: &Node) -> Result<Style> {
        let there = match node.shape {
            Shape::Scalar(ScalarStyle::DoubleQuoted) => Quote::Double,
            Shape::Scalar(ScalarStyle::SingleQuoted) => Quote::Single,
            _ => Quote::Plain,
        };
        let is_plain = matches!(node.shape, Shape::Scalar(ScalarStyle::Plain));
        let bare = is_plain && is_bare(&self.text[node.bytes.clone()])?;
        Ok(Style { quote: self.how.quote.unwrap_or(there), bare, ..self.style })
    }

    /// How far items of lists stand behind their keys in this text: as far as in its first list, else two blanks.
    pub(super) fn item_indent(&self, node: &Node) -> Option<usize> {
        let entries = match &node.shape {
            Shape::Map { flow: false, entries } => entries,
            Shape::List { flow: false, items } => return items.iter().find_map(|item| self.item_indent(item)),
            _ => return None,
        };
        entries.iter().find_map(|entry| match &entry.value.shape {
            Shape::List { flow: false, items } => {
                let places = self.places(items, entry.colon)?;
                self.column(places[0].start).checked_sub(self.column(entry.at))
            }
            _ => self.item_indent(&entry.value),
        })
    }

    /// All lines of an entry of the outermost map.
    fn entry_lines(&self, entry: &Entry) -> Range<usize> {
        self.line_start(entry.at)..self.own_end(entry.value.bytes.end, self.column(entry.at))
    }

    /// Where the line after a value that ends at `end` begins; comments below it that stand deeper than `column` are
    /// its own.
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

    /// Where the line after the one of a byte begins.
    fn next_line(&self, at: usize) -> usize {
        memchr::memchr(b'\n', &self.text.as_bytes()[at..]).map_or(self.text.len(), |end| at + end + 1)
    }

    /// The line that a byte is in, without its end.
    fn line_of(&self, at: usize) -> Range<usize> {
        let start = self.line_start(at);
        let line = &self.text[start..self.next_line(at)];
        let line = line.strip_suffix('\n').unwrap_or(line);
        start..start + line.strip_suffix('\r').unwrap_or(line).len()
    }
}

/// Where two lists differ: items that are gone, and those that came in their place.
fn gaps(old: &[Value], new: &[Value]) -> Vec<(Range<usize>, Range<usize>)> {
    let same = |(old, new): &(&Value, &Value)| old == new;
    let head = old.iter().zip(new).take_while(same).count();
    let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(same).count();
    let (gone, come) = (head..old.len() - tail, head..new.len() - tail);
    if gone.len() * come.len() > MOST_COMPARED {
        return vec![(gone, come)];
    }
    let words = |values: &[Value]| values.iter().map(|value| value.to_json().to_string()).collect::<Vec<_>>();
    similar::capture_diff_slices(similar::Algorithm::Myers, &words(old), &words(new))
        .into_iter()
        .filter(|part| part.tag() != similar::DiffTag::Equal)
        .map(|part| (part.old_range(), part.new_range()))
        .collect()
}

/// Whether one item became the other: two maps that share a value, or a value that is now one of a map, or was.
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
