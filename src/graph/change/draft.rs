//! A snapshot in the making: the base, and what differs from it.

use super::{EdgeRecord, Graph, NONE, Operation, hash_of};
use crate::value::{Map, Text};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

/// The base and what differs from it.
#[derive(Clone)]
pub(in crate::graph) struct Draft {
    pub base: Arc<Graph>,
    /// The living nodes, in their order.
    pub order: Arc<Vec<u32>>,
    /// Whether the order begins with all nodes of the base, as they stand there.
    pub is_straight: bool,
    /// Nodes that are new, or no longer as the base has them.
    pub nodes: FxHashMap<u32, NodeRecord>,
    /// Edges that are new, or no longer as the base has them.
    pub edges: FxHashMap<u32, EdgeRecord>,
    /// The new edges, in their order.
    pub new_edges: Vec<u32>,
    /// Edges that are gone.
    pub gone_edges: FxHashSet<u32>,
    gone: FxHashSet<u32>,
    /// Of `nodes`, by the id that they have now.
    ids: FxHashMap<Text, Vec<u32>>,
    pub(super) loose: Arc<Loose>,
}

/// A node that is new, or no longer as the base has it.
#[derive(Clone)]
pub(in crate::graph) struct NodeRecord {
    pub kind: Text,
    pub id: Text,
    /// Without `()`.
    pub fields: Map,
    pub parent: Option<u32>,
    pub path: Text,
}

/// Edges of the base that adjacency does not tell of, found when first asked for.
#[derive(Default)]
pub(super) struct Loose {
    /// The broken ones.
    pub broken: OnceLock<Vec<u32>>,
    /// By a node that they need.
    pub needing: OnceLock<FxHashMap<u32, Vec<u32>>>,
}

impl Draft {
    pub fn new(base: Arc<Graph>) -> Self {
        let count = u32::try_from(base.len()).unwrap_or(NONE);
        Self {
            base,
            order: Arc::new((0..count).collect()),
            is_straight: true,
            nodes: FxHashMap::default(),
            edges: FxHashMap::default(),
            new_edges: Vec::new(),
            gone_edges: FxHashSet::default(),
            gone: FxHashSet::default(),
            ids: FxHashMap::default(),
            loose: Arc::default(),
        }
    }

