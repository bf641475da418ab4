//! Walks along edges and through containment: each node once, in a fixed order, and so they end.

use super::nodes::once;
use super::{Adjacency, Graph, NONE, Nodes};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM, Work, each};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// The kind that stands for containment: it leads out from a node to what it lies in.
const PARENT: &str = "parent";

/// Which way along edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From `to` to `from`.
    In,
    /// From `from` to `to`.
    Out,
    /// Either way.
    Both,
}

impl Direction {
    /// Reads `in`, `out` or `both`.
    pub fn read(text: &str) -> Result<Self> {
        match text {
            "in" => Ok(Self::In),
            "out" => Ok(Self::Out),
            "both" => Ok(Self::Both),
            _ => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{text}` is no direction"))
                .help("known: `in`, `out`, `both`")),
        }
    }
}

/// How to walk.
pub struct Walking<'a> {
    /// Which way.
    pub direction: Direction,
    /// Along these kinds of edges; all of them if `None`. `parent` stands for containment, and is not among all.
    pub kinds: Option<&'a [String]>,
    /// At most so many steps.
    pub depth: Option<usize>,
    /// Depth first, instead of the near ones first.
    pub depth_first: bool,
    /// Whether the nodes it began with are found too where a way leads back to them.
    pub back: bool,
}

/// The edges that a walk follows.
pub(super) struct Steps<'a> {
    graph: &'a Graph,
    direction: Direction,
    kinds: Option<Vec<u16>>,
    containment: bool,
}

impl<'a> Steps<'a> {
    pub fn new(graph: &'a Graph, direction: Direction, kinds: Option<&[String]>) -> Self {
        let containment = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == PARENT));
        Self { graph, direction, kinds: kinds.map(|kinds| graph.edge_kinds(kinds)), containment }
    }

    /// Where one step leads, in the order of the edges; a node may come twice.
    pub fn from(&self, node: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let parts = &self.graph.parts;
        let mut along = |edges: &Adjacency, outward: bool| {
            for edge in edges.of(node) {
                let edge = &parts.edges[*edge as usize];
                if self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&edge.kind)) {
                    found.push(if outward { edge.to } else { edge.from });
                }
            }
        };
        if self.direction != Direction::In {
            along(&parts.outward, true);
        }
        if self.direction != Direction::Out {
            along(&parts.inward, false);
        }
        let parent = parts.parents[node as usize];
        if self.containment && self.direction != Direction::In && parent != NONE {
            found.push(parent);
        }
        if self.containment && self.direction != Direction::Out {
            found.extend(parts.children.of(node));
        }
        found
    }
}

impl Nodes {
    /// Where one step from these nodes leads, each node once, in the order of the edges.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn step(&self, direction: Direction, kinds: Option<&[String]>) -> Result<Self> {
        let steps = Steps::new(self.graph(), direction, kinds);
        if direction == Direction::Out && kinds.is_some_and(|kinds| kinds.len() == 1) && steps.containment {
            return self.holders();
        }
        Ok(self.with(once(self.ids().iter().flat_map(|node| steps.from(*node)))?))
    }

    /// What these nodes lie in, each once.
    fn holders(&self) -> Result<Self> {
        let parents = &self.graph().parts.parents;
        let mut seen = vec![false; parents.len()];
        let mut found = Vec::new();
        for node in each(self.ids()) {
            let parent = parents[*node? as usize];
            if parent != NONE && !std::mem::replace(&mut seen[parent as usize], true) {
                found.push(parent);
            }
        }
        Ok(self.with(found))
    }

    /// Everything that steps from these nodes lead to, without these nodes themselves.
    pub fn walk(&self, walking: &Walking<'_>) -> Result<Self> {
        let steps = Steps::new(self.graph(), walking.direction, walking.kinds);
        let mut queue: VecDeque<(u32, usize)> = self.ids().iter().map(|node| (*node, 0)).collect();
        if walking.depth_first {
            queue.make_contiguous().reverse();
        }
        let mut expanded: FxHashMap<u32, usize> = FxHashMap::default();
        let start: FxHashSet<u32> = self.ids().iter().copied().collect();
        let mut found = Vec::new();
        let mut seen = if walking.back { FxHashSet::default() } else { start };
        loop {
            let next = if walking.depth_first { queue.pop_back() } else { queue.pop_front() };
            let Some((node, depth)) = next else { break };
            guard::spend(ITEM)?;
            if walking.depth_first && depth > 0 && seen.insert(node) {
                found.push(node);
            }
            if walking.depth.is_some_and(|most| depth >= most) {
                continue;
            }
            // A node that a long way led to leads further by a shorter one, where the steps are counted.
            let steps_so_far = if walking.depth.is_some() { depth } else { 0 };
            // One that is come back to is gone on from as any other.
            let is_begun_with = walking.back && depth == 0;
            if !is_begun_with && expanded.get(&node).is_some_and(|earlier| *earlier <= steps_so_far) {
                continue;
            }
            if !is_begun_with {
                expanded.insert(node, steps_so_far);
            }
            let mut reached = steps.from(node);
            guard::spend(reached.len() * ITEM)?;
            if walking.depth_first {
                reached.reverse();
            } else {
                reached.retain(|node| seen.insert(*node));
                found.extend(&reached);
            }
            queue.extend(reached.into_iter().map(|node| (node, depth + 1)));
        }
        Ok(self.with(found))
    }

    /// What lies directly in these nodes, node after node; of one of these kinds, if any are named.
    pub fn children(&self, kinds: Option<&[String]>) -> Result<Self> {
        match kinds {
            None => self.graph().permit_whole("what lies in a node", "name the kind: `children(\"requirement\")`")?,
            Some(kinds) => kinds.iter().try_for_each(|kind| self.graph().permit(kind))?,
        }
        let parts = &self.graph().parts;
        let all = self.ids().iter().flat_map(|node| parts.children.of(*node).iter().copied());
        let all = self.of_kinds(once(all)?, kinds)?;
        let mut seen = Vec::new();
        for node in each(all.ids()) {
            let node = *node?;
            if self.graph().sees(node) {
                seen.push(node);
            }
        }
        Ok(all.with(seen))
    }

