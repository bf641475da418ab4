//! Guards what git has no business to change while it writes files: recorded before it starts, restored after it has
//! ended.
//!
//! Of its own folder and of folders with protected names git may be able to write more than it should, for Landlock
//! has no rule that takes something out. Whoever puts a link in the place of a folder at the right moment leads it
//! there. What was there before is written down with the program (`program_journal`): the host may be killed, and
//! git's work with it.

#[cfg(test)]
mod tests;

use super::{locks, stand_in};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;
use crate::world::disk::journal::{CleanupNote, LAST_WORK, nanoseconds};
use crate::world::disk::protected::{self, ProtectedBelow, open_below, set_aside};
use crate::world::disk::read::read_repository_file;
use crate::world::disk::system::reason;
use crate::world::disk::write_journal;
use crate::world::grants::protected_name;
use crate::world::path;
use crate::world::repository::Repository;
use rustix::fs::{
    AtFlags, Mode, OFlags, RawMode, RenameFlags, fchmod, mkdirat, openat, readlinkat, renameat_with, symlinkat,
    unlinkat,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Parts of a repository that later runs of git trust: they name programs, other folders, or what git ignores.
const OF_GIT: [&str; 12] = [
    "branches",
    "commondir",
    "config",
    "config.worktree",
    "gitdir",
    "hooks",
    "info/attributes",
    "info/exclude",
    "info/grafts",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "remotes",
];
/// The same for a further working tree.
const OF_TREE: [&str; 3] = ["commondir", "config.worktree", "gitdir"];

/// The maximum number of guarded entries. More are not restored, and that is told.
const MOST_ENTRIES: usize = 20_000;
/// The maximum number of bytes kept of all files together: a journal has room for it.
const MOST_OF_ALL: u64 = 12 << 20;
/// The maximum size of a file whose bytes are kept.
const MOST_BYTES: u64 = 1 << 20;

/// A folder below which git may write, with its device and inode.
type GuardedFolder = (String, (u64, u64));

/// The places that are guarded.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct GuardedPlaces {
    /// Parts of the working tree.
    folders: Vec<GuardedFolder>,
    /// The repository.
    own: Vec<GuardedFolder>,
    /// What of its own git is asked to change.
    without: Vec<String>,
    /// Whether it makes or removes working trees.
    is_of_trees: bool,
    /// Whether all could be looked at: else what is new cannot be told from what was there.
    is_whole: bool,
    /// When git began, in nanoseconds: locks that were there before are those of others.
    began: i128,
}

/// The guarded places and what was there before git ran.
#[derive(Debug)]
pub(in crate::world::disk) struct GitGuard {
    places: GuardedPlaces,
    kept: BTreeMap<PathBuf, OriginalEntry>,
    notes: Vec<String>,
    /// When the last change was made that can have been git's, in nanoseconds; nothing while its host is alive.
    until: Option<i128>,
}

impl GitGuard {
    /// Looks at what lies below the folders that git may write, and at its own.
    pub(super) fn new(
        repository: &Repository,
        folders: &[String],
        words: &[String],
        stop: fn() -> Result<()>,
    ) -> Result<Self> {
        let own: BTreeSet<&String> = [&repository.common_dir, &repository.git_dir].into();
        let top =
            |at: &String| fs::symlink_metadata(at).ok().filter(Metadata::is_dir).and(Some((at.clone(), identity(at)?)));
        // The command of git is its first word that is no option: a branch may be called like one.
        let command = words.iter().find(|word| !word.starts_with('-')).map(String::as_str);
        let without = match command {
            // The host's own: see `hide` in `primitive/git/steps`.
            Some("config") => vec!["config".to_owned()],
            Some("sparse-checkout") => vec!["config.worktree".to_owned()],
            _ => Vec::new(),
        };
        let mut places = GuardedPlaces {
            folders: folders.iter().filter_map(top).collect(),
            own: own.into_iter().filter_map(top).collect(),
            without,
            is_of_trees: command == Some("worktree"),
            began: locks::earliest_lock_time(),
            ..GuardedPlaces::default()
        };
        let (entries, notes, is_whole) = places.entries(|folder| protected::protected_below(folder, stop))?;
        places.is_whole = is_whole;
        let mut left = MOST_OF_ALL;
        let kept = entries.into_iter().map(|(at, found)| {
            let one = OriginalEntry::from_file(&at, &found, &mut left);
            (at, one)
        });
        Ok(Self { kept: kept.collect(), places, notes, until: None })
    }

