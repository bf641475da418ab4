//! The limits of the packs inside the binary: they are the models that authors copy.

use super::collect;
use std::fs;
use std::path::{Path, PathBuf};

/// Files with a limit of their own: the most lines they may have.
const FILE_LINES: &[(&str, usize)] = &[("tools.d/elspais/mutate.toml", 450)];

/// A function of a script stays below this.
const FUNCTION_LINES: usize = 50;

/// The maximum width of a line.
const COLUMNS: usize = 120;

/// Path and text of the definitions and scripts of all packs.
pub fn files() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["tools.d", "prompts"] {
        collect(&root.join(folder), &["toml", "rhai"], &mut found);
    }
    found.sort();
    let read = |path: PathBuf| {
        (path.strip_prefix(root).unwrap().to_string_lossy().into_owned(), fs::read_to_string(&path).unwrap())
    };
    found.into_iter().map(read).collect()
}

/// The functions of a script: line, head and number of lines.
fn functions(text: &str) -> Vec<(usize, &str, usize)> {
    let mut open: Option<(usize, &str)> = None;
    let mut found = Vec::new();
    for (at, line) in text.lines().enumerate() {
        match open {
            None if line.starts_with("fn ") && line.ends_with('}') => found.push((at + 1, line, 1)),
            None if line.starts_with("fn ") => open = Some((at, line)),
            Some((start, head)) if line == "}" => {
                found.push((start + 1, head, at - start + 1));
                open = None;
            }
            _ => {}
        }
    }
    assert!(open.is_none(), "a function without an end: {open:?}");
    found
}

#[test]
fn functions_of_packs_stay_small() {
    let (mut errors, mut count) = (Vec::new(), 0);
    for (file, text) in files().iter().filter(|(file, _)| file.ends_with(".rhai")) {
        for (line, head, lines) in functions(text) {
            count += 1;
            if lines >= FUNCTION_LINES {
                errors.push(format!("{file}:{line}: `{head}` has {lines} lines, of fewer than {FUNCTION_LINES}"));
            }
        }
    }
    assert!(count > 300, "only {count} functions: the scripts are not read as they are written");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
}

#[test]
fn files_of_packs_stay_below_their_limits() {
    let files = files();
    for (path, most) in FILE_LINES {
        let (_, text) = files.iter().find(|(file, _)| file == path).unwrap();
        let lines = text.lines().count();
        assert!(lines <= *most, "{path}: has {lines} lines, of {most} at most");
    }
}

#[test]
fn no_line_of_a_pack_is_too_wide() {
    let mut wide = Vec::new();
    for (file, text) in files() {
        let lines = text.lines().enumerate().filter(|(_, line)| line.chars().count() > COLUMNS);
        wide.extend(lines.map(|(at, _)| format!("{file}:{}", at + 1)));
    }
    assert!(wide.is_empty(), "these lines have more than {COLUMNS} columns: {}", wide.join(" "));
}
