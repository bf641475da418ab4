//! Finds entries of the manual by words: in their names, in what they say of themselves, and in the rest of their texts.

use super::ManualEntries;
use super::pages::verbs_of;
use crate::definition::{Grammar, without_brackets};
use crate::diagnostic::nearest;
use crate::discovery::words;
use crate::primitive_api::Primitive;
use std::collections::BTreeSet;

/// Entries that a search shows at most.
const MAX_FOUND: usize = 12;
/// What a word counts in a name, in the line about an entry, and in the rest of its text.
const WEIGHTS: [f64; 3] = [6.0, 3.0, 2.0];

/// An entry that has words of a query.
pub struct FoundEntry {
    /// The name by which it can be looked up.
    pub name: String,
    /// What it is, in one line.
    pub line: String,
}

/// The entries that have most of the words of a query, the best first.
pub fn search_manual(query: &str) -> Vec<FoundEntry> {
    let asked = words(query);
    let scored = indexed_entries().into_iter().map(|(entry, texts)| {
        let score: f64 = asked.iter().map(|word| score_word(word, &texts)).sum();
        (score, entry)
    });
    let mut found: Vec<(f64, FoundEntry)> = scored.filter(|(score, _)| *score > 0.0).collect();
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|(_, entry)| entry).take(MAX_FOUND).collect()
}

/// The word of the names and of the guide that is most similar to one that nothing has.
pub fn nearest_word(word: &str) -> Option<String> {
    let mut known = BTreeSet::new();
    for (entry, [name, _, text]) in indexed_entries() {
        known.extend(if entry.name.starts_with("guide") { text } else { name });
    }
    nearest(word, known.iter().map(String::as_str)).map(str::to_owned)
}

/// A word counts more often where it occurs more often, but not twice as much. The beginning of a word counts half: the
/// program is named `sqlite3`, and people ask for `sqlite`.
fn score_word(asked: &str, texts: &[Vec<String>; 3]) -> f64 {
    let score = |(text, weight): (&Vec<String>, f64)| {
        let same = text.iter().filter(|word| *word == asked).count() as f64;
        let begun = text.iter().filter(|word| asked.len() > 2 && word.starts_with(asked)).count() as f64;
        let count = (same + begun) / 2.0;
        weight * count / (count + 1.0)
    };
    texts.iter().zip(WEIGHTS).map(score).fold(0.0, f64::max)
}

/// All entries with the words of their names, lines and texts.
fn indexed_entries() -> Vec<(FoundEntry, [Vec<String>; 3])> {
    let all = ManualEntries::all();
    let mut entries: Vec<(FoundEntry, [Vec<String>; 3])> = Vec::new();
    let mut add = |name: &str, line: &str, rest: &str| {
        let line = line.lines().next().unwrap_or_default();
        let entry = FoundEntry { name: name.to_owned(), line: line.to_owned() };
        entries.push((entry, [words(name), words(line), words(rest)]));
    };
    all.pages.iter().for_each(|page| add(&page.name, &page.line, page.text));
    all.primitives.iter().for_each(|one| add(one.name, one.summary, &text_of_primitive(one)));
    all.tables.iter().for_each(|table| add(without_brackets(table.name), table.doc, &text_of_table(table)));
    all.rules.iter().for_each(|rule| add(rule.code.0, rule.summary, rule.why));
    all.error_codes.iter().for_each(|error| add(error.code, error.summary, ""));
    entries
}

fn text_of_primitive(primitive: &Primitive) -> String {
    let params = primitive.params.iter().map(|param| format!("{} {}", param.name, param.doc));
    let verbs = verbs_of(primitive).into_iter().map(|verb| format!("{} {}", verb.name, verb.summary));
    let examples = primitive.examples.iter().map(|example| example.script.to_owned());
    params.chain(verbs).chain(examples).collect::<Vec<String>>().join("\n")
}

fn text_of_table(table: &Grammar) -> String {
    let keys = table.keys.iter().map(|key| format!("{} {}", key.name, key.doc));
    std::iter::once(table.doc.to_owned()).chain(keys).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_and_pages_are_found_by_their_words() {
        for (query, expected) in [
            ("curl", "guide/13"),
            ("bearer", "guide/13"),
            ("secret", "guide/13"),
            ("http", "guide/13"),
            ("blame", "guide/14"),
            ("blame", "git_read"),
            ("csv", "guide/14"),
            ("csv", "parse_csv"),
            ("sqlite", "guide/14"),
            ("dates", "guide/14"),
            ("hide a password", "pack.grants.env"),
            ("too many arguments", "wrong-arity"),
        ] {
            let found = search_manual(query);
            assert!(
                found.iter().any(|entry| entry.name == expected && !entry.line.is_empty()),
                "{query}: {:?}",
                found.iter().map(|entry| &entry.name).collect::<Vec<_>>()
            );
        }
        assert_eq!(search_manual("csv")[0].name, "parse_csv");
        assert!(search_manual("the quagga").is_empty());
        assert_eq!(nearest_word("sqllite3").as_deref(), Some("sqlite3"));
    }
}
