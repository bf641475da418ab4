//! What git has no business to change while it writes files: looked at before, and put right when it has ended.
//!
//! Of its own folder and of folders with protected names git may be able to write more than it should, for Landlock has no
//! rule that takes something out. Whoever puts a link in the place of a folder at the right moment leads it there. What was
//! there before is written down with the program (`planted`): the host may be killed, and git's work with it.

mod kept;

use super::super::protected::{self, Below, open_below, set_aside};
use super::locks;
use super::note::Note;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::Json;
use crate::world::disk::journal::{LAST_WORK, nanoseconds};
use crate::world::disk::roots::reason;
use crate::world::granted::protected_name;
use crate::world::path;
use crate::world::repository::Repository;
use kept::{Kept, What, bytes_of};
use rustix::fs::{AtFlags, readlinkat, unlinkat};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What of a folder of git another git believes: programs are named there, or other folders, or what is not looked at.
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
/// The same of a further working tree.
const OF_TREE: [&str; 3] = ["commondir", "config.worktree", "gitdir"];

/// How many entries are looked at; more are not put right, and that is told.
const MOST_ENTRIES: usize = 20_000;
/// So much is kept of all together: a journal has room for it.
const MOST_OF_ALL: u64 = 12 << 20;
/// A folder below which git may write, with its device and inode.
type Top = (String, (u64, u64));

/// What is looked after, but for what was there.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Places {
    /// Parts of the working tree.
    folders: Vec<Top>,
    /// The repository.
    own: Vec<Top>,
    /// What of its own git is asked to change.
    without: Vec<String>,
    /// Whether it makes or removes working trees.
    is_of_trees: bool,
    /// Whether all could be looked at: else what is new cannot be told from what was there.
    is_whole: bool,
    /// When git began, in nanoseconds: locks that were there before are those of others.
    began: i128,
}

/// What is looked after.
#[derive(Debug)]
pub(in crate::world::disk) struct Guard {
    places: Places,
    kept: BTreeMap<PathBuf, Kept>,
    notes: Vec<String>,
    /// When the last change was made that can have been git's, in nanoseconds; nothing while its host is alive.
    until: Option<i128>,
}

