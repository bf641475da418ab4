//! Cycles: the shortest one of each strongly connected component; and the topological order of nodes.

use super::nodes::{Nodes, dedup};
use super::walk::{Direction, EdgeSteps};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// The distinct successors of each node within a set.
pub(super) type StepMap = FxHashMap<u32, Vec<u32>>;

impl Nodes {
    /// One shortest cycle for each group of nodes that can reach each other. A cycle begins with its earliest node, and
    /// the cycles are ordered by these nodes. See [`shortest_cycle`] for groups that are too large. Only nodes of this
    /// set and edges of these kinds count.
    pub fn cycles(&self, kinds: Option<&[String]>) -> Result<Vec<Self>> {
        self.cycles_and_doubts(kinds).map(|(cycles, _)| cycles)
    }

    /// Like [`Self::cycles`]; also returns the number of cycles that may not be the shortest of their group.
    pub fn cycles_and_doubts(&self, kinds: Option<&[String]>) -> Result<(Vec<Self>, usize)> {
        let ways = self.step_map(kinds)?;
        let (mut cycles, mut doubts) = (Vec::new(), 0);
        for group in components(self.ids(), &ways)? {
            if let Some(cycle) = shortest_cycle(group, &ways, MAX_SEARCH_STEPS)? {
                doubts += usize::from(!cycle.is_shortest);
                cycles.push(cycle.nodes);
            }
        }
        cycles.sort_unstable();
        Ok((cycles.into_iter().map(|cycle| self.with_ids(cycle)).collect(), doubts))
    }

    /// The nodes in topological order: each comes after all nodes that its edges of these kinds lead to. Otherwise the
    /// order of insertion is kept.
    ///
    /// # Errors
    /// There is a cycle. The error lists its nodes.
    pub fn dependency_order(&self, kinds: Option<&[String]>) -> Result<Self> {
        let ways = self.step_map(kinds)?;
        let mut waits: FxHashMap<u32, usize> = FxHashMap::default();
        let mut needed_by: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for (node, needs) in &ways {
            waits.insert(*node, needs.len());
            needs.iter().for_each(|needed| needed_by.entry(*needed).or_default().push(*node));
        }
        let free = waits.iter().filter(|(_, count)| **count == 0).map(|(node, _)| Reverse(*node));
        let mut ready: BinaryHeap<Reverse<u32>> = free.collect();
        let mut ordered = Vec::with_capacity(self.len());
        while let Some(Reverse(node)) = ready.pop() {
            guard::check()?;
            ordered.push(node);
            for next in needed_by.get(&node).into_iter().flatten() {
                if let Some(count) = waits.get_mut(next) {
                    *count -= 1;
                    if *count == 0 {
                        ready.push(Reverse(*next));
                    }
                }
            }
        }
        if ordered.len() == self.len() {
            return Ok(self.with_ids(ordered));
        }
        let cycles = self.cycles(kinds)?;
        let keys = cycles.first().map_or_else(Vec::new, |cycle| cycle.iter().map(|node| node.key()).collect());
        let chain: Vec<String> = keys.iter().chain(keys.first()).map(|key| format!("`{key}`")).collect();
        let error = Diagnostic::new(Code::CYCLE, format!("nodes in a cycle cannot be ordered: {}", chain.join(" → ")));
        let data = keys.iter().map(|key| serde_json::Value::from(&**key)).collect();
        Err(error.data(data).help("`cycles` lists them all"))
    }

    fn step_map(&self, kinds: Option<&[String]>) -> Result<StepMap> {
        let steps = EdgeSteps::new(self.graph(), Direction::Out, kinds);
        let members: FxHashSet<u32> = self.ids().iter().copied().collect_checked()?;
        let leads = |node: &u32| dedup(steps.next_nodes(*node).into_iter().filter(|to| members.contains(to)));
        self.ids().iter().map(|node| Ok((*node, leads(node)?))).collect()
    }
}

