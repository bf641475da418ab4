//! Assembles fragments into a snapshot: numbers and merges nodes, and resolves references. Only merged values are
//! copied.

use super::derived_fields::{CacheScope, DerivedFields, DerivedValues};
use super::earlier::EarlierNumbers;
use super::fragment::{FileError, Fragment, FragmentEdge, NodeRef, OnDuplicate};
use super::snapshot::{EdgeRow, Functions, Graph, GraphData, KindTable, NONE, NodeSlot, ResumePoint};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::order::compare;
use crate::value::{Map, Text, Value};
use rustc_hash::FxHashSet;
use std::sync::{Arc, OnceLock};

/// An earlier snapshot, of which an assembly reuses what still holds.
pub(super) enum Earlier {
    /// The data of a snapshot that was assembled from the first of the fragments.
    Beginning(Box<GraphData>),
    /// The snapshot of the build before, which has some of the fragments.
    Build(Arc<Graph>),
}

/// Assembles these fragments, in this order, into a snapshot.
///
/// Fails if a field is both stored and derived.
pub(super) fn assemble(
    earlier: Option<Earlier>,
    fragments: &[Arc<Fragment>],
    groups: Vec<DerivedFields>,
    values: (Map, Vec<DerivedValues>),
    functions: Arc<dyn Functions>,
    cache_scope: Option<CacheScope>,
) -> Result<Arc<Graph>> {
    let (data, earlier) = match earlier {
        Some(Earlier::Beginning(mut data)) => {
            let earlier = EarlierNumbers::of_beginning(&mut data, fragments);
            (*data, Some(earlier))
        }
        Some(Earlier::Build(graph)) => (GraphData::default(), EarlierNumbers::of_build(graph, fragments)),
        None => Default::default(),
    };
    let mut assembly = FragmentAssembly { data, replaced: FxHashSet::default(), earlier };
    let done = assembly.resume();
    let new = fragments.get(done..).unwrap_or_default();
    assembly.data.fragments.extend(new.iter().cloned());
    if assembly.earlier.is_none() {
        assembly.data.by_hash.reserve(new.iter().map(|fragment| fragment.heads.len()).sum());
    }
    for (number, fragment) in fragments.iter().enumerate().skip(done) {
        guard::check()?;
        assembly.data.add_shapes(fragment);
        assembly.number_nodes(u32::try_from(number).unwrap_or(NONE), fragment);
    }
    if let Some(earlier) = &assembly.earlier {
        earlier.complete_index(&mut assembly.data);
    }
    assembly.remove_replaced();
    let numbered = ResumePoint { kinds: assembly.data.kinds.len(), errors: assembly.data.errors.len() };
    assembly.data.numbered = numbered;
    assembly.resolve_parents();
    assembly.resolve_edges()?;
    assembly.data.build_lists();
    assembly.add_derived_fields(&groups)?;
    Ok(Graph::new(assembly.data, groups, values, functions, cache_scope))
}

/// An edge of which nothing is known.
const NO_EDGE: EdgeRow = EdgeRow { from: NONE, to: NONE, kind: 0, broken: true, fragment: 0, reference: 0 };

struct FragmentAssembly {
    data: GraphData,
    /// The fragments and heads of nodes that a later definition replaced.
    replaced: FxHashSet<(u32, u32)>,
    /// What the build before knows of unchanged fragments.
    earlier: Option<EarlierNumbers>,
}

impl FragmentAssembly {
    /// Removes everything that depends on all fragments. Returns the number of fragments whose nodes are already
    /// numbered.
    fn resume(&mut self) -> usize {
        let data = &mut self.data;
        data.errors.truncate(data.numbered.errors);
        for kind in data.kinds.drain(data.numbered.kinds..) {
            data.kind_at.remove(&kind.name);
        }
        for kind in &mut data.kinds {
            // The fields of a kind list stored fields first, then derived ones.
            let stored = kind.fields.len() - kind.derived.len();
            for name in kind.fields.drain(stored..) {
                kind.field_at.remove(&name);
            }
            kind.derived.clear();
            kind.indexes.clear();
            kind.identities = OnceLock::new();
            kind.before = OnceLock::new();
        }
        data.rank.clear();
        data.edge_kinds.clear();
        data.fragments.len()
    }

