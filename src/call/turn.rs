//! The changes of one call to its pack's graph, and the graphs that it sees meanwhile.

use super::graphs::Graphs;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{Changing, Entry, Graph, Label, Origin, Store};
use crate::primitive::Effect;
use crate::value::Value;
use std::sync::{Arc, Mutex, OnceLock};

/// What a call has to do with changes.
#[derive(Default)]
pub struct Turn {
    /// From the first change on: others wait.
    changing: OnceLock<Changing>,
    /// Held while it is taken.
    taking: Mutex<()>,
    /// What the files say, while changes are pending.
    pub files: Graphs,
    /// The graph after the changes were dropped.
    pub after: Graphs,
}

impl Turn {
    /// The turn, waited for if the call does not have it as yet.
    ///
    //= docs/spec.md#changes
    //# Only a call whose definition declares `changes` or more MAY change the graph.
    pub fn take(&self, store: &Arc<Store>, effect: Effect) -> Result<&Changing> {
        if effect < Effect::Changes {
            let message = "the graph may not be changed: the definition does not declare it";
            return Err(Diagnostic::new(Code::WORLD, message).help("declare `effect = \"changes\"`"));
        }
        if let Some(changing) = self.changing.get() {
            return Ok(changing);
        }
        let _one_thread = self.taking.lock();
        if let Some(changing) = self.changing.get() {
            return Ok(changing);
        }
        let changing = Changing::begin(store)?;
        Ok(self.changing.get_or_init(|| changing))
    }

    /// The turn, if the call has it.
    pub fn taken(&self) -> Option<&Changing> {
        self.changing.get()
    }

    /// Whether the call changed something that does not count as yet.
    pub fn is_dirty(&self) -> bool {
        self.taken().is_some_and(Changing::is_dirty)
    }

    /// One transaction.
    pub fn change(
        &self,
        store: &Arc<Store>,
        effect: Effect,
        label: Label,
        origin: impl FnOnce() -> Result<Origin>,
        act: impl FnOnce(Value) -> Result<Value>,
    ) -> Result<Arc<Entry>> {
        self.take(store, effect)?.change(label, origin, act)
    }

    /// The graph with pending changes, those of the call included; nothing if there are none.
    pub fn graph(&self, store: &Store) -> Option<Result<Arc<Graph>>> {
        match self.taken() {
            Some(changing) => changing.graph(),
            None => store.pending_graph().map(Ok),
        }
    }
}
