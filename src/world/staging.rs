//! The staged writes of a call, which have not reached the disk yet, and what toolsd can do with them.

use super::walk::Stat;
use crate::diagnostic::{Code, Diagnostic, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// The writes of one call that a world keeps back until the call ends well.
pub trait StagedWrites: Send + Sync {
    /// The seal that keeps these writes from the disk for good once it is set.
    fn seal(&self) -> Arc<WriteSeal>;

    /// A counter that grows with everything that makes a file look different to the call: writes, dropped writes,
    /// locks, programs.
    fn epoch(&self) -> u64;

    /// Whether nothing is staged.
    fn is_empty(&self) -> bool;

    /// The number of effects that the call must not repeat: writes that reached the disk, and programs that ran.
    fn effect_count(&self) -> u64;

    /// Restores an earlier [`effect_count`](Self::effect_count).
    fn set_effect_count(&self, count: u64);

    /// The locks that the call holds, sorted: their names or paths, as the world spells them.
    fn held_locks(&self) -> Vec<String>;

    /// What would change on the disk, sorted by path. A file whose bytes stay the same is not listed.
    fn files(&self) -> Result<Vec<StagedFile>>;

    /// What the call has changed on the disk so far, in order; in a dry run, what it would have changed.
    fn written(&self) -> Result<Vec<StagedFile>>;

    /// Drops what is staged.
    fn drop_all(&self);

    /// Remembers what is staged now, for [`rollback`](Self::rollback).
    fn mark(&self) -> StagedMark;

    /// Drops what was staged since `mark`. What has reached the disk meanwhile stays there.
    fn rollback(&self, mark: StagedMark);

    /// Writes what is staged to the underlying world, all or nothing as far as that world can. Returns what changed.
    ///
    /// # Errors
    /// A file changed on disk since the call read it, the seal is set, or the underlying world refuses.
    fn flush(&self) -> Result<Vec<StagedFile>>;

    /// Stages a move of a file. Its permissions move with it.
    fn rename(&self, from: &str, to: &str) -> Result<()>;

    /// Whether the call read a file that begins with a byte order mark. Readers of text do not see it.
    fn has_read_mark(&self, path: &str) -> bool;

    /// Whether the call holds a lock.
    fn holds_lock(&self) -> bool {
        !self.held_locks().is_empty()
    }

    /// Whether the call had effects that it must not repeat: it wrote to the disk or ran a program outside of
    /// `settle_recorded`.
    fn has_flushed(&self) -> bool {
        self.effect_count() > 0
    }
}

impl dyn StagedWrites + '_ {
    /// Runs `work`. If it succeeds, everything staged is flushed; if it fails, what it staged is dropped.
    pub fn settle<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let mark = self.mark();
        let ended = work().and_then(|value| self.flush().map(|_| value));
        if ended.is_err() {
            self.rollback(mark);
        }
        ended
    }

    /// Like [`settle`](Self::settle), for `work` whose value is kept for later runs of the call: its effects do not
    /// count in [`effect_count`](StagedWrites::effect_count).
    pub fn settle_recorded<T>(&self, work: impl FnOnce() -> Result<T>) -> Result<T> {
        let before = self.effect_count();
        let ended = self.settle(work);
        if ended.is_ok() {
            self.set_effect_count(before);
        }
        ended
    }
}

/// A staged change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedFile {
    /// The path.
    pub path: String,
    /// `created`, `changed` or `removed`.
    pub change: &'static str,
}

/// The content of a staged file.
#[derive(Clone)]
pub(super) struct StagedContent {
    /// `None` if it is removed.
    pub(super) bytes: Option<Arc<[u8]>>,
    /// The file whose permissions a new one gets.
    pub(super) like: Option<String>,
    pub(super) stat: Stat,
}

/// A snapshot of what is staged, to roll back to.
pub struct StagedMark {
    pub(super) files: BTreeMap<String, StagedContent>,
    pub(super) folders: BTreeMap<String, Stat>,
    pub(super) gone: BTreeSet<String>,
    pub(super) flushes: u64,
}

/// A seal on the writes of a call: once it is set nothing of them reaches the disk. It is never taken off.
#[derive(Debug, Default)]
pub struct WriteSeal(Mutex<bool>);

impl WriteSeal {
    /// Sets the seal. Returns `false` if a write is under way.
    pub fn set(&self) -> bool {
        match self.0.try_lock() {
            Ok(mut is_set) => *is_set = true,
            Err(TryLockError::Poisoned(broken)) => *broken.into_inner() = true,
            Err(TryLockError::WouldBlock) => return false,
        }
        true
    }

    /// Keeps the seal from being set until the result is dropped.
    ///
    /// # Errors
    /// The seal is set.
    pub(super) fn hold(&self) -> Result<MutexGuard<'_, bool>> {
        let is_set = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if *is_set {
            let message = "nothing is written any more: the call was answered on its behalf";
            return Err(Diagnostic::new(Code::CANCELLED, message));
        }
        Ok(is_set)
    }
}