    /// All folders that git may write.
    pub(super) fn writable_folders(&self) -> Vec<String> {
        self.places.tops().map(|(at, _)| at.clone()).collect()
    }

    /// What a later process needs to put right what git changed.
    pub(super) fn to_lines(&self) -> Vec<Json> {
        let kept = self.kept.iter().map(|(at, kept)| kept.to_line(at));
        std::iter::once(json!({ "guards": self.places })).chain(kept).collect()
    }

    /// Reads what [`to_lines`](Self::to_lines) wrote, for a git whose host gave its last sign of life at
    /// `last_heartbeat`. `None` if the lines are something else.
    pub(in crate::world::disk) fn from_lines(lines: &[Json], last_heartbeat: i128) -> Option<Self> {
        let (first, rest) = lines.split_first()?;
        let places: GuardedPlaces = serde_json::from_value(first.get("guards")?.clone()).ok()?;
        let kept = rest.iter().map(OriginalEntry::from_line).collect::<Option<BTreeMap<_, _>>>()?;
        let until = cfg!(target_os = "linux").then_some(last_heartbeat + LAST_WORK);
        Some(Self { places, kept, notes: Vec::new(), until })
    }

    //= docs/spec.md#git
    //# What git made or changed of a protected name, or of its own folder without being asked, MUST be put right when it has ended, and the caller told.
    /// Restores what changed, and returns a note about each change. `was_ended` says whether git was ended before it
    /// was done.
    pub(in crate::world::disk) fn restore(mut self, was_ended: bool) -> Vec<CleanupNote> {
        let mut notes: Vec<CleanupNote> = std::mem::take(&mut self.notes).into_iter().map(CleanupNote::new).collect();
        notes.extend(self.forget_moved_folders());
        // Also when the time of its call is over: git is no reason to leave it.
        let now = match self.places.entries(protected::protected_below_after) {
            Ok((now, more, _)) => {
                let more = more.into_iter().filter(|one| !notes.iter().any(|note| note.told == *one));
                let more: Vec<CleanupNote> = more.map(CleanupNote::new).collect();
                notes.extend(more);
                now
            }
            Err(fault) => {
                notes.push(CleanupNote::new(format!("what git changed was not looked after: {}", fault.message)));
                return notes;
            }
        };
        notes.extend(self.put_new_aside(&now));
        let kept = self.kept.iter().filter_map(|(at, kept)| self.restore_one(at, kept, now.get(at)));
        notes.extend(kept);
        if was_ended {
            let own: Vec<&str> = self.places.own.iter().map(|(own, _)| own.as_str()).collect();
            notes.extend(locks::remaining_locks(&own, self.places.began, self.until));
        }
        notes
    }

    /// Drops folders that were replaced or are gone: what lies there now was never recorded.
    fn forget_moved_folders(&mut self) -> Vec<CleanupNote> {
        let is_same = |(at, known): &GuardedFolder| identity(at) == Some(*known);
        let (own, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.places.own).into_iter().partition(is_same);
        let (folders, more) = std::mem::take(&mut self.places.folders).into_iter().partition(is_same);
        (self.places.own, self.places.folders) = (own, folders);
        let is_looked_after = |at: &Path| self.places.tops().any(|(top, _)| at.starts_with(top));
        self.kept.retain(|at, _| is_looked_after(at));
        // Git removes a folder with its last file. Of a killed host all of them are told of together: see
        // `program_journal`.
        let is_told = |(at, _): &GuardedFolder| self.until.is_none() && identity(at).is_some();
        let told = gone.into_iter().chain(more).filter(is_told).map(|(at, _)| {
            format!("`{at}` is another folder now: names that no grant covers were not looked for there")
        });
        told.map(CleanupNote::new).collect()
    }

