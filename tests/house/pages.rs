//! The pages of this repository: their texts, and their fenced blocks.

use std::fs;
use std::path::Path;

/// The root of the repository.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The text of a page; `path` begins at the root of the repository.
pub fn page(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// The fenced blocks of a page: the info string and the text.
pub fn blocks(path: &str) -> Vec<(String, String)> {
    let text = page(path);
    let parts: Vec<&str> = text.split("\n```").collect();
    assert!(parts.len() % 2 == 1, "a fence of {path} is not closed");
    let block = |part: &&str| {
        let (info, text) = part.split_once('\n').unwrap();
        (info.to_owned(), format!("{text}\n"))
    };
    parts.iter().skip(1).step_by(2).map(block).collect()
}
