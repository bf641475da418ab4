//! What git has no business to change while it writes files: looked at before, and put right when it has ended.
//!
//! Of its own folder and of folders with protected names git may be able to write more than it should, for Landlock has no
//! rule that takes something out. Whoever puts a link in the place of a folder at the right moment leads it there.

use super::super::protected::{self, set_aside};
use crate::diagnostic::Result;
use crate::world::granted::protected_name;
use crate::world::path;
use crate::world::repository::Repository;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::io::Write;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What of a folder of git another git believes: programs are named there, or other folders.
const OF_GIT: [&str; 8] = [
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "info/attributes",
    "info/grafts",
    "objects/info/alternates",
];

/// How many entries are looked at; more are not put right, and that is told.
const MOST_ENTRIES: usize = 20_000;
/// A larger file is not kept.
const MOST_BYTES: u64 = 1 << 20;
/// So much is kept of all together.
const MOST_OF_ALL: u64 = 64 << 20;

/// A file or a folder as it was.
struct Kept {
    known: Metadata,
    /// What a file held, if it is not too large.
    bytes: Option<Vec<u8>>,
}

/// What is looked after.
pub(super) struct Guard {
    folders: Vec<String>,
    own: Vec<String>,
    /// What of its own git is asked to change.
    without: Vec<&'static str>,
    /// Whether it makes or removes working trees.
    is_of_trees: bool,
    kept: BTreeMap<PathBuf, Kept>,
    stop: fn() -> Result<()>,
    notes: Vec<String>,
}

impl Guard {
    /// Looks at what lies below the folders that git may write, and at its own.
    pub(super) fn new(repository: &Repository, folders: &[String], words: &[String], stop: fn() -> Result<()>) -> Self {
        let own = [&repository.common_dir, &repository.git_dir].map(String::clone).to_vec();
        let is_for = |command: &str| words.iter().any(|word| word == command);
        let without = if is_for("sparse-checkout") { vec!["config.worktree"] } else { Vec::new() };
        let is_of_trees = is_for("worktree");
        let mut guard = Self {
            folders: folders.to_vec(),
            own,
            without,
            kept: BTreeMap::new(),
            stop,
            notes: Vec::new(),
            is_of_trees,
        };
        let (entries, notes) = guard.entries();
        let mut left = MOST_OF_ALL;
        for (at, known) in entries {
            let size = known.len();
            let is_small = known.is_file() && size <= MOST_BYTES && size <= left;
            let bytes = is_small.then(|| bytes_of(&at)).flatten();
            left -= if bytes.is_some() { size } else { 0 };
            guard.kept.insert(at, Kept { known, bytes });
        }
        guard.notes = notes;
        guard
    }

    /// All that is looked after and is there now; and what could not be looked at.
    fn entries(&self) -> (BTreeMap<PathBuf, Metadata>, Vec<String>) {
        let (mut found, mut notes) = (BTreeMap::new(), Vec::new());
        let mut roots: BTreeSet<PathBuf> = self.own.iter().map(PathBuf::from).collect();
        for folder in &self.folders {
            let (names, fault) = protected::below(folder, self.stop);
            roots.extend(names);
            notes.extend(fault.map(|fault| fault.message));
        }
        for root in roots {
            let is_of_git = self.own.iter().any(|own| Path::new(own) == root)
                || root.file_name().and_then(|name| name.to_str()).and_then(protected_name) == Some(".git");
            if is_of_git && root.is_dir() {
                // The folder itself, so that a new one is seen.
                found.extend(fs::symlink_metadata(&root).map(|known| (root.clone(), known)));
                let names = OF_GIT.iter().filter(|name| !self.without.contains(name));
                names.for_each(|name| collect(&root.join(name), &mut found));
            } else {
                collect(&root, &mut found);
            }
        }
        if found.len() > MOST_ENTRIES {
            notes.push(format!(
                "more than {MOST_ENTRIES} files have names that no grant covers: not all were looked after"
            ));
        }
        (found, notes)
    }

    /// The folder, of those that are looked after, in which something lies.
    fn top_of(&self, at: &Path) -> &str {
        let all = self.folders.iter().chain(&self.own);
        all.filter(|folder| at.starts_with(folder)).max_by_key(|folder| folder.len()).map_or("/", String::as_str)
    }

    //= docs/spec.md#git
    //# What git made or changed of a protected name, or of its own folder without being asked, MUST be put right when it has ended, and the caller told.
    /// Puts right what changed; tells of it.
    pub(super) fn settle(mut self) -> Vec<String> {
        let (now, mut notes) = self.entries();
        notes.append(&mut self.notes);
        notes.sort_unstable();
        notes.dedup();
        let mut aside: Vec<PathBuf> = Vec::new();
        for at in now.keys().filter(|at| !self.kept.contains_key(*at)) {
            let is_asked_for =
                || self.is_of_trees && bytes_of(at).is_some_and(|bytes| names_working_tree(at, &bytes, &self.own));
            if aside.iter().any(|done| at.starts_with(done)) || is_asked_for() {
                continue;
            }
            notes.push(removed(at).unwrap_or_else(|| told(set_aside(at, self.top_of(at)))));
            aside.push(at.clone());
        }
        for (at, kept) in &self.kept {
            let (Some(bytes), now) = (&kept.bytes, now.get(at)) else { continue };
            if now.is_some_and(|now| is_same(now, &kept.known)) || bytes_of(at).is_some_and(|now| now == *bytes) {
                continue;
            }
            if now.is_none() && self.is_of_trees && names_working_tree(at, bytes, &self.own) {
                continue;
            }
            let was = now.map(|_| told(set_aside(at, self.top_of(at)))).unwrap_or_else(|| "it was gone".to_owned());
            let shown = at.display();
            notes.push(match put_back(at, bytes, &kept.known) {
                Ok(()) => format!("`{shown}` changed while git ran, and is as it was again: {was}"),
                Err(error) => format!("`{shown}` changed while git ran, and cannot be put back: {error}; {was}"),
            });
        }
        notes
    }
}