    fn put_new_aside(&self, now: &BTreeMap<PathBuf, Metadata>) -> Vec<CleanupNote> {
        let (mut notes, mut aside): (Vec<CleanupNote>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        let new = now.iter().filter(|(at, _)| !self.kept.contains_key(*at));
        for (at, known) in new {
            let own = self.places.own.iter();
            let own: Vec<&str> = own.map(|(own, _)| own.as_str()).collect();
            let is_asked_for = || {
                self.places.is_of_trees && read_small_file(at).is_some_and(|bytes| names_working_tree(at, &bytes, &own))
            };
            if aside.iter().any(|done| at.starts_with(done)) || is_asked_for() {
                continue;
            }
            aside.push(at.clone());
            let is_own = own.iter().any(|own| at.starts_with(own));
            if self.is_later(at, known) {
                continue;
            }
            if !self.places.is_whole && !is_own {
                let shown = at.display();
                notes.push(CleanupNote::new(format!(
                    "`{shown}` may be new: not all was looked at before git began, so it is left"
                )));
                continue;
            }
            notes.push(clear_away(at, self.places.top_of(at)));
        }
        notes
    }

    /// Restores one entry, if it changed.
    fn restore_one(&self, at: &Path, kept: &OriginalEntry, now: Option<&Metadata>) -> Option<CleanupNote> {
        if now.is_some_and(|now| kept.is_unchanged(at, now) || self.is_later(at, now)) {
            return None;
        }
        let own: Vec<&str> = self.places.own.iter().map(|(own, _)| own.as_str()).collect();
        if let (OriginalContent::File(Some(bytes)), None, true) = (&kept.what, now, self.places.is_of_trees)
            && names_working_tree(at, bytes, &own)
        {
            return None;
        }
        let (shown, top) = (at.display(), self.places.top_of(at));
        let aside = now.map(|_| clear_away(at, top));
        let was = aside.as_ref().map_or("it was gone", |note| note.told.as_str());
        let put = open_below(at.parent().unwrap_or(at), top, true).and_then(|folder| kept.put_back(&folder, at));
        let told = match put {
            Ok(()) => format!("`{shown}` changed while git ran, and is as it was again: {was}"),
            Err(error) => format!("`{shown}` changed while git ran, and cannot be put back: {}; {was}", reason(&error)),
        };
        Some(CleanupNote { told, aside: aside.and_then(|note| note.aside) })
    }

    //= docs/spec.md#git
    //# What was made or changed after git of a killed host had ended MUST be left as it is.
    /// Whether an entry was made or changed after the git of a killed host had ended: then it is somebody else's.
    fn is_later(&self, at: &Path, known: &Metadata) -> bool {
        let Some(until) = self.until else { return false };
        if nanoseconds(known.ctime(), known.ctime_nsec()) <= until {
            return false;
        }
        // A folder changes with each entry: what lies in it may have been there before.
        !known.is_dir() || {
            let mut below = BTreeMap::new();
            collect(at, &mut below);
            below.remove(at);
            below.iter().all(|(at, known)| self.is_later(at, known))
        }
    }
}

impl GuardedPlaces {
    fn tops(&self) -> impl Iterator<Item = &GuardedFolder> {
        self.folders.iter().chain(&self.own)
    }

    /// The guarded folder that holds a path.
    fn top_of(&self, at: &Path) -> &str {
        let all = self.tops().map(|(top, _)| top.as_str());
        all.filter(|folder| at.starts_with(folder)).max_by_key(|folder| folder.len()).unwrap_or("/")
    }

