//! Fragments to a snapshot: numbers the nodes, merges, resolves references. Copies no value but merged ones.

use super::{
    Adjacency, EdgeRow, Fault, Fragment, Functions, Graph, Group, How, Keeping, KindTable, NONE, Numbered, Parts,
    Shape, Slot, Target, Values,
};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::order::compare;
use crate::value::{Map, Text, Value};
use rustc_hash::FxHashSet;
use std::sync::{Arc, OnceLock};

/// Makes the snapshot of these fragments, in this order. `before` are the parts of one that was made of the first of
/// them: what they say of single nodes holds, so that it need not be found out again.
///
/// Fails if a field is both stored and derived.
pub(super) fn assemble(
    before: Option<Parts>,
    fragments: &[Arc<Fragment>],
    groups: Vec<Group>,
    values: (Map, Vec<Values>),
    functions: Arc<dyn Functions>,
    keeping: Option<Keeping>,
) -> Result<Arc<Graph>> {
    let mut assembly = Assembly { parts: before.unwrap_or_default(), replaced: FxHashSet::default() };
    let done = assembly.resume();
    let new = fragments.get(done..).unwrap_or_default();
    assembly.parts.fragments.extend(new.iter().cloned());
    assembly.parts.by_hash.reserve(new.iter().map(|fragment| fragment.heads.len()).sum());
    for (number, fragment) in fragments.iter().enumerate().skip(done) {
        guard::check()?;
        assembly.parts.shapes_of(fragment);
        assembly.number(u32::try_from(number).unwrap_or(NONE), fragment);
    }
    assembly.settle();
    let numbered = Numbered { kinds: assembly.parts.kinds.len(), faults: assembly.parts.faults.len() };
    assembly.parts.numbered = numbered;
    assembly.parents();
    assembly.edges()?;
    assembly.parts.lists();
    assembly.derived(&groups)?;
    Ok(Graph::new(assembly.parts, groups, values, functions, keeping))
}

struct Assembly {
    parts: Parts,
    /// Fragments and heads of nodes of which another definition counts.
    replaced: FxHashSet<(u32, u32)>,
}

impl Assembly {
    /// Takes back what depends on all fragments, and says how many of them are numbered.
    fn resume(&mut self) -> usize {
        let parts = &mut self.parts;
        parts.faults.truncate(parts.numbered.faults);
        for kind in parts.kinds.drain(parts.numbered.kinds..) {
            parts.kind_at.remove(&kind.name);
        }
        for kind in &mut parts.kinds {
            // Derived fields come after those that are stored.
            let stored = kind.fields.len() - kind.derived.len();
            for name in kind.fields.drain(stored..) {
                kind.field_at.remove(&name);
            }
            kind.derived.clear();
            kind.indexes.clear();
            kind.identities = OnceLock::new();
            kind.before = OnceLock::new();
        }
        parts.rank.clear();
        parts.edge_kinds.clear();
        parts.fragments.len()
    }

    fn number(&mut self, number: u32, fragment: &Fragment) {
        self.parts.first_head.push(self.parts.node_of.len());
        self.parts.faults.extend(fragment.fault.clone());
        let first_shape = self.parts.first_shape[number as usize];
        for (head, at) in fragment.heads.iter().zip(0..) {
            let shape = first_shape + u32::from(head.table);
            let kind = self.parts.shapes[shape as usize].kind;
            let slot = Slot { fragment: number, head: at, shape, row: head.row };
            if let Some(taken) = self.parts.find(Some(kind), &head.id, head.hash) {
                self.parts.node_of.push(taken);
                match head.how {
                    How::New => self.taken(
                        taken,
                        kind,
                        fragment,
                        "the first one stays; `add_once` and `merge_into` expect this",
                    ),
                    How::Last => self.replace(taken, slot, head.parent.is_none().then_some(fragment)),
                    How::Once => {}
                    How::Merge(maxima) => self.merge(taken, kind, slot, maxima),
                }
                continue;
            }
            let node = u32::try_from(self.parts.slots.len()).unwrap_or(NONE);
            self.parts.node_of.push(node);
            self.parts.slots.push(slot);
            self.parts.kind_of.push(kind);
            self.parts.enlist(node);
        }
    }

    /// Another definition takes the place of a node. `tell` is the fragment of one that is told as a fault.
    fn replace(&mut self, node: u32, by: Slot, tell: Option<&Fragment>) {
        if let Some(fragment) = tell {
            self.taken(node, self.parts.kind_of[node as usize], fragment, "the last one counts");
        }
        let before = std::mem::replace(&mut self.parts.slots[node as usize], by);
        self.replaced.insert((before.fragment, before.head));
    }

