//! A view that keeps the writes of a call back until it succeeds: the call sees them, the disk does not.

#[cfg(test)]
mod tests;

use super::effects::{
    Ambient, BYTE_ORDER_MARK, FileChange, Files, Lock, LockAttempt, Programs, TargetState, World, is_folder, no_file,
    no_folder, not_empty,
};
use super::path;
use super::recorded::ContentHash;
use super::repository::Repository;
use super::run::{ProgramCommand, ProgramFile, ProgramOutput, RequiredGrant};
use super::staging::{StagedContent, StagedFile, StagedMark, StagedWrites, WriteSeal};
use super::walk::{self, EntryKind, FolderEntry, FolderSource, Stat, WalkOptions, WalkResult};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file is no longer as the call saw it.
pub const CONFLICT: Code = Code("conflict");

/// Makes the stamps of staged files unique among each other and those of a disk.
static STAMPS: AtomicU64 = AtomicU64::new(1);

/// Serialises the flushes of a process: what one has checked still holds when it writes.
static FLUSHING: Mutex<()> = Mutex::new(());

/// The writes of one call over a world. Paths are compared in the spelling of that world; a staged file is not seen
/// through a symlink that leads to its folder.
pub struct StagedWorld {
    under: Arc<dyn World>,
    /// Nothing reaches the underlying world.
    is_dry: bool,
    held: Mutex<StagedState>,
    /// The names of the locks that the call holds.
    locks: LockNames,
    /// Grows with whatever makes a file look different to the call.
    epoch: AtomicU64,
    seal: Arc<WriteSeal>,
}

#[derive(Default)]
struct StagedState {
    files: BTreeMap<String, StagedContent>,
    /// Folders that were created, or whose entries changed.
    folders: BTreeMap<String, Stat>,
    /// Folders that are removed, once the files are.
    gone: BTreeSet<String>,
    /// What the call last saw of a file on the disk: its bytes, or that it did not exist.
    seen: BTreeMap<String, Option<ContentHash>>,
    /// The files that the call read and that begin with a byte order mark.
    marked: BTreeSet<String>,
    flushes: u64,
    /// Writes that reached the disk, and programs that ran, for which the call must not run again.
    effects: u64,
    /// What has reached the disk.
    written: Vec<StagedFile>,
}

impl StagedState {
    /// Whether a folder, or one above it, was removed.
    fn is_gone(&self, folder: &str) -> bool {
        self.gone.contains(folder) || above(folder).any(|at| self.gone.contains(at))
    }
}

impl StagedWorld {
    /// A view of `under` with nothing staged. In a dry run nothing reaches `under`, no lock is taken, and no program
    /// runs that changes something.
    pub fn new(under: Arc<dyn World>, is_dry: bool) -> Self {
        Self {
            under,
            is_dry,
            held: Mutex::default(),
            locks: Arc::default(),
            epoch: AtomicU64::new(0),
            seal: Arc::default(),
        }
    }

    /// Notes that the call may have changed the underlying world.
    fn touch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    fn changes(&self) -> Result<Vec<(FileChange, StagedFile)>> {
        let files: Vec<(String, StagedContent)> =
            self.lock_held().files.iter().map(|(path, file)| (path.clone(), file.clone())).collect();
        let mut changes = Vec::new();
        for (path, StagedContent { bytes, like, .. }) in files {
            let before = self.on_disk(&path)?;
            if before.as_deref() != bytes.as_deref() {
                let change = match (&before, &bytes) {
                    (_, None) => "removed",
                    (Some(_), Some(_)) => "changed",
                    (None, Some(_)) => "created",
                };
                changes.push((FileChange { path: path.clone(), bytes, like }, StagedFile { path, change }));
            }
        }
        Ok(changes)
    }

    fn on_disk(&self, path: &str) -> Result<Option<Vec<u8>>> {
        match self.under.stat(path)? {
            Some(_) => self.under.read(path).map(Some),
            None => Ok(None),
        }
    }

