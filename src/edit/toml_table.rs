//! Edits of a TOML text: a table more, a table less, another value. Everything else stays, comments included.

use crate::parse::toml::{Dates, TomlEntry, TomlNode, parse};
use crate::source::Source;
use crate::value::Json;
use std::fmt::Write;
use std::ops::Range;

/// Appends the table `[group.name]` with these keys. A value of JSON is one of TOML: a string, or a list of them.
pub fn append_table(text: &str, group: &str, name: &str, keys: &[(&str, Json)]) -> String {
    let mut edited = text.to_owned();
    if !edited.is_empty() {
        edited.push_str(if edited.ends_with('\n') { "\n" } else { "\n\n" });
    }
    let _ = writeln!(edited, "[{group}.{name}]");
    for (key, value) in keys {
        let _ = writeln!(edited, "{key} = {value}");
    }
    edited
}

/// Removes the table `[group.name]`, with the comments between its keys. `None` if there is no such table with a header
/// of its own.
pub fn remove_table(text: &str, group: &str, name: &str) -> Option<String> {
    let lines = table_lines(text, group, name)?;
    let mut edited = text.to_owned();
    edited.replace_range(lines, "");
    let edited = edited.trim_end();
    Some(if edited.is_empty() { String::new() } else { format!("{edited}\n") })
}

/// Replaces the key `old` of the table `[group.name]`, and its value. `None` if the table has no such key.
pub fn replace_key(text: &str, group: &str, name: &str, old: &str, new: (&str, &Json)) -> Option<String> {
    let root = read(text);
    let entry = find(find(find(&root, group)?.node.entries(), name)?.node.entries(), old)?;
    let mut edited = text.to_owned();
    edited.replace_range(entry.at.span.start..entry.node.at.span.end, &format!("{} = {}", new.0, new.1));
    Some(edited)
}

/// The lines from the header of a table to the next header, or to the end.
fn table_lines(text: &str, group: &str, name: &str) -> Option<Range<usize>> {
    let root = read(text);
    let table = find(find(&root, group)?.node.entries(), name)?;
    let start = text[..table.node.at.span.start].rfind('\n').map_or(0, |end| end + 1);
    if !text[start..].trim_start().starts_with('[') {
        return None;
    }
    let last_key = table.node.entries().iter().map(|entry| entry.node.at.span.end).max().unwrap_or(start);
    let mut end = text[last_key..].find('\n').map_or(text.len(), |end| last_key + end + 1);
    // Comments in front of the next header are about that table.
    if last_key == start {
        end = text[start..].find('\n').map_or(text.len(), |end| start + end + 1);
    }
    let blank = text[end..].len() - text[end..].trim_start_matches(['\n', '\r']).len();
    Some(start..end + blank)
}

fn read(text: &str) -> Vec<TomlEntry> {
    let mut ignored = Vec::new();
    let root: TomlNode = parse(&Source::new("edited", text), Dates::Refused, &mut ignored);
    root.entries().to_vec()
}

fn find<'a>(entries: &'a [TomlEntry], key: &str) -> Option<&'a TomlEntry> {
    entries.iter().find(|entry| entry.key == key)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    const TEXT: &str = "# ours\nserve = ['a']\n\n[layers.b]\ngit = 'x' # from there\ntag = 'v1'\n\n# about c\n[layers.c]\npath = 'y'\n";

    #[test]
    fn a_table_is_appended_after_everything_else() {
        let keys = [("git", json!("u")), ("packs", json!(["p", "q"]))];
        assert_eq!(append_table("", "layers", "n", &keys), "[layers.n]\ngit = \"u\"\npacks = [\"p\",\"q\"]\n");
        assert_eq!(append_table("a = 1", "layers", "n", &[]), "a = 1\n\n[layers.n]\n");
    }

    #[test]
    fn a_table_is_removed_and_its_neighbours_stay() {
        let without_b = "# ours\nserve = ['a']\n\n# about c\n[layers.c]\npath = 'y'\n";
        assert_eq!(remove_table(TEXT, "layers", "b").unwrap(), without_b);
        assert_eq!(remove_table(without_b, "layers", "c").unwrap(), "# ours\nserve = ['a']\n\n# about c\n");
        assert_eq!(remove_table(TEXT, "layers", "d"), None);
        assert_eq!(remove_table("layers = { b = { path = 'x' } }", "layers", "b"), None);
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_stays() {
        let edited = replace_key(TEXT, "layers", "b", "tag", ("tag", &json!("v2"))).unwrap();
        assert_eq!(edited, TEXT.replace("tag = 'v1'", "tag = \"v2\""));
        assert!(edited.contains("# from there"), "{edited}");
        assert_eq!(replace_key(TEXT, "layers", "c", "tag", ("tag", &json!("v2"))), None);
    }
}
