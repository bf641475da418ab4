//! A view that records what was read, looked up and walked, so that a later check shows whether it still holds: an edit
//! made before the check is always seen.
//!
//! Why that is so. Every `stat` is taken **before** the bytes, or the entries, that it vouches for: what comes
//! in between is seen as a change later. A stamp that was *young* (less than [`COARSEST_MTIME_MS`] old) when it was
//! taken may hide an edit within the same tick of the disk's clock, so the young are hashed, or walked, again
//! until a check finds them old. What was seen in two states within one recording never holds.

#[cfg(test)]
mod tests;

use super::effects::{Ambient, FilePolicy, Files, LockAttempt, NoPrograms, Programs, Workspace, World};
use super::path;
use super::repository::Repository;
use super::run::{ProgramCommand, ProgramFile, ProgramOutput, RequiredGrant};
use super::walk::{self, EntryKind, FolderEntry, IGNORE_FILES, Stat, WalkOptions, WalkResult};
use crate::diagnostic::Result;
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A content hash.
pub type ContentHash = [u8; 32];

/// The coarsest time stamps of a disk in use (FAT): a stamp younger than this may stand for two states.
pub const COARSEST_MTIME_MS: i64 = 2_000;

/// How many paths are compared in order before the rest is searched.
const MAX_LINEAR_COMPARISONS: usize = 4;

/// The result of a `stat`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathState {
    /// Nothing existed.
    Absent,
    /// This existed.
    There(Stat),
    /// The world refused to look: the path leads outside, or may not be read.
    Refused,
}

impl PathState {
    fn look(world: &dyn Workspace, path: &str) -> Self {
        match world.stat(path) {
            Ok(Some(stat)) => Self::There(stat),
            Ok(None) => Self::Absent,
            Err(_) => Self::Refused,
        }
    }

    fn look_all(world: &dyn Workspace, paths: &[&str]) -> Vec<Self> {
        let seen = world.stat_all(paths).into_iter().map(|stat| match stat {
            Ok(Some(stat)) => Self::There(stat),
            Ok(None) => Self::Absent,
            Err(_) => Self::Refused,
        });
        seen.collect()
    }

    /// Whether its stamp may hide an edit made at `at_ms` or later.
    fn is_young(self, at_ms: i64) -> bool {
        matches!(self, Self::There(stat) if stat.modified_ns > i128::from(at_ms - COARSEST_MTIME_MS) * 1_000_000)
    }
}

/// A file that was read or asked for.
#[derive(Debug)]
pub struct FileRead {
    seen: PathState,
    hash: Option<ContentHash>,
    /// Whether the stamp alone does not vouch for the bytes; a check that finds it old takes this back.
    young: AtomicBool,
}

impl Clone for FileRead {
    fn clone(&self) -> Self {
        Self { seen: self.seen, hash: self.hash, young: AtomicBool::new(self.young.load(Ordering::Relaxed)) }
    }
}

impl FileRead {
    fn look(world: &dyn Workspace, path: &str) -> Self {
        let at_ms = world.now_ms();
        let seen = PathState::look(world, path);
        Self { seen, hash: None, young: AtomicBool::new(seen.is_young(at_ms)) }
    }

    fn with_hash(self, hash: ContentHash) -> Self {
        Self { hash: Some(hash), ..self }
    }

    /// What existed.
    pub fn seen(&self) -> PathState {
        self.seen
    }

    /// The hash of the bytes, if they were read.
    pub fn hash(&self) -> Option<ContentHash> {
        self.hash
    }

    /// Whether the file changed, given that it is `seen` now, looked at no earlier than `at_ms`.
    ///
    /// For a folder only its existence counts: walks and lists cover what is in it.
    fn differs(&self, path: &str, seen: PathState, at_ms: i64, world: &dyn Workspace) -> bool {
        match (self.seen, seen) {
            (PathState::There(before), PathState::There(now)) if before.entry != EntryKind::File => {
                before.entry != now.entry
            }
            (before, now) if before != now => true,
            _ => match self.hash {
                Some(hash) if self.young.load(Ordering::Relaxed) => {
                    if !world.read(path).is_ok_and(|bytes| *blake3::hash(&bytes).as_bytes() == hash) {
                        return true;
                    }
                    self.young.store(seen.is_young(at_ms), Ordering::Relaxed);
                    false
                }
                _ => false,
            },
        }
    }

    /// Whether both saw the same; one may have looked only, the other read.
    fn agrees(&self, other: &Self) -> bool {
        let folder = |seen| matches!(seen, PathState::There(stat) if stat.entry != EntryKind::File);
        (self.seen == other.seen || (folder(self.seen) && folder(other.seen)))
            && (self.hash.is_none() || other.hash.is_none() || self.hash == other.hash)
    }
}

