//! Assembles a draft into a snapshot. It writes new numbers and takes over the values, indexes and node hashes of the
//! base, so that a small change is cheap.

use super::draft::{Draft, EdgeEnd, NodeRecord};
use crate::diagnostic::Result;
use crate::graph::derived_fields::{CacheKey, DerivedFields};
use crate::graph::fragment::{Fragment, FragmentEdge, FragmentTable, NodeHead, NodeRef, OnDuplicate, hash_id};
use crate::graph::snapshot::{
    Adjacency, EdgeRow, FieldIndex, Graph, GraphData, KindTable, Lineage, NONE, NodeSlot, ScalarKey,
};
use crate::guard;
use crate::value::Text;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static STAMP: AtomicU64 = AtomicU64::new(1);

/// Assembles a draft into a snapshot. It copies the values of changed nodes only.
///
/// # Errors
/// The running call was stopped.
pub(super) fn assemble(draft: &Draft) -> Result<Arc<Graph>> {
    let mut assembly = DraftAssembly::new(draft);
    assembly.write_nodes();
    guard::check()?;
    let edges = assembly.write_edges();
    guard::check()?;
    let base = &draft.base;
    let stamp = STAMP.fetch_add(1, Ordering::Relaxed);
    let touched = assembly.touched();
    let (nodes, edges) = (Arc::clone(&draft.order), edges.into());
    let lineage = Lineage { base: Arc::clone(base), nodes, edges, touched, stamp };
    let groups = base.groups.iter().map(DerivedFields::without_results).collect();
    let mut data = assembly.finish();
    data.kinds.iter_mut().for_each(KindTable::allocate_indexes);
    let graph = Graph::from_changes(data, groups, base, lineage);
    graph.inherit_indexes();
    Ok(graph)
}

struct DraftAssembly<'a> {
    draft: &'a Draft,
    data: GraphData,
    /// The number of each node of the base in the new snapshot.
    number_of: Vec<u32>,
    /// The number of each new node.
    number_of_new: FxHashMap<u32, u32>,
    /// The changed nodes and edges, one fragment per file.
    fragments: Vec<Fragment>,
    at_path: FxHashMap<Text, usize>,
}

impl<'a> DraftAssembly<'a> {
    fn new(draft: &'a Draft) -> Self {
        let base = &draft.base.data;
        let data = GraphData {
            fragments: base.fragments.clone(),
            shapes: base.shapes.clone(),
            first_shape: base.first_shape.clone(),
            kinds: base.kinds.iter().map(KindTable::without_nodes).collect(),
            kind_at: base.kind_at.clone(),
            edge_kinds: base.edge_kinds.clone(),
            errors: base.errors.clone(),
            ..GraphData::default()
        };
        let mut number_of = vec![NONE; base.slots.len()];
        let mut number_of_new = FxHashMap::default();
        for (node, number) in draft.order.iter().zip(0..) {
            match number_of.get_mut(*node as usize) {
                Some(place) => *place = number,
                None => _ = number_of_new.insert(*node, number),
            }
        }
        let (fragments, at_path) = Default::default();
        Self { draft, data, number_of, number_of_new, fragments, at_path }
    }

    fn number(&self, node: u32) -> u32 {
        match self.number_of.get(node as usize) {
            Some(number) => *number,
            None => self.number_of_new.get(&node).copied().unwrap_or(NONE),
        }
    }

    /// The fragment with the changes of a file, and its number in the snapshot.
    fn fragment(&mut self, path: &Text) -> (u32, &mut Fragment) {
        let at = *self.at_path.entry(path.clone()).or_insert_with(|| {
            self.fragments.push(Fragment { path: path.clone(), ..Fragment::default() });
            self.fragments.len() - 1
        });
        let number = u32::try_from(self.data.fragments.len() + at).unwrap_or(NONE);
        (number, &mut self.fragments[at])
    }

    fn write_nodes(&mut self) {
        let (draft, base) = (self.draft, &self.draft.base.data);
        let count = draft.order.len();
        self.data.slots.reserve(count);
        self.data.kind_of.reserve(count);
        self.data.parents.reserve(count);
        let changed = !draft.nodes.is_empty();
        for node in draft.order.iter() {
            let record = if changed { draft.nodes.get(node) } else { None };
            let (slot, kind, parent) = match record {
                Some(record) => {
                    (self.write_node(record), self.data.kind_number(&record.kind), record.parent.unwrap_or(NONE))
                }
                None => {
                    let at = *node as usize;
                    (base.slots[at], base.kind_of[at], base.parents[at])
                }
            };
            self.data.slots.push(slot);
            self.data.kind_of.push(kind);
            self.data.parents.push(if parent == NONE { NONE } else { self.number(parent) });
        }
        for ((node, field), value) in &base.merged {
            if draft.is_alive(*node) && !draft.nodes.contains_key(node) {
                self.data.merged.insert((self.number(*node), *field), value.clone());
            }
        }
    }