    fn put(&self, path: &str, bytes: Option<Arc<[u8]>>, like: Option<String>) -> Result<()> {
        //= docs/spec.md#writes
        //# A grant to write MUST NOT cover a path through a symlink.
        self.under.ensure_writable(path)?;
        let key = self.under.spelled(path);
        let stands = |held: &StagedState, at: &str| held.files.get(at).is_some_and(|file| file.bytes.is_some());
        let mut held = self.lock_held();
        if held.folders.contains_key(&key) || above(&key).any(|at| stands(&held, at)) {
            return Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be written: it is a folder")));
        }
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len());
        let stat = self.stamp(EntryKind::File, size);
        self.touch_folders(&mut held, &key)?;
        held.files.insert(key, StagedContent { bytes, like, stat });
        drop(held);
        self.touch();
        Ok(())
    }

    fn stamp(&self, entry: EntryKind, size: usize) -> Stat {
        let number = STAMPS.fetch_add(1, Ordering::Relaxed);
        let modified_ns = i128::from(self.under.now_ms()) * 1_000_000 + i128::from(number % 1_000_000);
        Stat { entry, size: size as u64, modified_ns, inode: number | 1 << 63 }
    }

    /// The folder of a file has other entries than before. Those above it are created if they do not exist.
    fn touch_folders(&self, held: &mut StagedState, path: &str) -> Result<()> {
        for folder in above(path) {
            let known = held.folders.get(folder).copied();
            let there = self.under.stat(folder)?;
            let stamp = self.stamp(EntryKind::Folder, 0);
            let inode = known.or(there).map_or(stamp.inode, |stat| stat.inode);
            held.folders.insert(folder.to_owned(), Stat { inode, ..stamp });
            if there.is_some() {
                break;
            }
        }
        Ok(())
    }

    fn lock_held(&self) -> MutexGuard<'_, StagedState> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#writes
    //# Staged writes MUST reach the disk before a program runs.
    fn ran_after_flush<T>(&self, command: &ProgramCommand, run: impl FnOnce() -> Result<T>) -> Result<T> {
        if command.needs == RequiredGrant::ReadGit {
            return run();
        }
        //= docs/spec.md#writes
        //# A dry run MUST NOT change a file or run a program that changes something.
        if self.is_dry {
            let message = format!("a dry run ends before `{}`", command.line());
            return Err(Diagnostic::new(Code::WORLD, message).help("what a program does cannot be taken back"));
        }
        self.flush()?;
        self.lock_held().effects += 1;
        let ran = run();
        self.touch();
        ran
    }
}

/// Runs `work`. If it succeeds, everything staged in `world` is flushed; if it fails, what it staged is dropped.
pub fn settle<T>(world: &dyn World, work: impl FnOnce() -> Result<T>) -> Result<T> {
    match world.staged() {
        Some(staged) => staged.settle(work),
        None => work(),
    }
}

impl StagedWrites for StagedWorld {
    fn seal(&self) -> Arc<WriteSeal> {
        Arc::clone(&self.seal)
    }

    fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    fn is_empty(&self) -> bool {
        let held = self.lock_held();
        held.files.is_empty() && held.gone.is_empty()
    }

    fn effect_count(&self) -> u64 {
        self.lock_held().effects
    }

    fn set_effect_count(&self, count: u64) {
        self.lock_held().effects = count;
    }

    fn held_locks(&self) -> Vec<String> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    fn files(&self) -> Result<Vec<StagedFile>> {
        Ok(self.changes()?.into_iter().map(|(_, reported)| reported).collect())
    }

    fn written(&self) -> Result<Vec<StagedFile>> {
        match self.is_dry {
            true => self.files(),
            false => Ok(self.lock_held().written.clone()),
        }
    }

    fn has_read_mark(&self, path: &str) -> bool {
        self.lock_held().marked.contains(&self.under.spelled(path))
    }

    fn drop_all(&self) {
        let mut held = self.lock_held();
        held.files.clear();
        held.folders.clear();
        held.gone.clear();
        drop(held);
        self.touch();
    }

