//! The graph of a pack: built from files, kept in fragments, immutable once made.
//!
//! `build` records the content of each file in a [`Fragment`](fragment::Fragment). Assembly puts fragments next to each
//! other without copying them, and numbers all nodes in the order of insertion. Changes copy the arrays of numbers and
//! put what they touch into fragments of their own.
//!
//! The files from the ground up: `text_index`, `fragment`, `derived_fields`, `snapshot`; over a snapshot `nodes`,
//! `edges`, `columns`, `query`, `walk`, `cycles`, `diagram`; derived fields in `derive_scope`, `cache_key`,
//! `derive_fields`; from files to a snapshot `fragment_builder`, `scan`, `earlier`, `assemble`, `transaction`, `build`;
//! between calls `store` and `change`.

mod assemble;
mod build;
mod cache_key;
mod change;
mod columns;
mod condition;
mod cycles;
mod derive;
mod derive_scope;
mod derived_fields;
mod diagram;
mod earlier;
mod edges;
mod fragment;
mod fragment_builder;
mod nodes;
mod query;
mod scan;
mod snapshot;
mod store;
mod stored_value;
#[cfg(test)]
mod tests;
mod text_index;
mod transaction;
mod walk;

pub use build::{Builder, record_into};
pub use change::{ChangeLabel, ChangeSession};
pub use columns::Rows;
pub use condition::FieldCondition;
pub use derive_scope::has_limited_reads;
pub use diagram::DiagramOptions;
pub use edges::{Edge, Edges};
pub use fragment_builder::{BlockMapping, FragmentBuilder, FragmentHandle};
pub use nodes::{Node, Nodes};
pub use snapshot::{Functions, Graph};
pub use store::{BuildPlan, BuildScope, GraphOrigin, GraphStore};
pub use text_index::lowercase_tokens;
pub use transaction::{ChangeEntry, Transaction};
pub use walk::{Attachment, Direction, GraphWalkOptions};
