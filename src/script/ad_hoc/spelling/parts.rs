//! Which parts of a script are code, texts and comments.

use std::ops::Range;

/// What a part of a script is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in super::super) enum Part {
    Code,
    Comment,
    /// A text with its quotes, by its opening quote. The values in a template are code.
    Text(u8),
}

/// The parts of a script, in order, without gaps.
pub(in super::super) fn parts(text: &str) -> Vec<(Part, Range<usize>)> {
    let mut parts = Vec::new();
    // For each template that is open: how many braces are open within its value.
    let mut values: Vec<usize> = Vec::new();
    let bytes = text.as_bytes();
    let (mut start, mut at) = (0, 0);
    while at < bytes.len() {
        let found = match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'/')) => Some((Part::Comment, at, end_of_line(bytes, at))),
            (b'/', Some(b'*')) => Some((Part::Comment, at, end_of_comment(bytes, at))),
            (quote @ (b'"' | b'\''), _) => Some((Part::Text(quote), at, end_of_text(bytes, at))),
            (b'`', _) => Some((Part::Text(b'`'), at, end_of_template(bytes, at + 1, &mut values))),
            (b'#', _) if at == 0 || bytes[at - 1] != b'#' => {
                end_of_raw_text(text, at).map(|end| (Part::Text(b'#'), at, end))
            }
            (b'}', _) if values.last() == Some(&0) => {
                values.pop();
                Some((Part::Text(b'`'), at, end_of_template(bytes, at + 1, &mut values)))
            }
            (brace @ (b'{' | b'}'), _) => {
                if let Some(open) = values.last_mut() {
                    *open = if brace == b'{' { *open + 1 } else { open.saturating_sub(1) };
                }
                None
            }
            _ => None,
        };
        let Some((part, from, end)) = found else {
            at += 1;
            continue;
        };
        if start < from {
            parts.push((Part::Code, start..from));
        }
        parts.push((part, from..end));
        (start, at) = (end, end);
    }
    if start < bytes.len() {
        parts.push((Part::Code, start..bytes.len()));
    }
    parts
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |length| at + length)
}

/// Comments between `/*` and `*/` contain others.
fn end_of_comment(bytes: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'/', Some(b'*')) => (depth, at) = (depth + 1, at + 2),
            (b'*', Some(b'/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at.min(bytes.len())
}

/// A text that does not end on its line is an error: the rest of the script is read as code.
fn end_of_text(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'\n' => return at,
            // Two quotes within a text are one of its characters.
            byte if byte == bytes[start] && at > start + 1 && bytes.get(at + 1) == Some(&byte) => at += 2,
            byte if byte == bytes[start] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// The end of the part of a template from an offset: its closing quote, or the `${` of a value, which is open then.
fn end_of_template(bytes: &[u8], mut at: usize, values: &mut Vec<usize>) -> usize {
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'`', _) => return at + 1,
            (b'$', Some(b'{')) => {
                values.push(0);
                return at + 2;
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// `#"…"#`, with any number of signs.
fn end_of_raw_text(text: &str, at: usize) -> Option<usize> {
    let signs = text[at..].bytes().take_while(|byte| *byte == b'#').count();
    let content = at + signs + 1;
    if text.as_bytes().get(content - 1) != Some(&b'"') {
        return None;
    }
    let close = format!("\"{}", "#".repeat(signs));
    Some(text[content..].find(&close).map_or(text.len(), |length| content + length + close.len()))
}
