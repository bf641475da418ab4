//! The graph of one call: looked at once, and again when the call itself changed what it is made of.

use crate::diagnostic::Result;
use crate::graph::{Graph, GraphStore};
use crate::world::staged::Staged;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The graph that a call sees.
#[derive(Default)]
pub struct Graphs {
    /// Of a call that writes nothing.
    first: OnceLock<Result<Arc<Graph>>>,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    /// The epoch of the staged world, and the graph at it.
    graph: Option<(u64, Result<Arc<Graph>>)>,
    /// A store of the call's own: what it staged is nobody else's business.
    own: Option<Arc<GraphStore>>,
}

impl Graphs {
    /// Whether the call has looked at its graph.
    pub fn is_used(&self) -> bool {
        self.first.get().is_some() || self.lock().graph.is_some()
    }

    /// The graph; `build` makes it in the store of the pack, or in one of the call where something is staged.
    pub fn get(
        &self,
        staged: Option<&Staged>,
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

    fn lock(&self) -> std::sync::MutexGuard<'_, Now> {
        self.now.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