fn told(aside: Result<(String, String)>) -> String {
    match aside {
        Ok((at, aside)) => format!("no grant covers what git made: `{at}` is `{aside}` now"),
        Err(fault) => fault.message,
    }
}

/// What a file holds that git believes; nothing for whatever is no small file.
fn bytes_of(at: &Path) -> Option<Vec<u8>> {
    super::data(at.to_str()?).ok().flatten()
}

/// Takes an empty folder away, which git makes for a submodule: nothing is lost with it.
fn removed(at: &Path) -> Option<String> {
    let is_removed = fs::remove_dir(at).is_ok();
    is_removed.then(|| format!("no grant covers what git made: `{}`, an empty folder, was removed", at.display()))
}

/// A file or folder with all below it, no link followed.
fn collect(at: &Path, found: &mut BTreeMap<PathBuf, Metadata>) {
    let Ok(known) = fs::symlink_metadata(at) else { return };
    let is_folder = known.is_dir();
    found.insert(at.to_owned(), known);
    if is_folder && found.len() <= MOST_ENTRIES {
        for entry in fs::read_dir(at).into_iter().flatten().flatten() {
            collect(&entry.path(), found);
        }
    }
}

/// Whether what a `.git` holds is the name of a further working tree, which git makes and removes when it is asked to.
fn names_working_tree(at: &Path, bytes: &[u8], own: &[String]) -> bool {
    let named = str::from_utf8(bytes).ok().and_then(|text| text.strip_prefix("gitdir: "));
    at.file_name().is_some_and(|name| name == ".git")
        && named.is_some_and(|named| {
            let git_dir = path::folder(named.trim_end());
            path::name(git_dir) == "worktrees"
                && (own.iter().any(|own| path::folder(git_dir) == own)
                    || path::name(path::folder(git_dir)).starts_with(super::stand_in::PREFIX))
        })
}

fn is_same(one: &Metadata, other: &Metadata) -> bool {
    let parts = |known: &Metadata| {
        (known.dev(), known.ino(), known.len(), known.mtime(), known.mtime_nsec(), known.ctime(), known.ctime_nsec())
    };
    parts(one) == parts(other)
}

fn put_back(at: &Path, bytes: &[u8], known: &Metadata) -> std::io::Result<()> {
    let folder = at.parent().unwrap_or(at);
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".").permissions(known.permissions()).tempfile_in(folder)?;
    file.write_all(bytes)?;
    file.as_file().set_permissions(fs::Permissions::from_mode(known.mode() & 0o7777))?;
    file.persist_noclobber(at).map(drop).map_err(|error| error.error)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    //= docs/spec.md#git
    //= type=test
    //# What git made or changed of a protected name, or of its own folder without being asked, MUST be put right when it has ended, and the caller told.
    #[test]
    fn what_changed_is_put_right_and_told() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        for (name, text) in [
            (".git/config", "own"),
            (".git/hooks/old", "old"),
            (".toolsd/tools.d/a.toml", "trusted"),
            ("toolsd.toml", "settings"),
            ("sub/.git/config", "inner"),
        ] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), text).unwrap();
        }
        let top = place.path().to_string_lossy().into_owned();
        let repository =
            Repository { common_dir: format!("{top}/.git"), git_dir: format!("{top}/.git"), ..Repository::default() };
        let guard = Guard::new(&repository, std::slice::from_ref(&top), &["worktree".to_owned()], || Ok(()));
        for name in [".git/hooks/pre-commit", ".toolsd/tools.d/evil.toml", "deep/.TOOLSD/x"] {
            fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            fs::write(at(name), "evil").unwrap();
        }
        for name in [".git/config", "toolsd.toml", "sub/.git/config"] {
            fs::remove_file(at(name)).unwrap();
            fs::write(at(name), "evil").unwrap();
        }
        fs::remove_dir_all(at(".toolsd/tools.d")).unwrap();
        fs::create_dir_all(at("empty/.toolsd")).unwrap();
        fs::create_dir_all(at("tree")).unwrap();
        fs::write(at("tree/.git"), format!("gitdir: {top}/.git/worktrees/tree\n")).unwrap();
        let told = guard.settle().join("\n");
        for name in [".git/hooks/pre-commit", "deep/.TOOLSD", "empty/.toolsd"] {
            assert!(!at(name).exists() && told.contains(name), "{name}: {told}");
        }
        assert!(at("tree/.git").exists() && at("deep/.TOOLSD.set-aside-1/x").exists(), "{told}");
        for (name, text) in [
            (".git/config", "own"),
            ("toolsd.toml", "settings"),
            ("sub/.git/config", "inner"),
            (".toolsd/tools.d/a.toml", "trusted"),
        ] {
            assert_eq!(fs::read_to_string(at(name)).unwrap(), text, "{told}");
            assert!(told.contains(name), "{name}: {told}");
        }
        let untouched = Guard::new(&repository, &[top], &[], || Ok(()));
        assert_eq!(untouched.settle(), [""; 0]);
    }
}
