//! Walks, cycles, order, roots.

use super::*;
use crate::graph::{Attachment, Direction, GraphWalkOptions};

fn ring() -> Arc<Graph> {
    graph(
        &[
            ("n", "a", "", "{}"),
            ("n", "b", "", "{}"),
            ("n", "c", "", "{}"),
            ("n", "d", "", "{}"),
            ("n", "e", "", "{}"),
            ("leaf", "x", "a", "{}"),
            ("leaf", "y", "x", "{}"),
        ],
        &[
            ("a", "b", "uses"),
            ("b", "c", "uses"),
            ("c", "a", "uses"),
            ("c", "d", "uses"),
            ("d", "d", "knows"),
            ("a", "b", "uses"),
        ],
    )
}

fn walking(direction: Direction, kinds: Option<&[String]>) -> GraphWalkOptions<'_> {
    GraphWalkOptions { direction, kinds, node_kinds: None, depth: None, depth_first: false, back: false }
}

#[test]
fn a_walk_meets_each_node_once_and_ends() {
    let graph = ring();
    let a = graph.get("n", "a").unwrap().alone();
    assert_eq!(keys(&a.walk(&walking(Direction::Out, None)).unwrap()), ["b", "c", "d"]);
    assert_eq!(keys(&a.walk(&walking(Direction::In, None)).unwrap()), ["c", "b"]);
    assert_eq!(keys(&a.walk(&walking(Direction::Both, None)).unwrap()), ["b", "c", "d"]);
    let near = GraphWalkOptions { depth: Some(1), ..walking(Direction::Out, None) };
    assert_eq!(keys(&a.walk(&near).unwrap()), ["b"]);
    let kinds = names(&["knows"]);
    assert!(a.walk(&walking(Direction::Out, Some(&kinds))).unwrap().is_empty());
    assert_eq!(keys(&graph.get("n", "d").unwrap().alone().neighbors(Direction::Out, None).unwrap()), ["d"]);
    assert_eq!(keys(&a.neighbors(Direction::Out, None).unwrap()), ["b"], "two edges, one node");
    let up = names(&["parent", "uses"]);
    let y = graph.get("leaf", "y").unwrap().alone();
    assert_eq!(keys(&y.walk(&walking(Direction::Out, Some(&up))).unwrap()), ["x", "a", "b", "c", "d"]);
}

#[test]
fn containment_has_parents_and_children() {
    let graph = ring();
    let a = graph.get("n", "a").unwrap().alone();
    assert_eq!(keys(&a.children(None).unwrap()), ["x"]);
    assert_eq!(keys(&a.descendants(None).unwrap()), ["x", "y"]);
    assert!(a.children(Some(&names(&["n"]))).unwrap().is_empty());
    let y = graph.get("leaf", "y").unwrap();
    assert_eq!(keys(&y.alone().ancestors().unwrap()), ["x", "a"]);
    assert_eq!(y.parent().unwrap().unwrap().key(), "x".into());
    let circle = super::graph(&[("n", "a", "b", "{}"), ("n", "b", "a", "{}"), ("n", "c", "c", "{}")], &[]);
    assert_eq!(keys(&circle.nodes(&[]).ancestors().unwrap()), ["b", "a"]);
    assert_eq!(keys(&circle.get("n", "a").unwrap().alone().descendants(None).unwrap()), ["b"]);
}

#[test]
fn depth_first_goes_down_before_it_goes_on() {
    let tree = graph(
        &[
            ("n", "r", "", "{}"),
            ("n", "a", "r", "{}"),
            ("n", "b", "r", "{}"),
            ("n", "a1", "a", "{}"),
            ("n", "b1", "b", "{}"),
        ],
        &[],
    );
    let root = tree.get("n", "r").unwrap().alone();
    assert_eq!(keys(&root.descendants(None).unwrap()), ["a", "a1", "b", "b1"]);
    let kinds = names(&["parent"]);
    assert_eq!(keys(&root.walk(&walking(Direction::In, Some(&kinds))).unwrap()), ["a", "b", "a1", "b1"]);
}

#[test]
fn cycles_are_found_and_have_no_order() {
    let graph = ring();
    let all = graph.nodes(&[]);
    let cycles: Vec<Vec<String>> = all.cycles(None).unwrap().iter().map(keys).collect();
    assert_eq!(cycles, [vec!["a", "b", "c"], vec!["d"]]);
    assert_eq!(all.cycles(Some(&names(&["knows"]))).unwrap().len(), 1);
    let error = all.dependency_order(None).err().unwrap();
    assert_eq!(error.code, Code::CYCLE);
    assert_eq!(error.message, "nodes in a cycle cannot be ordered: `a` → `b` → `c` → `a`");
    let line = super::graph(
        &[("n", "top", "", "{}"), ("n", "free", "", "{}"), ("n", "low", "", "{}"), ("n", "mid", "", "{}")],
        &[("top", "mid", "uses"), ("mid", "low", "uses"), ("top", "low", "uses"), ("low", "top", "knows")],
    );
    let order = line.nodes(&[]).dependency_order(Some(&names(&["uses"]))).unwrap();
    assert_eq!(keys(&order), ["free", "low", "mid", "top"]);
}

#[test]
fn roots_and_orphans() {
    let graph = ring();
    let attachment = |kinds| Attachment { kinds, satellites: &[] };
    assert_eq!(keys(&graph.nodes(&[]).roots(&attachment(&[])).unwrap()), ["a", "b", "c", "d", "e"]);
    assert_eq!(keys(&graph.nodes(&[]).orphans(&attachment(&[])).unwrap()), ["b", "c", "d", "e"]);
    let uses = names(&["uses"]);
    assert_eq!(keys(&graph.nodes(&[]).roots(&attachment(&uses)).unwrap()), ["d", "e"]);
    assert_eq!(keys(&graph.nodes(&[]).orphans(&attachment(&uses)).unwrap()), ["e"]);
    let satellites = names(&["leaf"]);
    let lonely = Attachment { kinds: &[], satellites: &satellites };
    assert_eq!(keys(&graph.nodes(&[]).orphans(&lonely).unwrap()), ["a", "b", "c", "d", "e"]);
}