    fn mark(&self) -> StagedMark {
        let held = self.lock_held();
        StagedMark {
            files: held.files.clone(),
            folders: held.folders.clone(),
            gone: held.gone.clone(),
            flushes: held.flushes,
        }
    }

    fn rollback(&self, mark: StagedMark) {
        let mut held = self.lock_held();
        let reached = held.flushes != mark.flushes;
        held.files = if reached { BTreeMap::new() } else { mark.files };
        held.folders = if reached { BTreeMap::new() } else { mark.folders };
        held.gone = if reached { BTreeSet::new() } else { mark.gone };
        drop(held);
        self.touch();
    }

    //= docs/spec.md#writes
    //# A write MUST be refused if the file changed on disk since the call read it.
    fn flush(&self) -> Result<Vec<StagedFile>> {
        let _unsealed = self.seal.hold()?;
        let _one_at_a_time = FLUSHING.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut changes, reported): (Vec<FileChange>, Vec<StagedFile>) = self.changes()?.into_iter().unzip();
        // In the order of the call: if the process is killed between writing a moved part and removing the old one, the
        // part exists twice and is not lost.
        changes.sort_by_cached_key(|change| self.lock_held().files.get(&change.path).map(|file| file.stat.inode));
        for change in &changes {
            let seen = self.lock_held().seen.get(&change.path).copied();
            if let Some(seen) = seen
                && seen != self.on_disk(&change.path)?.map(|bytes| *blake3::hash(&bytes).as_bytes())
            {
                let message = format!("`{}` changed on disk since it was read", change.path);
                return Err(Diagnostic::new(CONFLICT, message).help("nothing was written: read it again"));
            }
        }
        if self.is_dry {
            return Ok(reported);
        }
        if !changes.is_empty() {
            self.under.apply(&changes)?;
        }
        let gone = std::mem::take(&mut self.lock_held().gone);
        for folder in gone.iter().rev() {
            let _somebody_uses_it = self.under.remove_folder(folder);
        }
        let mut held = self.lock_held();
        for change in changes {
            held.seen.insert(change.path, change.bytes.map(|bytes| *blake3::hash(&bytes).as_bytes()));
        }
        held.flushes += u64::from(!reported.is_empty());
        held.effects += u64::from(!reported.is_empty());
        held.written.extend(reported.iter().cloned());
        held.files.clear();
        held.folders.clear();
        drop(held);
        self.touch();
        Ok(reported)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let bytes = self.read(from)?;
        let key = self.under.spelled(from);
        let like = self.lock_held().files.get(&key).and_then(|file| file.like.clone());
        self.remove(from)?;
        self.put(to, Some(bytes.into()), Some(like.unwrap_or(key)))
    }
}

