//! The shortest cycle of a group of nodes that lead to each other.

use super::cycles::Ways;
use crate::diagnostic::Result;
use crate::guard::{self, ITEM, Work};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// The steps from node to node that are tried in one group before it is left at the shortest cycle until then. The
/// documentation of `cycles` names the number.
pub(super) const MOST_STEPS: usize = 4_000_000;

/// A cycle of a group.
pub(super) struct Cycle {
    /// Its nodes, from the earliest on.
    pub(super) nodes: Vec<u32>,
    /// Whether no other one of the group is shorter; otherwise nobody knows.
    pub(super) is_shortest: bool,
}

/// The shortest cycle of a group, from its earliest node on: of several the one whose earliest node comes first.
///
/// Each node is looked at in turn for the shortest way back to itself, and then left out, with all that leads nowhere
/// without it. After `most` steps the shortest cycle through the nodes until then is given.
pub(super) fn shortest_cycle(mut group: Vec<u32>, ways: &Ways, most: usize) -> Result<Option<Cycle>> {
    group.sort_unstable();
    let mut left = Left::of(&group, ways)?;
    let mut shortest: Option<Vec<usize>> = None;
    let mut is_shortest = true;
    for start in 0..group.len() {
        let below = shortest.as_ref().map_or(usize::MAX, Vec::len);
        // A cycle of one node is found where it begins; none of the others is shorter than two.
        if below <= 1 || (below == 2 && !left.has_loops) {
            break;
        }
        if left.steps > most && left.is_there[start..].contains(&true) {
            is_shortest = false;
            break;
        }
        if left.is_there[start] {
            if let Some(cycle) = left.way_back(start, below)? {
                shortest = Some(cycle);
            }
            left.leave_out(start)?;
        }
    }
    let nodes = |cycle: Vec<usize>| cycle.into_iter().map(|place| group[place]).collect();
    Ok(shortest.map(|cycle| Cycle { nodes: nodes(cycle), is_shortest }))
}

/// What of a group is still looked at. Nodes are places in it.
struct Left {
    is_there: Vec<bool>,
    to: Vec<Vec<usize>>,
    from: Vec<Vec<usize>>,
    /// How many steps lead out of a node and into it, from and to nodes that are there.
    out: Vec<usize>,
    into: Vec<usize>,
    /// Whether any node of the group leads to itself.
    has_loops: bool,
    steps: usize,
}

impl Left {
    fn of(group: &[u32], ways: &Ways) -> Result<Self> {
        let places: FxHashMap<u32, usize> = group.iter().copied().zip(0..).collect_checked()?;
        let mut from = vec![Vec::new(); group.len()];
        let mut to = Vec::with_capacity(group.len());
        let mut has_loops = false;
        for (place, node) in group.iter().enumerate() {
            let leads: Vec<usize> = ways[node].iter().filter_map(|next| places.get(next).copied()).collect();
            guard::spend(ITEM * (1 + ways[node].len()))?;
            for next in &leads {
                from[*next].push(place);
                has_loops |= *next == place;
            }
            to.push(leads);
        }
        let (out, into) = (to.iter().map(Vec::len).collect(), from.iter().map(Vec::len).collect());
        Ok(Self { is_there: vec![true; group.len()], to, from, out, into, has_loops, steps: 0 })
    }

    /// The shortest way from a node back to itself, if it has fewer than `below` nodes.
    fn way_back(&mut self, start: usize, below: usize) -> Result<Option<Vec<usize>>> {
        let mut came_from: FxHashMap<usize, usize> = FxHashMap::default();
        let mut queue = VecDeque::from([(start, 1)]);
        while let Some((node, length)) = queue.pop_front() {
            if length >= below {
                break;
            }
            guard::spend(ITEM * (1 + self.to[node].len()))?;
            self.steps += self.to[node].len();
            for next in self.to[node].iter().filter(|next| self.is_there[**next]) {
                if *next == start {
                    let mut cycle = vec![node];
                    while let Some(before) = came_from.get(&cycle[cycle.len() - 1]) {
                        cycle.push(*before);
                    }
                    cycle.reverse();
                    return Ok(Some(cycle));
                }
                if !came_from.contains_key(next) {
                    came_from.insert(*next, node);
                    queue.push_back((*next, length + 1));
                }
            }
        }
        Ok(None)
    }