/// Paths and their states: as long as these stay the same, a walk finds the same.
type PathStates = Arc<[(String, PathState)]>;

/// A walk that was taken.
#[derive(Debug)]
struct WalkRead {
    walk: WalkOptions,
    /// What it found.
    walked: Arc<WalkResult>,
    /// Checks move it on when a folder was touched but the walk found the same.
    state: Mutex<WalkState>,
}

#[derive(Clone, Debug)]
struct WalkState {
    /// The folders looked into, the ignore files in them and above, and where the walk begins.
    seen: PathStates,
    young: bool,
    /// Whether a symlink is on the way: what is behind it changes without a trace in the folders looked into.
    linked: bool,
}

impl WalkRead {
    /// What it found.
    fn walked(&self) -> WalkResult {
        (*self.walked).clone()
    }

    fn state(&self) -> MutexGuard<'_, WalkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The states that show it is unchanged if they are. `None` if only another walk can show it.
    fn vouched_by(&self) -> Option<PathStates> {
        let state = self.state();
        (!state.linked && !state.young).then(|| Arc::clone(&state.seen))
    }

    /// Whether another walk finds something else.
    fn is_changed(&self, world: &dyn Workspace) -> bool {
        match take_walk(world, &self.walk) {
            Ok(again) if again.walked == self.walked => {
                *self.state() = again.state.into_inner().unwrap_or_else(PoisonError::into_inner);
                false
            }
            _ => true,
        }
    }
}

/// Walks, and notes what shows whether it would find the same again.
fn take_walk(world: &dyn Workspace, walk: &WalkOptions) -> Result<WalkRead> {
    let at_ms = world.now_ms();
    let walked = world.walk(walk)?;
    let from = path::clean(&walk.from);
    let mut paths: BTreeSet<String> = walked.folders.iter().chain(&walked.unreadable).cloned().collect();
    let mut ignore_files = Vec::new();
    if walk.ignore {
        let all = |folder: &String| IGNORE_FILES.map(|name| walk::child_path(folder, name));
        // A new ignore file in a folder of the walk changes that folder's time; above the walk nothing else shows it.
        paths.extend(walk::folders_above(&world.root_of(&from), &from).iter().flat_map(all));
        ignore_files = walked.folders.iter().flat_map(all).collect();
    }
    paths.insert(from);
    let mut seen = look_at(world, paths.into_iter().collect());
    seen.extend(look_at(world, ignore_files).into_iter().filter(|(_, seen)| *seen != PathState::Absent));
    let young = seen.iter().any(|(_, seen)| seen.is_young(at_ms));
    let state = Mutex::new(WalkState { seen: seen.into(), young, linked: walked.linked });
    Ok(WalkRead { walk: walk.clone(), walked: Arc::new(walked), state })
}

fn look_at(world: &dyn Workspace, paths: Vec<String>) -> Vec<(String, PathState)> {
    let seen = PathState::look_all(world, &paths.iter().map(String::as_str).collect::<Vec<_>>());
    paths.into_iter().zip(seen).collect()
}

/// The hash of a folder's entries; an error has a hash, too.
fn hash_of_list(entries: &Result<Vec<FolderEntry>>) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    match entries {
        Ok(entries) => {
            for entry in entries {
                hasher.update(&[entry.entry as u8]).update(entry.name.as_bytes()).update(b"\0");
            }
        }
        Err(_) => {
            hasher.update(b"\0\0");
        }
    }
    *hasher.finalize().as_bytes()
}

fn names(seen: &[(String, PathState)]) -> impl Iterator<Item = &str> {
    seen.iter().map(|(path, _)| path.as_str())
}

/// The states of many paths, looked up in one go before anything that depends on them is read.
struct CurrentStates<'a> {
    /// The moment before.
    at_ms: i64,
    /// Sorted, each once.
    paths: Vec<&'a str>,
    seen: Vec<PathState>,
}

impl<'a> CurrentStates<'a> {
    fn look(world: &dyn Workspace, paths: impl Iterator<Item = &'a str>) -> Self {
        let mut paths: Vec<&str> = paths.collect();
        // Made of a few sorted parts, which this sort finds.
        paths.sort();
        paths.dedup();
        let at_ms = world.now_ms();
        let seen = PathState::look_all(world, &paths);
        Self { at_ms, paths, seen }
    }

    /// Returns what is at a path that comes after `from`, and moves `from` there.
    fn next(&self, from: &mut usize, path: &str) -> Option<PathState> {
        let rest = self.paths.get(*from..)?;
        *from += rest.iter().position(|known| *known == path)?;
        self.seen.get(*from).copied()
    }