//= docs/spec.md#writes
//# A call MUST see its own writes in files, in globs and in its graph.
impl Files for StagedWorld {
    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        let key = self.under.spelled(path);
        {
            let held = self.lock_held();
            if let Some(stat) = held.folders.get(&key) {
                return Ok(Some(*stat));
            }
            if held.is_gone(&key) {
                return Ok(None);
            }
            if let Some(file) = held.files.get(&key) {
                return Ok(file.bytes.is_some().then_some(file.stat));
            }
        }
        let stat = self.under.stat(path)?;
        if stat.is_none() {
            self.lock_held().seen.insert(key, None);
        }
        Ok(stat)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        let key = self.under.spelled(path);
        if let Some(file) = self.lock_held().files.get(&key) {
            return file.bytes.as_ref().map(|bytes| bytes.to_vec()).ok_or_else(|| no_file(path));
        }
        let bytes = self.under.read(path)?;
        let mut held = self.lock_held();
        if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
            held.marked.insert(key.clone());
        }
        held.seen.insert(key, Some(*blake3::hash(&bytes).as_bytes()));
        Ok(bytes)
    }

    fn list(&self, path: &str) -> Result<Vec<FolderEntry>> {
        match self.entries(path)? {
            Some(found) => Ok(found),
            None => self.under.list(path),
        }
    }

    fn walk(&self, walk: &WalkOptions) -> Result<WalkResult> {
        if self.is_empty() {
            return self.under.walk(walk);
        }
        walk::walk_as_asked(self.under.spelled(&walk.from), walk, |walk| walk::walk(self, walk))
    }

    fn write(&self, path: &str, bytes: &[u8]) -> Result<()> {
        self.put(path, Some(bytes.into()), None)
    }

    fn remove(&self, path: &str) -> Result<()> {
        match self.stat(path)? {
            Some(stat) if stat.entry == EntryKind::Folder => Err(is_folder(path)),
            Some(_) => self.put(path, None, None),
            None => Err(no_file(path)),
        }
    }

    /// Stages the removal of a folder; the files in it must have been removed before.
    fn remove_folder(&self, path: &str) -> Result<()> {
        match self.stat(path)? {
            Some(stat) if stat.entry == EntryKind::Folder => {}
            _ => return Err(no_folder(path)),
        }
        let below = WalkOptions { from: path.to_owned(), hidden: true, ignore: false, follow: false, depth: None };
        if !self.walk(&below)?.files.is_empty() {
            return Err(not_empty(path));
        }
        let key = self.under.spelled(path);
        let mut held = self.lock_held();
        let inside = format!("{key}/");
        held.folders.retain(|folder, _| *folder != key && !folder.starts_with(&inside));
        self.touch_folders(&mut held, &key)?;
        held.gone.insert(key);
        drop(held);
        self.touch();
        Ok(())
    }

    fn staged(&self) -> Option<&dyn StagedWrites> {
        Some(self)
    }

    /// The lock is the call's: it cannot take it twice.
    fn lock(&self, path: &str) -> Result<LockAttempt> {
        let key = if path.contains('/') { self.under.spelled(path) } else { path.to_owned() };
        //= docs/spec.md#writes
        //# Taking a lock twice in one call, or locking a file with other content, MUST be an error.
        if self.locks.lock().unwrap_or_else(PoisonError::into_inner).contains(&key) {
            return Err(Diagnostic::new(Code::SCRIPT, format!("the call holds the lock `{path}` already"))
                .help("take it once, around all that needs it"));
        }
        let lock: Box<dyn Lock> = match self.is_dry {
            true => Box::new(DryLock),
            false => match self.under.lock(path)? {
                LockAttempt::Held(lock) => lock,
                busy @ LockAttempt::Busy(_) => return Ok(busy),
            },
        };
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone());
        self.touch();
        Ok(LockAttempt::Held(Box::new(TrackedLock { lock, name: key, names: Arc::clone(&self.locks) })))
    }

    delegate! { under;
        fn root(&self) -> &str;
        fn ensure_writable(&self, path: &str) -> Result<()>;
        fn ensure_fillable(&self, folder: &str) -> Result<()>;
        fn ensure_replaceable(&self, path: &str) -> Result<TargetState>;
        fn spelled(&self, path: &str) -> String;
        fn granted_roots(&self) -> Vec<String>;
        fn root_of(&self, path: &str) -> String;
        fn ensure_readable(&self, path: &str) -> Result<()>;
    }
}

impl Ambient for StagedWorld {
    delegate! { under;
        fn now_ms(&self) -> i64;
        fn uuid(&self) -> [u8; 16];
        fn env(&self, name: &str) -> Option<String>;
        fn may_env(&self, name: &str) -> Result<()>;
        fn env_names(&self) -> Vec<String>;
    }
}

impl Programs for StagedWorld {
    fn run(&self, command: &ProgramCommand) -> Result<ProgramOutput> {
        self.ran_after_flush(command, || self.under.run(command))
    }

    fn run_git(&self, command: &ProgramCommand, repository: &Repository) -> Result<ProgramOutput> {
        self.ran_after_flush(command, || self.under.run_git(command, repository))
    }

    fn hold_repository(&self, repository: &Repository) -> Result<LockAttempt> {
        match self.is_dry {
            true => Ok(LockAttempt::Held(Box::new(DryLock))),
            false => self.under.hold_repository(repository),
        }
    }