    /// Leaves a node out, and each that is in no cycle then because nothing leads out of it or into it.
    fn leave_out(&mut self, node: usize) -> Result<()> {
        let mut ends = vec![node];
        while let Some(node) = ends.pop() {
            if !std::mem::replace(&mut self.is_there[node], false) {
                continue;
            }
            guard::spend(ITEM * (1 + self.to[node].len() + self.from[node].len()))?;
            for next in &self.to[node] {
                self.into[*next] -= 1;
                if self.into[*next] == 0 {
                    ends.push(*next);
                }
            }
            for before in &self.from[node] {
                self.out[*before] -= 1;
                if self.out[*before] == 0 {
                    ends.push(*before);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ways(count: u32, edges: &[(u32, u32)]) -> Ways {
        let leads = |node: u32| {
            let mut leads: Vec<u32> = edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| *to).collect();
            leads.sort_unstable();
            leads.dedup();
            leads
        };
        (0..count).map(|node| (node, leads(node))).collect()
    }

    /// The least number of steps after which a node is reached from itself: nodes reached are grown step by step.
    fn least(count: u32, ways: &Ways) -> Option<usize> {
        let mut reached: Vec<Vec<u32>> = (0..count).map(|node| ways[&node].clone()).collect();
        (1..=count as usize).find(|_| {
            let is_back = (0..count).any(|node| reached[node as usize].contains(&node));
            for nodes in &mut reached {
                let mut next: Vec<u32> = nodes.iter().flat_map(|node| ways[node].clone()).collect();
                next.sort_unstable();
                next.dedup();
                *nodes = next;
            }
            is_back
        })
    }

    proptest! {
        #[test]
        fn it_is_as_short_as_any_and_begins_with_its_earliest(
            count in 1_u32..9, edges in prop::collection::vec((0_u32..8, 0_u32..8), 0..24),
        ) {
            let edges: Vec<_> = edges.into_iter().filter(|(from, to)| *from < count && *to < count).collect();
            let ways = ways(count, &edges);
            let cycle = shortest_cycle((0..count).rev().collect(), &ways, MOST_STEPS).expect("nothing stops it");
            prop_assert!(cycle.as_ref().is_none_or(|cycle| cycle.is_shortest));
            let cycle = cycle.map(|cycle| cycle.nodes);
            prop_assert_eq!(cycle.as_ref().map(Vec::len), least(count, &ways));
            if let Some(cycle) = cycle {
                let pairs = cycle.iter().zip(cycle.iter().cycle().skip(1));
                prop_assert!(pairs.clone().all(|(from, to)| ways[from].contains(to)), "{:?}", cycle);
                prop_assert_eq!(cycle.iter().min(), cycle.first());
            }
        }
    }

    #[test]
    fn a_group_that_is_too_large_is_left_in_bounded_steps_and_says_so() {
        // Each node leads to the next thirty, the last ones to the first: no way back is short, none leads nowhere.
        let (count, wide) = (600_u32, 30);
        let leads = |node: u32| (1..=wide).map(|step| (node + step) % count).collect();
        let mut ways: Ways = (0..count).map(|node| (node, leads(node))).collect();
        ways.insert(500, vec![499, 501]);
        let found = |most: usize| {
            let cycle = shortest_cycle((0..count).collect(), &ways, most).expect("nothing stops it");
            cycle.map(|cycle| (cycle.nodes.len(), cycle.is_shortest)).expect("there is one")
        };
        assert_eq!((found(10_000), found(MOST_STEPS)), ((20, false), (2, true)));
    }
}