impl Guard {
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
        let mut places = Places {
            folders: folders.iter().filter_map(top).collect(),
            own: own.into_iter().filter_map(top).collect(),
            without,
            is_of_trees: command == Some("worktree"),
            began: locks::now(),
            ..Places::default()
        };
        let (entries, notes, is_whole) = places.entries(|folder| protected::below(folder, stop))?;
        places.is_whole = is_whole;
        let mut left = MOST_OF_ALL;
        let kept = entries.into_iter().map(|(at, found)| {
            let one = Kept::of(&at, &found, &mut left);
            (at, one)
        });
        Ok(Self { kept: kept.collect(), places, notes, until: None })
    }

    /// All folders that git may write.
    pub(super) fn writes(&self) -> Vec<String> {
        self.places.tops().map(|(at, _)| at.clone()).collect()
    }

    /// What a later process needs to put right what git changed.
    pub(super) fn lines(&self) -> Vec<Json> {
        let kept = self.kept.iter().map(|(at, kept)| kept.line(at));
        std::iter::once(json!({ "guards": self.places })).chain(kept).collect()
    }

    /// What [`lines`](Self::lines) noted, of a git whose host gave its last sign of life then; nothing if it is not that.
    pub(in crate::world::disk) fn of_lines(lines: &[Json], last_beat: i128) -> Option<Self> {
        let (first, rest) = lines.split_first()?;
        let places: Places = serde_json::from_value(first.get("guards")?.clone()).ok()?;
        let kept = rest.iter().map(Kept::of_line).collect::<Option<BTreeMap<_, _>>>()?;
        let until = cfg!(target_os = "linux").then_some(last_beat + LAST_WORK);
        Some(Self { places, kept, notes: Vec::new(), until })
    }

    //= docs/spec.md#git
    //# What git made or changed of a protected name, or of its own folder without being asked, MUST be put right when it has ended, and the caller told.
    /// Puts right what changed; tells of it. `was_ended`: whether somebody ended git before it was done.
    pub(in crate::world::disk) fn settle(mut self, was_ended: bool) -> Vec<Note> {
        let mut notes: Vec<Note> = std::mem::take(&mut self.notes).into_iter().map(Note::of).collect();
        notes.extend(self.leave_what_moved());
        // Also when the time of its call is over: git is no reason to leave it.
        let now = match self.places.entries(protected::below_after) {
            Ok((now, more, _)) => {
                let more = more.into_iter().filter(|one| !notes.iter().any(|note| note.told == *one));
                let more: Vec<Note> = more.map(Note::of).collect();
                notes.extend(more);
                now
            }
            Err(fault) => {
                notes.push(Note::of(format!("what git changed was not looked after: {}", fault.message)));
                return notes;
            }
        };
        notes.extend(self.put_new_aside(&now));
        let kept = self.kept.iter().filter_map(|(at, kept)| self.put_right(at, kept, now.get(at)));
        notes.extend(kept);
        if was_ended {
            let own: Vec<&str> = self.places.own.iter().map(|(own, _)| own.as_str()).collect();
            notes.extend(locks::left(&own, self.places.began, self.until));
        }
        notes
    }

    /// Folders that are others by now, or gone, are not looked into: what lies there was never looked at.
    fn leave_what_moved(&mut self) -> Vec<Note> {
        let is_same = |(at, known): &Top| identity(at) == Some(*known);
        let (own, gone): (Vec<_>, Vec<_>) = std::mem::take(&mut self.places.own).into_iter().partition(is_same);
        let (folders, more) = std::mem::take(&mut self.places.folders).into_iter().partition(is_same);
        (self.places.own, self.places.folders) = (own, folders);
        let is_looked_after = |at: &Path| self.places.tops().any(|(top, _)| at.starts_with(top));
        self.kept.retain(|at, _| is_looked_after(at));
        // Git removes a folder with its last file. Of a killed host all of them are told of together: see `planted`.
        let is_told = |(at, _): &Top| self.until.is_none() && identity(at).is_some();
        let told = gone.into_iter().chain(more).filter(is_told).map(|(at, _)| {
            format!("`{at}` is another folder now: names that no grant covers were not looked for there")
        });
        told.map(Note::of).collect()
    }

    fn put_new_aside(&self, now: &BTreeMap<PathBuf, Metadata>) -> Vec<Note> {
        let (mut notes, mut aside): (Vec<Note>, Vec<PathBuf>) = (Vec::new(), Vec::new());
        let new = now.iter().filter(|(at, _)| !self.kept.contains_key(*at));
        for (at, known) in new {
            let own = self.places.own.iter();
            let own: Vec<&str> = own.map(|(own, _)| own.as_str()).collect();
            let is_asked_for =
                || self.places.is_of_trees && bytes_of(at).is_some_and(|bytes| names_working_tree(at, &bytes, &own));
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
                notes.push(Note::of(format!(
                    "`{shown}` may be new: not all was looked at before git began, so it is left"
                )));
                continue;
            }
            notes.push(cleared(at, self.places.top_of(at)));
        }
        notes
    }

    /// Puts one of what was there as it was.
    fn put_right(&self, at: &Path, kept: &Kept, now: Option<&Metadata>) -> Option<Note> {
        if now.is_some_and(|now| kept.stands(at, now) || self.is_later(at, now)) {
            return None;
        }
        let own: Vec<&str> = self.places.own.iter().map(|(own, _)| own.as_str()).collect();
        if let (What::File(Some(bytes)), None, true) = (&kept.what, now, self.places.is_of_trees)
            && names_working_tree(at, bytes, &own)
        {
            return None;
        }
        let (shown, top) = (at.display(), self.places.top_of(at));
        let aside = now.map(|_| cleared(at, top));
        let was = aside.as_ref().map_or("it was gone", |note| note.told.as_str());
        let put = open_below(at.parent().unwrap_or(at), top, true).and_then(|folder| kept.put_back(&folder, at));
        let told = match put {
            Ok(()) => format!("`{shown}` changed while git ran, and is as it was again: {was}"),
            Err(error) => format!("`{shown}` changed while git ran, and cannot be put back: {}; {was}", reason(&error)),
        };
        Some(Note { told, aside: aside.and_then(|note| note.aside) })
    }

    //= docs/spec.md#git
    //# What was made or changed after git of a killed host had ended MUST be left as it is.
    /// Whether somebody else made or changed it, when git of a killed host had ended: then it is theirs.
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

impl Places {
    fn tops(&self) -> impl Iterator<Item = &Top> {
        self.folders.iter().chain(&self.own)
    }