    /// Writes a changed node into the fragment of its file. The shape of the returned slot is relative to the first
    /// shape of the fragment.
    fn write_node(&mut self, record: &NodeRecord) -> NodeSlot {
        let parent = record.parent.map(|parent| {
            let (kind, id) = (self.draft.kind_of(parent).clone(), self.draft.id_of(parent).clone());
            NodeRef::from_id(Some(kind), id)
        });
        let (number, fragment) = self.fragment(&record.path);
        let table = fragment.tables.iter().position(|table| table.kind == record.kind).unwrap_or_else(|| {
            fragment.tables.push(FragmentTable::new(record.kind.clone()));
            fragment.tables.len() - 1
        });
        let row = u32::try_from(fragment.tables[table].length).unwrap_or(NONE);
        fragment.tables[table].push(record.fields.clone());
        let head = u32::try_from(fragment.heads.len()).unwrap_or(NONE);
        let (id, hash) = (record.id.clone(), hash_id(&record.id));
        let table = u16::try_from(table).unwrap_or(u16::MAX);
        fragment.heads.push(NodeHead { table, row, id, hash, parent, how: OnDuplicate::Reject });
        NodeSlot { fragment: number, head, shape: u32::from(table), row }
    }

    /// Writes the edges and returns their numbers in the draft.
    fn write_edges(&mut self) -> Vec<u32> {
        let (draft, base) = (self.draft, &self.draft.base.data);
        let mut numbers = Vec::with_capacity(base.edges.len() + draft.new_edges.len());
        for (row, edge) in base.edges.iter().zip(0..) {
            if draft.gone_edges.contains(&edge) {
                continue;
            }
            numbers.push(edge);
            if draft.edges.contains_key(&edge) {
                self.write_edge(edge);
                continue;
            }
            let end = |node: u32| if node == NONE { NONE } else { self.number(node) };
            let row = EdgeRow { from: end(row.from), to: end(row.to), ..*row };
            self.data.edges.push(row);
        }
        for edge in &draft.new_edges {
            numbers.push(*edge);
            self.write_edge(*edge);
        }
        numbers
    }

    fn write_edge(&mut self, edge: u32) {
        let Some(record) = self.draft.edges.get(&edge) else { return };
        let target = |end: &EdgeEnd| {
            let id = end.node.map_or_else(|| end.id.clone(), |node| self.draft.id_of(node).clone());
            NodeRef::from_id(end.kind.clone(), id)
        };
        let (from, to) = (target(&record.from), target(&record.to));
        let needs = record.needs.iter().map(target).collect();
        let number = |end: &EdgeEnd| end.node.map_or(NONE, |node| self.number(node));
        let ends = (number(&record.from), number(&record.to));
        let known = self.data.edge_kinds.iter().position(|kind| *kind == record.kind);
        let kind = known.unwrap_or_else(|| {
            self.data.edge_kinds.push(record.kind.clone());
            self.data.edge_kinds.len() - 1
        });
        let (fragment, of) = self.fragment(&record.path);
        let reference = u32::try_from(of.references.len()).unwrap_or(NONE);
        of.references.push(FragmentEdge { from, to, kind: 0, needs, labels: record.labels.clone() });
        let (kind, broken) = (u16::try_from(kind).unwrap_or(u16::MAX), record.is_broken());
        self.data.edges.push(EdgeRow { from: ends.0, to: ends.1, kind, broken, fragment, reference });
    }

    fn finish(mut self) -> GraphData {
        let first_new = u32::try_from(self.data.fragments.len()).unwrap_or(NONE);
        for fragment in std::mem::take(&mut self.fragments) {
            self.data.add_shapes(&fragment);
            self.data.fragments.push(Arc::new(fragment));
        }
        for slot in self.data.slots.iter_mut().filter(|slot| slot.fragment >= first_new) {
            slot.shape += self.data.first_shape[slot.fragment as usize];
        }
        self.index_ids();
        self.data.build_lists();
        let count = self.data.slots.len();
        let parents = self.data.parents.iter().zip(0..).filter(|(parent, _)| **parent != NONE);
        self.data.children = Adjacency::new(count, parents.map(|(parent, node)| (*parent, node)));
        self.data
    }

