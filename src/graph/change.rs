//! Changes of a snapshot: native operations on a draft, the next snapshot made of it, and the log that takes back.
//!
//! A draft is the base and what differs from it, so it is cheap to copy: a transaction works on a copy, and one that
//! fails leaves nothing. What is kept of an entry are its operations. Undoing makes the draft again from the base and
//! the operations of the entries that stay; so what comes out is, by construction, what was there before.

mod assembling;
mod binding;
mod carrying;
mod changing;
mod draft;
mod ledger;
mod operation;
mod transaction;

pub use changing::{Changing, Label, Origin};
pub use ledger::Entry;
pub use transaction::Transaction;

pub(super) use changing::{Pending, Turns};

use super::{
    Adjacency, Built, EdgeRow, Fragment, Graph, Head, How, KindTable, NONE, Node, Nodes, Parts, Reference, Slot, Store,
    Table, Target, hash_of, plain, record,
};
use assembling::assemble;
use draft::{Draft, NodeRecord};
use ledger::Ledger;
use operation::{EdgeRecord, End, Operation, Rewiring};

/// Where a changed snapshot comes from: the numbers of its nodes and edges in the draft.
pub(super) struct Lineage {
    /// What the draft began with.
    pub base: std::sync::Arc<Graph>,
    /// Per node, its number in the draft.
    pub nodes: std::sync::Arc<Vec<u32>>,
    /// Per edge, its number in the draft.
    pub edges: std::sync::Arc<Vec<u32>>,
    /// The nodes that are new or changed, by their numbers here, sorted; nothing if nodes of the base have other numbers,
    /// ids or parents here.
    pub touched: Option<Vec<u32>>,
    /// Differs from that of every other snapshot.
    pub stamp: u64,
}
