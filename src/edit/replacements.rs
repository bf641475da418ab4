//! Replacements in a text, all applied at once: of bytes, of lines and of characters.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::guard::{self, ITEM};
use crate::value::{Map, Value};
use crate::world::BYTE_ORDER_MARK;
use std::ops::Range;

/// The edited text, with a byte order mark if the original text had one.
pub fn with_byte_order_mark_of(input: &Value, edited: String) -> String {
    let document = input.as_object::<Document>();
    let text = document.map_or_else(|| input.as_text().unwrap_or_default(), Document::text);
    if text.starts_with(BYTE_ORDER_MARK) { format!("{BYTE_ORDER_MARK}{edited}") } else { edited }
}

/// The line end of the first line of a text; `\n` if it has none.
pub(super) fn line_end(text: &str) -> &'static str {
    memchr::memchr(b'\n', text.as_bytes()).map_or("\n", |at| end_of(&text[..=at]))
}

/// The line ending of a text that ends with a line.
fn end_of(line: &str) -> &'static str {
    if line.ends_with("\r\n") { "\r\n" } else { "\n" }
}

/// The text with every line end replaced by `end`.
pub(super) fn with_line_end(text: &str, end: &str) -> String {
    let plain = text.replace("\r\n", "\n");
    if end == "\n" { plain } else { plain.replace('\n', end) }
}

/// Byte replacements in a text, applied all at once. Their ranges refer to the original text.
#[derive(Default)]
pub(super) struct Replacements(Vec<(Range<usize>, String)>);

impl Replacements {
    /// Replaces these bytes with `text`. An empty range inserts, after any earlier insertion at that position.
    pub(super) fn replace(&mut self, bytes: Range<usize>, text: impl Into<String>) {
        self.0.push((bytes, text.into()));
    }

    /// The text after all replacements; `None` if two overlap or the call was stopped. A new line gets the line ending
    /// of the line that it replaces, otherwise that of the line before it, otherwise `end`.
    pub(super) fn apply(mut self, text: &str, end: &str) -> Option<String> {
        self.0.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
        let mut edited = String::with_capacity(text.len());
        let mut at = 0;
        for (bytes, by) in self.0 {
            if guard::is_over(ITEM + by.len()) {
                return None;
            }
            edited.push_str(text.get(at..bytes.start)?);
            push_lines(&mut edited, &by, &ends_at(text, &bytes, end));
            at = bytes.end;
        }
        edited.push_str(text.get(at..)?);
        Some(edited)
    }
}

/// The endings of the lines in a range. For a range within a line, the ending of that line, otherwise that of the line
/// before it.
fn ends_at<'a>(text: &'a str, bytes: &Range<usize>, end: &'a str) -> Vec<&'a str> {
    let replaced = text.get(bytes.clone()).unwrap_or_default();
    let ends: Vec<&str> = replaced.split_inclusive('\n').filter(|line| line.ends_with('\n')).map(end_of).collect();
    if !ends.is_empty() {
        return ends;
    }
    let (before, after) = (&text[..bytes.start], &text[bytes.end..]);
    let is_within = !before.is_empty() && !before.ends_with('\n');
    let own = after.split_inclusive('\n').next().filter(|line| is_within && line.ends_with('\n'));
    let previous = || before.rfind('\n').map(|at| end_of(&before[..=at]));
    vec![own.map(end_of).or_else(previous).unwrap_or(end)]
}

/// Adds lines, each with the ending of the same index, or with the last one.
fn push_lines(edited: &mut String, lines: &str, ends: &[&str]) {
    for (number, line) in lines.split_inclusive('\n').enumerate() {
        match line.strip_suffix('\n') {
            Some(line) => {
                edited.push_str(line.strip_suffix('\r').unwrap_or(line));
                edited.push_str(ends[number.min(ends.len() - 1)]);
            }
            None => edited.push_str(line),
        }
    }
}

