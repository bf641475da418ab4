//! Chains that bite their tail, and the order in which nothing comes before what it needs.

use super::shortest::{MOST_STEPS, shortest_cycle};
use super::walk::Steps;
use super::{Direction, Nodes};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, Work};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where steps between the nodes of a set lead, without repeats.
pub(super) type Ways = FxHashMap<u32, Vec<u32>>;

impl Nodes {
    /// One shortest cycle for each group of nodes that lead to each other, in the order of its earliest node,
    /// which comes first: see [`shortest_cycle`] for the groups that are too large for that. Only nodes of this set and edges of these kinds count.
    pub fn cycles(&self, kinds: Option<&[String]>) -> Result<Vec<Self>> {
        self.cycles_and_doubts(kinds).map(|(cycles, _)| cycles)
    }

    /// The same, and of how many it is not known whether they are the shortest of their groups.
    pub fn cycles_and_doubts(&self, kinds: Option<&[String]>) -> Result<(Vec<Self>, usize)> {
        let ways = self.ways(kinds)?;
        let (mut cycles, mut doubts) = (Vec::new(), 0);
        for group in components(self.ids(), &ways)? {
            if let Some(cycle) = shortest_cycle(group, &ways, MOST_STEPS)? {
                doubts += usize::from(!cycle.is_shortest);
                cycles.push(cycle.nodes);
            }
        }
        cycles.sort_unstable();
        Ok((cycles.into_iter().map(|cycle| self.with(cycle)).collect(), doubts))
    }

    /// These nodes in an order in which each comes after all that its edges of these kinds lead to; otherwise in
    /// the order of insertion. A cycle is a fault that names the chain.
    pub fn order(&self, kinds: Option<&[String]>) -> Result<Self> {
        let ways = self.ways(kinds)?;
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
            return Ok(self.with(ordered));
        }
        let cycles = self.cycles(kinds)?;
        let keys = cycles.first().map_or_else(Vec::new, |cycle| cycle.iter().map(|node| node.key()).collect());
        let chain: Vec<String> = keys.iter().chain(keys.first()).map(|key| format!("`{key}`")).collect();
        let fault = Diagnostic::new(Code::CYCLE, format!("a cycle has no order: {}", chain.join(" → ")));
        let data = keys.iter().map(|key| serde_json::Value::from(&**key)).collect();
        Err(fault.data(data).help("`cycles` lists them all"))
    }

    fn ways(&self, kinds: Option<&[String]>) -> Result<Ways> {
        let steps = Steps::new(self.graph(), Direction::Out, kinds);
        let members: FxHashSet<u32> = self.ids().iter().copied().collect_checked()?;
        let leads = |node: &u32| super::nodes::once(steps.from(*node).into_iter().filter(|to| members.contains(to)));
        self.ids().iter().map(|node| Ok((*node, leads(node)?))).collect()
    }
}

/// Tarjan's strongly connected components that hold a cycle, without recursion.
fn components(nodes: &[u32], ways: &Ways) -> Result<Vec<Vec<u32>>> {
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
