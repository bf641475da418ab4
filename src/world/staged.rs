//! A view that keeps what a call writes until it ends well: the call sees its writes, the disk does not.

mod look;
mod seal;
mod taken;
#[cfg(test)]
mod tests;
mod world;
pub use seal::Seal;

use super::recorded::ContentHash;
use super::{Change, EntryKind, Stat, World, path};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A file is no longer as the call saw it.
pub const CONFLICT: Code = Code("conflict");

/// Tells stamps of staged files apart, from each other and from those of a disk.
static STAMPS: AtomicU64 = AtomicU64::new(1);

/// Within a process one flush happens after the other: what one checked holds until it has written.
static FLUSHING: Mutex<()> = Mutex::new(());

/// The writes of one call over a world. Paths are compared in the spelling of that world; a staged file is not seen
/// through a symlink that leads to its folder.
pub struct Staged {
    under: Arc<dyn World>,
    /// Nothing reaches the world beneath.
    is_dry: bool,
    held: Mutex<Held>,
    locks: Arc<Mutex<BTreeSet<String>>>,
    /// Grows with whatever makes a file look different to the call.
    epoch: AtomicU64,
    seal: Arc<Seal>,
}

#[derive(Default)]
struct Held {
    files: BTreeMap<String, File>,
    /// Folders that came into being, or whose entries changed.
    folders: BTreeMap<String, Stat>,
    /// Folders that are removed, once the files are.
    gone: BTreeSet<String>,
    /// What the call last saw of a file on the disk: its bytes, or that it was not there.
    seen: BTreeMap<String, Option<ContentHash>>,
    flushes: u64,
    /// Writes that reached the disk, and programs that ran, for which the call must not run again.
    deeds: u64,
    /// What has reached the disk.
    written: Vec<StagedFile>,
}

impl Held {
    /// Whether a folder, or one above it, was removed.
    fn is_gone(&self, folder: &str) -> bool {
        self.gone.contains(folder) || above(folder).any(|at| self.gone.contains(at))
    }
}

#[derive(Clone)]
struct File {
    /// Nothing if it is removed.
    bytes: Option<Arc<[u8]>>,
    like: Option<String>,
    stat: Stat,
}

/// A staged change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFile {
    /// The path.
    pub path: String,
    /// `created`, `changed` or `removed`.
    pub change: &'static str,
}

/// What was staged at a moment, to come back to.
pub struct Mark {
    files: BTreeMap<String, File>,
    folders: BTreeMap<String, Stat>,
    gone: BTreeSet<String>,
    flushes: u64,
}

/// Runs `work`; what is staged reaches the disk if it ends well, and what it staged is dropped if not.
pub fn settle<T>(world: &dyn World, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(staged) = world.staged() else { return work() };
    let mark = staged.mark();
    let ended = work().and_then(|value| staged.flush().map(|_| value));
    if ended.is_err() {
        staged.rollback(mark);
    }
    ended
}

impl Staged {
    /// Begins with nothing staged. A dry one keeps to the end what is staged, takes no lock and runs no program that
    /// changes something.
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

    /// What keeps its writes from the disk for good.
    pub fn seal(&self) -> Arc<Seal> {
        Arc::clone(&self.seal)
    }

    /// Grows with whatever makes a file look different to the call: its writes, what it dropped, a lock, a program.
    pub fn epoch(&self) -> u64 {
        self.epoch.load(Ordering::Acquire)
    }

    /// Says that the world beneath may have changed by what the call did.
    pub fn touch(&self) {
        self.epoch.fetch_add(1, Ordering::AcqRel);
    }

    /// Whether nothing is staged.
    pub fn is_empty(&self) -> bool {
        let held = self.lock_held();
        held.files.is_empty() && held.gone.is_empty()
    }

    /// Whether the call did what it must not do again: wrote to the disk, or ran a program, outside of
    /// [`recorded`](Self::recorded).
    pub fn has_flushed(&self) -> bool {
        self.lock_held().deeds > 0
    }

