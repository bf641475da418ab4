//! A draft to a snapshot: numbers are written anew, values are taken over from the base.

use super::{
    Adjacency, Draft, EdgeRow, End, Fragment, Graph, Head, How, KindTable, Lineage, NONE, Parts, Reference, Slot,
    Table, Target, hash_of,
};
use crate::diagnostic::Result;
use crate::guard;
use crate::value::Text;
use rustc_hash::FxHashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static STAMP: AtomicU64 = AtomicU64::new(1);

/// The snapshot of a draft. It costs a walk over the arrays of numbers; no value is copied but those of changed nodes.
pub(super) fn assemble(draft: &Draft) -> Result<Arc<Graph>> {
    let mut assembling = Assembling::begin(draft);
    assembling.nodes();
    guard::check()?;
    let edges = assembling.edges();
    guard::check()?;
    let base = &draft.base;
    let stamp = STAMP.fetch_add(1, Ordering::Relaxed);
    let touched = assembling.touched();
    let (nodes, edges) = (Arc::clone(&draft.order), edges.into());
    let lineage = Lineage { base: Arc::clone(base), nodes, edges, touched, stamp };
    let groups = base.groups.iter().map(super::super::Group::renewed).collect();
    let mut parts = assembling.finish();
    parts.kinds.iter_mut().for_each(KindTable::ready);
    let graph = Graph::changed(parts, groups, base, lineage);
    graph.take_over();
    Ok(graph)
}

struct Assembling<'a> {
    draft: &'a Draft,
    parts: Parts,
    /// The number of each node of the base in the new snapshot.
    number_of: Vec<u32>,
    /// The number of each new node.
    number_of_new: FxHashMap<u32, u32>,
    /// What is changed, by file.
    fragments: Vec<Fragment>,
    at_path: FxHashMap<Text, usize>,
}