    /// All guarded entries that exist now; notes about what could not be looked at; and whether there are none of
    /// these.
    fn entries(
        &self,
        below: impl Fn(&str) -> ProtectedBelow,
    ) -> Result<(BTreeMap<PathBuf, Metadata>, Vec<String>, bool)> {
        let (mut found, mut notes) = (BTreeMap::new(), Vec::new());
        for (own, _) in &self.own {
            self.collect_git(Path::new(own), &mut found);
        }
        //= docs/spec.md#git
        //# A repository with more files that git has no business to change than can be looked after MUST be refused.
        if found.len() > MOST_ENTRIES {
            let own = self.own.first().map_or("the repository", |(own, _)| own);
            let message =
                format!("`{own}` holds more than {MOST_ENTRIES} hooks and the like: not all can be looked after");
            return Err(Diagnostic::new(Code::LIMIT, message).help("look at its `hooks` and `modules`"));
        }
        let mut roots: BTreeSet<PathBuf> = BTreeSet::new();
        for (folder, _) in &self.folders {
            let (names, fault) = below(folder);
            roots.extend(names);
            notes.extend(fault.map(|fault| fault.message));
        }
        for root in roots.iter().filter(|root| !self.own.iter().any(|(own, _)| Path::new(own) == *root)) {
            let is_of_git = root.file_name().and_then(|name| name.to_str()).and_then(protected_name) == Some(".git");
            match is_of_git && root.is_dir() {
                true => self.collect_git(root, &mut found),
                false => collect(root, &mut found),
            }
        }
        if found.len() > MOST_ENTRIES {
            notes.push(format!(
                "more than {MOST_ENTRIES} files have names that no grant covers: not all were looked after"
            ));
        }
        let is_whole = notes.is_empty();
        Ok((found, notes, is_whole))
    }

    /// Collects what later runs of git trust in a repository, and its folder itself, so that a new one is noticed.
    fn collect_git(&self, root: &Path, found: &mut BTreeMap<PathBuf, Metadata>) {
        found.extend(fs::symlink_metadata(root).map(|known| (root.to_owned(), known)));
        let names = OF_GIT.iter().filter(|name| !self.without.iter().any(|without| without == *name));
        names.for_each(|name| collect(&root.join(name), found));
        if !self.is_of_trees {
            for tree in folders_in(&root.join("worktrees")) {
                let names = OF_TREE.iter().filter(|name| !self.without.iter().any(|without| without == *name));
                names.for_each(|name| collect(&tree.join(name), found));
            }
        }
        self.collect_modules(&root.join("modules"), found);
    }

    /// The same for the repositories of submodules, at any depth.
    fn collect_modules(&self, at: &Path, found: &mut BTreeMap<PathBuf, Metadata>) {
        if !fs::symlink_metadata(at).is_ok_and(|known| known.is_dir()) || found.len() > MOST_ENTRIES {
            return;
        }
        found.extend(fs::symlink_metadata(at).map(|known| (at.to_owned(), known)));
        for folder in folders_in(at) {
            // Whatever lies there, half of a repository, too, may be one once git has been there.
            self.collect_git(&folder, found);
            if !folder.join("objects").is_dir() {
                self.collect_modules(&folder, found);
            }
        }
    }
}

/// The folders in a folder.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path()).collect()
}

fn identity(at: &str) -> Option<(u64, u64)> {
    fs::symlink_metadata(at).ok().map(|known| (known.dev(), known.ino()))
}

/// Removes or sets aside what is at a path, and returns a note about it.
fn clear_away(at: &Path, top: &str) -> CleanupNote {
    if let Some(told) = remove_if_empty(at, top) {
        return CleanupNote::new(told);
    }
    match set_aside(at, top) {
        Ok(done) => CleanupNote { told: format!("no grant covers what git made: {done}"), aside: Some(done.aside) },
        Err(fault) => CleanupNote::new(fault.message),
    }
}