    /// Whether all of these are unchanged.
    fn is_as_in(&self, before: &[(String, PathState)]) -> bool {
        let mut from = 0;
        before.iter().all(|(path, seen)| {
            // Most come in order, with few others between them.
            let near = self
                .paths
                .iter()
                .skip(from)
                .take(MAX_LINEAR_COMPARISONS)
                .position(|known| known == path)
                .map(|at| from + at);
            let at = near.or_else(|| self.paths.binary_search(&path.as_str()).ok());
            from = at.map_or(from, |at| at + 1);
            at.is_some_and(|at| self.seen.get(at) == Some(seen))
        })
    }
}

/// Which earlier reads still hold, all looked at in one go.
#[derive(Debug, Default)]
pub struct ReadsCheck {
    /// Something that is not.
    first: Option<String>,
    /// The files that are not.
    changed: FxHashSet<Arc<str>>,
    /// Of each walk, whether it finds the same.
    walks: Vec<bool>,
}

impl ReadsCheck {
    /// Whether everything is unchanged.
    pub fn holds(&self) -> bool {
        self.first.is_none()
    }
}

/// Everything that was read of a world between two moments.
#[derive(Debug, Default)]
pub struct RecordedReads {
    files: BTreeMap<Arc<str>, FileRead>,
    lists: BTreeMap<String, ContentHash>,
    walks: Vec<WalkRead>,
    /// What searches would have found and had to skip.
    skipped: BTreeSet<String>,
    /// A path that was seen in two states.
    torn: Option<String>,
}

impl RecordedReads {
    /// The files read and asked for, by clean path.
    pub fn files(&self) -> &BTreeMap<Arc<str>, FileRead> {
        &self.files
    }

    /// The files that walks found.
    pub fn walked_files(&self) -> impl Iterator<Item = &str> {
        self.walks.iter().flat_map(|read| read.walked.files.iter().map(|path| &**path))
    }

    /// Paths where a change would matter: files read and looked up, folders listed, folders where walks began.
    pub fn paths(&self) -> BTreeSet<String> {
        let walks = self.walks.iter().map(|read| path::clean(&read.walk.from));
        let files = self.files.keys().map(|path| path.to_string());
        files.chain(self.lists.keys().cloned()).chain(walks).collect()
    }

    /// The same, and all folders that walks looked into.
    pub fn watched_paths(&self) -> BTreeSet<String> {
        let folders = self.walks.iter().flat_map(|read| read.walked.folders.iter().cloned());
        self.paths().into_iter().chain(folders).collect()
    }

    /// Whether a change of this path could matter: it was read or looked up, or is where a walk or list looked.
    pub fn is_affected_by(&self, path: &str) -> bool {
        let path = path::clean(path);
        let below = |folder: &str| path::is_below(&path, &path::clean(folder));
        self.files.contains_key(path.as_str())
            || self.lists.keys().any(|folder| below(folder))
            || self.walks.iter().any(|read| read.walk.follow || below(&read.walk.from))
            || IGNORE_FILES.contains(&path::name(&path))
    }

    /// Finds out what is unchanged, and what is not.
    ///
    /// Costs one `stat` for each file and folder; the young are read again. `world` must be the one that was
    /// recorded, or one that shows the same files.
    pub fn check(&self, world: &dyn Workspace) -> ReadsCheck {
        let vouchers: Vec<_> = self.walks.iter().map(WalkRead::vouched_by).collect();
        let files = self.files.keys().map(|path| &**path);
        let now = CurrentStates::look(world, files.chain(vouchers.iter().flatten().flat_map(|seen| names(seen))));
        let mut from = 0;
        let changed = self.files.iter().filter(|(path, file)| match now.next(&mut from, path) {
            Some(seen) => file.differs(path, seen, now.at_ms, world),
            None => true,
        });
        let changed: Vec<Arc<str>> = changed.map(|(path, _)| Arc::clone(path)).collect();
        let list = self.lists.iter().find(|(path, hash)| hash_of_list(&world.list(path)) != **hash);
        let holds = |(read, vouchers): (&WalkRead, &Option<PathStates>)| {
            vouchers.as_deref().is_some_and(|seen| now.is_as_in(seen)) || !read.is_changed(world)
        };
        let walks: Vec<bool> = self.walks.iter().zip(&vouchers).map(holds).collect();
        let walk = self.walks.iter().zip(&walks).find(|(_, holds)| !**holds);
        let first = self.torn.clone().or_else(|| changed.first().map(|path| path.to_string()));
        let first = first.or_else(|| list.map(|(path, _)| path.clone()));
        let first = first.or_else(|| walk.map(|(read, _)| read.walk.from.clone()));
        ReadsCheck { first, changed: changed.into_iter().collect(), walks }
    }

