//! Outlines of languages that indent: `def` and `class`.

use super::{Entry, Sort};
use crate::diagnostic::Result;
use crate::guard;

/// What is open at the end of a line.
#[derive(Default)]
struct State {
    /// The quotes of a text of several lines.
    quotes: Option<&'static str>,
    /// Round, square and curly brackets.
    brackets: usize,
    /// The line ended with a backslash.
    joined: bool,
}

/// The functions and classes of a text.
pub(super) fn entries(text: &str) -> Result<Vec<Entry>> {
    let mut entries: Vec<Entry> = Vec::new();
    // Indentation and place of what the current line lies in.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut state = State::default();
    let mut last = 0;
    for (at, line) in text.lines().enumerate() {
        guard::check()?;
        let begins = state.quotes.is_none() && state.brackets == 0 && !state.joined;
        let code = line.trim_start();
        if begins && (code.is_empty() || code.starts_with('#')) {
            continue;
        }
        if begins {
            let indent = indentation(line);
            while let Some((_, entry)) = open.pop_if(|(around, _)| *around >= indent) {
                entries[entry].end_line = last;
            }
            if let Some((is_class, name)) = declared(code) {
                let around = open.last().map(|(_, entry)| &entries[*entry]);
                let kind = match around {
                    _ if is_class => Sort::Class,
                    Some(Entry { kind: Sort::Class, .. }) => Sort::Method,
                    _ => Sort::Function,
                };
                let parent = around.map(Entry::path);
                open.push((indent, entries.len()));
                entries.push(Entry { kind, name: name.to_owned(), line: at + 1, end_line: at + 1, parent });
            }
        }
        state.pass(line);
        last = at + 1;
    }
    for (_, entry) in open {
        entries[entry].end_line = last;
    }
    Ok(entries)
}

/// Columns before the first sign; a tab goes to the next multiple of eight, as in Python.
fn indentation(line: &str) -> usize {
    line.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).fold(0, |column, byte| match byte {
        b'\t' => (column / 8 + 1) * 8,
        _ => column + 1,
    })
}

/// The name that a line declares, and whether it is that of a class.
fn declared(code: &str) -> Option<(bool, &str)> {
    let code = code.strip_prefix("async").filter(|rest| rest.starts_with([' ', '\t'])).map_or(code, str::trim_start);
    let (is_class, rest) = match code.strip_prefix("class") {
        Some(rest) => (true, rest),
        None => (false, code.strip_prefix("def")?),
    };
    let name = rest.strip_prefix([' ', '\t'])?.trim_start();
    let end = name.find(|sign: char| !sign.is_alphanumeric() && sign != '_').unwrap_or(name.len());
    let follows = name[end..].trim_start();
    (end > 0 && follows.starts_with(['(', ':', '['])).then_some((is_class, &name[..end]))
}

impl State {
    /// Goes over a line.
    fn pass(&mut self, line: &str) {
        let mut rest = line;
        self.joined = false;
        loop {
            if let Some(quotes) = self.quotes {
                let Some(end) = end_of_text(rest, quotes) else {
                    return;
                };
                self.quotes = None;
                rest = &rest[end..];
            }
            let Some(at) = rest.find(['"', '\'', '#', '(', ')', '[', ']', '{', '}', '\\']) else { return };
            let (sign, after) = (rest.as_bytes()[at], &rest[at + 1..]);
            rest = after;
            match sign {
                b'#' => return,
                b'(' | b'[' | b'{' => self.brackets += 1,
                b')' | b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
                b'\\' => self.joined = after.trim_end().is_empty(),
                quote => {
                    let (one, three) = if quote == b'"' { ("\"", "\"\"\"") } else { ("'", "'''") };
                    if after.as_bytes().starts_with(&[quote, quote]) {
                        self.quotes = Some(three);
                        rest = &after[2..];
                    } else {
                        // A text of one line that is not closed ends with the line.
                        let Some(end) = end_of_text(after, one) else { return };
                        rest = &after[end..];
                    }
                }
            }
        }
    }
}

/// The place after the closing quotes; a sign after a backslash closes nothing.
fn end_of_text(text: &str, quotes: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        at += memchr::memchr2(b'\\', quotes.as_bytes()[0], &bytes[at..])?;
        if bytes[at] == b'\\' {
            at += 2;
        } else if bytes[at..].starts_with(quotes.as_bytes()) {
            return Some(at + quotes.len());
        } else {
            at += 1;
        }
    }
    None
}
