//! The draft of a snapshot: the base, the differences from it, and the operations that made them. An edge is bound to
//! nodes while these exist, and otherwise to ids.

use crate::graph::fragment::{FragmentEdge, NodeRef, hash_id};
use crate::graph::snapshot::{EdgeRow, Graph, NONE};
use crate::value::{Map, Text, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

/// One operation. Nodes and edges have numbers in the draft: those of the base keep theirs, and new ones get numbers
/// that are never reused. So the same operations on the same base always make the same draft.
#[derive(Clone)]
pub(in crate::graph) enum DraftOperation {
    /// Adds a node after all others.
    Add {
        /// Its number.
        node: u32,
        kind: Text,
        id: Text,
        /// Its fields, without `()`.
        fields: Map,
        parent: Option<u32>,
        /// The file it belongs to.
        path: Text,
    },
    /// Removes a node, its descendants, and the edges that leave them. Edges that lead to them stay as broken edges.
    Remove(u32),
    /// Sets fields of a node; `()` removes one.
    Set(u32, Map),
    /// Changes the id of a node. Edges follow it, and broken edges that name the new id are repaired.
    Rename(u32, Text),
    /// Moves a node right before (`false`) or after (`true`) another one.
    Place(u32, u32, bool),
    /// Changes the parent of a node.
    Enter(u32, Option<u32>),
    /// Adds an edge after all others.
    Link(u32, EdgeRecord),
    /// Removes an edge.
    Unlink(u32),
    /// Changes parts of an edge.
    Rewire(u32, Rewiring),
}

/// One end of an edge, or a node that it needs.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::graph) struct EdgeEnd {
    /// The node, if it exists.
    pub node: Option<u32>,
    /// The kind, if one was named.
    pub kind: Option<Text>,
    /// The id by which it is looked up; for a node that exists, its id when the edge was recorded.
    pub id: Text,
}

/// An edge that is new or differs from the base.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::graph) struct EdgeRecord {
    pub from: EdgeEnd,
    pub to: EdgeEnd,
    pub kind: Text,
    pub needs: Vec<EdgeEnd>,
    pub labels: Vec<Value>,
    /// The file in which it was written.
    pub path: Text,
}

/// The changes of an edge; `None` leaves a part as it is.
#[derive(Clone, Default)]
pub(in crate::graph) struct Rewiring {
    pub kind: Option<Text>,
    pub to: Option<EdgeEnd>,
    pub needs: Option<Vec<EdgeEnd>>,
    pub labels: Option<Vec<Value>>,
}

impl EdgeRecord {
    /// Its ends and the nodes that it needs.
    pub fn ends(&self) -> impl Iterator<Item = &EdgeEnd> {
        [&self.from, &self.to].into_iter().chain(&self.needs)
    }

    pub fn ends_mut(&mut self) -> impl Iterator<Item = &mut EdgeEnd> {
        [&mut self.from, &mut self.to].into_iter().chain(&mut self.needs)
    }

    /// Whether an end, or a node that it needs, is missing.
    pub fn is_broken(&self) -> bool {
        self.ends().any(|end| end.node.is_none())
    }
}

/// The draft: the base and what differs from it.
#[derive(Clone)]
pub(in crate::graph) struct Draft {
    pub base: Arc<Graph>,
    /// The existing nodes, in their order.
    pub order: Arc<Vec<u32>>,
    /// Whether the order begins with all nodes of the base in their original order.
    pub keeps_base_order: bool,
    /// Nodes that are new or differ from the base.
    pub nodes: FxHashMap<u32, NodeRecord>,
    /// Edges that are new or differ from the base.
    pub edges: FxHashMap<u32, EdgeRecord>,
    /// The new edges, in their order.
    pub new_edges: Vec<u32>,
    /// Edges that were removed.
    pub gone_edges: FxHashSet<u32>,
    gone: FxHashSet<u32>,
    /// The nodes of `nodes` by their current id.
    ids: FxHashMap<Text, Vec<u32>>,
    pub(super) unlisted: Arc<UnlistedEdges>,
}

impl Draft {
    pub fn new(base: Arc<Graph>) -> Self {
        let count = u32::try_from(base.len()).unwrap_or(NONE);
        Self {
            base,
            order: Arc::new((0..count).collect()),
            keeps_base_order: true,
            nodes: FxHashMap::default(),
            edges: FxHashMap::default(),
            new_edges: Vec::new(),
            gone_edges: FxHashSet::default(),
            gone: FxHashSet::default(),
            ids: FxHashMap::default(),
            unlisted: Arc::default(),
        }
    }