    /// A file that a check found unchanged.
    fn same_file(&self, check: &ReadsCheck, path: &str) -> Option<(&Arc<str>, &FileRead)> {
        self.files.get_key_value(path).filter(|_| !check.changed.contains(path))
    }

    /// A walk that a check found to find the same.
    fn same_walk(&self, check: &ReadsCheck, walk: &WalkOptions) -> Option<WalkRead> {
        let (read, _) = self.walks.iter().zip(&check.walks).find(|(read, holds)| **holds && read.walk == *walk)?;
        let state = Mutex::new(read.state().clone());
        Some(WalkRead { walk: walk.clone(), walked: Arc::clone(&read.walked), state })
    }

    /// The first change: the path of a file, or of the folder where a walk began.
    pub fn first_change(&self, world: &dyn Workspace) -> Option<String> {
        self.check(world).first
    }

    /// Whether everything is unchanged.
    pub fn unchanged(&self, world: &dyn Workspace) -> bool {
        self.first_change(world).is_none()
    }

    /// Adds what another recording saw; where they disagree nothing holds.
    pub fn merge(&mut self, other: Self) {
        self.torn = self.torn.take().or(other.torn);
        other.files.into_iter().for_each(|(path, file)| self.add_file(path, file));
        other.lists.into_iter().for_each(|(path, hash)| self.add_list(path, hash));
        other.walks.into_iter().for_each(|read| self.add_walk(read));
    }

    fn add_file(&mut self, path: Arc<str>, file: FileRead) {
        match self.files.get_mut(&path) {
            None => {
                self.files.insert(path, file);
            }
            Some(known) if !known.agrees(&file) => self.torn = Some(path.to_string()),
            Some(known) if known.hash.is_none() && file.hash.is_some() => *known = file,
            Some(_) => {}
        }
    }

    fn add_list(&mut self, path: String, hash: ContentHash) {
        if self.lists.get(&path).is_some_and(|known| *known != hash) {
            self.torn = Some(path.clone());
        }
        self.lists.insert(path, hash);
    }

    fn add_walk(&mut self, read: WalkRead) {
        match self.walks.iter().find(|known| known.walk == read.walk) {
            Some(known) if known.walked != read.walked => self.torn = Some(read.walk.from),
            Some(_) => {}
            None => self.walks.push(read),
        }
    }
}

/// A world that passes everything on and remembers it. Many threads may read at once.
///
/// How the graph uses it: build through a `RecordedWorld`, [`take`](Self::take) the [`RecordedReads`] and keep them
/// with the snapshot; before a call ask [`RecordedReads::check`]. If something changed, build again through a
/// `RecordedWorld` that [resumes](Self::resuming), and ask [`known_hash`](Self::known_hash) for the hash of each file
/// before reading it: a file that is as it was costs nothing more. A view that limits reading belongs on top of a
/// `RecordedWorld`, not under it: what it omits from a walk may still decide what the walk finds.
pub struct RecordedWorld {
    world: Arc<dyn Workspace>,
    programs: Arc<dyn Programs>,
    reads: Arc<Mutex<RecordedReads>>,
    /// The earlier reads, and which of them still held before this view began. Those count as read here, in their
    /// earlier state: the next check sees any change since.
    before: Option<(Arc<RecordedReads>, ReadsCheck)>,
}

impl RecordedWorld {
    /// Begins to remember.
    pub fn new(world: Arc<dyn World>) -> Self {
        let programs: Arc<dyn Programs> = Arc::clone(&world) as _;
        Self { programs, ..Self::without_programs(world) }
    }

    /// Begins to remember what is read of a workspace; it has no programs.
    pub fn without_programs(world: Arc<dyn Workspace>) -> Self {
        Self { world, programs: Arc::new(NoPrograms), reads: Arc::default(), before: None }
    }

    /// Begins to remember, and takes over what `check` has just found to be as `earlier` saw it.
    pub fn resuming(world: Arc<dyn Workspace>, earlier: Arc<RecordedReads>, check: ReadsCheck) -> Self {
        Self { before: Some((earlier, check)), ..Self::without_programs(world) }
    }

    /// The folders that walks could not look into, in the order of these walks.
    pub fn unreadable_folders(&self) -> Vec<String> {
        self.lock().walks.iter().flat_map(|read| read.walked.unreadable.iter().cloned()).collect()
    }