impl<'a> Assembling<'a> {
    fn begin(draft: &'a Draft) -> Self {
        let base = &draft.base.parts;
        let parts = Parts {
            fragments: base.fragments.clone(),
            shapes: base.shapes.clone(),
            first_shape: base.first_shape.clone(),
            kinds: base.kinds.iter().map(KindTable::emptied).collect(),
            kind_at: base.kind_at.clone(),
            edge_kinds: base.edge_kinds.clone(),
            faults: base.faults.clone(),
            ..Parts::default()
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
        Self { draft, parts, number_of, number_of_new, fragments, at_path }
    }

    fn number(&self, node: u32) -> u32 {
        match self.number_of.get(node as usize) {
            Some(number) => *number,
            None => self.number_of_new.get(&node).copied().unwrap_or(NONE),
        }
    }

    /// The fragment of what is changed of a file, and its number in the snapshot.
    fn fragment(&mut self, path: &Text) -> (u32, &mut Fragment) {
        let at = *self.at_path.entry(path.clone()).or_insert_with(|| {
            self.fragments.push(Fragment { path: path.clone(), ..Fragment::default() });
            self.fragments.len() - 1
        });
        let number = u32::try_from(self.parts.fragments.len() + at).unwrap_or(NONE);
        (number, &mut self.fragments[at])
    }

    fn nodes(&mut self) {
        let (draft, base) = (self.draft, &self.draft.base.parts);
        let count = draft.order.len();
        self.parts.slots.reserve(count);
        self.parts.kind_of.reserve(count);
        self.parts.parents.reserve(count);
        let changed = !draft.nodes.is_empty();
        for node in draft.order.iter() {
            let record = if changed { draft.nodes.get(node) } else { None };
            let (slot, kind, parent) = match record {
                Some(record) => (self.write(record), self.parts.kind(&record.kind), record.parent.unwrap_or(NONE)),
                None => {
                    let at = *node as usize;
                    (base.slots[at], base.kind_of[at], base.parents[at])
                }
            };
            self.parts.slots.push(slot);
            self.parts.kind_of.push(kind);
            self.parts.parents.push(if parent == NONE { NONE } else { self.number(parent) });
        }
        for ((node, field), value) in &base.merged {
            if draft.is_alive(*node) && !draft.nodes.contains_key(node) {
                self.parts.merged.insert((self.number(*node), *field), value.clone());
            }
        }
    }

    /// Puts a changed node into the fragment of its file. The shape is that of its table there, to be counted from
    /// the first one of the fragment.
    fn write(&mut self, record: &super::NodeRecord) -> Slot {
        let parent = record.parent.map(|parent| {
            let (kind, id) = (self.draft.kind_of(parent).clone(), self.draft.id_of(parent).clone());
            Target::of(Some(kind), id)
        });
        let (number, fragment) = self.fragment(&record.path);
        let table = fragment.tables.iter().position(|table| table.kind == record.kind).unwrap_or_else(|| {
            fragment.tables.push(Table::new(record.kind.clone()));
            fragment.tables.len() - 1
        });
        let row = u32::try_from(fragment.tables[table].length).unwrap_or(NONE);
        fragment.tables[table].push(record.fields.clone());
        let head = u32::try_from(fragment.heads.len()).unwrap_or(NONE);
        let (id, hash) = (record.id.clone(), hash_of(&record.id));
        let table = u16::try_from(table).unwrap_or(u16::MAX);
        fragment.heads.push(Head { table, row, id, hash, parent, how: How::New });
        Slot { fragment: number, head, shape: u32::from(table), row }
    }

    /// Writes the edges, and gives the number of each in the draft.
    fn edges(&mut self) -> Vec<u32> {
        let (draft, base) = (self.draft, &self.draft.base.parts);
        let mut numbers = Vec::with_capacity(base.edges.len() + draft.new_edges.len());
        for (row, edge) in base.edges.iter().zip(0..) {
            if draft.gone_edges.contains(&edge) {
                continue;
            }
            numbers.push(edge);
            if draft.edges.contains_key(&edge) {
                self.wire(edge);
                continue;
            }
            let end = |node: u32| if node == NONE { NONE } else { self.number(node) };
            let row = EdgeRow { from: end(row.from), to: end(row.to), ..*row };
            self.parts.edges.push(row);
        }
        for edge in &draft.new_edges {
            numbers.push(*edge);
            self.wire(*edge);
        }
        numbers
    }

    fn wire(&mut self, edge: u32) {
        let Some(record) = self.draft.edges.get(&edge) else { return };
        let target = |end: &End| {
            let id = end.node.map_or_else(|| end.id.clone(), |node| self.draft.id_of(node).clone());
            Target::of(end.kind.clone(), id)
        };
        let (from, to) = (target(&record.from), target(&record.to));
        let needs = record.needs.iter().map(target).collect();
        let number = |end: &End| end.node.map_or(NONE, |node| self.number(node));
        let ends = (number(&record.from), number(&record.to));
        let known = self.parts.edge_kinds.iter().position(|kind| *kind == record.kind);
        let kind = known.unwrap_or_else(|| {
            self.parts.edge_kinds.push(record.kind.clone());
            self.parts.edge_kinds.len() - 1
        });
        let (fragment, of) = self.fragment(&record.path);
        let reference = u32::try_from(of.references.len()).unwrap_or(NONE);
        of.references.push(Reference { from, to, kind: 0, needs, labels: record.labels.clone() });
        let (kind, broken) = (u16::try_from(kind).unwrap_or(u16::MAX), record.is_broken());
        self.parts.edges.push(EdgeRow { from: ends.0, to: ends.1, kind, broken, fragment, reference });
    }

    fn finish(mut self) -> Parts {
        let first_new = u32::try_from(self.parts.fragments.len()).unwrap_or(NONE);
        for fragment in std::mem::take(&mut self.fragments) {
            self.parts.shapes_of(&fragment);
            self.parts.fragments.push(Arc::new(fragment));
        }
        for slot in self.parts.slots.iter_mut().filter(|slot| slot.fragment >= first_new) {
            slot.shape += self.parts.first_shape[slot.fragment as usize];
        }
        self.find_by_id();
        self.parts.lists();
        let count = self.parts.slots.len();
        let parents = self.parts.parents.iter().zip(0..).filter(|(parent, _)| **parent != NONE);
        self.parts.children = Adjacency::new(count, parents.map(|(parent, node)| (*parent, node)));
        self.parts
    }

    /// The nodes that are new or changed, if all others are what they were, and where they were.
    fn touched(&self) -> Option<Vec<u32>> {
        let draft = self.draft;
        let kept = |(node, record): (&u32, &super::NodeRecord)| {
            let parent = || draft.base.parts.parents[*node as usize];
            !draft.is_of_base(*node)
                || (record.id == draft.base.parts.head(*node).id && record.parent.unwrap_or(NONE) == parent())
        };
        if !draft.is_straight || !draft.nodes.iter().all(kept) {
            return None;
        }
        let mut touched: Vec<u32> = draft.nodes.keys().map(|node| self.number(*node)).collect();
        touched.sort_unstable();
        Some(touched)
    }

    /// If the nodes of the base kept their numbers and ids, only the new ones are added.
    fn find_by_id(&mut self) {
        let (draft, base) = (self.draft, &self.draft.base.parts);
        let of_base = base.slots.len();
        let renamed =
            |(node, record): (&u32, &super::NodeRecord)| draft.is_of_base(*node) && record.id != base.head(*node).id;
        let mut first = 0;
        if draft.is_straight && !draft.nodes.iter().any(renamed) {
            self.parts.by_hash = base.by_hash.clone();
            self.parts.next_same = base.next_same.clone();
            first = of_base;
        } else {
            self.parts.by_hash.reserve(self.parts.slots.len());
        }
        for node in first..self.parts.slots.len() {
            self.parts.enlist(u32::try_from(node).unwrap_or(NONE));
        }
    }
}