    /// Applies an operation, which must be valid: the transaction checks that first.
    pub fn apply(&mut self, operation: &DraftOperation) {
        match operation {
            DraftOperation::Add { node, kind, id, fields, parent, path } => {
                let (kind, id, fields) = (kind.clone(), id.clone(), fields.clone());
                self.ids.entry(id.clone()).or_default().push(*node);
                self.nodes.insert(*node, NodeRecord { kind, id, fields, parent: *parent, path: path.clone() });
                Arc::make_mut(&mut self.order).push(*node);
                self.bind(*node);
            }
            DraftOperation::Remove(node) => self.remove(*node),
            DraftOperation::Set(node, fields) => {
                let record = self.record_mut(*node);
                for (name, value) in fields {
                    if value.is_null() {
                        record.fields.remove(name);
                    } else {
                        record.fields.insert(name.clone(), value.clone());
                    }
                }
            }
            DraftOperation::Rename(node, id) => self.rename(*node, id),
            DraftOperation::Place(node, sibling, after) => self.place(*node, *sibling, *after),
            DraftOperation::Enter(node, parent) => self.record_mut(*node).parent = *parent,
            DraftOperation::Link(edge, record) => {
                self.edges.insert(*edge, record.clone());
                self.new_edges.push(*edge);
            }
            DraftOperation::Unlink(edge) => {
                self.gone_edges.insert(*edge);
                self.edges.remove(edge);
                self.new_edges.retain(|new| new != edge);
            }
            DraftOperation::Rewire(edge, change) => {
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

    /// Whether the node with this number exists.
    pub fn is_alive(&self, node: u32) -> bool {
        (self.is_of_base(node) && !self.gone.contains(&node)) || self.nodes.contains_key(&node)
    }

    pub fn is_of_base(&self, node: u32) -> bool {
        (node as usize) < self.base.len()
    }

    pub fn id_of(&self, node: u32) -> &Text {
        match self.nodes.get(&node) {
            Some(record) => &record.id,
            None => &self.base.data.head(node).id,
        }
    }

    pub fn kind_of(&self, node: u32) -> &Text {
        match self.nodes.get(&node) {
            Some(record) => &record.kind,
            None => &self.base.data.kinds[usize::from(self.base.data.kind_of[node as usize])].name,
        }
    }

    pub fn parent_of(&self, node: u32) -> Option<u32> {
        match self.nodes.get(&node) {
            Some(record) => record.parent,
            None => Some(self.base.data.parents[node as usize]).filter(|parent| *parent != NONE),
        }
    }

    pub fn path_of(&self, node: u32) -> Text {
        match self.nodes.get(&node) {
            Some(record) => record.path.clone(),
            None => {
                let slot = self.base.data.slots[node as usize];
                self.base.data.fragments[slot.fragment as usize].path.clone()
            }
        }
    }

    /// The node of a kind, or the first of any kind, that currently has this id.
    pub fn find(&self, kind: Option<&str>, id: &str) -> Option<u32> {
        let fits = |node: &u32| kind.is_none_or(|kind| &**self.kind_of(*node) == kind);
        let unchanged = |node: &u32| !self.gone.contains(node) && !self.nodes.contains_key(node);
        let known = self.base.data.all_with_id(id, hash_id(id)).find(|node| unchanged(node) && fits(node));
        known.or_else(|| self.ids.get(id)?.iter().copied().find(|node| fits(node)))
    }

    /// The record of a node, created if there is none.
    fn record_mut(&mut self, node: u32) -> &mut NodeRecord {
        if !self.nodes.contains_key(&node) {
            let record = self.record_of(node);
            self.ids.entry(record.id.clone()).or_default().push(node);
            self.nodes.insert(node, record);
        }
        self.nodes.entry(node).or_insert_with(|| unreachable!("inserted above"))
    }

    fn record_of(&self, node: u32) -> NodeRecord {
        let data = &self.base.data;
        let kind = &data.kinds[usize::from(data.kind_of[node as usize])];
        let stored = kind.fields.iter().zip(0..).filter(|(_, field)| !kind.derived.contains_key(field));
        let fields = stored.filter_map(|(name, field)| {
            let value = data.stored(node, field).filter(|value| !value.is_null())?;
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
        // Edges that need it by its id still need it.
        for edge in self.edges_needing(node) {
            self.edge_mut(edge);
        }
        let before = std::mem::replace(&mut self.record_mut(node).id, id.clone());
        self.forget_id(&before, node);
        self.ids.entry(id.clone()).or_default().push(node);
        self.bind(node);
    }

    fn forget_id(&mut self, id: &Text, node: u32) {
        if let Some(nodes) = self.ids.get_mut(id) {
            nodes.retain(|other| *other != node);
        }
    }

    fn place(&mut self, node: u32, sibling: u32, after: bool) {
        self.keeps_base_order = false;
        let order = Arc::make_mut(&mut self.order);
        order.retain(|other| *other != node);
        let at = order.iter().position(|other| *other == sibling).map_or(order.len(), |at| at + usize::from(after));
        order.insert(at, node);
    }

    fn remove(&mut self, node: u32) {
        let mut all = vec![node];
        let mut at = 0;
        let mut seen: FxHashSet<u32> = FxHashSet::from_iter([node]);
        while let Some(node) = all.get(at).copied() {
            // Files may declare nodes that contain each other.
            all.extend(self.children_of(node).into_iter().filter(|child| seen.insert(*child)));
            at += 1;
        }
        for node in &all {
            self.unbind(*node);
        }
        self.keeps_base_order = self.keeps_base_order && !all.iter().any(|node| self.is_of_base(*node));
        Arc::make_mut(&mut self.order).retain(|node| !seen.contains(node));
        let ids: Vec<Text> = all.iter().map(|node| self.id_of(*node).clone()).collect();
        for node in all {
            if let Some(record) = self.nodes.remove(&node) {
                self.forget_id(&record.id, node);
            }
            self.gone.insert(node);
        }
        // A node of another kind may also have the id.
        for node in ids.iter().filter_map(|id| self.find(None, id)).collect::<Vec<_>>() {
            self.bind(node);
        }
    }

    fn children_of(&self, node: u32) -> Vec<u32> {
        let of_base = if self.is_of_base(node) { self.base.data.children.items_of(node) } else { &[] };
        let unchanged = |child: &u32| !self.gone.contains(child) && !self.nodes.contains_key(child);
        let mut children: Vec<u32> = of_base.iter().copied().filter(unchanged).collect();
        children.extend(self.nodes.iter().filter(|(_, record)| record.parent == Some(node)).map(|(child, _)| *child));
        children
    }

    /// Whether the edge with this number exists.
    pub fn has_edge(&self, edge: u32) -> bool {
        let of_base = (edge as usize) < self.base.data.edges.len();
        !self.gone_edges.contains(&edge) && (of_base || self.edges.contains_key(&edge))
    }

    /// The record of an edge, created if there is none.
    pub fn edge_mut(&mut self, edge: u32) -> &mut EdgeRecord {
        if !self.edges.contains_key(&edge) {
            let record = self.base_edge_record(edge);
            self.edges.insert(edge, record);
        }
        self.edges.entry(edge).or_insert_with(|| unreachable!("inserted above"))
    }

    fn base_edge_record(&self, edge: u32) -> EdgeRecord {
        let (row, reference) = self.base_edge(edge);
        let fragment = &self.base.data.fragments[row.fragment as usize];
        let end = |node: u32, target: &NodeRef| {
            let (kind, id) = match target {
                NodeRef::Id { kind, id, .. } => (kind.clone(), id.clone()),
                NodeRef::Local(_) => (None, Text::from("")),
            };
            EdgeEnd { node: Some(node).filter(|node| *node != NONE), kind, id }
        };
        EdgeRecord {
            from: end(row.from, &reference.from),
            to: end(row.to, &reference.to),
            kind: self.base.data.edge_kinds[usize::from(row.kind)].clone(),
            needs: reference
                .needs
                .iter()
                .map(|needed| end(self.resolve_base(needed).unwrap_or(NONE), needed))
                .collect(),
            labels: reference.labels.clone(),
            path: fragment.path.clone(),
        }
    }

    fn base_edge(&self, edge: u32) -> (&EdgeRow, &FragmentEdge) {
        let row = &self.base.data.edges[edge as usize];
        (row, &self.base.data.fragments[row.fragment as usize].references[row.reference as usize])
    }

    /// The node that an edge of the base needs, in the base.
    fn resolve_base(&self, target: &NodeRef) -> Option<u32> {
        let NodeRef::Id { kind, id, hash } = target else { return None };
        let kind = match kind {
            Some(kind) => Some(*self.base.data.kind_at.get(kind)?),
            None => None,
        };
        self.base.data.find(kind, id, *hash)
    }

    fn base_broken_edges(&self) -> &[u32] {
        let edges = || self.base.data.edges.iter().zip(0..);
        self.unlisted.broken.get_or_init(|| edges().filter(|(edge, _)| edge.broken).map(|(_, at)| at).collect())
    }

    fn base_edges_by_need(&self) -> &FxHashMap<u32, Vec<u32>> {
        self.unlisted.needing.get_or_init(|| {
            let mut found: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for edge in 0..u32::try_from(self.base.data.edges.len()).unwrap_or(NONE) {
                for node in self.base_edge(edge).1.needs.iter().filter_map(|needed| self.resolve_base(needed)) {
                    found.entry(node).or_default().push(edge);
                }
            }
            found
        })
    }

    /// The unchanged edges of the base that need a node.
    pub(super) fn edges_needing(&self, node: u32) -> Vec<u32> {
        let all = self.base_edges_by_need().get(&node).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|edge| self.is_untouched(*edge)).collect()
    }

    fn is_untouched(&self, edge: u32) -> bool {
        !self.edges.contains_key(&edge) && !self.gone_edges.contains(&edge)
    }

    /// Binds to a node the unbound ends of edges that name its id.
    ///
    //= docs/spec.md#changes
    //# A reference to a removed node MUST stay as a broken reference, and MUST be resolved again when a node
    //# gets that id.
    pub(super) fn bind(&mut self, node: u32) {
        let (id, kind) = (self.id_of(node).clone(), self.kind_of(node).clone());
        let named = |target: &NodeRef| match target {
            NodeRef::Id { kind: wanted, id: name, .. } => *name == id && wanted.as_ref().is_none_or(|one| *one == kind),
            NodeRef::Local(_) => false,
        };
        let names_it = |edge: &u32| {
            let (_, reference) = self.base_edge(*edge);
            [&reference.from, &reference.to].into_iter().chain(&reference.needs).any(named)
        };
        let untouched = self.base_broken_edges().iter().copied().filter(|edge| self.is_untouched(*edge));
        let found: Vec<u32> = untouched.filter(names_it).collect();
        for edge in found {
            self.edge_mut(edge);
        }
        for record in self.edges.values_mut() {
            for end in record.ends_mut() {
                let free = end.node.is_none() && end.id == id;
                if free && end.kind.as_ref().is_none_or(|wanted| *wanted == kind) {
                    end.node = Some(node);
                }
            }
        }
    }

    /// Removes the edges that leave a node that is being removed. All other edges keep its id.
    ///
    pub(super) fn unbind(&mut self, node: u32) {
        let mut touching: Vec<u32> = self.edges_needing(node);
        if self.is_of_base(node) {
            let data = &self.base.data;
            touching.extend(data.outward.items_of(node).iter().chain(data.inward.items_of(node)));
            let is_end = |edge: &&u32| {
                let row = &data.edges[**edge as usize];
                row.from == node || row.to == node
            };
            touching.extend(self.base_broken_edges().iter().filter(is_end));
        }
        touching.retain(|edge| self.is_untouched(*edge));
        for edge in touching {
            self.edge_mut(edge);
        }
        let id = self.id_of(node).clone();
        let mut gone = Vec::new();
        for (edge, record) in &mut self.edges {
            if record.from.node == Some(node) {
                gone.push(*edge);
                continue;
            }
            for end in record.ends_mut().filter(|end| end.node == Some(node)) {
                end.node = None;
                end.id = id.clone();
            }
        }
        for edge in &gone {
            self.edges.remove(edge);
            self.gone_edges.insert(*edge);
        }
        self.new_edges.retain(|edge| !gone.contains(edge));
    }
}

/// A node that is new or differs from the base.
#[derive(Clone)]
pub(in crate::graph) struct NodeRecord {
    pub kind: Text,
    pub id: Text,
    /// The fields, without those that are `()`.
    pub fields: Map,
    pub parent: Option<u32>,
    pub path: Text,
}

/// Edges of the base that are not in its adjacency lists, found on first use.
#[derive(Default)]
pub(super) struct UnlistedEdges {
    /// The broken edges.
    pub broken: OnceLock<Vec<u32>>,
    /// The edges by the nodes that they need.
    pub needing: OnceLock<FxHashMap<u32, Vec<u32>>>,
}