    /// What these nodes lie in, the nearest first, each node once.
    pub fn ancestors(&self) -> Result<Self> {
        let parts = &self.graph().parts;
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for node in self.ids() {
            let mut at = parts.parents[*node as usize];
            let mut way = FxHashSet::from_iter([*node]);
            guard::spend(ITEM)?;
            while at != NONE && way.insert(at) {
                guard::spend(ITEM)?;
                self.graph().permit_node(at)?;
                if seen.insert(at) {
                    found.push(at);
                }
                at = parts.parents[at as usize];
            }
        }
        Ok(self.with(found))
    }

    /// What lies in these nodes, however deep, each before what lies in it; one of these too, if it lies in another.
    pub fn descendants(&self, kinds: Option<&[String]>) -> Result<Self> {
        let contained = [PARENT.to_owned()];
        let walking =
            Walking { direction: Direction::In, kinds: Some(&contained), depth: None, depth_first: true, back: false };
        let all = self.outermost()?.walk(&walking)?;
        self.of_kinds(all.ids().to_vec(), kinds)
    }

    /// Those of these nodes that lie in none of the others: who walks from them comes to the others from outside.
    fn outermost(&self) -> Result<Self> {
        let parents = &self.graph().parts.parents;
        let all: FxHashSet<u32> = self.ids().iter().copied().collect();
        let mut outer = Vec::new();
        for node in self.ids() {
            guard::spend(ITEM)?;
            let (mut at, mut way, mut is_held) = (parents[*node as usize], FxHashSet::default(), false);
            while at != NONE && at != *node && way.insert(at) {
                guard::spend(ITEM)?;
                is_held |= all.contains(&at);
                at = parents[at as usize];
            }
            // What lies in itself, by a way through others, is held by none that could come first.
            if !is_held || at == *node {
                outer.push(*node);
            }
        }
        Ok(self.with(outer))
    }

    /// Those of one of these kinds, in their order.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn of_kind_named(&self, kinds: &[String]) -> Result<Self> {
        self.of_kinds(self.ids().to_vec(), Some(kinds))
    }

    /// The nodes of one of these kinds.
    pub(super) fn of_kinds(&self, mut ids: Vec<u32>, kinds: Option<&[String]>) -> Result<Self> {
        if let Some(kinds) = kinds {
            let parts = &self.graph().parts;
            let wanted = kinds.iter().filter_map(|kind| parts.kind_at.get(kind.as_str()).copied());
            let wanted: FxHashSet<u16> = wanted.collect_checked()?;
            guard::spend(ids.len() * ITEM)?;
            ids.retain(|node| wanted.contains(&parts.kind_of[*node as usize]));
        }
        Ok(self.with(ids))
    }
}
