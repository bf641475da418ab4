//! What an XML text may not have, because the reader below takes time in its square.

use crate::diagnostic::Result;
use crate::guard;
use std::ops::Range;

/// Elements within elements beyond this are refused.
pub(super) const DEPTH: usize = 256;

/// Attributes of one element beyond this are refused: each is compared with each.
const ATTRIBUTES: usize = 1_000;

/// Where it is, what is wrong, and the next step.
type OutOfBounds = (usize, String, &'static str);

/// The next step where there is too much.
const FLATTER: &str = "split the text, or write it flatter";

/// The first place that is out of bounds, and why. One pass over the tags; whether they are well-formed is not its
/// matter.
pub(super) fn out_of_bounds(text: &str) -> Result<Option<OutOfBounds>> {
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
        let (length, attributes) = tag(rest);
        at = start + length;
        if let Some(wrong) = wrong_reference(bytes, start..at)? {
            return Ok(Some(wrong));
        }
        if attributes > ATTRIBUTES {
            return Ok(Some((start, format!("an element has more than {ATTRIBUTES} attributes"), FLATTER)));
        }
        match rest.get(1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!') | None => {}
            _ if bytes[start..at].ends_with(b"/>") => {}
            _ => depth += 1,
        }
        if depth > DEPTH {
            return Ok(Some((start, format!("elements are nested more than {DEPTH} levels deep"), FLATTER)));
        }
    }
    wrong_reference(bytes, at.min(bytes.len())..bytes.len())
}

/// The first reference in a part of a text to what is no character (XML 1.0, 4.1): the reader below would put a stand-in
/// for it.
fn wrong_reference(bytes: &[u8], part: Range<usize>) -> Result<Option<OutOfBounds>> {
    let mut from = part.start;
    while let Some(found) = memchr::memmem::find(&bytes[from..part.end], b"&#") {
        guard::check()?;
        let start = from + found;
        from = start + 2;
        let Some(length) = memchr::memchr(b';', &bytes[from..part.end.min(from + MOST_DIGITS)]) else { continue };
        let digits = std::str::from_utf8(&bytes[from..from + length]).unwrap_or_default();
        let number = match digits.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => digits.parse(),
        };
        let is_character = |one: char| matches!(one, '\t' | '\n' | '\r' | ' '..='\u{fffd}' | '\u{10000}'..);
        if !number.is_ok_and(|number| char::from_u32(number).is_some_and(is_character)) {
            let help = "write the character itself, or leave it out";
            return Ok(Some((start, format!("`&#{digits};` is no character"), help)));
        }
    }
    Ok(None)
}

/// A longer number is no character, however many zeros it begins with.
const MOST_DIGITS: usize = 32;

/// The length of a tag, and how many attributes it has.
fn tag(text: &[u8]) -> (usize, usize) {
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