    fn number_nodes(&mut self, number: u32, fragment: &Fragment) {
        self.data.first_head.push(self.data.node_of.len());
        self.data.errors.extend(fragment.error.clone());
        self.data.errors.extend(fragment.remarks.iter().filter(|remark| remark.error.is_error()).cloned());
        let first_shape = self.data.first_shape[number as usize];
        for (head, at) in fragment.heads.iter().zip(0..) {
            let shape = first_shape + u32::from(head.table);
            let kind = self.data.shapes[shape as usize].kind;
            let slot = NodeSlot { fragment: number, head: at, shape, row: head.row };
            let known = self.earlier.as_ref().and_then(|earlier| earlier.taken(number as usize, at, head.hash));
            if let Some(taken) = known.unwrap_or_else(|| self.data.find(Some(kind), &head.id, head.hash)) {
                self.data.node_of.push(taken);
                match head.how {
                    OnDuplicate::Reject => self.report_duplicate(
                        taken,
                        kind,
                        fragment,
                        "the first one is kept; `add_node_if_absent` and `upsert` allow duplicates",
                    ),
                    OnDuplicate::Replace => self.replace(taken, slot, head.parent.is_none().then_some(fragment)),
                    OnDuplicate::KeepFirst => {}
                    OnDuplicate::Merge(maxima) => self.merge(taken, kind, slot, maxima),
                }
                continue;
            }
            let node = u32::try_from(self.data.slots.len()).unwrap_or(NONE);
            self.data.node_of.push(node);
            self.data.slots.push(slot);
            self.data.kind_of.push(kind);
            self.index_id(node, head.hash);
            if let Some(earlier) = &mut self.earlier {
                earlier.record(number as usize, at, node);
            }
        }
    }

    /// Adds a node to the index of ids, unless the index of the build before has it.
    fn index_id(&mut self, node: u32, hash: u64) {
        match &self.earlier {
            Some(earlier) if !earlier.has_changed(hash) => self.data.next_same.push(NONE),
            _ => self.data.index_id(node),
        }
    }

    /// Replaces a node with a later definition. `reported` is the fragment of that definition if the duplicate is an
    /// error.
    fn replace(&mut self, node: u32, by: NodeSlot, reported: Option<&Fragment>) {
        if let Some(fragment) = reported {
            self.report_duplicate(node, self.data.kind_of[node as usize], fragment, "the last one is kept");
        }
        self.data.has_replaced = true;
        let before = std::mem::replace(&mut self.data.slots[node as usize], by);
        self.replaced.insert((before.fragment, before.head));
    }

    /// Removes the descendants of replaced nodes that were not defined again, and renumbers the others.
    fn remove_replaced(&mut self) {
        let mut gone = std::mem::take(&mut self.replaced);
        if gone.is_empty() {
            return;
        }
        // The nodes get other numbers.
        self.earlier = None;
        let data = &mut self.data;
        let mut stays = vec![true; data.slots.len()];
        loop {
            let before = gone.len();
            for (slot, stays) in data.slots.iter().zip(&mut stays).filter(|(_, stays)| **stays) {
                let head = &data.fragments[slot.fragment as usize].heads[slot.head as usize];
                if matches!(head.parent, Some(NodeRef::Local(parent)) if gone.contains(&(slot.fragment, parent))) {
                    *stays = false;
                    gone.insert((slot.fragment, slot.head));
                }
            }
            if gone.len() == before {
                break;
            }
        }
        let mut count = 0;
        let number = |stays: &bool| {
            count += u32::from(*stays);
            if *stays { count - 1 } else { NONE }
        };
        let numbers: Vec<u32> = stays.iter().map(number).collect();
        let mut stay = stays.iter();
        data.slots.retain(|_| *stay.next().unwrap_or(&true));
        let mut stay = stays.iter();
        data.kind_of.retain(|_| *stay.next().unwrap_or(&true));
        let new = |node: u32| numbers.get(node as usize).copied().unwrap_or(NONE);
        data.node_of.iter_mut().for_each(|node| *node = new(*node));
        let merged = std::mem::take(&mut data.merged).into_iter();
        data.merged = merged.map(|((node, field), value)| ((new(node), field), value)).collect();
        data.by_hash.clear();
        data.next_same.clear();
        (0..count).for_each(|node| data.index_id(node));
    }

    fn report_duplicate(&mut self, node: u32, kind: u16, fragment: &Fragment, help: &str) {
        let slot = self.data.slots[node as usize];
        let first = &self.data.fragments[slot.fragment as usize];
        let id = &first.heads[slot.head as usize].id;
        let kind = &self.data.kinds[usize::from(kind)].name;
        let place = if first.path.is_empty() { String::new() } else { format!(", first in `{}`", first.path) };
        let error = Diagnostic::new(Code::ARGUMENTS, format!("the {kind} `{id}` is defined twice{place}"));
        let error = error.help(help);
        self.data.errors.push(FileError { path: fragment.path.clone(), error: *error });
    }

    fn merge(&mut self, node: u32, kind: u16, other: NodeSlot, maxima: u32) {
        let fragment = Arc::clone(&self.data.fragments[other.fragment as usize]);
        let table = &fragment.tables[usize::from(self.data.shapes[other.shape as usize].table)];
        let maxima = &fragment.maxima[maxima as usize];
        for (name, column) in table.fields.iter().zip(&table.columns) {
            let Some(field) = self.data.kinds[usize::from(kind)].field_at.get(name).copied() else { continue };
            let new = &column[other.row as usize];
            let old = self.data.stored(node, field).unwrap_or(&Value::Null);
            let wins = match maxima.iter().find(|(of, _)| of == name) {
                Some((_, order)) => {
                    let place = |value| order.iter().position(|known| compare(known, value).is_eq());
                    place(new) > place(old)
                }
                None => false,
            };
            if !new.is_null() && (wins || old.is_null()) {
                self.data.merged.insert((node, field), new.clone());
            }
        }
    }

