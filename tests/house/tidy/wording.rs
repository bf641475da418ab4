//! Plain words: the phrases of wording.toml occur in the repository no more often than it allows.

use super::collect;
use regex::RegexBuilder;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// Where people read: folders and single files.
const READ: [&str; 7] = ["src", "docs", "tests", "tools.d", "README.md", "Cargo.toml", "build.rs"];

/// What kinds of files they read.
const EXTENSIONS: [&str; 5] = ["rs", "rhai", "toml", "md", "hbs"];

/// The file that lists the phrases.
const WORDING: &str = "tests/house/tidy/wording.toml";

#[derive(Deserialize)]
struct Wording {
    phrase: Vec<Phrase>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Phrase {
    /// A regular expression, matched without regard to case.
    pattern: String,
    /// What matches it and is fine.
    except: Option<String>,
    instead: String,
    max: usize,
}

/// The file, the line and its text of each hit.
fn lines_with<'a>(phrase: &Phrase, files: &'a [(String, String)]) -> Vec<(String, usize, &'a str)> {
    let regex = |pattern: &str| RegexBuilder::new(pattern).case_insensitive(true).build().unwrap();
    let (pattern, except) = (regex(&phrase.pattern), phrase.except.as_deref().map(regex));
    let mut found = Vec::new();
    for (path, text) in files {
        for (at, line) in text.lines().enumerate() {
            let fine = except.as_ref().map_or(0, |except| except.find_iter(line).count());
            let hits = pattern.find_iter(line).count().saturating_sub(fine);
            found.extend((0..hits).map(|_| (path.clone(), at + 1, line.trim())));
        }
    }
    found
}

#[test]
fn wording_becomes_plainer() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    READ.iter().for_each(|part| collect(&root.join(part), &EXTENSIONS, &mut paths));
    let name = |path: &PathBuf| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    // Some fixtures are not UTF-8.
    let text = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    let files: Vec<(String, String)> = paths.iter().map(|path| (name(path), text(path))).collect();
    let files: Vec<(String, String)> = files.into_iter().filter(|(path, _)| path != WORDING).collect();
    let wording: Wording = toml::from_str(&fs::read_to_string(root.join(WORDING)).unwrap()).unwrap();
    let mut wrong = Vec::new();
    for phrase in &wording.phrase {
        let found = lines_with(phrase, &files);
        let Phrase { pattern, instead, max, .. } = phrase;
        if found.len() < *max {
            wrong.push(format!(
                "`{pattern}` occurs {} times: write `max = {}` into {WORDING}",
                found.len(),
                found.len()
            ));
        }
        if found.len() > *max {
            let lines: Vec<String> =
                found.iter().map(|(path, line, text)| format!("  {path}:{line}: {text}")).collect();
            let count = found.len();
            wrong.push(format!(
                "`{pattern}` occurs {count} times, {max} are allowed; write {instead}\n{}",
                lines.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