    /// Does it. The operation must fit: a transaction checks that before.
    pub fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Add { node, kind, id, fields, parent, path } => {
                let (kind, id, fields) = (kind.clone(), id.clone(), fields.clone());
                self.ids.entry(id.clone()).or_default().push(*node);
                self.nodes.insert(*node, NodeRecord { kind, id, fields, parent: *parent, path: path.clone() });
                Arc::make_mut(&mut self.order).push(*node);
                self.bind(*node);
            }
            Operation::Remove(node) => self.remove(*node),
            Operation::Set(node, fields) => {
                let record = self.record_mut(*node);
                for (name, value) in fields {
                    if value.is_null() {
                        record.fields.remove(name);
                    } else {
                        record.fields.insert(name.clone(), value.clone());
                    }
                }
            }
            Operation::Rename(node, id) => self.rename(*node, id),
            Operation::Place(node, beside, after) => self.place(*node, *beside, *after),
            Operation::Enter(node, parent) => self.record_mut(*node).parent = *parent,
            Operation::Link(edge, record) => {
                self.edges.insert(*edge, record.clone());
                self.new_edges.push(*edge);
            }
            Operation::Unlink(edge) => {
                self.gone_edges.insert(*edge);
                self.edges.remove(edge);
                self.new_edges.retain(|new| new != edge);
            }
            Operation::Rewire(edge, change) => {
                let record = self.edge_mut(*edge);
                if let Some(kind) = &change.kind {
                    record.kind = kind.clone();
                }
                if let Some(to) = &change.to {
                    record.to = to.clone();
                }
                if let Some(needs) = &change.needs {
                    record.needs.clone_from(needs);
                }
                if let Some(labels) = &change.labels {
                    record.labels.clone_from(labels);
                }
            }
        }
    }

    /// Whether a number of the base or of this draft stands for a node that is there.
    pub fn is_alive(&self, node: u32) -> bool {
        (self.is_of_base(node) && !self.gone.contains(&node)) || self.nodes.contains_key(&node)
    }

    pub fn is_of_base(&self, node: u32) -> bool {
        (node as usize) < self.base.len()
    }

    pub fn id_of(&self, node: u32) -> &Text {
        match self.nodes.get(&node) {
            Some(record) => &record.id,
            None => &self.base.parts.head(node).id,
        }
    }

    pub fn kind_of(&self, node: u32) -> &Text {
        match self.nodes.get(&node) {
            Some(record) => &record.kind,
            None => &self.base.parts.kinds[usize::from(self.base.parts.kind_of[node as usize])].name,
        }
    }

    pub fn parent_of(&self, node: u32) -> Option<u32> {
        match self.nodes.get(&node) {
            Some(record) => record.parent,
            None => Some(self.base.parts.parents[node as usize]).filter(|parent| *parent != NONE),
        }
    }

    pub fn path_of(&self, node: u32) -> Text {
        match self.nodes.get(&node) {
            Some(record) => record.path.clone(),
            None => {
                let slot = self.base.parts.slots[node as usize];
                self.base.parts.fragments[slot.fragment as usize].path.clone()
            }
        }
    }

    /// The node of a kind, or the first of any, that has this id now.
    pub fn find(&self, kind: Option<&str>, id: &str) -> Option<u32> {
        let fits = |node: &u32| kind.is_none_or(|kind| &**self.kind_of(*node) == kind);
        let unchanged = |node: &u32| !self.gone.contains(node) && !self.nodes.contains_key(node);
        let known = self.base.parts.all_with(id, hash_of(id)).find(|node| unchanged(node) && fits(node));
        known.or_else(|| self.ids.get(id)?.iter().copied().find(|node| fits(node)))
    }

    /// The node as a record, which then stands for it.
    fn record_mut(&mut self, node: u32) -> &mut NodeRecord {
        if !self.nodes.contains_key(&node) {
            let record = self.record_of(node);
            self.ids.entry(record.id.clone()).or_default().push(node);
            self.nodes.insert(node, record);
        }
        self.nodes.entry(node).or_insert_with(|| unreachable!("it was put there"))
    }

    fn record_of(&self, node: u32) -> NodeRecord {
        let parts = &self.base.parts;
        let kind = &parts.kinds[usize::from(parts.kind_of[node as usize])];
        let stored = kind.fields.iter().zip(0..).filter(|(_, field)| !kind.derived.contains_key(field));
        let fields = stored.filter_map(|(name, field)| {
            let value = parts.stored(node, field).filter(|value| !value.is_null())?;
            Some((name.clone(), value.clone()))
        });
        NodeRecord {
            kind: kind.name.clone(),
            id: self.id_of(node).clone(),
            fields: fields.collect(),
            parent: self.parent_of(node),
            path: self.path_of(node),
        }
    }

    fn rename(&mut self, node: u32, id: &Text) {
        // What needs it by its id goes on needing it.
        for edge in self.needing(node) {
            self.edge_mut(edge);
        }
        let before = std::mem::replace(&mut self.record_mut(node).id, id.clone());
        self.forget(&before, node);
        self.ids.entry(id.clone()).or_default().push(node);
        self.bind(node);
    }

    fn forget(&mut self, id: &Text, node: u32) {
        if let Some(nodes) = self.ids.get_mut(id) {
            nodes.retain(|other| *other != node);
        }
    }

    fn place(&mut self, node: u32, beside: u32, after: bool) {
        self.is_straight = false;
        let order = Arc::make_mut(&mut self.order);
        order.retain(|other| *other != node);
        let at = order.iter().position(|other| *other == beside).map_or(order.len(), |at| at + usize::from(after));
        order.insert(at, node);
    }

    fn remove(&mut self, node: u32) {
        let mut all = vec![node];
        let mut at = 0;
        let mut seen: FxHashSet<u32> = FxHashSet::from_iter([node]);
        while let Some(node) = all.get(at).copied() {
            // A file may say of nodes that they lie in each other.
            all.extend(self.children_of(node).into_iter().filter(|child| seen.insert(*child)));
            at += 1;
        }
        for node in &all {
            self.unbind(*node);
        }
        self.is_straight = self.is_straight && !all.iter().any(|node| self.is_of_base(*node));
        Arc::make_mut(&mut self.order).retain(|node| !seen.contains(node));
        let ids: Vec<Text> = all.iter().map(|node| self.id_of(*node).clone()).collect();
        for node in all {
            if let Some(record) = self.nodes.remove(&node) {
                self.forget(&record.id, node);
            }
            self.gone.insert(node);
        }
        // A node of another kind may have the id, too.
        for node in ids.iter().filter_map(|id| self.find(None, id)).collect::<Vec<_>>() {
            self.bind(node);
        }
    }

    fn children_of(&self, node: u32) -> Vec<u32> {
        let of_base = if self.is_of_base(node) { self.base.parts.children.of(node) } else { &[] };
        let unchanged = |child: &u32| !self.gone.contains(child) && !self.nodes.contains_key(child);
        let mut children: Vec<u32> = of_base.iter().copied().filter(unchanged).collect();
        children.extend(self.nodes.iter().filter(|(_, record)| record.parent == Some(node)).map(|(child, _)| *child));
        children
    }
}
