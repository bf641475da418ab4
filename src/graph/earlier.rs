//! What an earlier snapshot knows of unchanged fragments: the numbers of their nodes and the targets of their
//! references. Only ids of changed fragments are looked up again.

use super::fragment::Fragment;
use super::snapshot::{EdgeRow, Graph, GraphData, NONE};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The numbers of an earlier snapshot, for the fragments that are in both. Whether two nodes have the same id, and which
/// node a reference leads to, depends on the nodes with ids of one hash. So the earlier answer holds for every hash that
/// no changed fragment contains.
pub(super) struct EarlierNumbers {
    /// The snapshot; `None` if it is being extended and its nodes keep their numbers.
    graph: Option<Arc<Graph>>,
    /// The edges of a snapshot that is being extended.
    edges: Vec<EdgeRow>,
    /// For each fragment its number in the earlier snapshot, or [`NONE`].
    fragment_of: Vec<u32>,
    /// The hashes of the ids in fragments that only one of the snapshots has.
    changed: FxHashSet<u64>,
    /// The new number of each earlier node; [`NONE`] for those that are gone or not numbered yet.
    numbers: Vec<u32>,
    /// The first edge of each earlier fragment.
    first_edge: Vec<usize>,
}

impl EarlierNumbers {
    /// Takes the edges of a snapshot that was assembled from the first of the fragments and is being extended.
    pub fn of_beginning(data: &mut GraphData, fragments: &[Arc<Fragment>]) -> Self {
        let new = fragments.get(data.fragments.len()..).unwrap_or_default();
        Self {
            graph: None,
            edges: std::mem::take(&mut data.edges),
            fragment_of: (0..).take(data.fragments.len()).chain(new.iter().map(|_| NONE)).collect(),
            changed: hashes(new.iter()).collect(),
            numbers: (0..).take(data.slots.len()).collect(),
            first_edge: first_edges(&data.fragments),
        }
    }

    /// Compares the fragments with those of an earlier snapshot. `None` if less than half of them are the same, or if
    /// the earlier snapshot replaced nodes, since then its numbers do not follow the fragments.
    pub fn of_build(graph: Arc<Graph>, fragments: &[Arc<Fragment>]) -> Option<Self> {
        let before = &graph.data;
        let fragment_of = match_fragments(&before.fragments, fragments);
        let kept = fragment_of.iter().filter(|earlier| **earlier != NONE).count();
        if before.has_replaced || kept * 2 < fragments.len().max(before.fragments.len()) {
            return None;
        }
        let mut is_kept = vec![false; before.fragments.len()];
        let mut new = Vec::new();
        for (fragment, earlier) in fragments.iter().zip(&fragment_of) {
            match is_kept.get_mut(*earlier as usize) {
                Some(kept) => *kept = true,
                None => new.push(fragment),
            }
        }
        let gone = before.fragments.iter().zip(&is_kept).filter(|(_, kept)| !**kept).map(|(fragment, _)| fragment);
        let changed = hashes(new.into_iter().chain(gone)).collect();
        let (numbers, first_edge) = (vec![NONE; before.slots.len()], first_edges(&before.fragments));
        Some(Self { graph: Some(graph), edges: Vec::new(), fragment_of, changed, numbers, first_edge })
    }

    /// Whether an id of this hash must be looked up.
    pub fn has_changed(&self, hash: u64) -> bool {
        self.changed.contains(&hash)
    }

    /// What is known of a head: `None` if its id must be looked up; otherwise the number of its node, or `Some(None)` if
    /// it is the first head with its id.
    pub fn taken(&self, fragment: usize, head: u32, hash: u64) -> Option<Option<u32>> {
        let node = self.node(fragment, head).filter(|_| !self.has_changed(hash))?;
        Some(Some(self.numbers[node as usize]).filter(|number| *number != NONE))
    }

    /// Records the new number of the node of a head.
    pub fn record(&mut self, fragment: usize, head: u32, number: u32) {
        if let Some(node) = self.node(fragment, head) {
            self.numbers[node as usize] = number;
        }
    }

    /// The earlier number of the node of a head, if its fragment is unchanged.
    fn node(&self, fragment: usize, head: u32) -> Option<u32> {
        let before = &self.graph.as_ref()?.data;
        let first = before.first_head.get(self.fragment_of[fragment] as usize)?;
        before.node_of.get(first + head as usize).copied()
    }

    /// The edge of a reference, with the new numbers of its ends, if its fragment is unchanged. An end holds if the hash
    /// of its id has not changed.
    pub fn edge(&self, fragment: usize, reference: usize) -> Option<EdgeRow> {
        let earlier = self.fragment_of[fragment] as usize;
        let edges = self.graph.as_ref().map_or(&self.edges, |graph| &graph.data.edges);
        let edge = edges.get(self.first_edge.get(earlier)? + reference)?;
        let number = |node: u32| self.numbers.get(node as usize).copied().unwrap_or(NONE);
        Some(EdgeRow { from: number(edge.from), to: number(edge.to), ..*edge })
    }

    /// Adds the nodes whose ids did not change to an index that contains only the others.
    pub fn complete_index(&self, data: &mut GraphData) {
        let Some(before) = self.graph.as_ref().map(|graph| &graph.data) else { return };
        let looked_up = std::mem::replace(&mut data.by_hash, FxHashMap::clone(&before.by_hash));
        for hash in &self.changed {
            data.by_hash.remove(hash);
        }
        data.by_hash.values_mut().for_each(|node| *node = self.numbers[*node as usize]);
        data.by_hash.extend(looked_up);
        for (node, next) in before.next_same.iter().enumerate().filter(|(_, next)| **next != NONE) {
            if !self.has_changed(before.head(u32::try_from(node).unwrap_or(NONE)).hash) {
                data.next_same[self.numbers[node] as usize] = self.numbers[*next as usize];
            }
        }
    }
}

/// The hashes of the ids in these fragments.
fn hashes<'a>(fragments: impl Iterator<Item = &'a Arc<Fragment>>) -> impl Iterator<Item = u64> {
    fragments.flat_map(|fragment| fragment.heads.iter().map(|head| head.hash))
}

/// The first edge of each of these fragments.
fn first_edges(fragments: &[Arc<Fragment>]) -> Vec<usize> {
    let count = |count: &mut usize, fragment: &Arc<Fragment>| {
        let first = *count;
        *count += fragment.references.len();
        Some(first)
    };
    fragments.iter().scan(0, count).collect()
}

/// For each fragment the number of the same fragment in the earlier list, or [`NONE`]. The numbers are ascending.
fn match_fragments(before: &[Arc<Fragment>], fragments: &[Arc<Fragment>]) -> Vec<u32> {
    let mut number_of = FxHashMap::default();
    for (fragment, number) in before.iter().zip(0..) {
        number_of.entry(Arc::as_ptr(fragment)).or_insert(number);
    }
    let mut next = 0;
    let mut number = |fragment: &Arc<Fragment>| {
        let number = number_of.get(&Arc::as_ptr(fragment)).copied().filter(|number| *number >= next)?;
        next = number + 1;
        Some(number)
    };
    fragments.iter().map(|fragment| number(fragment).unwrap_or(NONE)).collect()
}
