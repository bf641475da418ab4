//! The changes of one call: it has its turn from the first one on, and what it changed counts when it ends well.

use super::{Built, Entry, Graph, Ledger, Store, Transaction, plain};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Text, Value};
use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often one who waits for a turn looks whether it was cancelled.
const LOOK: Duration = Duration::from_millis(20);

/// Changes that wait to be written to files, or to be dropped, and the build that they began with.
pub(in crate::graph) struct Pending {
    pub origin: Arc<Built>,
    pub ledger: Ledger,
}

/// A build of the graph, as it is asked for by one who may change it.
pub struct Origin(pub(in crate::graph) Arc<Built>);

impl Origin {
    /// The graph as the files were.
    pub fn graph(&self) -> &Arc<Graph> {
        &self.0.graph
    }
}

/// One after the other: who changes the graph of a pack.
#[derive(Default)]
pub(in crate::graph) struct Turns {
    taken: Mutex<bool>,
    free: Condvar,
}

/// The turn of one call. It ends when this is dropped.
pub struct Changing {
    store: Arc<Store>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    pending: Option<Arc<Pending>>,
    /// Whether the call changed something.
    is_dirty: bool,
    /// The transaction that runs.
    open: Option<Transaction>,
}

/// What identifies an entry: its id, its name, and when it was made.
pub struct Label {
    /// Unique.
    pub id: Text,
    /// What was done.
    pub name: Text,
    /// RFC 3339.
    pub at: Text,
}

