//! Entries of folders, and one walk over them for every world: what is hidden, what `.gitignore` leaves out, how
//! loops end, in which order.

use super::path;
use crate::diagnostic::{Code, Diagnostic, Result};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use std::sync::{Arc, OnceLock};

/// What is known of a file without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// File, folder, or something else.
    pub entry: EntryKind,
    /// Bytes.
    pub size: u64,
    /// Nanoseconds since 1970 of the last change to its bytes or to what is known of it, whichever is later:
    /// so a tool that sets the time of modification back is seen.
    pub modified_ns: i128,
    /// The inode: a file replaced by a rename has another one.
    pub inode: u64,
}

/// What an entry of a folder is. A symlink is what it leads to, if that is below the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EntryKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A device, a pipe, a socket, a symlink that is dangling or leads outside, or anything whose name is not UTF-8.
    Other,
}

/// One entry of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderEntry {
    /// Its name, without a path; anything that is not UTF-8 is replaced.
    pub name: String,
    /// What it is.
    pub entry: EntryKind,
    /// The target of a symlink, unresolved; anything that is not UTF-8 is replaced.
    pub link: Option<String>,
}

/// How to walk.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WalkOptions {
    /// The folder to begin at; `.` or the empty text is the root.
    pub from: String,
    /// Whether to look at names that begin with a dot.
    pub hidden: bool,
    /// Whether to ignore `.git` and what `.gitignore` and `.ignore` files below the root ignore.
    pub ignore: bool,
    /// Whether to follow symlinks that stay below the root; otherwise they are skipped. Loops end.
    pub follow: bool,
    /// How many folders deep, at most: with 1 only the entries of the first folder are found.
    pub depth: Option<usize>,
}

/// What a walk found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WalkResult {
    /// The files: paths relative to the root, sorted bytewise.
    pub files: Vec<String>,
    /// The folders looked into, the first one included: paths relative to the root, sorted bytewise.
    pub folders: Vec<String>,
    /// The folders that could not be looked into, so that their contents are missing, sorted in the same way.
    pub unreadable: Vec<String>,
    /// What looks like a file and was not read, sorted in the same way: links that lead to nothing or out of what may be
    /// read, and names that are not UTF-8, in which each such byte is replaced.
    pub skipped: Vec<String>,
    /// Whether a symlink was followed, or would have been if it led to something.
    pub linked: bool,
}

/// The error for a folder that a walk could not look into.
pub fn unreadable_folder(path: &str) -> Box<Diagnostic> {
    Diagnostic::new(Code::WORLD, format!("the folder `{path}` cannot be read, so its files are skipped"))
        .help("let this user read the folder, or leave it out")
}

/// The error for what looks like a file, and was skipped by a walk.
pub fn skipped_file(path: &str) -> Box<Diagnostic> {
    let (why, help) = match path.contains(char::REPLACEMENT_CHARACTER) {
        true => ("its name is not UTF-8", "rename it"),
        false => {
            ("it is a link to nothing, or to what may not be read", "put the file itself there, or remove the link")
        }
    };
    Diagnostic::new(Code::WORLD, format!("`{path}` is skipped: {why}")).help(help)
}

/// The files that determine what a walk skips, the stronger one first. Only those between the root of the world and the
/// entry count: a user's own excludes and those above the root would make results differ from one machine to the next.
pub(super) const IGNORE_FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The maximum size of such a file: each line takes some 12 kB of memory.
const MAX_IGNORE_BYTES: usize = 1 << 20;
const MAX_IGNORE_LINES: usize = 20_000;

/// The maximum number of folders of a walk: more are a mistake, or a trap.
const MAX_WALK_FOLDERS: usize = 500_000;

/// What a walk needs to know of a world.
pub(super) trait FolderSource {
    /// The entries of a folder, sorted by name; nothing if it cannot be looked into.
    fn entries(&self, folder: &str) -> Result<Option<Vec<FolderEntry>>>;

    /// Whether there is such a folder, of one that cannot be looked into.
    fn is_unreadable(&self, _folder: &str) -> bool {
        false
    }

    /// The root that contains the clean path `from`: above it no ignore file counts.
    fn top(&self, _from: &str) -> String {
        ".".to_owned()
    }

    /// The text of an ignore file, if it exists.
    fn ignore_file(&self, path: &str) -> Option<String>;

    /// Identifies a folder: two paths to one folder have the same identity.
    fn identity(&self, folder: &str) -> Option<(u64, u64)>;
}

/// A folder still to be looked into.
struct PendingFolder {
    path: String,
    /// Its depth in folders; that of the first one is 0.
    depth: usize,
    rules: Option<Arc<IgnoreRules>>,
    /// The folders above it that were entered, kept only where links are followed.
    above: Option<Arc<EnteredFolder>>,
    /// Whether it is a link: only one of these can close a loop.
    link: bool,
}

struct EnteredFolder {
    path: String,
    /// Looked up when a link below may lead here.
    identity: OnceLock<Option<(u64, u64)>>,
    next: Option<Arc<EnteredFolder>>,
}

