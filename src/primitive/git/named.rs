//! Names of files that git does not know, as they stand in an answer of `status` or `files`.

use super::arguments::is_on;
use crate::value::{Map, Value};

/// The names; each from the folder of the call or from the top.
pub(super) fn unknown(verb: &str, options: &Map, printed: &[u8]) -> Vec<Vec<u8>> {
    let end = if is_on(options, "z") { 0 } else { b'\n' };
    let entries = printed.split(|byte| *byte == end).filter(|entry| !entry.is_empty());
    let text = |name: &str| options.get(name).and_then(Value::as_text);
    let names: Vec<&[u8]> = match verb {
        // What stands in the index has its mode and hash before it, if anything has.
        "files" if is_on(options, "others") => {
            entries.map(|entry| entry.rsplit(|byte| *byte == b'\t').next()).map(Option::unwrap_or_default).collect()
        }
        "files" => Vec::new(),
        _ if text("porcelain") == Some("v2") => entries.filter_map(|entry| after(entry, &[b"? ", b"! "])).collect(),
        _ if text("porcelain").is_some() || is_on(options, "short") || is_on(options, "z") => {
            entries.filter_map(|entry| after(entry, &[b"?? ", b"!! "])).collect()
        }
        _ => in_words(entries),
    };
    names.into_iter().map(|name| if end == 0 { name.to_vec() } else { unquoted(name) }).collect()
}

fn after<'a>(entry: &'a [u8], marks: &[&[u8]]) -> Option<&'a [u8]> {
    marks.iter().find_map(|mark| entry.strip_prefix(*mark))
}

/// Of the form for people: what is indented below these headings.
fn in_words<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Vec<&'a [u8]> {
    let (mut is_unknown, mut names) = (false, Vec::new());
    for line in lines {
        match line.strip_prefix(b"\t") {
            Some(name) if is_unknown => names.push(name),
            Some(_) => {}
            // Hints are indented by blanks.
            None if line.starts_with(b" ") => {}
            None => is_unknown = [&b"Untracked files:"[..], b"Ignored files:"].contains(&line),
        }
    }
    names
}

/// A name without the quotes that git puts around one with odd letters.
pub(super) fn unquoted(name: &[u8]) -> Vec<u8> {
    let Some(inner) = name.strip_prefix(b"\"").and_then(|name| name.strip_suffix(b"\"")) else { return name.to_vec() };
    let (mut found, mut rest) = (Vec::new(), inner.iter().copied());
    while let Some(byte) = rest.next() {
        let escaped = if byte == b'\\' { rest.next() } else { None };
        let digits = |first: u8, rest: &mut dyn Iterator<Item = u8>| {
            let number = |digit: u8| digit.wrapping_sub(b'0') & 7;
            let digits = [first, rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
            digits.iter().fold(0_u8, |sum, digit| sum.wrapping_mul(8).wrapping_add(number(*digit)))
        };
        found.push(match escaped {
            None => byte,
            Some(b'a') => 7,
            Some(b'b') => 8,
            Some(b't') => 9,
            Some(b'n') => 10,
            Some(b'v') => 11,
            Some(b'f') => 12,
            Some(b'r') => 13,
            Some(digit @ b'0'..=b'7') => digits(digit, &mut rest),
            Some(other) => other,
        });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(verb: &str, options: &[(&str, Value)], printed: &str) -> Vec<String> {
        let options = options.iter().map(|(name, value)| ((*name).into(), value.clone())).collect();
        let names = unknown(verb, &options, printed.as_bytes());
        names.into_iter().map(|name| String::from_utf8_lossy(&name).into_owned()).collect()
    }

    #[test]
    fn every_form_is_read() {
        let v1 = [("porcelain", Value::from("v1".to_owned()))];
        let z = [("z", Value::Bool(true))];
        assert_eq!(names("status", &v1, "## main\n M a\n?? b/c\n!! \"d\\t\\303\\251\"\n"), ["b/c", "d\té"]);
        assert_eq!(names("status", &z, "R  new\0old\0?? b c\0"), ["b c"]);
        let v2 = [("porcelain", Value::from("v2".to_owned()))];
        assert_eq!(names("status", &v2, "# branch.head main\n1 .M N... 1 1 1 h h a\n? b\n! c/\n"), ["b", "c/"]);
        let long = "On branch main\nChanges not staged for commit:\n  (use)\n\tmodified:   a\n\nUntracked files:\n  (use)\n\tb\n\tc/\n\nIgnored files:\n\td\n\nno changes\n";
        assert_eq!(names("status", &[], long), ["b", "c/", "d"]);
        let others = [("others", Value::Bool(true)), ("stage", Value::Bool(true))];
        assert_eq!(names("files", &others, "b\n100644 0123 0\ta\n"), ["b", "a"]);
        assert!(names("files", &[], "a\n").is_empty());
    }
}
