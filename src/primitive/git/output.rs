//! Parsers of what git prints: entries of the working tree, and names of files that git does not know.

use super::arguments::is_on;
use crate::value::{Map, Value};

/// The mode of a submodule, as git writes it.
const SUBMODULE: &str = "160000";

/// The mode of what is not there.
const NOTHING: &str = "000000";

/// An entry of the working tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorktreeEntry {
    /// Its path from the top.
    pub(super) name: String,
    /// Whether it is a submodule and becomes none but another one, or nothing: its folder stays as it is.
    pub(super) is_submodule: bool,
    /// Whether the first side has it and the second has not.
    pub(super) is_gone: bool,
    /// Whether the second side has it and the first has not.
    pub(super) is_new: bool,
}

impl WorktreeEntry {
    /// Files, for all that is known of them.
    pub(super) fn from_names(names: Vec<String>) -> Vec<Self> {
        names.into_iter().map(|name| Self { name, is_submodule: false, is_gone: false, is_new: false }).collect()
    }

    /// What `--raw -z` prints: modes and hashes, and then the path.
    pub(super) fn from_raw(printed: Vec<String>) -> Vec<Self> {
        let mut found = Vec::new();
        let mut parts = printed.into_iter();
        while let Some(modes) = parts.next() {
            let Some(modes) = modes.trim_start_matches('\n').strip_prefix(':').map(str::to_owned) else { continue };
            let Some(name) = parts.next() else { break };
            let modes: Vec<&str> = modes.split(' ').take(2).collect();
            let is_other = |mode: &&str| *mode != SUBMODULE && *mode != NOTHING;
            found.push(Self {
                name,
                is_gone: modes.get(1) == Some(&NOTHING),
                is_new: modes.first() == Some(&NOTHING),
                is_submodule: modes.contains(&SUBMODULE) && !modes.iter().any(is_other),
            });
        }
        found
    }

    /// What `ls-tree -z` and `ls-files -s -z` print: a mode and more, a tab, and the path.
    pub(super) fn from_list(printed: Vec<String>) -> Vec<Self> {
        let parts = printed.iter().filter_map(|line| line.split_once('\t'));
        let entry = |(mode, name): (&str, &str)| Self {
            name: name.to_owned(),
            is_submodule: mode.starts_with(SUBMODULE),
            is_gone: false,
            is_new: true,
        };
        parts.map(entry).collect()
    }
}

/// The names; each from the folder of the call or from the top.
pub(super) fn unknown_names(verb: &str, options: &Map, printed: &[u8]) -> Vec<Vec<u8>> {
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
        let names = unknown_names(verb, &options, printed.as_bytes());
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