/// The ignore files of one folder, and of those above it.
struct IgnoreRules {
    folder: String,
    files: [Gitignore; 2],
    above: Option<Arc<IgnoreRules>>,
}

/// Walks. The result is empty for a folder that does not exist or is in an ignored one.
pub(super) fn walk(folders: &dyn FolderSource, walk: &WalkOptions) -> Result<WalkResult> {
    let from = path::clean(&walk.from);
    let mut walked = WalkResult::default();
    let rules = match walk.ignore {
        true => match rules_above(folders, &from)? {
            Some(rules) => rules,
            None => return Ok(walked),
        },
        false => None,
    };
    // A link to a folder above the first one leads to it again.
    let outer = if walk.follow { folders_above(&folders.top(&from), &from) } else { Vec::new() };
    let above = outer
        .into_iter()
        .fold(None, |next, path| Some(Arc::new(EnteredFolder { path, identity: OnceLock::new(), next })));
    let mut open = vec![PendingFolder { path: from, depth: 0, rules, above, link: false }];
    while let Some(folder) = open.pop() {
        enter(folders, walk, folder, &mut open, &mut walked)?;
        if walked.folders.len() > MAX_WALK_FOLDERS {
            let message = format!("the walk from `{}` looked into {MAX_WALK_FOLDERS} folders", walk.from);
            return Err(Diagnostic::new(Code::LIMIT, message).help("begin further down, or give a `max_depth`"));
        }
    }
    walked.files.sort_unstable();
    walked.folders.sort_unstable();
    walked.unreadable.sort_unstable();
    walked.skipped.sort_unstable();
    Ok(walked)
}

fn enter(
    folders: &dyn FolderSource,
    walk: &WalkOptions,
    folder: PendingFolder,
    open: &mut Vec<PendingFolder>,
    walked: &mut WalkResult,
) -> Result<()> {
    if folder.link && is_above(folders, folder.above.as_deref(), folders.identity(&folder.path)) {
        return Ok(());
    }
    let Some(entries) = folders.entries(&folder.path)? else {
        if folders.is_unreadable(&folder.path) {
            walked.unreadable.push(folder.path);
        }
        return Ok(());
    };
    let rules = if walk.ignore { rules_of(folders, &folder, &entries)? } else { None };
    let (path, identity) = (folder.path.clone(), OnceLock::new());
    let above = walk.follow.then(|| Arc::new(EnteredFolder { path, identity, next: folder.above.clone() }));
    for found in entries {
        // What a link leads to below the root is found there in any case; elsewhere it is missing.
        let is_skipped = found.link.is_some() && !walk.follow && found.entry != EntryKind::Other;
        if is_skipped || (!walk.hidden && found.name.starts_with('.')) {
            continue;
        }
        walked.linked |= found.link.is_some();
        let path = child_path(&folder.path, &found.name);
        let is_folder = found.entry == EntryKind::Folder;
        if is_ignored(rules.as_deref(), &path, is_folder) || (walk.ignore && found.name == ".git") {
            continue;
        }
        match found.entry {
            EntryKind::File => walked.files.push(path),
            EntryKind::Folder if walk.depth.is_none_or(|depth| folder.depth + 1 < depth) => {
                let (rules, above, link) = (rules.clone(), above.clone(), found.link.is_some());
                open.push(PendingFolder { path, depth: folder.depth + 1, rules, above, link });
            }
            EntryKind::Other if found.link.is_some() || found.name.contains(char::REPLACEMENT_CHARACTER) => {
                walked.skipped.push(path);
            }
            EntryKind::Folder | EntryKind::Other => {}
        }
    }
    walked.folders.push(folder.path);
    Ok(())
}

/// The path of an entry, as results show it: without a leading `./`.
pub(super) fn child_path(folder: &str, name: &str) -> String {
    match folder {
        "." => name.to_owned(),
        "/" => format!("/{name}"),
        _ => format!("{folder}/{name}"),
    }
}

fn is_above(folders: &dyn FolderSource, mut above: Option<&EnteredFolder>, identity: Option<(u64, u64)>) -> bool {
    while let Some(one) = above {
        if identity.is_some() && *one.identity.get_or_init(|| folders.identity(&one.path)) == identity {
            return true;
        }
        above = one.next.as_deref();
    }
    false
}

/// The folders from `top` down to the one that holds `from`, the outermost first.
pub(super) fn folders_above(top: &str, from: &str) -> Vec<String> {
    if from == top || !path::is_below(from, top) {
        return Vec::new();
    }
    let mut above = vec![top.to_owned()];
    let below = if top == "." { 0 } else { top.len() + usize::from(top != "/") };
    above.extend(from[below..].match_indices('/').map(|(at, _)| from[..below + at].to_owned()));
    above
}