/// One replacement. `from` and `to` are one-based and inclusive; `to = from - 1` inserts before `from`.
#[derive(Clone, Debug)]
pub struct TextEdit {
    /// The first line or character.
    pub from: i64,
    /// The last line or character.
    pub to: i64,
    /// The new text.
    pub text: String,
}

/// Parses edits from maps with the keys `from`, `to` and `text`.
pub fn edits_from_values(values: &[Value]) -> Result<Vec<TextEdit>> {
    guard::checked(values).map(|value| edit_from_value(value?)).collect()
}

fn edit_from_value(value: &Value) -> Result<TextEdit> {
    let error = || {
        Diagnostic::new(Code::ARGUMENTS, "an edit must be a map of `from`, `to` and `text`")
            .help("as in `#{ from: 2, to: 3, text: \"new\" }`; `from` and `to` are whole numbers")
    };
    let Value::Map(map) = value else { return Err(error()) };
    let map: &Map = map;
    let place = |name: &str| map.get(name).and_then(Value::as_integer);
    match (place("from"), place("to"), map.get("text").and_then(Value::as_text)) {
        (Some(from), Some(to), Some(text)) if map.len() == 3 => Ok(TextEdit { from, to, text: text.to_owned() }),
        _ => Err(error()),
    }
}

/// The text with these lines replaced. The new text becomes whole lines, with the line ends of the document.
///
/// Overlapping edits, and lines that the document does not have, are errors.
pub fn edit_lines(document: &Document, edits: &[TextEdit]) -> Result<String> {
    let text = document.text();
    let lines = document.line_ranges();
    let start = |line: usize| lines.get(line).map_or(text.len(), |line| line.start);
    let mut replacements = Replacements::default();
    for (edit, range) in checked(edits, lines.len(), "line")? {
        guard::spend(ITEM + edit.text.len())?;
        let bytes = start(range.start)..start(range.end);
        let mut come = edit.text.clone();
        if !come.is_empty() && !come.ends_with('\n') {
            come.push('\n');
        }
        if bytes.start == text.len() && !come.is_empty() && !text.is_empty() && !text.ends_with('\n') {
            come.insert(0, '\n');
        }
        replacements.replace(bytes, come);
    }
    let edited = applied(replacements, text);
    guard::check().map(|()| edited)
}

/// The text with these character ranges replaced, without any further change.
///
/// Overlapping edits, and characters that the document does not have, are errors.
pub fn edit_chars(document: &Document, edits: &[TextEdit]) -> Result<String> {
    let text = document.text();
    guard::reserve_memory(text.len().saturating_mul(size_of::<usize>()))?;
    let mut starts: Vec<usize> = Vec::with_capacity(text.len() + 1);
    for piece in guard::pieces(text) {
        let piece = piece?;
        let before = piece.as_ptr().addr() - text.as_ptr().addr();
        starts.extend(piece.char_indices().map(|(at, _)| before + at));
    }
    starts.push(text.len());
    let mut edited = String::with_capacity(text.len());
    let mut at = 0;
    for (edit, range) in checked(edits, starts.len() - 1, "character")? {
        guard::spend(ITEM + edit.text.len())?;
        edited.push_str(&text[at..starts[range.start]]);
        edited.push_str(&edit.text);
        at = starts[range.end];
    }
    edited.push_str(&text[at..]);
    Ok(edited)
}

fn applied(replacements: Replacements, text: &str) -> String {
    replacements.apply(text, line_end(text)).unwrap_or_else(|| text.to_owned())
}

