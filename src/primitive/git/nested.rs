//! Repositories of their own that lie where git puts a file: to git, which looks for what it knows and what it may add, there
//! is none where its index has a file of that name.

use super::session::GitSession;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::world::EntryKind;

/// A repository, and a working tree of one, has this in it.
const MARKER: &str = ".git";
/// How many folders may lie in each other, …
const MOST_DEPTH: usize = 64;
/// … and how many entries are looked at in all.
const MOST_ENTRIES: usize = 50_000;

/// The first folder at or below `name` that is a repository of its own.
///
/// # Errors
/// A folder may not be read, or there is more than can be looked at.
pub(super) fn repository_in(session: &GitSession<'_>, name: &str) -> Result<Option<String>> {
    let mut folders = vec![(name.trim_end_matches('/').to_owned(), 0)];
    let mut left = MOST_ENTRIES;
    while let Some((folder, depth)) = folders.pop() {
        let entries = session.world.list(&session.below_top(&folder))?;
        if entries.iter().any(|entry| entry.name.eq_ignore_ascii_case(MARKER)) {
            return Ok(Some(folder));
        }
        left = left.checked_sub(entries.len()).filter(|_| depth < MOST_DEPTH).ok_or_else(|| {
            Diagnostic::new(Code::WORLD, format!("`{folder}` would go, and holds more than can be looked at"))
                .help("a person does that with git itself")
        })?;
        let below = entries.iter().filter(|entry| entry.entry == EntryKind::Folder && !entry.link);
        folders.extend(below.map(|entry| (format!("{folder}/{}", entry.name), depth + 1)));
    }
    Ok(None)
}

/// The fault of a verb that would take such a repository away.
pub(super) fn own_repository(name: &str) -> Box<Diagnostic> {
    let message = format!("`{}` is a repository of its own, and would go with all in it", name.trim_end_matches('/'));
    Diagnostic::new(Code::WORLD, message).help("a person does that with git itself")
}
