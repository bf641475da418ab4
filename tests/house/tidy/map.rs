//! The map of the source, `src/README.md`: it names only what exists, and has a paragraph for each room.

use crate::pages::root;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Words that the name of an item follows.
const KEYWORDS: [&str; 9] = ["const", "enum", "fn", "mod", "static", "struct", "trait", "type", "union"];

/// The files that define an item of a name.
type Items<'a> = BTreeMap<&'a str, BTreeSet<&'a str>>;

/// A word in backticks.
struct Quote<'a> {
    line: usize,
    word: &'a str,
}

fn map() -> String {
    fs::read_to_string(root().join("src/README.md")).unwrap()
}

/// The rooms in the order of `lib.rs`.
fn rooms(sources: &BTreeMap<String, String>) -> Vec<&str> {
    sources["lib.rs"].lines().filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';')).collect()
}

fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !is_word(letter)).filter(|word| !word.is_empty())
}

fn items(sources: &BTreeMap<String, String>) -> Items<'_> {
    let mut found = Items::new();
    for (file, text) in sources {
        for line in text.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let words: Vec<&str> = words(line).collect();
            for pair in words.windows(2).filter(|pair| KEYWORDS.contains(&pair[0])) {
                found.entry(pair[1]).or_default().insert(file);
            }
        }
    }
    found
}

fn quotes(map: &str) -> Vec<Quote<'_>> {
    let mut found = Vec::new();
    for (at, line) in map.lines().enumerate() {
        let quoted = line.split('`').skip(1).step_by(2);
        found.extend(quoted.map(|word| Quote { line: at + 1, word }));
    }
    found
}

/// Whether a word is a path, not a command, a pattern or a URI.
fn is_path(word: &str) -> bool {
    let is_plain = word.chars().all(|letter| is_word(letter) || ['/', '.', '-'].contains(&letter));
    is_plain && (word.contains('/') || word.ends_with(".rs"))
}

/// Whether the map names something that exists. `None` for words that name nothing in the source.
fn exists(quote: &Quote<'_>, sources: &BTreeMap<String, String>, items: &Items<'_>) -> Option<bool> {
    let word = quote.word;
    if is_path(word) {
        return Some(root().join("src").join(word).exists() || root().join(word).exists());
    }
    if !word.chars().all(|letter| is_word(letter) || letter == ':') {
        return None;
    }
    let is_type = |name: &str| name.starts_with(|first: char| first.is_ascii_uppercase());
    if let Some((owner, name)) = word.rsplit_once("::") {
        let owner = owner.rsplit("::").next().unwrap();
        let files = items.get(name);
        let mut files = files.into_iter().flatten().map(|file| (*file, &sources[*file]));
        return match is_type(owner) {
            true => Some(items.contains_key(owner) && files.any(|(_, text)| words(text).any(|word| word == owner))),
            false if rooms(sources).contains(&owner) => Some(files.any(|(file, _)| super::room(file) == owner)),
            false => None,
        };
    }
    let is_module = |file: &String| file.trim_end_matches(".rs").rsplit('/').next() == Some(word);
    Some(items.contains_key(word) || sources.keys().any(is_module))
}

#[test]
fn the_map_names_only_existing_paths_and_items() {
    let (map, sources) = (map(), super::sources().into_iter().collect());
    let items = items(&sources);
    let mut wrong = Vec::new();
    for (at, line) in map.lines().enumerate() {
        if line.matches('`').count() % 2 == 1 {
            wrong.push(format!("src/README.md:{}: a backtick has no partner in its line", at + 1));
        }
    }
    let mut count = 0;
    for quote in quotes(&map) {
        let Some(exists) = exists(&quote, &sources, &items) else { continue };
        count += 1;
        if !exists {
            let kind = if is_path(quote.word) { "file" } else { "item" };
            wrong.push(format!("src/README.md:{}: there is no {kind} `{}`", quote.line, quote.word));
        }
    }
    assert!(count > 100, "only {count} names are checked: the map is not read as it is written");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn each_room_has_its_paragraph_in_order() {
    let (map, sources) = (map(), super::sources().into_iter().collect());
    let rooms = rooms(&sources);
    assert!(rooms.len() > 20, "only {} rooms: lib.rs is not read as it is written", rooms.len());
    // A paragraph begins with the name of its room: **`room`**.
    let paragraphs = map.lines().enumerate();
    let paragraphs = paragraphs.filter_map(|(at, line)| Some((at + 1, line.strip_prefix("**`")?.split_once("`**")?.0)));
    let paragraphs: Vec<(usize, &str)> = paragraphs.collect();
    let mut wrong = Vec::new();
    for room in rooms.iter().filter(|room| paragraphs.iter().all(|(_, name)| name != *room)) {
        wrong.push(format!("src/README.md: the room `{room}` of lib.rs has no paragraph"));
    }
    let mut before: Option<usize> = None;
    for (line, name) in paragraphs {
        let Some(position) = rooms.iter().position(|room| *room == name) else {
            wrong.push(format!("src/README.md:{line}: there is no room `{name}` in lib.rs"));
            continue;
        };
        if before.is_some_and(|before| before >= position) {
            wrong.push(format!("src/README.md:{line}: the room `{name}` is not in the order of lib.rs"));
        }
        before = Some(position);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