    /// Runs `work`, whose value is kept for other runs of the call: what it wrote reaches the disk, and need not keep the
    /// call from running again.
    pub fn recorded<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = self.lock_held().deeds;
        let ended = settle(self, work);
        if ended.is_ok() {
            self.lock_held().deeds = before;
        }
        ended
    }

    /// A program ran that may have changed something.
    pub(in crate::world) fn ran(&self) {
        self.lock_held().deeds += 1;
    }

    /// The locks that the call holds, sorted: the names or paths by which it took them, as the world spells them.
    pub fn held_locks(&self) -> Vec<String> {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Whether the call holds a lock.
    pub fn holds_lock(&self) -> bool {
        !self.locks.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// What would change on the disk, sorted by path; a file that is written as it is does not change.
    pub fn files(&self) -> Result<Vec<StagedFile>> {
        Ok(self.changes()?.into_iter().map(|(_, told)| told).collect())
    }

    /// What the call has changed on the disk so far, in order; of a dry one what it would have changed.
    pub fn written(&self) -> Result<Vec<StagedFile>> {
        match self.is_dry {
            true => self.files(),
            false => Ok(self.lock_held().written.clone()),
        }
    }

    /// Drops what is staged.
    pub fn drop_all(&self) {
        let mut held = self.lock_held();
        held.files.clear();
        held.folders.clear();
        held.gone.clear();
        drop(held);
        self.touch();
    }

    /// What is staged now, for [`rollback`](Self::rollback).
    pub fn mark(&self) -> Mark {
        let held = self.lock_held();
        Mark {
            files: held.files.clone(),
            folders: held.folders.clone(),
            gone: held.gone.clone(),
            flushes: held.flushes,
        }
    }

    /// Drops what was staged since; what has reached the disk meanwhile stays there.
    pub fn rollback(&self, mark: Mark) {
        let mut held = self.lock_held();
        let reached = held.flushes != mark.flushes;
        held.files = if reached { BTreeMap::new() } else { mark.files };
        held.folders = if reached { BTreeMap::new() } else { mark.folders };
        held.gone = if reached { BTreeSet::new() } else { mark.gone };
        drop(held);
        self.touch();
    }

    /// Lets what is staged reach the world beneath, all or nothing as far as that world can; tells what changed.
    ///
    //= docs/spec.md#writes
    //# A write MUST be refused if the file changed on disk since the call read it.
    pub fn flush(&self) -> Result<Vec<StagedFile>> {
        let _unsealed = self.seal.hold()?;
        let _one_at_a_time = FLUSHING.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut changes, told): (Vec<Change>, Vec<StagedFile>) = self.changes()?.into_iter().unzip();
        // In the order of the call: what puts a part elsewhere before it takes it away leaves it twice, if the process
        // is killed in between, and never nowhere.
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
            return Ok(told);
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
        held.flushes += u64::from(!told.is_empty());
        held.deeds += u64::from(!told.is_empty());
        held.written.extend(told.iter().cloned());
        held.files.clear();
        held.folders.clear();
        drop(held);
        self.touch();
        Ok(told)
    }

    /// Stages that a file lies elsewhere. Its permissions go with it.
    pub fn rename(&self, from: &str, to: &str) -> Result<()> {
        let bytes = self.read(from)?;
        let key = self.under.spelled(from);
        let like = self.lock_held().files.get(&key).and_then(|file| file.like.clone());
        self.remove(from)?;
        self.put(to, Some(bytes.into()), Some(like.unwrap_or(key)))
    }

    fn changes(&self) -> Result<Vec<(Change, StagedFile)>> {
        let files: Vec<(String, File)> =
            self.lock_held().files.iter().map(|(path, file)| (path.clone(), file.clone())).collect();
        let mut changes = Vec::new();
        for (path, File { bytes, like, .. }) in files {
            let before = self.on_disk(&path)?;
            if before.as_deref() != bytes.as_deref() {
                let change = match (&before, &bytes) {
                    (_, None) => "removed",
                    (Some(_), Some(_)) => "changed",
                    (None, Some(_)) => "created",
                };
                changes.push((Change { path: path.clone(), bytes, like }, StagedFile { path, change }));
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
        self.under.may_write(path)?;
        let key = self.under.spelled(path);
        let stands = |held: &Held, at: &str| held.files.get(at).is_some_and(|file| file.bytes.is_some());
        let mut held = self.lock_held();
        if held.folders.contains_key(&key) || above(&key).any(|at| stands(&held, at)) {
            return Err(Diagnostic::new(Code::WORLD, format!("`{path}` cannot be written: a folder is in its place")));
        }
        let size = bytes.as_ref().map_or(0, |bytes| bytes.len());
        let stat = self.stamp(EntryKind::File, size);
        self.touch_folders(&mut held, &key)?;
        if bytes.is_some() {
            held.gone.retain(|folder| !key.starts_with(&format!("{folder}/")));
        }
        held.files.insert(key, File { bytes, like, stat });
        drop(held);
        self.touch();
        Ok(())
    }

    fn stamp(&self, entry: EntryKind, size: usize) -> Stat {
        let number = STAMPS.fetch_add(1, Ordering::Relaxed);
        let modified_ns = i128::from(self.under.now_ms()) * 1_000_000 + i128::from(number % 1_000_000);
        Stat { entry, size: size as u64, modified_ns, inode: number | 1 << 63 }
    }

    /// The folder of a file has other entries than before; those above it came into being if they were not there.
    fn touch_folders(&self, held: &mut Held, path: &str) -> Result<()> {
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

    fn lock_held(&self) -> MutexGuard<'_, Held> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The folders above a path, the nearest one first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(path::folder(path)), |at| {
        let folder = path::folder(at);
        (folder != *at && *at != "~").then_some(folder)
    })
}
