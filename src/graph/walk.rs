//! Walks along edges and through containment. Each node is visited once, in a fixed order, so walks end. Also roots and
//! orphans.

use super::nodes::{Nodes, dedup};
use super::snapshot::{Adjacency, Graph, NONE};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM, checked};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{HashSet, VecDeque};

/// The kind of edge that stands for containment. It leads from a node to its parent.
const PARENT: &str = "parent";

/// The direction in which edges are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From `to` to `from`.
    In,
    /// From `from` to `to`.
    Out,
    /// In both directions.
    Both,
}

impl Direction {
    /// Parses `in`, `out` or `both`.
    pub fn parse(text: &str) -> Result<Self> {
        match text {
            "in" => Ok(Self::In),
            "out" => Ok(Self::Out),
            "both" => Ok(Self::Both),
            _ => Err(Diagnostic::new(Code::ARGUMENTS, format!("`{text}` is not a direction"))
                .help("known: `in`, `out`, `both`")),
        }
    }
}

/// The options of a walk.
pub struct GraphWalkOptions<'a> {
    /// The direction.
    pub direction: Direction,
    /// The kinds of edges to follow; all of them if `None`. `parent` stands for containment and is not included in
    /// "all".
    pub kinds: Option<&'a [String]>,
    /// The kinds of nodes to follow and to return; all of them if `None`.
    pub node_kinds: Option<&'a [String]>,
    /// The maximum number of steps.
    pub depth: Option<usize>,
    /// Whether to walk depth first instead of breadth first.
    pub depth_first: bool,
    /// Whether a start node is also found if a path leads back to it.
    pub back: bool,
}

/// The edges that a walk follows.
pub(super) struct EdgeSteps<'a> {
    graph: &'a Graph,
    direction: Direction,
    kinds: Option<Vec<u16>>,
    containment: bool,
}

impl<'a> EdgeSteps<'a> {
    pub fn new(graph: &'a Graph, direction: Direction, kinds: Option<&[String]>) -> Self {
        let containment = kinds.is_some_and(|kinds| kinds.iter().any(|kind| kind == PARENT));
        Self { graph, direction, kinds: kinds.map(|kinds| graph.edge_kinds(kinds)), containment }
    }

    /// The nodes one step away, in the order of the edges. A node may appear twice.
    pub fn next_nodes(&self, node: u32) -> Vec<u32> {
        let mut found = Vec::new();
        let data = &self.graph.data;
        let mut along = |edges: &Adjacency, outward: bool| {
            for edge in edges.items_of(node) {
                let edge = &data.edges[*edge as usize];
                if self.kinds.as_ref().is_none_or(|kinds| kinds.contains(&edge.kind)) {
                    found.push(if outward { edge.to } else { edge.from });
                }
            }
        };
        if self.direction != Direction::In {
            along(&data.outward, true);
        }
        if self.direction != Direction::Out {
            along(&data.inward, false);
        }
        let parent = data.parents[node as usize];
        if self.containment && self.direction != Direction::In && parent != NONE {
            found.push(parent);
        }
        if self.containment && self.direction != Direction::Out {
            found.extend(data.children.items_of(node));
        }
        found
    }
}

