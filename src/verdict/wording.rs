//! Changes of texts that a model reads: both texts in full, and what a reader of the difference may overlook.

use super::change::{Change, Verdict};
use crate::diagnostic::printable_lines;
use crate::value::Json;
use std::collections::{BTreeMap, BTreeSet};

const LINK_ENDS: [char; 9] = ['"', '\'', '<', '>', '(', ')', '[', ']', '`'];

/// The change of a text, if it is one. A text that is absent is `None`.
pub(super) fn text_change(
    pack: &str,
    what: &str,
    kind: &'static str,
    noun: &str,
    old: Option<&Json>,
    new: Option<&Json>,
) -> Option<Change> {
    if old == new {
        return None;
    }
    let shown =
        |value: Option<&Json>| value.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let (before, after) = (shown(old), shown(new));
    let happened = match (&before, &after) {
        (None, _) => "is new",
        (_, None) => "was removed",
        _ => "changed",
    };
    let notice = overlooked(before.as_deref().unwrap_or(""), after.as_deref().unwrap_or(""));
    let read = if before.is_some() && after.is_some() { ": models read another text" } else { "" };
    let message = format!("the {noun} {happened}{read}{notice}");
    let mut change = Change::new(pack, what, kind, Verdict::Wording, message);
    (change.before, change.after) = (before, after);
    Some(change)
}

/// Names what is new in a text and easily overlooked: characters that are not visible or change the direction of text,
/// and links. Empty, or the rest of a sentence.
pub(super) fn overlooked(before: &str, after: &str) -> String {
    let (known, found) = (hidden(before), hidden(after));
    let new: Vec<String> = found
        .iter()
        .filter(|(letter, count)| known.get(letter).is_none_or(|known| known < count))
        .map(|(letter, _)| format!("U+{:04X}{}", u32::from(*letter), if turns(*letter) { " (bidi)" } else { "" }))
        .collect();
    let known = links(before);
    let links: Vec<&str> = links(after).difference(&known).copied().collect();
    let part = |noun: &str, list: &str| if list.is_empty() { String::new() } else { format!("; new {noun}: {list}") };
    part("invisible characters", &new.join(", ")) + part("links", &links.join(", ")).as_str()
}

/// The characters that a reader does not see, and how often each occurs.
fn hidden(text: &str) -> BTreeMap<char, usize> {
    let mut found = BTreeMap::new();
    // Selectors of variants are visible in an emoji only, and can carry any data.
    let is_selector = |letter: char| matches!(letter, '\u{fe00}'..='\u{fe0f}');
    let is_hidden = |letter: &char| {
        let mut bytes = [0; 4];
        let alone: &str = letter.encode_utf8(&mut bytes);
        is_selector(*letter) || printable_lines(alone) != alone
    };
    text.chars().filter(is_hidden).for_each(|letter| *found.entry(letter).or_insert(0) += 1);
    found
}

/// Whether a character changes the direction of the text around it.
fn turns(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn links(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| letter.is_whitespace() || LINK_ENDS.contains(&letter));
    let is_link = |word: &&str| word.contains("://") || word.starts_with("www.") || word.starts_with("mailto:");
    words.filter(is_link).map(|word| word.trim_end_matches(['.', ',', ';', ':', '!', '?'])).collect()
}