    /// What lay in nodes of which another definition counts, and was not defined again, goes: the others are numbered
    /// anew.
    fn settle(&mut self) {
        let mut gone = std::mem::take(&mut self.replaced);
        if gone.is_empty() {
            return;
        }
        let parts = &mut self.parts;
        let mut stays = vec![true; parts.slots.len()];
        loop {
            let before = gone.len();
            for (slot, stays) in parts.slots.iter().zip(&mut stays).filter(|(_, stays)| **stays) {
                let head = &parts.fragments[slot.fragment as usize].heads[slot.head as usize];
                if matches!(head.parent, Some(Target::Here(parent)) if gone.contains(&(slot.fragment, parent))) {
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
        parts.slots.retain(|_| *stay.next().unwrap_or(&true));
        let mut stay = stays.iter();
        parts.kind_of.retain(|_| *stay.next().unwrap_or(&true));
        let new = |node: u32| numbers.get(node as usize).copied().unwrap_or(NONE);
        parts.node_of.iter_mut().for_each(|node| *node = new(*node));
        let merged = std::mem::take(&mut parts.merged).into_iter();
        parts.merged = merged.map(|((node, field), value)| ((new(node), field), value)).collect();
        parts.by_hash.clear();
        parts.next_same.clear();
        (0..count).for_each(|node| parts.enlist(node));
    }

    fn taken(&mut self, node: u32, kind: u16, fragment: &Fragment, help: &str) {
        let slot = self.parts.slots[node as usize];
        let first = &self.parts.fragments[slot.fragment as usize];
        let id = &first.heads[slot.head as usize].id;
        let kind = &self.parts.kinds[usize::from(kind)].name;
        let place = if first.path.is_empty() { String::new() } else { format!(", first in `{}`", first.path) };
        let fault = Diagnostic::new(Code::ARGUMENTS, format!("there are two of the {kind} `{id}`{place}"));
        let fault = fault.help(help);
        self.parts.faults.push(Fault { path: fragment.path.clone(), fault: *fault });
    }

    fn merge(&mut self, node: u32, kind: u16, other: Slot, maxima: u32) {
        let fragment = Arc::clone(&self.parts.fragments[other.fragment as usize]);
        let table = &fragment.tables[usize::from(self.parts.shapes[other.shape as usize].table)];
        let maxima = &fragment.maxima[maxima as usize];
        for (name, column) in table.fields.iter().zip(&table.columns) {
            let Some(field) = self.parts.kinds[usize::from(kind)].field_at.get(name).copied() else { continue };
            let new = &column[other.row as usize];
            let old = self.parts.stored(node, field).unwrap_or(&Value::Null);
            let wins = match maxima.iter().find(|(of, _)| of == name) {
                Some((_, order)) => {
                    let place = |value| order.iter().position(|known| compare(known, value).is_eq());
                    place(new) > place(old)
                }
                None => false,
            };
            if !new.is_null() && (wins || old.is_null()) {
                self.parts.merged.insert((node, field), new.clone());
            }
        }
    }

    fn target(&self, fragment: usize, target: &Target) -> Option<u32> {
        match target {
            Target::Here(head) => {
                let node = self.parts.node_of.get(self.parts.first_head[fragment] + *head as usize).copied();
                node.filter(|node| *node != NONE)
            }
            Target::Id { kind: None, id, hash } => self.parts.find(None, id, *hash),
            Target::Id { kind: Some(kind), id, hash } => {
                let kind = self.parts.kind_at.get(kind)?;
                self.parts.find(Some(*kind), id, *hash)
            }
        }
    }

    fn parents(&mut self) {
        self.parts.parents = vec![NONE; self.parts.slots.len()];
        let mut faults = Vec::new();
        for (number, fragment) in self.parts.fragments.iter().enumerate() {
            for (at, head) in fragment.heads.iter().enumerate() {
                let Some(wanted) = &head.parent else { continue };
                let node = self.parts.node_of[self.parts.first_head[number] + at];
                if node == NONE {
                    continue;
                }
                match self.target(number, wanted) {
                    Some(parent) if self.parts.parents[node as usize] == NONE => {
                        self.parts.parents[node as usize] = parent;
                    }
                    Some(_) => {}
                    None => {
                        let Target::Id { id, .. } = wanted else { continue };
                        let message = format!("the parent `{id}` of `{}` is not there", head.id);
                        let fault = *Diagnostic::new(Code::ARGUMENTS, message);
                        faults.push(Fault { path: fragment.path.clone(), fault });
                    }
                }
            }
        }
        self.parts.faults.append(&mut faults);
    }

    fn edges(&mut self) -> Result<()> {
        let mut edges = Vec::new();
        for (number, fragment) in (0_u32..).zip(self.parts.fragments.clone()) {
            guard::check()?;
            let kinds: Vec<u16> = fragment.kinds.iter().map(|kind| self.edge_kind(kind)).collect();
            for (reference, at) in fragment.references.iter().zip(0_u32..) {
                let end = |target| self.target(number as usize, target).unwrap_or(NONE);
                let (from, to) = (end(&reference.from), end(&reference.to));
                let missing = from == NONE || to == NONE;
                let broken = missing || reference.needs.iter().any(|needed| end(needed) == NONE);
                let kind = kinds[usize::from(reference.kind)];
                edges.push(EdgeRow { from, to, kind, broken, fragment: number, reference: at });
            }
        }
        self.parts.edges = edges;
        Ok(())
    }

    fn edge_kind(&mut self, name: &Text) -> u16 {
        let at = self.parts.edge_kinds.iter().position(|known| known == name).unwrap_or_else(|| {
            self.parts.edge_kinds.push(name.clone());
            self.parts.edge_kinds.len() - 1
        });
        u16::try_from(at).unwrap_or(u16::MAX)
    }

    fn derived(&mut self, groups: &[Group]) -> Result<()> {
        for (group, at) in groups.iter().zip(0..) {
            let number = self.parts.kind(group.kind());
            let kind = &mut self.parts.kinds[usize::from(number)];
            for (name, place) in group.fields().iter().zip(0..) {
                if kind.field_at.contains_key(name) {
                    let message = format!("the field `{name}` of {} is stored or derived already", kind.name);
                    let fault = Diagnostic::new(Code::ARGUMENTS, message);
                    return Err(fault.help("give the derived field another name"));
                }
                let field = kind.field(name);
                kind.derived.insert(field, (at, place));
            }
        }
        self.parts.kinds.iter_mut().for_each(KindTable::ready);
        Ok(())
    }
}

impl Parts {
    /// Takes in the tables of the next fragment.
    pub fn shapes_of(&mut self, fragment: &Fragment) {
        self.first_shape.push(u32::try_from(self.shapes.len()).unwrap_or(NONE));
        for (table, at) in fragment.tables.iter().zip(0..) {
            let kind = self.kind(&table.kind);
            let known = &mut self.kinds[usize::from(kind)];
            let mut columns = vec![u16::MAX; known.fields.len() + table.fields.len()];
            for (name, column) in table.fields.iter().zip(0..) {
                columns[usize::from(known.field(name))] = column;
            }
            columns.truncate(known.fields.len());
            self.shapes.push(Shape { kind, table: at, columns: columns.into() });
        }
    }

    /// The number of a kind, new or known.
    pub fn kind(&mut self, name: &Text) -> u16 {
        if let Some(kind) = self.kind_at.get(name) {
            return *kind;
        }
        let kind = u16::try_from(self.kinds.len()).unwrap_or(u16::MAX);
        self.kind_at.insert(name.clone(), kind);
        self.kinds.push(KindTable::new(name.clone()));
        kind
    }

    /// Lists the nodes of each kind, and what lies in and leads to each node.
    pub fn lists(&mut self) {
        let count = self.slots.len();
        let mut of_kind: Vec<Vec<u32>> = vec![Vec::new(); self.kinds.len()];
        for (kind, node) in self.kind_of.iter().zip(0..) {
            let nodes = &mut of_kind[usize::from(*kind)];
            self.rank.push(u32::try_from(nodes.len()).unwrap_or(NONE));
            nodes.push(node);
        }
        for (kind, nodes) in self.kinds.iter_mut().zip(of_kind) {
            kind.nodes = nodes.into();
        }
        let parents = self.parents.iter().zip(0..).filter(|(parent, _)| **parent != NONE);
        self.children = Adjacency::new(count, parents.map(|(parent, node)| (*parent, node)));
        let whole = self.edges.iter().zip(0..).filter(|(edge, _)| !edge.broken);
        self.outward = Adjacency::new(count, whole.clone().map(|(edge, at)| (edge.from, at)));
        self.inward = Adjacency::new(count, whole.map(|(edge, at)| (edge.to, at)));
    }
}

impl KindTable {
    pub fn new(name: Text) -> Self {
        let nodes = Arc::default();
        let (fields, indexes) = (Vec::new(), Vec::new());
        let (field_at, derived) = Default::default();
        let (identities, before) = Default::default();
        Self { name, fields, field_at, derived, nodes, indexes, identities, before }
    }

    /// The same kind without its nodes: for another snapshot.
    pub fn emptied(&self) -> Self {
        let (name, fields) = (self.name.clone(), self.fields.clone());
        let (field_at, derived) = (self.field_at.clone(), self.derived.clone());
        Self { fields, field_at, derived, ..Self::new(name) }
    }

    /// Makes place for the indexes, now that all fields are known.
    pub fn ready(&mut self) {
        self.indexes = (0..=self.fields.len()).map(|_| OnceLock::new()).collect();
    }

    /// The number of a field, new or known.
    pub fn field(&mut self, name: &Text) -> u16 {
        if let Some(at) = self.field_at.get(name) {
            return *at;
        }
        let at = u16::try_from(self.fields.len()).unwrap_or(u16::MAX);
        self.fields.push(name.clone());
        self.field_at.insert(name.clone(), at);
        at
    }
}