impl Nodes {
    /// The distinct nodes one step away from these nodes, in the order of the edges.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn neighbors(&self, direction: Direction, kinds: Option<&[String]>) -> Result<Self> {
        let steps = EdgeSteps::new(self.graph(), direction, kinds);
        if direction == Direction::Out && kinds.is_some_and(|kinds| kinds.len() == 1) && steps.containment {
            return self.parents_once();
        }
        Ok(self.with_ids(dedup(self.ids().iter().flat_map(|node| steps.next_nodes(*node)))?))
    }

    /// The distinct parents of these nodes.
    fn parents_once(&self) -> Result<Self> {
        let parents = &self.graph().data.parents;
        let mut seen = vec![false; parents.len()];
        let mut found = Vec::new();
        for node in checked(self.ids()) {
            let parent = parents[*node? as usize];
            if parent != NONE && !std::mem::replace(&mut seen[parent as usize], true) {
                found.push(parent);
            }
        }
        Ok(self.with_ids(found))
    }

    /// All nodes that can be reached from these nodes, without the start nodes themselves.
    pub fn walk(&self, walking: &GraphWalkOptions<'_>) -> Result<Self> {
        let steps = EdgeSteps::new(self.graph(), walking.direction, walking.kinds);
        let node_kinds = walking.node_kinds.map(|kinds| self.graph().node_kinds(kinds)).transpose()?;
        let kind_of = &self.graph().data.kind_of;
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
            // With a step limit, a node that was first reached by a long path leads further when it is reached by a
            // shorter one.
            let steps_so_far = if walking.depth.is_some() { depth } else { 0 };
            // A start node that is reached again is expanded like any other.
            let is_begun_with = walking.back && depth == 0;
            if !is_begun_with && expanded.get(&node).is_some_and(|earlier| *earlier <= steps_so_far) {
                continue;
            }
            if !is_begun_with {
                expanded.insert(node, steps_so_far);
            }
            let mut reached = steps.next_nodes(node);
            guard::spend(reached.len() * ITEM)?;
            if let Some(kinds) = &node_kinds {
                reached.retain(|node| kinds.contains(&kind_of[*node as usize]));
            }
            if walking.depth_first {
                reached.reverse();
            } else {
                reached.retain(|node| seen.insert(*node));
                found.extend(&reached);
            }
            queue.extend(reached.into_iter().map(|node| (node, depth + 1)));
        }
        Ok(self.with_ids(found))
    }

    /// The children of these nodes, node by node; of these kinds if `kinds` is given.
    pub fn children(&self, kinds: Option<&[String]>) -> Result<Self> {
        match kinds {
            None => self.graph().permit_whole("the content of a node", "name the kind: `children(\"requirement\")`")?,
            Some(kinds) => kinds.iter().try_for_each(|kind| self.graph().permit(kind))?,
        }
        let data = &self.graph().data;
        let all = self.ids().iter().flat_map(|node| data.children.items_of(*node).iter().copied());
        let all = self.of_kinds(dedup(all)?, kinds)?;
        let mut seen = Vec::new();
        for node in checked(all.ids()) {
            let node = *node?;
            if self.graph().is_visible(node) {
                seen.push(node);
            }
        }
        Ok(all.with_ids(seen))
    }

    /// The distinct ancestors of these nodes, nearest first.
    pub fn ancestors(&self) -> Result<Self> {
        let data = &self.graph().data;
        let mut seen = FxHashSet::default();
        let mut found = Vec::new();
        for node in self.ids() {
            let mut at = data.parents[*node as usize];
            let mut way = FxHashSet::from_iter([*node]);
            guard::spend(ITEM)?;
            while at != NONE && way.insert(at) {
                guard::spend(ITEM)?;
                self.graph().permit_node(at)?;
                if seen.insert(at) {
                    found.push(at);
                }
                at = data.parents[at as usize];
            }
        }
        Ok(self.with_ids(found))
    }

    /// The descendants of these nodes, parents before children; also one of these nodes if another one contains it.
    pub fn descendants(&self, kinds: Option<&[String]>) -> Result<Self> {
        let contained = [PARENT.to_owned()];
        let walking = GraphWalkOptions {
            direction: Direction::In,
            kinds: Some(&contained),
            node_kinds: None,
            depth: None,
            depth_first: true,
            back: false,
        };
        let all = self.outermost()?.walk(&walking)?;
        self.of_kinds(all.ids().to_vec(), kinds)
    }

    /// The nodes of this set that are not descendants of other nodes of the set. A walk from them reaches the others as
    /// descendants.
    fn outermost(&self) -> Result<Self> {
        let parents = &self.graph().data.parents;
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
            // Nodes that contain each other in a cycle have no outermost one, so all of them are included.
            if !is_held || at == *node {
                outer.push(*node);
            }
        }
        Ok(self.with_ids(outer))
    }

    /// The nodes of these kinds, in their order.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn of_kind_named(&self, kinds: &[String]) -> Result<Self> {
        self.of_kinds(self.ids().to_vec(), Some(kinds))
    }

    /// The nodes of these kinds.
    pub(super) fn of_kinds(&self, mut ids: Vec<u32>, kinds: Option<&[String]>) -> Result<Self> {
        if let Some(kinds) = kinds {
            let data = &self.graph().data;
            let wanted = self.graph().node_kinds(kinds)?;
            guard::spend(ids.len() * ITEM)?;
            ids.retain(|node| wanted.contains(&data.kind_of[*node as usize]));
        }
        Ok(self.with_ids(ids))
    }
}

impl Graph {
    /// The numbers of the kinds of nodes with these names. Unknown names are skipped.
    fn node_kinds(&self, names: &[String]) -> Result<FxHashSet<u16>> {
        names.iter().filter_map(|name| self.data.kind_at.get(name.as_str()).copied()).collect_checked()
    }
}

/// What attaches nodes to each other, besides containment.
pub struct Attachment<'a> {
    /// The kinds of edges that lead from a node to the node it belongs to.
    pub kinds: &'a [String],
    /// The kinds of nodes that do not count as children.
    pub satellites: &'a [String],
}

impl Nodes {
    /// The nodes that have no parent and that no edge of these kinds leaves.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn roots(&self, attachment: &Attachment<'_>) -> Result<Self> {
        let kinds = with_parent(attachment.kinds);
        let up = EdgeSteps::new(self.graph(), Direction::Out, Some(&kinds));
        self.keep_where(|node| up.next_nodes(node).is_empty())
    }

    /// The roots that have no children either, apart from satellites.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn orphans(&self, attachment: &Attachment<'_>) -> Result<Self> {
        let kinds = with_parent(attachment.kinds);
        let down = EdgeSteps::new(self.graph(), Direction::In, Some(&kinds));
        let data = &self.graph().data;
        let satellites: HashSet<u16> =
            attachment.satellites.iter().filter_map(|kind| data.kind_at.get(kind.as_str()).copied()).collect();
        let holds =
            |node: u32| down.next_nodes(node).iter().any(|held| !satellites.contains(&data.kind_of[*held as usize]));
        self.roots(attachment)?.keep_where(|node| !holds(node))
    }

    fn keep_where(&self, keep: impl Fn(u32) -> bool) -> Result<Self> {
        let mut kept = Vec::new();
        for node in checked(self.ids()) {
            let node = *node?;
            if keep(node) {
                kept.push(node);
            }
        }
        Ok(self.with_ids(kept))
    }
}

fn with_parent(kinds: &[String]) -> Vec<String> {
    kinds.iter().cloned().chain(["parent".to_owned()]).collect()
}
