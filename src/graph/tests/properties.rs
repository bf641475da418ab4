//! Properties: a rebuild equals a build, orders are total, walks end.

use super::*;
use crate::graph::{BuildPlan, Direction, GraphStore, GraphWalkOptions};
use crate::order::SortKey as By;
use crate::world::Workspace;
use crate::world::sealed::SealedWorld;
use proptest::prelude::*;

/// A line that `read_lines` understands, over few ids so that they clash.
fn line() -> impl Strategy<Value = String> {
    let id = 0..6;
    let kind = prop::sample::select(vec!["n", "m"]);
    let kind_again = kind.clone();
    prop_oneof![
        (kind.clone(), id.clone()).prop_map(|(kind, id)| format!("node {kind} {id}")),
        (kind.clone(), id.clone(), id.clone()).prop_map(|(kind, id, parent)| format!("node {kind} {id} {parent}")),
        (kind.clone(), id.clone()).prop_map(|(kind, id)| format!("once {kind} {id}")),
        (kind, id.clone(), prop::sample::select(vec!["MAY", "MUST", "odd"]))
            .prop_map(|(kind, id, level)| format!("merge {kind} {id} {level}")),
        (id.clone(), id.clone(), id.clone()).prop_map(|(from, to, needed)| format!("refer {from} {to} uses {needed}")),
        (kind_again, id.clone(), id).prop_map(|(kind, from, to)| format!("refer {from} {kind}:{to} knows")),
        (0..6, 0..4).prop_map(|(id, items)| format!("block {id} {items}")),
        Just("fail here".to_owned()),
    ]
}

#[derive(Clone, Debug)]
enum FileEdit {
    Write(usize, String),
    Delete(usize),
    Rename(usize, usize),
}

fn file_edit() -> impl Strategy<Value = FileEdit> {
    let file = 0_usize..5;
    let text = prop::collection::vec(line(), 0..8).prop_map(|lines| lines.join("\n"));
    prop_oneof![
        3 => (file.clone(), text).prop_map(|(at, text)| FileEdit::Write(at, text)),
        1 => file.clone().prop_map(FileEdit::Delete),
        1 => (file.clone(), file).prop_map(|(from, to)| FileEdit::Rename(from, to)),
    ]
}

fn apply(files: &FileTable, edit: &FileEdit) {
    match edit {
        FileEdit::Write(at, text) => files.put(&format!("f{at}"), text),
        FileEdit::Delete(at) => files.delete(&format!("f{at}")),
        FileEdit::Rename(from, to) => {
            let text = files.read(&format!("f{from}"));
            files.delete(&format!("f{from}"));
            if let Ok(text) = text {
                files.put(&format!("f{to}"), &String::from_utf8(text).unwrap());
            }
        }
    }
}

