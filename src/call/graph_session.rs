//! The graph of one call: as it sees it, and as it changes it.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{ChangeEntry, ChangeLabel, ChangeSession, Graph, GraphOrigin, GraphStore};
use crate::primitive_api::Effect;
use crate::value::Value;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The graph that a call sees: refreshed once, and again when the call has changed its inputs.
#[derive(Default)]
pub struct CallGraph {
    /// Of a call that writes nothing.
    first: OnceLock<Result<Arc<Graph>>>,
    now: Mutex<StagedGraph>,
}

#[derive(Default)]
struct StagedGraph {
    /// The graph, with the epoch of the staged world that it belongs to.
    graph: Option<(u64, Result<Arc<Graph>>)>,
    /// A store for this call only, so that no other call sees what it staged.
    own: Option<Arc<GraphStore>>,
}

impl CallGraph {
    /// Whether the call has looked at its graph.
    pub fn is_used(&self) -> bool {
        self.first.get().is_some() || self.lock().graph.is_some()
    }

    /// The graph that the call last looked at.
    pub fn current(&self) -> Option<Arc<Graph>> {
        let first = self.first.get().cloned();
        first.or_else(|| self.lock().graph.as_ref().map(|(_, graph)| graph.clone()))?.ok()
    }

    /// The graph; `build` makes it in the store of the pack, or in one of the call where something is staged.
    pub fn get(
        &self,
        staged: Option<&dyn crate::world::staging::StagedWrites>,
        store: &Arc<GraphStore>,
        build: impl Fn(&Arc<GraphStore>) -> Result<Arc<Graph>>,
    ) -> Result<Arc<Graph>> {
        if let (None, Some(graph)) = (staged, self.first.get()) {
            return graph.clone();
        }
        let mut now = self.lock();
        let Some(staged) = staged else {
            return self.first.get_or_init(|| build(store)).clone();
        };
        let epoch = staged.epoch();
        if let Some((at, graph)) = &now.graph
            && *at == epoch
        {
            return graph.clone();
        }
        let graph = match staged.is_empty() {
            true => build(store),
            false => build(now.own.get_or_insert_with(|| Arc::new(store.fork()))),
        };
        now.graph = Some((epoch, graph.clone()));
        graph
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, StagedGraph> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The changes of one call to the graph of its pack, and the graphs that it sees meanwhile.
#[derive(Default)]
pub struct GraphSession {
    /// From the first change on: others wait.
    changing: OnceLock<ChangeSession>,
    /// Held while it is taken.
    taking: Mutex<()>,
    /// The graph of the files, while changes are pending.
    pub files: CallGraph,
    /// The graph after the changes were dropped.
    pub after: CallGraph,
}

impl GraphSession {
    /// The pack's turn to change the graph, waited for if the call does not have it as yet.
    ///
    /// # Errors
    /// The call does not declare `changes`.
    ///
    //= docs/spec.md#changes
    //# Only a call whose definition declares `edits_graph` or more MAY change the graph.
    pub fn take(&self, store: &Arc<GraphStore>, effect: Effect) -> Result<&ChangeSession> {
        if effect < Effect::Changes {
            let message = "the graph may not be changed: the definition does not declare it";
            return Err(Diagnostic::new(Code::WORLD, message).help("declare `effect = \"edits_graph\"`"));
        }
        if let Some(changing) = self.changing.get() {
            return Ok(changing);
        }
        let _one_thread = self.taking.lock();
        if let Some(changing) = self.changing.get() {
            return Ok(changing);
        }
        let changing = ChangeSession::begin(store)?;
        Ok(self.changing.get_or_init(|| changing))
    }

    /// The turn, if the call has it.
    pub fn taken(&self) -> Option<&ChangeSession> {
        self.changing.get()
    }

    /// Whether the call changed something that does not count as yet.
    pub fn is_dirty(&self) -> bool {
        self.taken().is_some_and(ChangeSession::is_dirty)
    }

    /// One transaction.
    pub fn change(
        &self,
        store: &Arc<GraphStore>,
        effect: Effect,
        label: ChangeLabel,
        origin: impl FnOnce() -> Result<GraphOrigin>,
        act: impl FnOnce(Value) -> Result<Value>,
    ) -> Result<Arc<ChangeEntry>> {
        self.take(store, effect)?.change(label, origin, act)
    }

    /// Drops pending changes; with `full` the last build is forgotten, too.
    ///
    /// # Errors
    /// There are pending changes, and `discard` does not say that they may be dropped.
    pub fn refresh(&self, store: &Arc<GraphStore>, effect: Effect, discard: bool, full: bool) -> Result<()> {
        let changing = self.take(store, effect)?;
        let count = changing.entries().len();
        if count > 0 && !discard {
            let message = format!("{count} changes are pending, and a refresh would drop them");
            return Err(
                Diagnostic::new(Code::ARGUMENTS, message).help("write them to files first, or give `discard: true`")
            );
        }
        changing.discard();
        if full {
            store.forget();
        }
        Ok(())
    }

    /// Checks whether a question may be asked now: it may end the call, which then runs again from the start.
    ///
    //= docs/spec.md#questions
    //# A question MUST be refused inside a lock, after a change of the graph, or after a write that reached
    //# the disk outside of `once`.
    pub fn may_wait(&self, staged: Option<&dyn crate::world::staging::StagedWrites>) -> Result<()> {
        let refused = |what: &str, help: &str| {
            Err(Diagnostic::new(Code::ASK, format!("a question cannot be asked {what}")).help(help))
        };
        if self.is_dirty() {
            return refused("after a change of the graph", "ask first: the call may run again for the answer");
        }
        match staged {
            Some(staged) if staged.holds_lock() => {
                refused("while the call holds a lock", "ask first: others would wait for the answer")
            }
            Some(staged) if staged.has_flushed() => refused(
                "after something was written or run",
                "ask first, or put what was done into `once`: the call may run again for the answer",
            ),
            _ => Ok(()),
        }
    }

    /// Commits the changes of a call that succeeded. Returns whether it changed something.
    pub fn commit(&self) -> bool {
        let changed = self.is_dirty();
        if let Some(changing) = self.taken() {
            changing.commit();
        }
        changed
    }

    /// Returns the graph with pending changes, including those of the call; `None` if there are none.
    pub fn graph(&self, store: &GraphStore) -> Option<Result<Arc<Graph>>> {
        match self.taken() {
            Some(changing) => changing.graph(),
            None => store.pending_graph().map(Ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#changes
    //= type=test
    //# Only a call whose definition declares `edits_graph` or more MAY change the graph.
    #[test]
    fn undeclared_graph_edits_are_refused() {
        let (session, store) = (GraphSession::default(), Arc::new(GraphStore::default()));
        for effect in Effect::ALL {
            assert_eq!(session.take(&store, effect).is_ok(), effect >= Effect::Changes, "{effect:?}");
        }
        let error = GraphSession::default().refresh(&store, Effect::Reads, true, true).expect_err("it only reads");
        assert!(error.help.is_some_and(|help| help.contains("effect = \"edits_graph\"")));
        assert!(!session.is_dirty() && !session.commit());
    }
}
