//! What a snapshot takes over from the one it was changed from, so that a small change costs little to look at.

use super::{Graph, NONE};
use crate::graph::{Index, Key, Premise};
use std::sync::Arc;

impl Graph {
    /// Takes over the indexes of stored fields that the base has made, put right for the nodes that were touched.
    pub(super) fn take_over(&self) {
        let Some(lineage) = &self.lineage else { return };
        let Some(touched) = &lineage.touched else { return };
        for (kind, number) in self.parts.kinds.iter().zip(0_u16..) {
            let Some(before) = lineage.base.parts.kinds.get(usize::from(number)) else { continue };
            let own: Vec<u32> =
                touched.iter().copied().filter(|node| self.parts.kind_of[*node as usize] == number).collect();
            for field in 0..u16::try_from(before.fields.len()).unwrap_or(u16::MAX) {
                let known = before.indexes[usize::from(field)].get();
                if let (Some(known), false) = (known, before.derived.contains_key(&field)) {
                    _ = kind.indexes[usize::from(field)].set(self.put_right(known, field, &own));
                }
            }
        }
    }

    fn put_right(&self, known: &Index, field: u16, touched: &[u32]) -> Index {
        let mut index = known.clone();
        let base = self.lineage.as_ref().map(|lineage| &lineage.base.parts);
        for node in touched {
            // A value that was never given stands in the index as `()`.
            let key = |parts: &crate::graph::Parts| parts.stored(*node, field).map_or(Some(Key::Null), Key::of);
            let (before, now) = (base.filter(|base| (*node as usize) < base.slots.len()), key(&self.parts));
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

    /// What each node of a kind is, by what the base knows: but for the touched ones, which `make` looks at.
    pub(in crate::graph) fn known_identities(
        &self,
        kind: u16,
        make: impl Fn(u32) -> Premise,
    ) -> Option<Box<[Premise]>> {
        let lineage = self.lineage.as_ref()?;
        let (touched, base) = (lineage.touched.as_ref()?, &lineage.base.parts);
        let known = base.kinds.get(usize::from(kind))?.identities.get()?;
        let nodes: Arc<[u32]> = Arc::clone(&self.parts.kinds[usize::from(kind)].nodes);
        let mut all = known.to_vec();
        all.resize(nodes.len(), 0);
        for node in touched.iter().filter(|node| self.parts.kind_of[**node as usize] == kind) {
            let rank = self.parts.rank[*node as usize];
            if rank != NONE {
                all[rank as usize] = make(*node);
            }
        }
        Some(all.into())
    }
}
