//! The changes of one call to its pack's graph, and the graphs that it sees meanwhile.

use super::graphs::Graphs;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::{ChangeEntry, ChangeLabel, ChangeSession, Graph, GraphOrigin, GraphStore};
use crate::primitive::Effect;
use crate::value::Value;
use crate::world::staged::Staged;
use std::sync::{Arc, Mutex, OnceLock};

/// What a call has to do with changes.
#[derive(Default)]
pub struct Turn {
    /// From the first change on: others wait.
    changing: OnceLock<ChangeSession>,
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
    pub fn take(&self, store: &Arc<GraphStore>, effect: Effect) -> Result<&ChangeSession> {
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

    /// Drops pending changes, or faults if there are some; with `full` the last build is forgotten, too.
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

    /// Whether a question may be asked now: it may end the call, which then runs again from the top.
    ///
    //= docs/spec.md#questions
    //# A question inside a lock, after a change of the graph, or after a write that reached the disk outside of `once` MUST be refused.
    pub fn may_wait(&self, staged: Option<&Staged>) -> Result<()> {
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

    /// The call ended well: what it changed counts. Says whether it changed something.
    pub fn commit(&self) -> bool {
        let changed = self.is_dirty();
        if let Some(changing) = self.taken() {
            changing.commit();
        }
        changed
    }

    /// The graph with pending changes, those of the call included; nothing if there are none.
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
    //# Only a call whose definition declares `changes` or more MAY change the graph.
    #[test]
    fn who_does_not_declare_it_changes_nothing() {
        let (turn, store) = (Turn::default(), Arc::new(GraphStore::default()));
        for effect in Effect::ALL {
            assert_eq!(turn.take(&store, effect).is_ok(), effect >= Effect::Changes, "{effect:?}");
        }
        let fault = Turn::default().refresh(&store, Effect::Reads, true, true).expect_err("it only reads");
        assert!(fault.help.is_some_and(|help| help.contains("effect = \"changes\"")));
        assert!(!turn.is_dirty() && !turn.commit());
    }
}
