//! What walks find, against a search that takes each step by hand.

use super::*;
use crate::graph::{Direction, GraphWalkOptions};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Number of nodes. Each is the child of an earlier one, or has no parent.
const NODES: usize = 8;

/// Kinds of edges to follow.
const KINDS: &[&[&str]] = &[&["uses", "knows"], &["uses"], &["parent"], &["knows", "parent"]];

/// A graph: the parent of each node, and the edges between nodes.
#[derive(Clone, Debug)]
struct Drawn {
    parents: Vec<Option<usize>>,
    edges: Vec<(usize, usize, bool)>,
}

fn drawn() -> impl Strategy<Value = Drawn> {
    let parents = (0..NODES).map(|at| prop::option::of(0..at.max(1)).prop_map(move |parent| parent.filter(|_| at > 0)));
    let edges = prop::collection::vec((0..NODES, 0..NODES, any::<bool>()), 0..14);
    (parents.collect::<Vec<_>>(), edges).prop_map(|(parents, edges)| Drawn { parents, edges })
}

/// Every third node is of another kind.
fn kind(at: usize) -> &'static str {
    if at % 3 == 2 { "m" } else { "n" }
}

fn name(at: usize) -> String {
    format!("n{at}")
}

impl Drawn {
    fn graph(&self) -> Arc<Graph> {
        let parent = |at: usize| self.parents[at].map_or_else(String::new, name);
        let nodes: Vec<(String, String)> = (0..NODES).map(|at| (name(at), parent(at))).collect();
        let nodes: Vec<_> =
            nodes.iter().zip(0..).map(|((id, parent), at)| (kind(at), id.as_str(), parent.as_str(), "{}")).collect();
        let edges: Vec<_> = self.edges.iter().map(|(from, to, _)| (name(*from), name(*to))).collect();
        let kinds = self.edges.iter().map(|(.., is_use)| if *is_use { "uses" } else { "knows" });
        let edges: Vec<_> = edges.iter().zip(kinds).map(|((a, b), kind)| (a.as_str(), b.as_str(), kind)).collect();
        graph(&nodes, &edges)
    }

    /// Where one step from a node leads.
    fn step(&self, at: usize, direction: Direction, kinds: &[&str]) -> Vec<usize> {
        let (out, back) = (direction != Direction::In, direction != Direction::Out);
        let mut found = Vec::new();
        for (from, to, is_use) in &self.edges {
            if kinds.contains(&if *is_use { "uses" } else { "knows" }) {
                found.extend((out && *from == at).then_some(*to));
                found.extend((back && *to == at).then_some(*from));
            }
        }
        if kinds.contains(&"parent") {
            found.extend(self.parents[at].filter(|_| out));
            found.extend((0..NODES).filter(|child| back && self.parents[*child] == Some(at)));
        }
        found
    }

    /// All nodes that at most `depth` steps reach, step by step.
    fn walk(
        &self,
        starts: &[usize],
        direction: Direction,
        kinds: &[&str],
        node_kinds: Option<&[String]>,
        depth: usize,
        back: bool,
    ) -> BTreeSet<String> {
        let mut at: BTreeSet<usize> = starts.iter().copied().collect();
        let mut found = BTreeSet::new();
        for _ in 0..depth {
            at = at.iter().flat_map(|node| self.step(*node, direction, kinds)).collect();
            at.retain(|node| node_kinds.is_none_or(|kinds| kinds.iter().any(|named| named == kind(*node))));
            found.extend(at.iter().copied());
        }
        found.into_iter().filter(|node| back || !starts.contains(node)).map(name).collect()
    }

    /// The ancestors of a node, the nearest first.
    fn above(&self, node: usize) -> Vec<usize> {
        std::iter::successors(self.parents[node], |at| self.parents[*at]).collect()
    }
}

proptest! {
    #[test]
    fn walks_find_what_steps_lead_to(
        drawn in drawn(),
        starts in prop::collection::vec(0..NODES, 0..4),
        depth in prop::option::of(0..5_usize),
        direction in prop::sample::select(&[Direction::In, Direction::Out, Direction::Both][..]),
        kinds in prop::sample::select(KINDS),
        node_kinds in prop::option::of(prop::sample::select(vec![vec![], names(&["n"]), names(&["m", "x"])])),
        depth_first in any::<bool>(),
        back in any::<bool>(),
    ) {
        let graph = drawn.graph();
        let starts: Vec<usize> = starts.into_iter().collect::<BTreeSet<_>>().into_iter().rev().collect();
        let ids: Vec<Value> = starts.iter().map(|at| name(*at).into()).collect();
        let begun = graph.nodes(&[]).by_ids(&ids).unwrap();
        let named = names(kinds);
        let node_kinds = node_kinds.as_deref();
        let options = GraphWalkOptions { direction, kinds: Some(&named), node_kinds, depth, depth_first, back };
        let found = keys(&begun.walk(&options).unwrap());
        // No way without a circle is longer than there are nodes.
        let expected = drawn.walk(&starts, direction, kinds, node_kinds, depth.unwrap_or(2 * NODES), back);
        prop_assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
        prop_assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), found.len(), "each once");
    }

    #[test]
    fn what_lies_in_nodes_is_found_before_what_lies_in_it(
        drawn in drawn(),
        starts in prop::collection::vec(0..NODES, 0..4),
    ) {
        let graph = drawn.graph();
        let starts: BTreeSet<usize> = starts.into_iter().collect();
        let ids: Vec<Value> = starts.iter().rev().map(|at| name(*at).into()).collect();
        let begun = graph.nodes(&[]).by_ids(&ids).unwrap();
        let found = keys(&begun.descendants(None).unwrap());
        let lies_in = |at: &usize| drawn.above(*at).iter().any(|above| starts.contains(above));
        let expected: BTreeSet<String> = (0..NODES).filter(lies_in).map(name).collect();
        prop_assert_eq!(found.iter().cloned().collect::<BTreeSet<_>>(), expected);
        let place = |at: usize| found.iter().position(|key| *key == name(at));
        for at in 0..NODES {
            for above in drawn.above(at) {
                prop_assert!(place(at).is_none() || place(above).is_none() || place(above) < place(at), "{:?}", found);
            }
        }
        let above: BTreeSet<String> = starts.iter().flat_map(|at| drawn.above(*at)).map(name).collect();
        prop_assert_eq!(keys(&begun.ancestors().unwrap()).into_iter().collect::<BTreeSet<_>>(), above);
        let children = (0..NODES).filter(|at| drawn.parents[*at].is_some_and(|parent| starts.contains(&parent)));
        prop_assert_eq!(keys(&begun.children(None).unwrap()).into_iter().collect::<BTreeSet<_>>(), children.map(name).collect());
    }
}