/// The strongly connected components that contain a cycle (Tarjan's algorithm, without recursion).
fn components(nodes: &[u32], ways: &StepMap) -> Result<Vec<Vec<u32>>> {
    let mut found = Vec::new();
    let mut index: FxHashMap<u32, usize> = FxHashMap::default();
    let mut lowest: FxHashMap<u32, usize> = FxHashMap::default();
    let (mut stack, mut on_stack) = (Vec::new(), FxHashSet::default());
    for root in nodes {
        if index.contains_key(root) {
            continue;
        }
        let mut way: Vec<(u32, usize)> = vec![(*root, 0)];
        while let Some((node, at)) = way.pop() {
            guard::check()?;
            if at == 0 {
                let number = index.len();
                index.insert(node, number);
                lowest.insert(node, number);
                stack.push(node);
                on_stack.insert(node);
            } else {
                let below = lowest[&ways[&node][at - 1]];
                if on_stack.contains(&ways[&node][at - 1]) && below < lowest[&node] {
                    lowest.insert(node, below);
                }
            }
            let mut at = at;
            while let Some(next) = ways[&node].get(at) {
                if !index.contains_key(next) {
                    break;
                }
                if on_stack.contains(next) && index[next] < lowest[&node] {
                    lowest.insert(node, index[next]);
                }
                at += 1;
            }
            if let Some(next) = ways[&node].get(at) {
                way.push((node, at + 1));
                way.push((*next, 0));
            } else if lowest[&node] == index[&node] {
                let start = stack.iter().rposition(|member| *member == node).unwrap_or(0);
                let group = stack.split_off(start);
                group.iter().for_each(|member| _ = on_stack.remove(member));
                if group.len() > 1 || ways[&node].contains(&node) {
                    found.push(group);
                }
            }
        }
    }
    Ok(found)
}

/// The number of steps tried in one group before the search stops with the shortest cycle found so far. The
/// documentation of `cycles` states this number.
pub(super) const MAX_SEARCH_STEPS: usize = 4_000_000;

/// A cycle of a group.
pub(super) struct Cycle {
    /// Its nodes, beginning with the earliest.
    pub(super) nodes: Vec<u32>,
    /// Whether it is known to be the shortest of the group.
    pub(super) is_shortest: bool,
}

/// The shortest cycle of a group, beginning with its earliest node. If several are equally short, the one whose
/// earliest node comes first.
///
/// For each node in turn, the search finds the shortest path back to that node. Then it removes the node, and all nodes
/// that can no longer be part of a cycle. After `most` steps it returns the shortest cycle found so far.
pub(super) fn shortest_cycle(mut group: Vec<u32>, ways: &StepMap, most: usize) -> Result<Option<Cycle>> {
    group.sort_unstable();
    let mut left = RemainingGroup::new(&group, ways)?;
    let mut shortest: Option<Vec<usize>> = None;
    let mut is_shortest = true;
    for start in 0..group.len() {
        let below = shortest.as_ref().map_or(usize::MAX, Vec::len);
        // A cycle of one node is found when its node is the start; every other cycle has at least two nodes.
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

/// The part of a group that is still being searched. Nodes are indexes into the group.
struct RemainingGroup {
    is_there: Vec<bool>,
    to: Vec<Vec<usize>>,
    from: Vec<Vec<usize>>,
    /// The number of steps out of each node to remaining nodes, and into it from them.
    out: Vec<usize>,
    into: Vec<usize>,
    /// Whether any node of the group leads to itself.
    has_loops: bool,
    steps: usize,
}

impl RemainingGroup {
    fn new(group: &[u32], ways: &StepMap) -> Result<Self> {
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

    /// The shortest path from a node back to itself, if it has fewer than `below` nodes.
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

    /// Removes a node, and then each node that can be in no cycle because no step leads out of it or into it.
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

    fn step_map(count: u32, edges: &[(u32, u32)]) -> StepMap {
        let leads = |node: u32| {
            let mut leads: Vec<u32> = edges.iter().filter(|(from, _)| *from == node).map(|(_, to)| *to).collect();
            leads.sort_unstable();
            leads.dedup();
            leads
        };
        (0..count).map(|node| (node, leads(node))).collect()
    }

    /// The least number of steps after which a node is reached again from itself, by expanding the reached set step by
    /// step.
    fn least(count: u32, ways: &StepMap) -> Option<usize> {
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
            let ways = step_map(count, &edges);
            let cycle = shortest_cycle((0..count).rev().collect(), &ways, MAX_SEARCH_STEPS).expect("nothing stops it");
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
        // Each node leads to the next thirty, and the last ones lead to the first. So no way back is short, and no node
        // is a dead end.
        let (count, wide) = (600_u32, 30);
        let leads = |node: u32| (1..=wide).map(|step| (node + step) % count).collect();
        let mut ways: StepMap = (0..count).map(|node| (node, leads(node))).collect();
        ways.insert(500, vec![499, 501]);
        let found = |most: usize| {
            let cycle = shortest_cycle((0..count).collect(), &ways, most).expect("nothing stops it");
            cycle.map(|cycle| (cycle.nodes.len(), cycle.is_shortest)).expect("there is one")
        };
        assert_eq!((found(10_000), found(MAX_SEARCH_STEPS)), ((20, false), (2, true)));
    }
}
