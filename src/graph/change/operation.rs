//! The native operations that a transaction is made of.

use crate::value::{Map, Text, Value};

/// One operation. Nodes and edges go by their numbers in the draft: those of the base keep theirs, new ones get numbers
/// that never come again. So the same operations on the same base make the same draft.
#[derive(Clone)]
pub(in crate::graph) enum Operation {
    /// A node, after all others.
    Add {
        /// Its number.
        node: u32,
        /// Its kind.
        kind: Text,
        /// Its id.
        id: Text,
        /// Its fields, without `()`.
        fields: Map,
        /// What it lies in.
        parent: Option<u32>,
        /// The file it belongs to.
        path: Text,
    },
    /// A node goes, with what lies in it and the edges that leave it. Edges that reach it stay, broken.
    Remove(u32),
    /// Fields get other values; `()` takes one away.
    Set(u32, Map),
    /// A node gets another id. Edges follow, and broken ones that name the new id become whole.
    Rename(u32, Text),
    /// A node moves right before (`false`) or after (`true`) another one.
    Place(u32, u32, bool),
    /// A node comes to lie in another one, or in none.
    Enter(u32, Option<u32>),
    /// An edge, after all others.
    Link(u32, EdgeRecord),
    /// An edge goes.
    Unlink(u32),
    /// Parts of an edge change.
    Rewire(u32, Rewiring),
}

/// One end of an edge, or a node that it needs.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::graph) struct End {
    /// The node, if it is there.
    pub node: Option<u32>,
    /// The kind that was asked for, if one was.
    pub kind: Option<Text>,
    /// The id by which it is found; of a node that is there the id at that time.
    pub id: Text,
}

/// An edge that is new, or no longer as the base has it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::graph) struct EdgeRecord {
    pub from: End,
    pub to: End,
    pub kind: Text,
    pub needs: Vec<End>,
    pub labels: Vec<Value>,
    /// The file in which it was written.
    pub path: Text,
}

/// What becomes of an edge; the rest stays.
#[derive(Clone, Default)]
pub(in crate::graph) struct Rewiring {
    pub kind: Option<Text>,
    pub to: Option<End>,
    pub needs: Option<Vec<End>>,
    pub labels: Option<Vec<Value>>,
}

impl EdgeRecord {
    /// Its ends, and what it needs.
    pub fn ends(&self) -> impl Iterator<Item = &End> {
        [&self.from, &self.to].into_iter().chain(&self.needs)
    }

    pub fn ends_mut(&mut self) -> impl Iterator<Item = &mut End> {
        [&mut self.from, &mut self.to].into_iter().chain(&mut self.needs)
    }

    /// Whether an end, or something that it needs, is missing.
    pub fn is_broken(&self) -> bool {
        self.ends().any(|end| end.node.is_none())
    }
}
