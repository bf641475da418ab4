//! Changes of the graph: operations on a draft, the snapshot made from it, and the log by which they can be undone. The
//! session of a call holds the lock from its first change on. Its changes take effect when the call succeeds.
//!
//! A draft consists of the base and the differences from it, so it is cheap to copy. A transaction works on a copy, and
//! one that fails leaves nothing behind. A log entry keeps its operations. To undo, the draft is made again from the
//! base and the operations of the remaining entries. So the result is, by construction, the earlier state.

use super::snapshot::Graph;
use super::store::{GraphOrigin, GraphStore, PendingChanges};
use super::stored_value::to_stored;
use super::transaction::{ChangeEntry, ChangeLog, Transaction};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Text, Value};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The changes of one call. It holds the lock of the graph until it is dropped.
pub struct ChangeSession {
    store: Arc<GraphStore>,
    state: Mutex<SessionState>,
}

#[derive(Default)]
struct SessionState {
    pending: Option<Arc<PendingChanges>>,
    /// Whether the call has changes that are not committed.
    is_dirty: bool,
    /// The running transaction.
    open: Option<Transaction>,
}

/// What identifies an entry: its id, its name, and when it was made.
pub struct ChangeLabel {
    /// The unique id.
    pub id: Text,
    /// The name of the change.
    pub name: Text,
    /// The time, in RFC 3339 format.
    pub at: Text,
}

impl ChangeSession {
    /// Waits until no other call changes the graph of the pack.
    ///
    //= docs/spec.md#changes
    //# The changes of one pack MUST be made one after the other, while other calls read their snapshot.
    ///
    /// # Errors
    /// The call was cancelled or is over.
    pub fn begin(store: &Arc<GraphStore>) -> Result<Self> {
        store.change_lock.acquire()?;
        let state = SessionState { pending: store.pending(), ..SessionState::default() };
        Ok(Self { store: Arc::clone(store), state: Mutex::new(state) })
    }

    /// Runs one transaction. `origin` supplies the base if no changes are pending. `act` receives a [`Transaction`] and
    /// returns the data of the entry. If it fails, nothing is changed.
    ///
    //= docs/spec.md#changes
    //# A change MUST NOT take effect before its call succeeds, and MUST leave nothing behind when it fails.
    ///
    /// # Errors
    /// The errors of `origin` and `act`; a transaction within a transaction.
    pub fn change(
        &self,
        label: ChangeLabel,
        origin: impl FnOnce() -> Result<GraphOrigin>,
        act: impl FnOnce(Value) -> Result<Value>,
    ) -> Result<Arc<ChangeEntry>> {
        if self.state().open.is_some() {
            return Err(Diagnostic::new(Code::ARGUMENTS, "another change is already in progress")
                .help("run one `transaction` after the other, or make all changes in one"));
        }
        let known = self.state().pending.clone();
        let pending = match known {
            Some(pending) => pending,
            None => {
                let origin = origin()?.0;
                let log = ChangeLog::new(Arc::clone(&origin.graph));
                Arc::new(PendingChanges { origin, log })
            }
        };
        let log = &pending.log;
        let transaction = Transaction::new(log.draft.clone(), log.next, Arc::clone(&log.graph));
        self.state().open = Some(transaction.clone());
        let ended = act(Value::handle(transaction.clone()));
        self.state().open = None;
        let done = transaction.end()?;
        let data = to_stored(ended?)?;
        guard::check()?;
        let graph = done.graph()?;
        let ChangeLabel { id, name, at } = label;
        let entry = Arc::new(ChangeEntry { id, name, at, data, operations: done.operations });
        let log = log.with_entry(Arc::clone(&entry), done.draft, graph, done.next);
        self.put(Some(Arc::new(PendingChanges { origin: Arc::clone(&pending.origin), log })));
        Ok(entry)
    }

    /// Undoes the last change and returns it; `None` if there is none.
    pub fn undo(&self) -> Result<Option<Arc<ChangeEntry>>> {
        let last = self.entries().pop();
        if last.is_some() {
            self.take_back(1)?;
        }
        Ok(last)
    }

    /// Undoes all changes from the last one back to the one with this id. Returns them, the last one first; `None` if
    /// the log has no such id.
    pub fn undo_to(&self, id: &str) -> Result<Option<Vec<Arc<ChangeEntry>>>> {
        let mut entries = self.entries();
        let Some(at) = entries.iter().position(|entry| &*entry.id == id) else { return Ok(None) };
        let mut undone = entries.split_off(at);
        undone.reverse();
        self.take_back(undone.len())?;
        Ok(Some(undone))
    }

    fn take_back(&self, count: usize) -> Result<()> {
        let Some(pending) = self.state().pending.clone() else { return Ok(()) };
        let log = pending.log.without_last(count)?;
        let left = !log.entries.is_empty();
        self.put(left.then(|| Arc::new(PendingChanges { origin: Arc::clone(&pending.origin), log })));
        Ok(())
    }

    /// Drops all changes and returns their number.
    pub fn discard(&self) -> usize {
        let count = self.entries().len();
        if count > 0 {
            self.put(None);
        }
        count
    }

    fn put(&self, pending: Option<Arc<PendingChanges>>) {
        let mut state = self.state();
        state.pending = pending;
        state.is_dirty = true;
    }

    /// The pending changes as the call sees them, the oldest first.
    pub fn entries(&self) -> Vec<Arc<ChangeEntry>> {
        self.state().pending.as_ref().map_or_else(Vec::new, |pending| pending.log.entries.clone())
    }

    /// The graph as the call sees it, if changes are pending; within a transaction, with the operations so far.
    pub fn graph(&self) -> Option<Result<Arc<Graph>>> {
        let state = self.state();
        if let Some(open) = state.open.clone() {
            drop(state);
            return Some(open.graph());
        }
        state.pending.as_ref().map(|pending| Ok(Arc::clone(&pending.log.graph)))
    }

    /// Whether the call has changes that are not committed.
    pub fn is_dirty(&self) -> bool {
        self.state().is_dirty
    }

    /// Makes the changes of the call visible to all calls: it succeeded.
    pub fn commit(&self) {
        let mut state = self.state();
        if state.is_dirty {
            self.store.set_pending(state.pending.clone());
            state.is_dirty = false;
        }
    }

    /// Drops the changes of the call: it failed.
    pub fn abandon(&self) {
        let mut state = self.state();
        state.pending = self.store.pending();
        state.is_dirty = false;
    }

    fn state(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ChangeSession {
    fn drop(&mut self) {
        self.store.change_lock.release();
    }
}