/// Takes away an empty folder, which git makes for a submodule, or a link, for which the repository would be refused:
/// nothing is lost with them.
fn remove_if_empty(at: &Path, top: &str) -> Option<String> {
    let folder = open_below(at.parent()?, top, false).ok()?;
    let name = at.file_name()?;
    if let Ok(target) = readlinkat(&folder, name, Vec::new()) {
        unlinkat(&folder, name, AtFlags::empty()).ok()?;
        let (shown, target) = (at.display(), target.to_string_lossy().into_owned());
        return Some(format!("no grant covers what git made: `{shown}`, a link to `{target}`, was removed"));
    }
    unlinkat(&folder, name, AtFlags::REMOVEDIR).ok()?;
    Some(format!("no grant covers what git made: `{}`, an empty folder, was removed", at.display()))
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
fn names_working_tree(at: &Path, bytes: &[u8], own: &[&str]) -> bool {
    let named = str::from_utf8(bytes).ok().and_then(|text| text.strip_prefix("gitdir: "));
    at.file_name().is_some_and(|name| name == ".git")
        && named.is_some_and(|named| {
            let git_dir = path::folder(named.trim_end());
            path::name(git_dir) == "worktrees"
                && (own.iter().any(|own| path::folder(git_dir) == *own)
                    || path::name(path::folder(git_dir)).starts_with(stand_in::PREFIX))
        })
}

/// An entry as it was before git ran.
#[derive(Debug, PartialEq)]
struct OriginalEntry {
    known: FileState,
    what: OriginalContent,
}

/// What identifies a file and tells whether it was changed, and its permissions.
type FileState = ((u64, u64), u64, [i64; 4], u32);

#[derive(Debug, PartialEq)]
enum OriginalContent {
    /// Its bytes, if it is not too large.
    File(Option<Vec<u8>>),
    Folder,
    /// Where it led.
    Link(Vec<u8>),
    Other,
}

fn state_of(of: &Metadata) -> FileState {
    let times = [of.mtime(), of.mtime_nsec(), of.ctime(), of.ctime_nsec()];
    ((of.dev(), of.ino()), of.len(), times, of.mode())
}

impl OriginalEntry {
    /// Records what is at a path. `left` is how many bytes may still be kept.
    fn from_file(at: &Path, found: &Metadata, left: &mut u64) -> Self {
        let size = found.len();
        let what = match (found.is_file(), found.is_dir(), found.is_symlink()) {
            (true, ..) => {
                let bytes = (size <= MOST_BYTES && size <= *left).then(|| read_small_file(at)).flatten();
                *left -= if bytes.is_some() { size } else { 0 };
                OriginalContent::File(bytes)
            }
            (_, true, _) => OriginalContent::Folder,
            (_, _, true) => OriginalContent::Link(target(at)),
            _ => OriginalContent::Other,
        };
        Self { known: state_of(found), what }
    }

    /// Whether the entry is still as it was.
    fn is_unchanged(&self, at: &Path, now: &Metadata) -> bool {
        let now_known = state_of(now);
        if now_known == self.known {
            return true;
        }
        match &self.what {
            OriginalContent::File(Some(bytes)) => {
                now.is_file() && now_known.3 == self.known.3 && read_small_file(at).is_some_and(|now| now == *bytes)
            }
            OriginalContent::File(None) => {
                (now_known.0, now_known.1, &now_known.2[..2]) == (self.known.0, self.known.1, &self.known.2[..2])
            }
            OriginalContent::Folder => now.is_dir(),
            OriginalContent::Link(to) => now.is_symlink() && target(at) == *to,
            OriginalContent::Other => now_known.0 == self.known.0,
        }
    }

    /// Puts the entry back into an open folder that has nothing of this name; `at` is its path.
    fn put_back(&self, folder: &OwnedFd, at: &Path) -> io::Result<()> {
        let name = at.file_name().ok_or(io::ErrorKind::NotFound)?;
        let bytes = match &self.what {
            OriginalContent::File(Some(bytes)) => bytes,
            OriginalContent::Folder => return Ok(mkdirat(folder, name, self.mode())?),
            OriginalContent::Link(to) => return Ok(symlinkat(std::ffi::OsStr::from_bytes(to), folder, name)?),
            OriginalContent::File(None) | OriginalContent::Other => {
                return Err(io::Error::other("what it held was not kept"));
            }
        };
        let mut making = write_journal::begin();
        let new = write_journal::temporary_name();
        making.record_file(&path::join(&at.parent().unwrap_or(at).to_string_lossy(), &new))?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut file = File::from(openat(folder, &*new, flags, Mode::RUSR | Mode::WUSR)?);
        let put = file.write_all(bytes).and_then(|()| {
            fchmod(&file, self.mode())?;
            Ok(renameat_with(folder, &*new, folder, name, RenameFlags::NOREPLACE)?)
        });
        put.inspect_err(|_| {
            let _told_by_the_fault = unlinkat(folder, &*new, AtFlags::empty());
        })
    }

    #[allow(clippy::useless_conversion, reason = "its type differs from system to system")]
    fn mode(&self) -> Mode {
        Mode::from_raw_mode(RawMode::try_from(self.known.3 & 0o7777).unwrap_or(0o600))
    }

    /// The entry as a line of a journal.
    fn to_line(&self, at: &Path) -> Json {
        let what = match &self.what {
            OriginalContent::File(bytes) => json!({ "file": bytes.as_deref().map(bytes_to_json) }),
            OriginalContent::Folder => json!("folder"),
            OriginalContent::Link(to) => json!({ "link": bytes_to_json(to) }),
            OriginalContent::Other => json!("other"),
        };
        json!({ "kept": [bytes_to_json(at.as_os_str().as_bytes()), self.known, what] })
    }

    /// Reads what [`to_line`](Self::to_line) wrote.
    fn from_line(line: &Json) -> Option<(std::path::PathBuf, Self)> {
        let (at, known, what): (Json, FileState, Json) = serde_json::from_value(line.get("kept")?.clone()).ok()?;
        let what = match (what.as_str(), what.get("file"), what.get("link")) {
            (Some("folder"), ..) => OriginalContent::Folder,
            (Some("other"), ..) => OriginalContent::Other,
            (_, Some(bytes), _) if bytes.is_null() => OriginalContent::File(None),
            (_, Some(bytes), _) => OriginalContent::File(Some(bytes_from_json(bytes)?)),
            (_, _, Some(to)) => OriginalContent::Link(bytes_from_json(to)?),
            _ => return None,
        };
        Some((std::ffi::OsString::from_vec(bytes_from_json(&at)?).into(), Self { known, what }))
    }
}

/// The bytes of a small file that git trusts; `None` for anything else.
fn read_small_file(at: &Path) -> Option<Vec<u8>> {
    read_repository_file(at.to_str()?).ok().flatten()
}

fn target(at: &Path) -> Vec<u8> {
    fs::read_link(at).map(|to| to.into_os_string().into_vec()).unwrap_or_default()
}

/// Bytes as a journal has them: as text where that is no longer than twice as long.
fn bytes_to_json(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) if !text.contains(|letter: char| letter.is_control() && !"\n\t\r".contains(letter)) => json!(text),
        _ => json!([bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()]),
    }
}

fn bytes_from_json(value: &Json) -> Option<Vec<u8>> {
    if let Some(text) = value.as_str() {
        return Some(text.as_bytes().to_vec());
    }
    let digits = value.get(0)?.as_str()?.as_bytes();
    let pairs = digits.chunks(2).map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok());
    pairs.collect()
}