    /// Git does not see staged files, so there is no stamp while something is staged.
    fn git_fingerprint(&self, folders: &[&str]) -> Result<Option<String>> {
        if self.is_empty() { self.under.git_fingerprint(folders) } else { Ok(None) }
    }

    delegate! { under;
        fn repository(&self, folder: &str, needs: RequiredGrant) -> Result<Repository>;
        fn write_git_file(&self, repository: &Repository, path: &str, bytes: Option<&[u8]>) -> Result<()>;
        fn program(&self, name: &str) -> Result<ProgramFile>;
        fn program_below(&self, program: &ProgramFile, places: &[String]) -> Result<Vec<String>>;
        fn real_place(&self, path: &str) -> String;
    }
}

impl FolderSource for StagedWorld {
    fn entries(&self, folder: &str) -> Result<Option<Vec<FolderEntry>>> {
        let key = self.under.spelled(folder);
        let under = match self.under.stat(folder)? {
            // One that cannot be read has no entries that are known.
            Some(stat) if stat.entry == EntryKind::Folder => match self.under.list(folder) {
                Err(error) if error.code != Code::WORLD => return Err(error),
                listed => listed.ok(),
            },
            _ => None,
        };
        let held = self.lock_held();
        if (under.is_none() || held.is_gone(&key)) && !held.folders.contains_key(&key) {
            return Ok(None);
        }
        let mut found: BTreeMap<String, (EntryKind, Option<String>)> =
            under.into_iter().flatten().map(|entry| (entry.name, (entry.entry, entry.link))).collect();
        let inside = |path: &String| path::folder(path) == key && *path != key;
        for path in held.gone.iter().filter(|path| inside(path)) {
            found.remove(path::name(path));
        }
        for path in held.folders.keys().filter(|path| inside(path)) {
            found.insert(path::name(path).to_owned(), (EntryKind::Folder, None));
        }
        for (path, file) in held.files.iter().filter(|(path, _)| inside(path)) {
            match file.bytes {
                Some(_) => found.insert(path::name(path).to_owned(), (EntryKind::File, None)),
                None => found.remove(path::name(path)),
            };
        }
        Ok(Some(found.into_iter().map(|(name, (entry, link))| FolderEntry { name, entry, link }).collect()))
    }

    fn is_unreadable(&self, folder: &str) -> bool {
        let is_folder = matches!(self.under.stat(folder), Ok(Some(stat)) if stat.entry == EntryKind::Folder);
        is_folder && self.under.list(folder).is_err()
    }

    fn top(&self, from: &str) -> String {
        self.under.root_of(from)
    }

    fn ignore_file(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn identity(&self, folder: &str) -> Option<(u64, u64)> {
        self.stat(folder).ok().flatten().map(|stat| (0, stat.inode))
    }
}

/// The names of the locks that the call holds.
type LockNames = Arc<Mutex<BTreeSet<String>>>;

/// The lock of a dry run, which makes no other call wait.
struct DryLock;

impl Lock for DryLock {
    fn left(&self) -> &str {
        ""
    }

    fn pid(&self) -> u32 {
        0
    }

    fn note(&mut self, _text: &str) -> Result<()> {
        Ok(())
    }
}

/// A lock whose name is in the list of held locks as long as it lives.
struct TrackedLock {
    lock: Box<dyn Lock>,
    name: String,
    names: LockNames,
}

impl Lock for TrackedLock {
    fn left(&self) -> &str {
        self.lock.left()
    }

    fn pid(&self) -> u32 {
        self.lock.pid()
    }

    fn note(&mut self, text: &str) -> Result<()> {
        self.lock.note(text)
    }
}

impl Drop for TrackedLock {
    fn drop(&mut self) {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.name);
    }
}

/// The folders above a path, the nearest one first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path::folder(path)), |at| {
        let folder = path::folder(at);
        (folder != *at && *at != "~").then_some(folder)
    })
}
