//! The edges of a draft: bound to nodes as long as these are there, to ids otherwise.

use super::{Draft, EdgeRecord, EdgeRow, End, NONE, Reference, Target};
use crate::value::Text;
use rustc_hash::FxHashMap;

impl Draft {
    /// Whether a number stands for an edge that is there.
    pub fn has_edge(&self, edge: u32) -> bool {
        let of_base = (edge as usize) < self.base.parts.edges.len();
        !self.gone_edges.contains(&edge) && (of_base || self.edges.contains_key(&edge))
    }

    /// The edge as a record, which then stands for it.
    pub fn edge_mut(&mut self, edge: u32) -> &mut EdgeRecord {
        if !self.edges.contains_key(&edge) {
            let record = self.edge_of_base(edge);
            self.edges.insert(edge, record);
        }
        self.edges.entry(edge).or_insert_with(|| unreachable!("it was put there"))
    }

    fn edge_of_base(&self, edge: u32) -> EdgeRecord {
        let (row, reference) = self.of_base(edge);
        let fragment = &self.base.parts.fragments[row.fragment as usize];
        let end = |node: u32, target: &Target| {
            let (kind, id) = match target {
                Target::Id { kind, id, .. } => (kind.clone(), id.clone()),
                Target::Here(_) => (None, Text::from("")),
            };
            End { node: Some(node).filter(|node| *node != NONE), kind, id }
        };
        EdgeRecord {
            from: end(row.from, &reference.from),
            to: end(row.to, &reference.to),
            kind: self.base.parts.edge_kinds[usize::from(row.kind)].clone(),
            needs: reference.needs.iter().map(|needed| end(self.needed(needed).unwrap_or(NONE), needed)).collect(),
            labels: reference.labels.clone(),
            path: fragment.path.clone(),
        }
    }

    fn of_base(&self, edge: u32) -> (&EdgeRow, &Reference) {
        let row = &self.base.parts.edges[edge as usize];
        (row, &self.base.parts.fragments[row.fragment as usize].references[row.reference as usize])
    }

    /// The node of the base that an edge of the base needs.
    fn needed(&self, target: &Target) -> Option<u32> {
        let Target::Id { kind, id, hash } = target else { return None };
        let kind = match kind {
            Some(kind) => Some(*self.base.parts.kind_at.get(kind)?),
            None => None,
        };
        self.base.parts.find(kind, id, *hash)
    }

    fn broken_of_base(&self) -> &[u32] {
        let edges = || self.base.parts.edges.iter().zip(0..);
        self.loose.broken.get_or_init(|| edges().filter(|(edge, _)| edge.broken).map(|(_, at)| at).collect())
    }

    fn needing_of_base(&self) -> &FxHashMap<u32, Vec<u32>> {
        self.loose.needing.get_or_init(|| {
            let mut found: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
            for edge in 0..u32::try_from(self.base.parts.edges.len()).unwrap_or(NONE) {
                for node in self.of_base(edge).1.needs.iter().filter_map(|needed| self.needed(needed)) {
                    found.entry(node).or_default().push(edge);
                }
            }
            found
        })
    }

    /// Edges of the base, not changed as yet, that need a node.
    pub(super) fn needing(&self, node: u32) -> Vec<u32> {
        let all = self.needing_of_base().get(&node).map_or(&[][..], Vec::as_slice);
        all.iter().copied().filter(|edge| self.is_untouched(*edge)).collect()
    }

    fn is_untouched(&self, edge: u32) -> bool {
        !self.edges.contains_key(&edge) && !self.gone_edges.contains(&edge)
    }

    /// Binds the ends that name the id of a node, and that no node has.
    ///
    //= docs/spec.md#changes
    //# Adding or renaming a node MUST make those references whole that name its id.
    pub(super) fn bind(&mut self, node: u32) {
        let (id, kind) = (self.id_of(node).clone(), self.kind_of(node).clone());
        let named = |target: &Target| match target {
            Target::Id { kind: wanted, id: name, .. } => *name == id && wanted.as_ref().is_none_or(|one| *one == kind),
            Target::Here(_) => false,
        };
        let names_it = |edge: &u32| {
            let (_, reference) = self.of_base(*edge);
            [&reference.from, &reference.to].into_iter().chain(&reference.needs).any(named)
        };
        let untouched = self.broken_of_base().iter().copied().filter(|edge| self.is_untouched(*edge));
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

    /// A node goes: edges that leave it go with it, others keep its id.
    ///
    //= docs/spec.md#changes
    //# A reference to a node that is removed MUST stay, broken, with the id of the node.
    pub(super) fn unbind(&mut self, node: u32) {
        let mut touching: Vec<u32> = self.needing(node);
        if self.is_of_base(node) {
            let parts = &self.base.parts;
            touching.extend(parts.outward.of(node).iter().chain(parts.inward.of(node)));
            let is_end = |edge: &&u32| {
                let row = &parts.edges[**edge as usize];
                row.from == node || row.to == node
            };
            touching.extend(self.broken_of_base().iter().filter(is_end));
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
