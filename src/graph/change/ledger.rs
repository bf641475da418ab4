//! The changes that are pending: entries in their order, and the draft that they made of the base.

use super::{Draft, Graph, Operation, assemble};
use crate::diagnostic::Result;
use crate::guard;
use crate::value::{Text, Value};
use std::sync::Arc;

/// One transaction that ended well: the record of it, and the operations that it was made of.
pub struct Entry {
    /// Its id, unique.
    pub id: Text,
    /// What was done.
    pub name: Text,
    /// When: RFC 3339.
    pub at: Text,
    /// What the transaction said of itself.
    pub data: Value,
    pub(super) operations: Vec<Operation>,
}

impl Entry {
    /// What a script sees: `id`, `name`, `at`, `data`.
    pub fn to_value(&self) -> Value {
        let texts = [("id", &self.id), ("name", &self.name), ("at", &self.at)];
        let texts = texts.into_iter().map(|(name, text)| (name, Value::Text(text.clone())));
        Value::map(texts.chain([("data", self.data.clone())]))
    }
}

/// The log, and where it leads. Never changed once made.
pub(in crate::graph) struct Ledger {
    pub draft: Draft,
    pub graph: Arc<Graph>,
    pub entries: Vec<Arc<Entry>>,
    /// The next number of a node or an edge.
    pub next: u32,
}

impl Ledger {
    /// Nothing is changed as yet.
    pub fn begin(base: Arc<Graph>) -> Self {
        let most = base.parts.slots.len().max(base.parts.edges.len());
        let next = u32::try_from(most).unwrap_or(super::NONE);
        Self { draft: Draft::new(Arc::clone(&base)), graph: base, entries: Vec::new(), next }
    }

    /// With one more entry, which made this draft.
    pub fn with(&self, entry: Arc<Entry>, draft: Draft, graph: Arc<Graph>, next: u32) -> Self {
        let entries = self.entries.iter().cloned().chain([entry]).collect();
        Self { draft, graph, entries, next }
    }

    /// Without the last `count` entries: the base and the others, done again.
    ///
    //= docs/spec.md#changes
    //# Undoing a change MUST restore the graph exactly: nodes, fields, edges, and the order of all of them.
    pub fn without(&self, count: usize) -> Result<Self> {
        let entries = self.entries[..self.entries.len().saturating_sub(count)].to_vec();
        let mut draft = Draft::new(Arc::clone(&self.draft.base));
        draft.loose = Arc::clone(&self.draft.loose);
        for entry in &entries {
            guard::check()?;
            entry.operations.iter().for_each(|operation| draft.apply(operation));
        }
        let graph = if entries.is_empty() { Arc::clone(&draft.base) } else { assemble(&draft)? };
        Ok(Self { draft, graph, entries, next: self.next })
    }
}