    /// The folder, of those that are looked after, in which something lies.
    fn top_of(&self, at: &Path) -> &str {
        let all = self.tops().map(|(top, _)| top.as_str());
        all.filter(|folder| at.starts_with(folder)).max_by_key(|folder| folder.len()).unwrap_or("/")
    }

    /// All that is looked after and is there now; what could not be looked at; and whether that is nothing.
    fn entries(&self, below: impl Fn(&str) -> Below) -> Result<(BTreeMap<PathBuf, Metadata>, Vec<String>, bool)> {
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

    /// What another git believes of a folder of git, and the folder itself, so that a new one is seen.
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

    /// The same of the repositories of submodules, which lie at any depth.
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

/// Makes way, and tells how.
fn cleared(at: &Path, top: &str) -> Note {
    if let Some(told) = removed(at, top) {
        return Note::of(told);
    }
    match set_aside(at, top) {
        Ok(done) => Note { told: format!("no grant covers what git made: {done}"), aside: Some(done.aside) },
        Err(fault) => Note::of(fault.message),
    }
}

/// Takes away an empty folder, which git makes for a submodule, or a link, for which the repository would be refused: nothing
/// is lost with them.
fn removed(at: &Path, top: &str) -> Option<String> {
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
                    || path::name(path::folder(git_dir)).starts_with(super::stand_in::PREFIX))
        })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn told_by(guard: Guard) -> Vec<String> {
        guard.settle(false).into_iter().map(|note| note.told).collect()
    }

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
        let guard = Guard::new(&repository, std::slice::from_ref(&top), &["worktree".to_owned()], || Ok(())).unwrap();
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
        let told = told_by(guard).join("\n");
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
        let untouched = Guard::new(&repository, &[top], &[], || Ok(())).unwrap();
        assert_eq!(told_by(untouched), [""; 0]);
    }

    /// A repository with a hook and a configuration, guarded, and what its journal says.
    fn noted(top: &Path) -> (Repository, Vec<Json>) {
        for (name, text) in [
            (".git/config", "own"),
            (".git/hooks/old", "old"),
            (".git/modules/a/b/HEAD", "ref"),
            (".git/modules/half/description", ""),
        ] {
            fs::create_dir_all(top.join(name).parent().unwrap()).unwrap();
            fs::write(top.join(name), text).unwrap();
        }
        fs::write(top.join(".git/hooks/bytes"), [0, 255, 10, 1]).unwrap();
        fs::write(top.join(".git/hooks/mode"), "").unwrap();
        for (name, mode) in [("old", 0o750), ("mode", 0o640)] {
            fs::set_permissions(top.join(".git/hooks").join(name), fs::Permissions::from_mode(mode)).unwrap();
        }
        let git = top.join(".git").to_str().unwrap().to_owned();
        let repository = Repository { common_dir: git.clone(), git_dir: git, ..Repository::default() };
        let guard = Guard::new(&repository, &[top.to_str().unwrap().to_owned()], &["tag".to_owned()], || Ok(()));
        let lines = guard.unwrap().lines();
        (repository, lines.iter().map(|line| line.to_string().parse().unwrap()).collect())
    }

    fn now() -> i128 {
        let folder = tempfile::tempdir().unwrap();
        let known = fs::metadata(folder.path()).unwrap();
        nanoseconds(known.ctime(), known.ctime_nsec())
    }

    //= docs/spec.md#git
    //= type=test
    //# What git of a killed host made or changed without being asked MUST be put right before anything of a workspace is used again, and told.
    //= docs/spec.md#git
    //= type=test
    //# What was made or changed after git of a killed host had ended MUST be left as it is.
    #[test]
    fn what_was_noted_is_put_right_by_another_process_and_what_came_later_is_left() {
        for is_later in [false, true] {
            let place = tempfile::tempdir().unwrap();
            let at = |name: &str| place.path().join(name);
            let (_, lines) = noted(place.path());
            for name in [
                ".git/hooks/pre-commit",
                "deep/.toolsd/evil",
                ".git/modules/a/b/config",
                ".git/modules/half/config",
                ".git/index.lock",
            ] {
                fs::create_dir_all(at(name).parent().unwrap()).unwrap();
                fs::write(at(name), "evil").unwrap();
            }
            fs::write(at(".git/config"), "evil").unwrap();
            fs::remove_file(at(".git/hooks/old")).unwrap();
            fs::write(at(".git/hooks/bytes"), "evil").unwrap();
            fs::set_permissions(at(".git/hooks/mode"), fs::Permissions::from_mode(0o777)).unwrap();
            let last_beat = if is_later { now() - 2 * LAST_WORK } else { now() };
            let notes = Guard::of_lines(&lines, last_beat).unwrap().settle(true);
            let told = notes.iter().map(|note| note.told.as_str()).collect::<Vec<_>>().join("\n");
            for name in
                [".git/hooks/pre-commit", "deep/.toolsd/evil", ".git/modules/a/b/config", ".git/modules/half/config"]
            {
                assert_eq!(at(name).exists(), is_later, "{name}: {told}");
            }
            assert_eq!(fs::read(at(".git/config")).unwrap() == b"own", !is_later, "{told}");
            assert_eq!(fs::read(at(".git/hooks/bytes")).unwrap() == [0, 255, 10, 1], !is_later, "{told}");
            let mode = |name: &str| fs::metadata(at(name)).unwrap().mode() & 0o777;
            assert_eq!(mode(".git/hooks/old"), 0o750, "{told}");
            assert_eq!(mode(".git/hooks/mode") == 0o640, !is_later, "{told}");
            assert!(at(".git/index.lock").exists(), "{told}");
            assert_eq!(told.contains("if no git runs, remove it"), !is_later, "{told}");
            if !is_later {
                assert!(notes.iter().filter(|note| note.aside.as_deref().is_some_and(Path::exists)).count() > 3);
            }
        }
    }

    //= docs/spec.md#programs
    //= type=test
    //# What is set aside or put back MUST be reached from the folder that was granted, through no symlink.
    #[test]
    fn nothing_is_put_back_through_a_link() {
        let place = tempfile::tempdir().unwrap();
        let (repository, elsewhere) = (place.path().join("repository"), place.path().join("elsewhere"));
        let (_, lines) = noted(&repository);
        fs::create_dir(&elsewhere).unwrap();
        fs::rename(repository.join(".git/hooks"), place.path().join("taken")).unwrap();
        std::os::unix::fs::symlink(&elsewhere, repository.join(".git/hooks")).unwrap();
        let folder = repository.join(".git/hooks/deep");
        let refused = open_below(&folder, repository.to_str().unwrap(), true).unwrap_err();
        assert!(refused.to_string().contains("was a link"), "{refused}");
        let notes = Guard::of_lines(&lines, now()).unwrap().settle(true);
        let told: Vec<String> = notes.into_iter().map(|note| note.told).collect();
        assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0, "{told:?}");
        // The folder is there again with what it held; a link would keep the repository from being used.
        assert_eq!(fs::read(repository.join(".git/hooks/old")).unwrap(), b"old", "{told:?}");
        let link = format!("a link to `{}`, was removed", elsewhere.display());
        assert!(told.iter().any(|one| one.contains(&link)), "{told:?}");
    }

    #[test]
    fn a_branch_that_is_called_like_a_command_widens_nothing() {
        for word in ["worktree", "sparse-checkout", "config"] {
            let place = tempfile::tempdir().unwrap();
            let (repository, _) = noted(place.path());
            let words = ["--no-pager", "switch", word].map(str::to_owned);
            let guard = Guard::new(&repository, &[], &words, || Ok(())).unwrap();
            for name in [".git/config", ".git/config.worktree", ".git/worktrees/x/commondir"] {
                fs::create_dir_all(place.path().join(name).parent().unwrap()).unwrap();
                fs::write(place.path().join(name), "evil").unwrap();
            }
            let told = told_by(guard).join("\n");
            for name in [".git/config", ".git/config.worktree", ".git/worktrees/x/commondir"] {
                let holds = fs::read(place.path().join(name)).unwrap_or_default();
                assert!(holds != b"evil", "{word} {name}: {told}");
            }
        }
    }

    //= docs/spec.md#git
    //= type=test
    //# A repository with more files that git has no business to change than can be looked after MUST be refused.
    #[test]
    fn too_many_hooks_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let (repository, _) = noted(place.path());
        for number in 0..=MOST_ENTRIES {
            fs::write(place.path().join(format!(".git/hooks/{number}")), "").unwrap();
        }
        let fault = Guard::new(&repository, &[], &["tag".to_owned()], || Ok(())).unwrap_err();
        assert!(fault.message.contains("more than 20000 hooks"), "{fault}");
    }
}