    /// The new or changed nodes; `None` if nodes of the base now have other numbers, ids or parents.
    fn touched(&self) -> Option<Vec<u32>> {
        let draft = self.draft;
        let kept = |(node, record): (&u32, &NodeRecord)| {
            let parent = || draft.base.data.parents[*node as usize];
            !draft.is_of_base(*node)
                || (record.id == draft.base.data.head(*node).id && record.parent.unwrap_or(NONE) == parent())
        };
        if !draft.keeps_base_order || !draft.nodes.iter().all(kept) {
            return None;
        }
        let mut touched: Vec<u32> = draft.nodes.keys().map(|node| self.number(*node)).collect();
        touched.sort_unstable();
        Some(touched)
    }

    /// Builds the index of ids. If the nodes of the base keep their numbers and ids, only new nodes are added to its
    /// index.
    fn index_ids(&mut self) {
        let (draft, base) = (self.draft, &self.draft.base.data);
        let of_base = base.slots.len();
        let renamed = |(node, record): (&u32, &NodeRecord)| draft.is_of_base(*node) && record.id != base.head(*node).id;
        let mut first = 0;
        if draft.keeps_base_order && !draft.nodes.iter().any(renamed) {
            self.data.by_hash = base.by_hash.clone();
            self.data.next_same = base.next_same.clone();
            first = of_base;
        } else {
            self.data.by_hash.reserve(self.data.slots.len());
        }
        for node in first..self.data.slots.len() {
            self.data.index_id(u32::try_from(node).unwrap_or(NONE));
        }
    }
}

impl Graph {
    /// Takes over the indexes of stored fields from the base and updates them for the touched nodes.
    pub(super) fn inherit_indexes(&self) {
        let Some(lineage) = &self.lineage else { return };
        let Some(touched) = &lineage.touched else { return };
        for (kind, number) in self.data.kinds.iter().zip(0_u16..) {
            let Some(before) = lineage.base.data.kinds.get(usize::from(number)) else { continue };
            let own: Vec<u32> =
                touched.iter().copied().filter(|node| self.data.kind_of[*node as usize] == number).collect();
            for field in 0..u16::try_from(before.fields.len()).unwrap_or(u16::MAX) {
                let known = before.indexes[usize::from(field)].get();
                if let (Some(known), false) = (known, before.derived.contains_key(&field)) {
                    _ = kind.indexes[usize::from(field)].set(self.updated_index(known, field, &own));
                }
            }
        }
    }

    fn updated_index(&self, known: &FieldIndex, field: u16, touched: &[u32]) -> FieldIndex {
        let mut index = known.clone();
        let base = self.lineage.as_ref().map(|lineage| &lineage.base.data);
        for node in touched {
            // A missing value is `()` in the index.
            let key = |data: &GraphData| data.stored(*node, field).map_or(Some(ScalarKey::Null), ScalarKey::from_value);
            let (before, now) = (base.filter(|base| (*node as usize) < base.slots.len()), key(&self.data));
            let before = before.and_then(key);
            if before == now {
                continue;
            }
            if let Some(list) = before.and_then(|before| index.get_mut(&before)) {
                *list = list.iter().copied().filter(|other| other != node).collect();
            }
            if let Some(now) = now {
                let list = index.entry(now).or_default();
                let mut all = list.to_vec();
                all.insert(all.partition_point(|other| other < node), *node);
                *list = all.into();
            }
        }
        index.retain(|_, list| !list.is_empty());
        index
    }

    /// The hashes of the nodes of a kind, taken over from the base; `make` computes those of touched nodes.
    pub(in crate::graph) fn inherited_identities(
        &self,
        kind: u16,
        make: impl Fn(u32) -> CacheKey,
    ) -> Option<Box<[CacheKey]>> {
        let lineage = self.lineage.as_ref()?;
        let (touched, base) = (lineage.touched.as_ref()?, &lineage.base.data);
        let known = base.kinds.get(usize::from(kind))?.identities.get()?;
        let nodes: Arc<[u32]> = Arc::clone(&self.data.kinds[usize::from(kind)].nodes);
        let mut all = known.to_vec();
        all.resize(nodes.len(), 0);
        for node in touched.iter().filter(|node| self.data.kind_of[**node as usize] == kind) {
            let rank = self.data.rank[*node as usize];
            if rank != NONE {
                all[rank as usize] = make(*node);
            }
        }
        Some(all.into())
    }
}