fn fresh(store: &GraphStore, files: &Arc<FileTable>) -> Arc<Graph> {
    let listed = Arc::clone(files);
    let functions = Fake::default()
        .with("read", read_lines)
        .with("build", move |arguments| {
            let g = arguments[0].as_object::<Builder>().unwrap();
            g.scan_files(&listed.paths(), "read", &Value::Null)?;
            let count = g.read(&[])?.len();
            let fields = Value::map([("count", count.into()), ("level", Value::Null), ("line", Value::Null)]);
            g.record(|recording| recording.add_node("total", &"all".into(), &fields, &Value::Null))
        })
        .shared();
    let world: Arc<dyn Workspace> = Arc::clone(files) as _;
    // The stamp stands for the folder that `find_files` would have recorded.
    let stamp = Value::list(files.paths().into_iter().map(Value::from));
    let within = &|_: Arc<SealedWorld>, run: &mut dyn FnMut() -> Result<()>| run();
    store.fresh(&BuildPlan { world: &world, functions: &functions, entry: "build", config: &stamp, within }).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    //= docs/spec.md#scripts
    //= type=test
    //# A refreshed graph MUST be equal to a graph that is built from scratch.
    #[test]
    fn a_rebuild_equals_a_build(rounds in prop::collection::vec(prop::collection::vec(file_edit(), 1..4), 1..6)) {
        // A graph of which every file has an error is not built.
        let files = FileTable::with(&[("good", "")]);
        let store = GraphStore::default();
        for edits in rounds {
            edits.iter().for_each(|edit| apply(&files, edit));
            let kept = fresh(&store, &files);
            let anew = fresh(&GraphStore::default(), &files);
            prop_assert_eq!(dump(&kept), dump(&anew));
        }
    }

    #[test]
    fn a_graph_read_between_scans_is_the_graph_scanned_at_once(
        texts in prop::collection::vec(prop::collection::vec(line(), 0..8), 1..6),
        barriers in prop::collection::vec(any::<bool>(), 6),
    ) {
        let files = FileTable::with(&[("good", "")]);
        for (at, mut lines) in texts.into_iter().enumerate() {
            // A read between two definitions of a block removes the items of the first, so those of the second come last.
            lines.retain(|line| !line.starts_with("block"));
            files.put(&format!("f{at}"), &lines.join("\n"));
        }
        let build = |barriers: Vec<bool>| {
            let listed = files.paths();
            let functions = Fake::default().with("read", read_lines).with("twice", |_| Ok(Value::Null));
            let functions = functions.with("build", move |arguments| {
                let g = arguments[0].as_object::<Builder>().unwrap();
                g.derive_fields("m", &names(&["twice"]), "twice", None)?;
                for (path, barrier) in listed.iter().zip(&barriers) {
                    g.scan_files(&names(&[path]), "read", &Value::Null)?;
                    if *barrier {
                        g.read(&[])?;
                    }
                }
                g.derive_fields("n", &names(&["twice"]), "twice", None).map(|()| Value::Null)
            });
            let world: Arc<dyn Workspace> = Arc::clone(&files) as _;
            let (functions, within) = (functions.shared(), |_: Arc<SealedWorld>, run: &mut dyn FnMut() -> _| run());
            let (entry, config) = ("build", &Value::Null);
            let graph = GraphStore::default()
                .fresh(&BuildPlan { world: &world, functions: &functions, entry, config, within: &within })
                .unwrap();
            let derived = graph.nodes(&[]).iter().map(|node| node.field("twice").is_ok()).collect::<Vec<_>>();
            (dump(&graph), graph.to_json(), derived)
        };
        prop_assert_eq!(build(barriers), build(vec![false; 6]));
    }

    #[test]
    fn every_order_is_total_and_every_walk_ends(lines in prop::collection::vec(line(), 0..40), seed in any::<u64>()) {
        let text: Vec<String> = lines.into_iter().filter(|line| !line.starts_with("fail")).collect();
        let files = FileTable::with(&[("f0", &text.join("\n"))]);
        let graph = fresh(&GraphStore::default(), &files);
        let all = graph.nodes(&[]);
        let mut shuffled: Vec<u32> = all.ids().to_vec();
        shuffled.sort_by_key(|id| (u64::from(*id) + 1).wrapping_mul(seed | 1).rotate_left(17));
        let shuffled = all.with_ids(shuffled);
        for by in ["level", "-line", "key", "kind"] {
            let by = By::parse(&by.into()).unwrap();
            prop_assert_eq!(keys(&all.sort(&by).unwrap()), keys(&shuffled.sort(&by).unwrap()));
        }
        for kinds in [None, Some(names(&["uses", "parent"]))] {
            for direction in [Direction::In, Direction::Out, Direction::Both] {
                for depth_first in [false, true] {
                    let walking = GraphWalkOptions { direction, kinds: kinds.as_deref(), node_kinds: None, depth: None, depth_first, back: false };
                    for node in all.iter() {
                        let mut met = keys_with_kind(&node.alone().walk(&walking).unwrap());
                        let count = met.len();
                        met.sort();
                        met.dedup();
                        prop_assert_eq!(met.len(), count);
                        prop_assert!(!met.contains(&(node.kind_name().to_string(), node.key().to_string())));
                    }
                }
            }
            let cycles = all.cycles(kinds.as_deref()).unwrap();
            prop_assert_eq!(all.dependency_order(kinds.as_deref()).is_ok(), cycles.is_empty());
            for cycle in cycles {
                let ring: Vec<_> = cycle.iter().collect();
                for (at, node) in ring.iter().enumerate() {
                    let next = node.alone().neighbors(Direction::Out, kinds.as_deref()).unwrap();
                    prop_assert!(next.ids().contains(&ring[(at + 1) % ring.len()].number()));
                }
            }
        }
        all.ancestors().unwrap();
        all.descendants(None).unwrap();
    }
}

#[test]
fn a_rebuild_beside_a_replaced_block_equals_a_build() {
    let files = FileTable::with(&[("a", "block 4 2"), ("b", "block 4 0"), ("c", "node n 1"), ("d", "refer 4 1 uses")]);
    let store = GraphStore::default();
    fresh(&store, &files);
    files.put("c", "node n 2\nnode n 1");
    assert_eq!(dump(&fresh(&store, &files)), dump(&fresh(&GraphStore::default(), &files)));
}

fn keys_with_kind(nodes: &Nodes) -> Vec<(String, String)> {
    nodes.iter().map(|node| (node.kind_name().to_string(), node.key().to_string())).collect()
}