/// Walks from the one spelling of a folder, and returns the paths in the requested spelling.
pub(super) fn walk_as_asked(
    from: String,
    walk: &WalkOptions,
    run: impl FnOnce(&WalkOptions) -> Result<WalkResult>,
) -> Result<WalkResult> {
    let asked = path::clean(&walk.from);
    let again = |path: String| match path.strip_prefix(&from) {
        Some("") => asked.clone(),
        Some(rest) if rest.starts_with('/') => format!("{asked}{rest}"),
        _ if from == "." => path::join(&asked, &path),
        _ => path,
    };
    let mut walked = run(&WalkOptions { from: from.clone(), ..walk.clone() })?;
    if from != asked {
        walked.files = walked.files.into_iter().map(&again).collect();
        walked.folders = walked.folders.into_iter().map(&again).collect();
        walked.unreadable = walked.unreadable.into_iter().map(&again).collect();
        walked.skipped = walked.skipped.into_iter().map(&again).collect();
    }
    Ok(walked)
}

/// The rules that apply where the walk begins; `None` if they ignore that folder.
fn rules_above(folders: &dyn FolderSource, from: &str) -> Result<Option<Option<Arc<IgnoreRules>>>> {
    let mut rules: Option<Arc<IgnoreRules>> = None;
    let above = folders_above(&folders.top(from), from);
    for (at, folder) in above.iter().enumerate() {
        rules = read_rules(folder, rules, |name| folders.ignore_file(&child_path(folder, name)))?;
        let next = above.get(at + 1).map_or(from, String::as_str);
        if is_ignored(rules.as_deref(), next, true) {
            return Ok(None);
        }
    }
    Ok(Some(rules))
}

fn rules_of(
    folders: &dyn FolderSource,
    folder: &PendingFolder,
    entries: &[FolderEntry],
) -> Result<Option<Arc<IgnoreRules>>> {
    read_rules(&folder.path, folder.rules.clone(), |name| {
        let there = entries.binary_search_by(|entry| entry.name.as_str().cmp(name)).is_ok();
        there.then(|| folders.ignore_file(&child_path(&folder.path, name))).flatten()
    })
}

//= docs/spec.md#robustness
//# A file that toolsd reads for itself MUST be a regular file of a bounded size.
/// Adds the rules of one folder to those above; lines that are not patterns are skipped, as git does.
fn read_rules(
    folder: &str,
    above: Option<Arc<IgnoreRules>>,
    text: impl Fn(&str) -> Option<String>,
) -> Result<Option<Arc<IgnoreRules>>> {
    let texts = IGNORE_FILES.map(text);
    if texts.iter().all(Option::is_none) {
        return Ok(above);
    }
    let mut files = [Gitignore::empty(), Gitignore::empty()];
    for ((text, name), file) in texts.iter().zip(IGNORE_FILES).zip(&mut files) {
        let text = text.as_deref().unwrap_or_default();
        if text.len() > MAX_IGNORE_BYTES || text.lines().count() > MAX_IGNORE_LINES {
            let message = format!("`{}` has more than 1 MB or {MAX_IGNORE_LINES} lines", child_path(folder, name));
            return Err(Diagnostic::new(Code::LIMIT, message)
                .help("a list of ignore rules of this size takes a gigabyte of memory: shorten it, or search with `ignore: false`"));
        }
        let mut builder = GitignoreBuilder::new(".");
        for line in text.lines() {
            crate::guard::check()?;
            let _not_a_pattern = builder.add_line(None, line);
        }
        *file = builder.build().unwrap_or_else(|_| Gitignore::empty());
    }
    Ok(Some(Arc::new(IgnoreRules { folder: folder.to_owned(), files, above })))
}

/// The nearest rule that speaks of the path decides; `.ignore` files are asked before `.gitignore` files.
fn is_ignored(rules: Option<&IgnoreRules>, path: &str, is_folder: bool) -> bool {
    for file in 0..IGNORE_FILES.len() {
        let mut at = rules;
        while let Some(rules) = at {
            let within = match rules.folder.as_str() {
                "." => path,
                folder => path.strip_prefix(folder).map_or(path, |rest| rest.trim_start_matches('/')),
            };
            let decided = rules.files[file].matched(within, is_folder);
            if !decided.is_none() {
                return decided.is_ignore();
            }
            at = rules.above.as_deref();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Folders of which some cannot be looked into.
    struct Guarded;

    impl FolderSource for Guarded {
        fn entries(&self, folder: &str) -> Result<Option<Vec<FolderEntry>>> {
            let entry = |name: &str| FolderEntry { name: name.to_owned(), entry: EntryKind::Folder, link: None };
            Ok((folder == ".").then(|| ["a", "b", "c"].map(entry).to_vec()))
        }

        fn is_unreadable(&self, folder: &str) -> bool {
            folder != "c"
        }

        fn ignore_file(&self, _path: &str) -> Option<String> {
            None
        }

        fn identity(&self, _folder: &str) -> Option<(u64, u64)> {
            None
        }
    }

    #[test]
    fn folders_that_cannot_be_looked_into_are_reported_in_order() {
        let all = WalkOptions { from: ".".to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        assert_eq!(walk(&Guarded, &all).unwrap().unreadable, ["a", "b"]);
    }
}
