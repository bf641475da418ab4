//! What an XML text may not have, because the reader below takes time in its square.

use crate::diagnostic::Result;
use crate::guard;

/// Elements within elements beyond this are refused.
pub(super) const DEPTH: usize = 256;

/// Attributes of one element beyond this are refused: each is compared with each.
const ATTRIBUTES: usize = 1_000;

/// The first place that is out of bounds, and why. One pass over the tags; whether they are well-formed is not its
/// matter.
pub(super) fn out_of_bounds(text: &str) -> Result<Option<(usize, String)>> {
    //= docs/spec.md#robustness
    //# A parser MUST NOT panic, whatever text it is given.
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr::memchr(b'<', rest)) {
        guard::check()?;
        let start = at + found;
        let rest = &bytes[start..];
        let special = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>")];
        if let Some((_, end)) = special.iter().find(|(begin, _)| rest.starts_with(begin.as_bytes())) {
            at = start + memchr::memmem::find(rest, end.as_bytes()).map_or(rest.len(), |found| found + end.len());
            continue;
        }
        let (length, attributes) = tag(rest);
        at = start + length;
        if attributes > ATTRIBUTES {
            return Ok(Some((start, format!("an element has more than {ATTRIBUTES} attributes"))));
        }
        match rest.get(1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(b'!') | None => {}
            _ if bytes[start..at].ends_with(b"/>") => {}
            _ => depth += 1,
        }
        if depth > DEPTH {
            return Ok(Some((start, format!("elements are nested more than {DEPTH} levels deep"))));
        }
    }
    Ok(None)
}

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
