//! Edits of front matter: keys set and removed, and nothing else touched.

mod change;
mod tree;
mod writing;

#[cfg(test)]
mod tests;

use super::{Cuts, Events, line_end, with_line_end, with_mark_of};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::parse::{Input, front_matter};
use crate::value::{Json, Map, Value, order_keys};
use change::Change;
use tree::{Node, Shape};
use writing::Style;

/// The code of its faults.
const CODE: Code = Code("parse.front_matter");

/// How texts are quoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quote {
    /// Only where they would be read as something else.
    Plain,
    /// `'so'`, unless they hold what only double quotes can say.
    Single,
    /// `"so"`.
    Double,
}

/// How changed values are written.
#[derive(Clone, Debug, Default)]
pub struct FrontMatter {
    /// New keys stand before this one, if it is there.
    pub before: Option<String>,
    /// How new texts are quoted; else as the text that was there, plain where there was none.
    pub quote: Option<Quote>,
    /// The keys that come first in new maps, in this order.
    pub order: Vec<String>,
}

/// The text with the keys of `changes` set in its front matter, and those whose value is `null` removed.
///
/// Only lines of values that change are touched: a list keeps the lines of the items that stay, a map those of its
/// entries, `[…]` and `{…}` the bytes of what stays in them. Comments behind or above what stays, quotes, the order
/// of keys, a byte order mark and the ends of lines stay. A text without front matter gets one if there is something
/// to set. What cannot be done by lines is written anew, key by key.
///
/// The result is read again: unless it says exactly what is wanted, the edit is a fault `parse.front_matter`, and so
/// is front matter that cannot be read.
pub fn edit_front_matter(input: &Value, changes: &Json, how: &FrontMatter) -> Result<String> {
    let whole = Input::of(input);
    let text = whole.text();
    let empty = serde_json::Map::new();
    let changes = order_keys(changes.clone(), &how.order);
    let changes = changes.as_object().unwrap_or(&empty);
    let found = Found::in_text(&whole)?;
    let wanted = wanted(&found.data, changes);
    if wanted == found.data {
        return Ok(with_mark_of(input, text.to_owned()));
    }
    let Some(block) = found.block.clone() else {
        let block = edited(&found, "", changes, how, false)?.unwrap_or_default();
        return Ok(with_mark_of(input, with_line_end(&format!("---\n{block}---\n"), found.end) + text));
    };
    let plain = text[block.clone()].to_owned();
    //= docs/spec.md#edits
    //# What is read from edited front matter MUST be exactly what was asked for, or the edit is refused.
    for anew in [false, true] {
        let Some(written) = edited(&found, &plain, changes, how, anew)? else { continue };
        let result = format!("{}{written}{}", &text[..block.start], &text[block.end..]);
        let read = Found::in_text(&Input::of(&result.as_str().into()));
        if read.is_ok_and(|read| read.data == wanted) {
            return Ok(with_mark_of(input, result));
        }
    }
    let names: Vec<String> = changes.keys().map(|key| format!("`{key}`")).collect();
    let message = format!("the front matter cannot be edited to say so: {}", names.join(", "));
    Err(whole.fault(CODE, block.start, message).help("write out its aliases, merge keys, tags and keys behind `?`"))
}

/// Where the text behind the front matter begins; 0 if there is none that ends.
pub(super) fn end_of_front_matter(input: &Input<'_>) -> Result<usize> {
    let Value::Map(parts) = front_matter(input)? else { return Ok(0) };
    let to = parts.get("to").and_then(Value::as_integer).and_then(|line| usize::try_from(line).ok()).unwrap_or(0);
    Ok(if to == 0 { 0 } else { input.line_start(to + 1) })
}

/// The front matter of a text.
struct Found {
    data: Map,
    /// Its bytes between the fences.
    block: Option<std::ops::Range<usize>>,
    /// How the lines of the text end.
    end: &'static str,
}

impl Found {
    fn in_text(input: &Input<'_>) -> Result<Self> {
        let found = front_matter(input)?;
        let Value::Map(parts) = found else { return Ok(Self { data: Map::new(), block: None, end: "\n" }) };
        if let Some(error) = parts.get("error").and_then(Value::as_text) {
            let message = format!("the front matter cannot be read: {error}");
            return Err(input.fault(CODE, 0, message).help("mend it by hand first"));
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

fn wanted(data: &Map, changes: &serde_json::Map<String, Json>) -> Map {
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

/// The block with the changes, by lines or key by key; nothing if it cannot be done so.
fn edited(
    found: &Found,
    block: &str,
    changes: &serde_json::Map<String, Json>,
    how: &FrontMatter,
    anew: bool,
) -> Result<Option<String>> {
    let style = Style { quote: Quote::Plain, bare: false, item_indent: 2 };
    let mut change = Change { text: block, how, style, cuts: Cuts::default() };
    match tree::tree(block)? {
        Some(node @ Node { shape: Shape::Map { flow: true, .. }, .. }) => {
            let Shape::Map { entries, .. } = &node.shape else { return Ok(None) };
            let whole = Value::Map(wanted(&found.data, changes)).to_json();
            let Json::Object(whole) = whole else { return Ok(None) };
            if anew || !change.flowing_map(&node, entries, &found.data, &whole)? {
                change.cuts.replace(node.bytes.clone(), change.style.flowing(&Json::Object(whole))?);
            }
        }
        Some(node) => {
            change.style.item_indent = change.item_indent(&node).unwrap_or(2);
            match &node.shape {
                Shape::Map { entries, .. } if anew => change.whole_entries(entries, changes)?,
                Shape::Map { entries, .. } => change.outermost(entries, &found.data, changes)?,
                _ => change.outermost(&[], &found.data, changes)?,
            }
        }
        None if found.data.is_empty() => change.outermost(&[], &found.data, changes)?,
        None => return Ok(None),
    }
    Ok(change.cuts.apply(block, found.end))
}

impl Quote {
    /// The way of that name: `plain`, `single` or `double`.
    pub fn of(name: &str) -> Result<Self> {
        match name {
            "plain" => Ok(Self::Plain),
            "single" => Ok(Self::Single),
            "double" => Ok(Self::Double),
            other => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{other}` is no way to quote"))
                .help("known: `plain`, `single`, `double`")),
        }
    }
}