    fn resolve(&self, fragment: usize, target: &NodeRef) -> Option<u32> {
        match target {
            NodeRef::Local(head) => {
                let node = self.data.node_of.get(self.data.first_head[fragment] + *head as usize).copied();
                node.filter(|node| *node != NONE)
            }
            NodeRef::Id { kind: None, id, hash } => self.data.find(None, id, *hash),
            NodeRef::Id { kind: Some(kind), id, hash } => {
                let kind = self.data.kind_at.get(kind)?;
                self.data.find(Some(*kind), id, *hash)
            }
        }
    }

    fn resolve_parents(&mut self) {
        self.data.parents = vec![NONE; self.data.slots.len()];
        let mut errors = Vec::new();
        for (number, fragment) in self.data.fragments.iter().enumerate() {
            for (at, head) in fragment.heads.iter().enumerate() {
                let Some(wanted) = &head.parent else { continue };
                let node = self.data.node_of[self.data.first_head[number] + at];
                if node == NONE {
                    continue;
                }
                match self.resolve(number, wanted) {
                    Some(parent) if self.data.parents[node as usize] == NONE => {
                        self.data.parents[node as usize] = parent;
                    }
                    Some(_) => {}
                    None => {
                        let NodeRef::Id { id, .. } = wanted else { continue };
                        let message = format!("the parent `{id}` of `{}` does not exist", head.id);
                        let error = *Diagnostic::new(Code::ARGUMENTS, message);
                        errors.push(FileError { path: fragment.path.clone(), error });
                    }
                }
            }
        }
        self.data.errors.append(&mut errors);
    }

    fn resolve_edges(&mut self) -> Result<()> {
        let mut edges = Vec::new();
        for (number, fragment) in (0_u32..).zip(self.data.fragments.clone()) {
            guard::check()?;
            let kinds: Vec<u16> = fragment.kinds.iter().map(|kind| self.edge_kind(kind)).collect();
            for (reference, at) in fragment.references.iter().zip(0_u32..) {
                let kind = kinds[usize::from(reference.kind)];
                let row = EdgeRow { kind, fragment: number, reference: at, ..NO_EDGE };
                edges.push(self.resolve_edge(row, reference));
            }
        }
        self.data.edges = edges;
        Ok(())
    }

    /// Fills in where an edge starts and leads to, and whether it is broken.
    fn resolve_edge(&self, row: EdgeRow, reference: &FragmentEdge) -> EdgeRow {
        let fragment = row.fragment as usize;
        let known = self.earlier.as_ref().and_then(|earlier| earlier.edge(fragment, row.reference as usize));
        let is_known = |target: &NodeRef| match (target, &self.earlier) {
            (NodeRef::Id { hash, .. }, Some(earlier)) => known.is_some() && !earlier.has_changed(*hash),
            _ => false,
        };
        let end = |target: &NodeRef, known: u32| {
            if is_known(target) { known } else { self.resolve(fragment, target).unwrap_or(NONE) }
        };
        let known = known.unwrap_or(NO_EDGE);
        let (from, to) = (end(&reference.from, known.from), end(&reference.to, known.to));
        let exists = |needed: &NodeRef| {
            let was_there = !known.broken && is_known(needed);
            was_there || self.resolve(fragment, needed).is_some()
        };
        let broken = from == NONE || to == NONE || !reference.needs.iter().all(exists);
        EdgeRow { from, to, broken, ..row }
    }

    fn edge_kind(&mut self, name: &Text) -> u16 {
        let at = self.data.edge_kinds.iter().position(|known| known == name).unwrap_or_else(|| {
            self.data.edge_kinds.push(name.clone());
            self.data.edge_kinds.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    fn add_derived_fields(&mut self, groups: &[DerivedFields]) -> Result<()> {
        for (group, at) in groups.iter().zip(0..) {
            let number = self.data.kind_number(group.kind());
            let kind = &mut self.data.kinds[usize::from(number)];
            for (name, place) in group.fields().iter().zip(0..) {
                if kind.field_at.contains_key(name) {
                    let message = format!("the field `{name}` of {} is already stored or derived", kind.name);
                    let error = Diagnostic::new(Code::ARGUMENTS, message);
                    return Err(error.help("give the derived field another name"));
                }
                let field = kind.field_number(name);
                kind.derived.insert(field, (at, place));
            }
        }
        self.data.kinds.iter_mut().for_each(KindTable::allocate_indexes);
        Ok(())
    }
}