    /// What searches would have found and had to skip.
    pub fn skipped_files(&self) -> BTreeSet<String> {
        self.lock().skipped.clone()
    }

    /// Returns what was recorded so far, and starts again.
    pub fn take(&self) -> RecordedReads {
        std::mem::take(&mut self.lock())
    }

    /// The hash of a file that was read earlier, if it is still the same: it then counts as read here.
    pub fn known_hash(&self, path: &str) -> Option<ContentHash> {
        match path::is_clean_below(path) {
            true => self.same_file(path)?.hash(),
            false => self.same_file(&path::clean(path))?.hash(),
        }
    }

    fn same_file(&self, path: &str) -> Option<&FileRead> {
        let (earlier, check) = self.before.as_ref()?;
        let (path, file) = earlier.same_file(check, path)?;
        self.lock().add_file(Arc::clone(path), file.clone());
        Some(file)
    }

    /// The bytes of a file and their hash.
    pub fn read_hashed(&self, path: &str) -> Result<(Vec<u8>, ContentHash)> {
        let clean = path::clean(path);
        let file = FileRead::look(self.world.as_ref(), &clean);
        match self.world.read(path) {
            Ok(bytes) => {
                let hash = *blake3::hash(&bytes).as_bytes();
                self.lock().add_file(clean.into(), file.with_hash(hash));
                Ok((bytes, hash))
            }
            Err(error) => {
                self.lock().add_file(clean.into(), file);
                Err(error)
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, RecordedReads> {
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for RecordedWorld {
    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let clean = path::clean(path);
        // Of a folder only that it was there counts: its times may have changed.
        match self.same_file(&clean).map(FileRead::seen) {
            Some(PathState::Absent) => return Ok(None),
            Some(PathState::There(stat)) if stat.entry == EntryKind::File => return Ok(Some(stat)),
            _ => {}
        }
        let file = FileRead::look(self.world.as_ref(), &clean);
        let stat = match file.seen() {
            PathState::Absent => Ok(None),
            PathState::There(stat) => Ok(Some(stat)),
            PathState::Refused => self.world.stat(path),
        };
        self.lock().add_file(clean.into(), file);
        stat
    }

    /// The limited view records in the same place.
    fn with_policy(self: Arc<Self>, policy: Arc<dyn FilePolicy>) -> Result<Arc<dyn World>> {
        let world = Arc::clone(&self.world).with_policy(policy)?;
        Ok(Arc::new(Self { reads: Arc::clone(&self.reads), ..Self::new(world) }))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.read_hashed(path).map(|(bytes, _)| bytes)
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        let entries = self.world.list(path);
        self.lock().add_list(path::clean(path), hash_of_list(&entries));
        entries
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        let before = self.before.as_ref().and_then(|(earlier, check)| earlier.same_walk(check, walk));
        let read = before.map_or_else(|| take_walk(self.world.as_ref(), walk), Ok)?;
        let walked = read.walked();
        self.lock().add_walk(read);
        Ok(walked)
    }

    fn note_skipped(&self, paths: &[String]) {
        self.lock().skipped.extend(paths.iter().cloned());
    }

    delegate! { world;
        fn root(&self) -> &str;
        fn write(&self, path: &str, bytes: &[u8]) -> Result<()>;
        fn remove(&self, path: &str) -> Result<()>;
        fn remove_folder(&self, path: &str) -> Result<()>;
        fn spelled(&self, path: &str) -> String;
        fn is_spelled(&self, path: &str) -> bool;
        fn granted_roots(&self) -> Vec<String>;
        fn root_of(&self, path: &str) -> String;
        fn ensure_readable(&self, path: &str) -> Result<()>;
    }
}

impl Ambient for RecordedWorld {
    delegate! { world;
        fn now_ms(&self) -> i64;
        fn uuid(&self) -> [u8; 16];
        fn env(&self, name: &str) -> Option<String>;
        fn may_env(&self, name: &str) -> Result<()>;
        fn env_names(&self) -> Vec<String>;
    }
}

impl Programs for RecordedWorld {
    /// What a program reads is not recorded.
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        self.programs.run(command)
    }

    delegate! { programs;
        fn program(&self, name: &str) -> Result<ProgramFile>;
        fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>>;
        fn real_place(&self, path: &str) -> String;
        fn repository(&self, folder: &str, needs: RequiredGrant) -> Result<Repository>;
        fn run_git(&self, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput>;
        fn write_git_file(&self, repository: &Repository, path: &str, bytes: Option<&[u8]>) -> Result<()>;
        fn hold_repository(&self, repository: &Repository) -> Result<LockAttempt>;
    }
}