/// The edits in the order of their positions, each with its zero-based, end-exclusive range.
fn checked<'a>(edits: &'a [TextEdit], count: usize, unit: &str) -> Result<Vec<(&'a TextEdit, Range<usize>)>> {
    let mut places = Vec::with_capacity(edits.len());
    for edit in edits {
        guard::spend(ITEM)?;
        let from = usize::try_from(edit.from).ok().and_then(|from| from.checked_sub(1));
        let to = usize::try_from(edit.to).ok();
        match (from, to) {
            (Some(from), Some(to)) if from <= to && to <= count => places.push((edit, from..to)),
            _ => {
                let message = format!("there is no {unit} {} to {} of {count}", edit.from, edit.to);
                let help = "`from` and `to` are one-based and inclusive; `to = from - 1` inserts before `from`";
                return Err(Diagnostic::new(Code::ARGUMENTS, message).help(help));
            }
        }
    }
    places.sort_by_key(|(_, range)| (range.start, range.end));
    //= docs/spec.md#edits
    //# A placeholder without a value, a value without a placeholder, and overlapping edits of lines or spans MUST be
    //# refused.
    for pair in places.windows(2) {
        if pair[1].1.start < pair[0].1.end {
            let reported = |edit: &TextEdit| format!("{} to {}", edit.from, edit.to);
            let message = format!("the edits of {unit} {} and {} overlap", reported(pair[0].0), reported(pair[1].0));
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help("combine the two into one"));
        }
    }
    Ok(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn edit(from: i64, to: i64, text: &str) -> TextEdit {
        TextEdit { from, to, text: text.to_owned() }
    }

    fn lines(text: &str, edits: &[TextEdit]) -> std::result::Result<String, String> {
        edit_lines(&Document::new("a.md", text), edits).map_err(|error| error.message)
    }

    //= docs/spec.md#edits
    //= type=test
    //# A placeholder without a value, a value without a placeholder, and overlapping edits of lines or spans MUST be
    //# refused.
    #[test]
    fn lines_are_replaced_at_once() {
        let text = "1\r\n2\r\n3";
        assert_eq!(lines(text, &[edit(3, 3, "c"), edit(1, 1, "a\nb")]), Ok("a\r\nb\r\n2\r\nc\r\n".into()));
        assert_eq!(lines(text, &[edit(4, 3, "4\n")]), Ok("1\r\n2\r\n3\r\n4\r\n".into()));
        assert_eq!(lines(text, &[edit(1, 0, "0"), edit(1, 2, "")]), Ok("0\r\n3".into()));
        assert_eq!(lines("", &[edit(1, 0, "a")]), Ok("a\n".into()));
        // In a text with mixed line endings each line keeps its own.
        let mixed = "1\r\n2\n3\r\n4\n";
        assert_eq!(lines(mixed, &[edit(2, 3, "b\nc\nd")]), Ok("1\r\nb\nc\r\nd\r\n4\n".into()));
        assert_eq!(lines(mixed, &[edit(2, 1, "a"), edit(3, 2, "b")]), Ok("1\r\na\r\n2\nb\n3\r\n4\n".into()));
        assert_eq!(lines(mixed, &[edit(1, 0, "0"), edit(4, 4, "d")]), Ok("0\r\n1\r\n2\n3\r\nd\n".into()));
        assert_eq!(
            lines(text, &[edit(1, 2, ""), edit(2, 3, "")]),
            Err("the edits of line 1 to 2 and 2 to 3 overlap".into())
        );
        assert_eq!(lines(text, &[edit(2, 4, "")]), Err("there is no line 2 to 4 of 3".into()));
        assert_eq!(lines(text, &[edit(0, 0, "")]), Err("there is no line 0 to 0 of 3".into()));
    }

    proptest! {
        #[test]
        fn edits_in_any_order_are_those_from_the_end(text in "[aé\n]{0,20}", replacements in prop::collection::vec((0..22_i64, 0..4_i64), 0..4)) {
            let edits: Vec<TextEdit> = replacements.iter().map(|(from, count)| edit(from + 1, from + count, "<>")).collect();
            if let Ok(edited) = edit_chars(&Document::new("a.md", text.as_str()), &edits) {
                let mut expected: Vec<char> = text.chars().collect();
                let mut sorted = replacements.clone();
                sorted.sort_unstable();
                for (from, count) in sorted.into_iter().rev() {
                    let from = usize::try_from(from).expect("it is small");
                    let end = from + usize::try_from(count).expect("it is small");
                    expected.splice(from..end, "<>".chars());
                }
                prop_assert_eq!(edited, expected.into_iter().collect::<String>());
            }
        }
    }
}