impl Changing {
    /// Waits until no other call changes the graph of the pack.
    ///
    //= docs/spec.md#changes
    //# The changes of one pack MUST be made one call after the other, while other calls read their snapshot.
    ///
    /// # Errors
    /// The call was cancelled or is over.
    pub fn begin(store: &Arc<Store>) -> Result<Self> {
        let mut taken = lock(&store.turns.taken);
        while *taken {
            guard::check()?;
            let outer = guard::current();
            let _not_the_scripts = outer.as_ref().map(|outer| outer.pause());
            taken = store.turns.free.wait_timeout(taken, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
        *taken = true;
        drop(taken);
        let state = State { pending: store.pending(), ..State::default() };
        Ok(Self { store: Arc::clone(store), state: Mutex::new(state) })
    }

    /// One transaction. `origin` is asked for if nothing is pending; `act` gets a [`Transaction`], and gives the data
    /// of the entry. If it fails, nothing is changed.
    ///
    //= docs/spec.md#changes
    //# A change that fails MUST leave nothing behind.
    ///
    /// # Errors
    /// What `origin` and `act` fail with; a transaction within a transaction.
    pub fn change(
        &self,
        label: Label,
        origin: impl FnOnce() -> Result<Origin>,
        act: impl FnOnce(Value) -> Result<Value>,
    ) -> Result<Arc<Entry>> {
        if self.state().open.is_some() {
            return Err(Diagnostic::new(Code::ARGUMENTS, "a change is made already")
                .help("one `change` after the other, or all of it in one"));
        }
        let known = self.state().pending.clone();
        let pending = match known {
            Some(pending) => pending,
            None => {
                let origin = origin()?.0;
                let ledger = Ledger::begin(Arc::clone(&origin.graph));
                Arc::new(Pending { origin, ledger })
            }
        };
        let ledger = &pending.ledger;
        let transaction = Transaction::begin(ledger.draft.clone(), ledger.next, Arc::clone(&ledger.graph));
        self.state().open = Some(transaction.clone());
        let ended = act(Value::handle(transaction.clone()));
        self.state().open = None;
        let working = transaction.end()?;
        let data = plain(ended?)?;
        guard::check()?;
        let graph = working.graph()?;
        let Label { id, name, at } = label;
        let entry = Arc::new(Entry { id, name, at, data, operations: working.operations });
        let ledger = ledger.with(Arc::clone(&entry), working.draft, graph, working.next);
        self.put(Some(Arc::new(Pending { origin: Arc::clone(&pending.origin), ledger })));
        Ok(entry)
    }

    /// Takes back the last change; nothing if there is none.
    pub fn undo(&self) -> Result<Option<Arc<Entry>>> {
        let last = self.entries().pop();
        if last.is_some() {
            self.take_back(1)?;
        }
        Ok(last)
    }

    /// Takes back all changes from the last one to the one with this id; gives them, the last one first. Nothing if
    /// the log has no such id.
    pub fn undo_to(&self, id: &str) -> Result<Option<Vec<Arc<Entry>>>> {
        let mut entries = self.entries();
        let Some(at) = entries.iter().position(|entry| &*entry.id == id) else { return Ok(None) };
        let mut undone = entries.split_off(at);
        undone.reverse();
        self.take_back(undone.len())?;
        Ok(Some(undone))
    }

    fn take_back(&self, count: usize) -> Result<()> {
        let Some(pending) = self.state().pending.clone() else { return Ok(()) };
        let ledger = pending.ledger.without(count)?;
        let left = !ledger.entries.is_empty();
        self.put(left.then(|| Arc::new(Pending { origin: Arc::clone(&pending.origin), ledger })));
        Ok(())
    }

    /// Drops all changes; says how many.
    pub fn discard(&self) -> usize {
        let count = self.entries().len();
        if count > 0 {
            self.put(None);
        }
        count
    }

    fn put(&self, pending: Option<Arc<Pending>>) {
        let mut state = self.state();
        state.pending = pending;
        state.is_dirty = true;
    }

    /// The changes as the call sees them, the oldest first.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.state().pending.as_ref().map_or_else(Vec::new, |pending| pending.ledger.entries.clone())
    }

    /// The graph as the call sees it, if changes are pending: within a transaction with what that did so far.
    pub fn graph(&self) -> Option<Result<Arc<Graph>>> {
        let state = self.state();
        if let Some(open) = state.open.clone() {
            drop(state);
            return Some(open.graph());
        }
        state.pending.as_ref().map(|pending| Ok(Arc::clone(&pending.ledger.graph)))
    }

    /// Whether the call changed something.
    pub fn is_dirty(&self) -> bool {
        self.state().is_dirty
    }

    /// The call ended well: what it changed counts for all.
    pub fn commit(&self) {
        let mut state = self.state();
        if state.is_dirty {
            self.store.put_pending(state.pending.clone());
            state.is_dirty = false;
        }
    }

    /// The call failed: what it changed is dropped.
    pub fn abandon(&self) {
        let mut state = self.state();
        state.pending = self.store.pending();
        state.is_dirty = false;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }
}

impl Drop for Changing {
    fn drop(&mut self) {
        *lock(&self.store.turns.taken) = false;
        self.store.turns.free.notify_one();
    }
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store {
    /// The graph with the changes that are pending, if any are.
    ///
    //= docs/spec.md#changes
    //# While changes are pending, the graph MUST NOT be refreshed from files.
    pub fn pending_graph(&self) -> Option<Arc<Graph>> {
        self.pending().map(|pending| Arc::clone(&pending.ledger.graph))
    }

    /// The changes that are pending, the oldest first.
    pub fn entries(&self) -> Vec<Arc<Entry>> {
        self.pending().map_or_else(Vec::new, |pending| pending.ledger.entries.clone())
    }

    /// The files that are no longer as they were when the first of the pending changes was made, by what another build
    /// has read: changed ones, new ones and those that are gone, sorted.
    ///
    //= docs/spec.md#changes
    //# Files that moved on under pending changes MUST be named when it is asked for.
    pub fn stale_files(&self, fresh: &Origin) -> Vec<String> {
        let Some(pending) = self.pending() else { return Vec::new() };
        let (before, now) = (pending.origin.memo.reads.files(), fresh.0.memo.reads.files());
        let paths: BTreeSet<&Text> = before.keys().chain(now.keys()).collect();
        let state = |file: Option<&crate::world::recorded::FileRead>| file.and_then(|file| file.hash());
        paths
            .into_iter()
            .filter(|path| state(before.get(*path)) != state(now.get(*path)))
            .map(|path| path.to_string())
            .collect()
    }
}
