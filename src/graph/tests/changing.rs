//! Properties of changes: undone is as it was, a draft is its snapshot, a failure leaves nothing, one after the other.

use super::*;
use crate::graph::{BuildPlan, ChangeLabel, ChangeSession, GraphOrigin, GraphStore, Transaction};
use crate::world::Workspace;
use crate::world::sealed::SealedWorld;
use proptest::prelude::*;

/// One step of a random transaction, over few ids so that they clash. What does not fit is skipped.
#[derive(Clone, Debug)]
enum Step {
    Add(&'static str, u8, Option<u8>),
    Remove(u8),
    Set(u8, &'static str),
    Rename(u8, u8),
    ChangeFixture(u8, u8, bool),
    Enter(u8, Option<u8>),
    Refer(u8, u8, &'static str, Option<u8>),
    Unlink(usize),
    Retarget(usize, u8),
    SetEdge(usize, Option<u8>),
}

fn step() -> impl Strategy<Value = Step> {
    let id = 0_u8..7;
    let (kind, edge) = (prop::sample::select(vec!["n", "m", "new"]), prop::sample::select(vec!["uses", "knows", "is"]));
    prop_oneof![
        (kind, id.clone(), prop::option::of(id.clone())).prop_map(|(kind, id, parent)| Step::Add(kind, id, parent)),
        id.clone().prop_map(Step::Remove),
        (id.clone(), prop::sample::select(vec!["level", "fresh"])).prop_map(|(id, field)| Step::Set(id, field)),
        (id.clone(), id.clone()).prop_map(|(id, to)| Step::Rename(id, to)),
        (id.clone(), id.clone(), any::<bool>())
            .prop_map(|(id, sibling, after)| Step::ChangeFixture(id, sibling, after)),
        (id.clone(), prop::option::of(id.clone())).prop_map(|(id, parent)| Step::Enter(id, parent)),
        (id.clone(), id.clone(), edge, prop::option::of(id.clone()))
            .prop_map(|(from, to, kind, needed)| Step::Refer(from, to, kind, needed)),
        (0_usize..9).prop_map(Step::Unlink),
        (0_usize..9, id.clone()).prop_map(|(at, to)| Step::Retarget(at, to)),
        (0_usize..9, prop::option::of(id)).prop_map(|(at, needed)| Step::SetEdge(at, needed)),
    ]
}

fn id(number: u8) -> Value {
    number.to_string().into()
}

fn run(tx: &Value, step: &Step) -> Result<()> {
    let tx = tx.as_object::<Transaction>().unwrap();
    let needs = |needed: &Option<u8>| needed.iter().map(|needed| id(*needed)).collect::<Vec<_>>();
    let edge = |at: usize| Ok::<_, Box<Diagnostic>>(tx.graph()?.edges().at(at).map(Value::handle));
    match step {
        Step::Add(kind, own, parent) => {
            let fields = Value::map([("line", Value::Integer(i64::from(*own))), ("level", "MAY".into())]);
            tx.add_node(kind, &id(*own), &fields, &parent.map_or(Value::Null, id)).map(|_| ())
        }
        Step::Remove(node) => tx.remove_nodes(&id(*node)),
        Step::Set(node, field) => tx.update_node(&id(*node), &Value::map([(*field, Value::from("MUST"))])),
        Step::Rename(node, to) => tx.rename_node(&id(*node), &id(*to)),
        Step::ChangeFixture(node, sibling, true) => tx.move_node(&id(*node), &Value::Null, &id(*sibling), None),
        Step::ChangeFixture(node, sibling, false) => tx.move_node(&id(*node), &id(*sibling), &Value::Null, None),
        Step::Enter(node, parent) => {
            tx.move_node(&id(*node), &Value::Null, &Value::Null, Some(&parent.map_or(Value::Null, id)))
        }
        Step::Refer(from, to, kind, needed) => tx.add_edge(&id(*from), &id(*to), kind, &needs(needed), &["A".into()]),
        Step::Unlink(at) => edge(*at)?.map_or(Ok(()), |edge| tx.remove_edges(&edge)),
        Step::Retarget(at, to) => {
            edge(*at)?.map_or(Ok(()), |edge| tx.update_edges(&edge, Some(&id(*to)), None, None, None))
        }
        Step::SetEdge(at, needed) => edge(*at)?.map_or(Ok(()), |edge| {
            tx.update_edges(&edge, None, Some("turned"), Some(&needs(needed)), Some(&["B".into()]))
        }),
    }
}

/// A workspace of lines, and a store that has read it.
struct ChangeFixture {
    files: Arc<FileTable>,
    functions: Arc<dyn Functions>,
    store: Arc<GraphStore>,
}

impl ChangeFixture {
    fn new(lines: &[String]) -> Self {
        let files = FileTable::with(&[("f0", &lines.join("\n"))]);
        let listed = Arc::clone(&files);
        let functions = Fake::default()
            .with("read", read_lines)
            .with("size", |arguments| {
                let node = arguments[1].as_object::<crate::graph::Node>().unwrap();
                let count = node.alone().edges_in(None).unwrap().len() + node.alone().children(None)?.len();
                Ok(Value::map([("size", Value::from(count))]))
            })
            .with("level", |arguments| {
                let node = arguments[1].as_object::<crate::graph::Node>().unwrap();
                let read = |node: &crate::graph::Node| node.field("level").unwrap_or(Value::Null).to_json().to_string();
                let near = Graph::from_handle(&arguments[0]).unwrap().nodes(&names(&["n"]));
                let said: Vec<String> = near.iter().map(|near| format!("{}{}", read(&near), near.key())).collect();
                Ok(Value::map([("near", Value::from(format!("{} {}", said.join(" "), read(node))))]))
            })
            .with("build", move |arguments| {
                let g = arguments[0].as_object::<Builder>().unwrap();
                g.scan_files(&listed.paths(), "read", &Value::Null)?;
                g.derive_fields("n", &names(&["size"]), "size", None)?;
                g.derive_fields("m", &names(&["near"]), "level", Some(&names(&["n by level"])))?;
                Ok(Value::Null)
            })
            .shared();
        Self { files, functions, store: Arc::default() }
    }

    fn origin(&self) -> Result<GraphOrigin> {
        let world: Arc<dyn Workspace> = Arc::clone(&self.files) as _;
        let stamp = Value::list(self.files.paths().into_iter().map(Value::from));
        let within = &|_: Arc<SealedWorld>, run: &mut dyn FnMut() -> Result<()>| run();
        self.store.origin(&BuildPlan {
            world: &world,
            functions: &self.functions,
            entry: "build",
            config: &stamp,
            within,
        })
    }

    /// A call that makes one transaction of these steps.
    fn change(&self, name: usize, steps: &[Step]) {
        let turn = ChangeSession::begin(&self.store).unwrap();
        let label = ChangeLabel { id: name.to_string().into(), name: "steps".into(), at: "now".into() };
        let act = |tx: Value| {
            steps.iter().for_each(|step| drop(run(&tx, step)));
            Ok(Value::Null)
        };
        turn.change(label, || self.origin(), act).unwrap();
        turn.commit();
    }

    fn now(&self) -> Arc<Graph> {
        self.store.pending_graph().unwrap_or_else(|| Arc::clone(self.origin().unwrap().graph()))
    }
}

/// Everything that a graph says, derived fields, ids and kinds included.
fn whole(graph: &Arc<Graph>) -> Json {
    let derived = |kind: &str, field: &str| match graph.nodes(&names(&[kind])) {
        nodes if nodes.is_empty() => Vec::new(),
        nodes => nodes.column(field).unwrap(),
    };
    // Kept values must be those that this snapshot would make by itself.
    let near = derived("m", "near");
    for (m, near) in graph.nodes(&names(&["m"])).iter().zip(&near) {
        let level = m.field("level").unwrap();
        let same = |n: &crate::graph::Node| !level.is_null() && n.field("level").unwrap_or(Value::Null) == level;
        let said: Vec<String> = graph
            .nodes(&names(&["n"]))
            .iter()
            .filter(same)
            .map(|n| format!("{}{}", level.to_json(), n.key()))
            .collect();
        assert_eq!(*near, Value::from(format!("{} {}", said.join(" "), level.to_json())));
    }
    let sizes = [derived("n", "size"), near].concat();
    let found: Vec<bool> =
        graph.nodes(&[]).iter().map(|node| graph.get(&node.kind_name(), &node.key()).is_some()).collect();
    assert!(found.iter().all(|found| *found));
    let mut looked = Vec::new();
    for kind in ["n", "m", "new"] {
        let all = graph.nodes(&names(&[kind]));
        for tests in [r#"{ "level": "MUST" }"#, r#"{ "level": null }"#, r#"{ "line": 2 }"#] {
            let found = all.where_(&map(tests)).map(|found| keys(&found)).unwrap_or_default();
            let slow = all.filter(&closure(|_| true.into())).unwrap();
            let one_by_one = slow.where_(&map(tests)).map(|found| keys(&found)).unwrap_or_default();
            assert_eq!(found, one_by_one, "{kind} {tests}");
            looked.push(found);
        }
    }
    let kinds: Vec<(String, usize)> = graph.kinds().map(|(kind, count)| (kind.to_string(), count)).collect();
    let broken = graph.broken_edges().unwrap().to_json();
    serde_json::json!({ "dump": dump(graph), "sizes": Value::List(sizes).to_json(), "kinds": kinds, "broken": broken, "found": looked })
}

/// The same graph written down and read again: an edge is broken if and only if an end is missing.
fn check(graph: &Arc<Graph>) -> std::result::Result<(), TestCaseError> {
    for edge in graph.edges().iter() {
        let field = |name: &str| edge.field(name).unwrap();
        for (end, key) in [("from", "from_key"), ("to", "to_key")] {
            let there = graph.nodes(&[]).iter().any(|node| Value::Text(node.key()) == field(key));
            prop_assert_eq!(!field(end).is_null(), there, "{} {:?}", end, field(key));
        }
    }
    let data = &graph.data;
    for (node, at) in graph.nodes(&[]).iter().zip(0_u32..) {
        prop_assert_eq!(node.number(), at);
        prop_assert_eq!(data.kinds[usize::from(data.kind_of[at as usize])].nodes[data.rank[at as usize] as usize], at);
    }
    Ok(())
}

fn lines() -> impl Strategy<Value = Vec<String>> {
    let id = 0_u8..6;
    let kind = prop::sample::select(vec!["n", "m"]);
    let line = prop_oneof![
        (kind.clone(), id.clone()).prop_map(|(kind, id)| format!("node {kind} {id}")),
        (kind.clone(), id.clone(), id.clone()).prop_map(|(kind, id, parent)| format!("node {kind} {id} {parent}")),
        (kind, id.clone()).prop_map(|(kind, id)| format!("merge {kind} {id} MAY")),
        (id.clone(), id.clone(), id.clone()).prop_map(|(from, to, needed)| format!("refer {from} {to} uses {needed}")),
        (id.clone(), id).prop_map(|(from, to)| format!("refer {from} {to} knows")),
    ];
    prop::collection::vec(line, 0..14)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 96 } else { 2_000 }))]

    //= docs/spec.md#changes
    //= type=test
    //# Undoing a change MUST restore the graph exactly, including the order of nodes, fields and edges.
    //= docs/spec.md#changes
    //= type=test
    //# A reference to a removed node MUST stay as a broken reference, and MUST be resolved again when a node
    //# gets that id.
    #[test]
    fn undone_is_as_it_was(lines in lines(), rounds in prop::collection::vec(prop::collection::vec(step(), 1..6), 1..7)) {
        let place = ChangeFixture::new(&lines);
        let mut before = vec![whole(&place.now())];
        for (at, steps) in rounds.iter().enumerate() {
            place.change(at, steps);
            check(&place.now())?;
            before.push(whole(&place.now()));
        }
        // One back and again: redone is as it was, too.
        let last = rounds.len() - 1;
        let turn = ChangeSession::begin(&place.store).unwrap();
        prop_assert_eq!(&*turn.undo().unwrap().unwrap().id, last.to_string());
        turn.commit();
        drop(turn);
        prop_assert_eq!(&whole(&place.now()), &before[last]);
        place.change(last, &rounds[last]);
        prop_assert_eq!(&whole(&place.now()), &before[last + 1]);
        // To one in the middle, then to the first.
        for to in [rounds.len() / 2, 0] {
            let turn = ChangeSession::begin(&place.store).unwrap();
            let undone = turn.undo_to(&to.to_string()).unwrap();
            prop_assert_eq!(undone.is_some(), turn.entries().len() == to && place.store.entries().len() > to);
            turn.commit();
            drop(turn);
            prop_assert_eq!(&whole(&place.now()), &before[to]);
        }
        prop_assert!(place.store.pending_graph().is_none());
    }
}

#[test]
fn references_break_and_heal() {
    let place = ChangeFixture::new(&names(&["node n 1", "node m 2", "refer 2 1 uses 1", "refer 2 5 knows"]));
    let before = whole(&place.now());
    place.change(0, &[Step::Rename(1, 4)]);
    assert_eq!(place.now().broken_edges().unwrap().to_json()[0]["to"], "5");
    place.change(1, &[Step::Remove(4), Step::Add("n", 5, None)]);
    let broken = place.now().broken_edges().unwrap().to_json();
    assert_eq!((broken[0]["to"].as_str(), broken[1].as_object()), (Some("4"), None));
    place.change(2, &[Step::Rename(5, 4), Step::Rename(4, 1)]);
    assert!(place.now().broken_edges().unwrap().is_empty(), "the one to 5 follows to 4 and to 1");
    let turn = ChangeSession::begin(&place.store).unwrap();
    assert_eq!(turn.undo_to("0").unwrap().unwrap().len(), 3);
    turn.commit();
    assert_eq!(whole(&place.now()), before);
}

//= docs/spec.md#changes
//= type=test
//# A change MUST NOT take effect before its call succeeds, and MUST leave nothing behind when it fails.
#[test]
fn a_failure_leaves_nothing() {
    let place = ChangeFixture::new(&names(&["node n 1", "node m 2"]));
    let before = whole(&place.now());
    let turn = ChangeSession::begin(&place.store).unwrap();
    let label = |id: &str| ChangeLabel { id: id.into(), name: "x".into(), at: "now".into() };
    let failed = turn.change(
        label("a"),
        || place.origin(),
        |tx| {
            run(&tx, &Step::Remove(1))?;
            run(&tx, &Step::Rename(1, 2)).map(|()| Value::Null)
        },
    );
    assert!(failed.err().unwrap().message.contains("no node `1`"));
    assert!(turn.entries().is_empty() && turn.graph().is_none());
    let within = turn.change(
        label("b"),
        || place.origin(),
        |tx| {
            run(&tx, &Step::Remove(1))?;
            assert_eq!(turn.graph().unwrap().unwrap().len(), 1);
            turn.change(label("c"), || place.origin(), |_| Ok(Value::Null)).map(|_| Value::Null)
        },
    );
    assert!(within.err().unwrap().message.contains("another change is already in progress"));
    turn.change(label("d"), || place.origin(), |tx| run(&tx, &Step::Remove(1)).map(|()| Value::Null)).unwrap();
    assert_eq!(whole(&place.now()), before, "it does not count as yet");
    turn.abandon();
    drop(turn);
    assert_eq!(whole(&place.now()), before);
    assert!(place.store.entries().is_empty());
}

//= docs/spec.md#changes
//= type=test
//# While changes are pending, the graph MUST NOT be refreshed, and files that changed MUST be reported on
//# request.
#[test]
fn changed_files_are_reported_and_wait() {
    let place = ChangeFixture::new(&names(&["node n 1"]));
    place.change(0, &[Step::Add("n", 2, None)]);
    assert!(place.store.stale_files(&place.origin().unwrap()).is_empty());
    place.files.put("f1", "node n 7");
    place.files.put("f0", "node n 8");
    assert_eq!(keys(&place.now().nodes(&[])), ["1", "2"]);
    assert_eq!(place.store.stale_files(&place.origin().unwrap()), ["f0", "f1"]);
    let turn = ChangeSession::begin(&place.store).unwrap();
    assert_eq!(turn.discard(), 1);
    turn.commit();
    assert_eq!(keys(&place.now().nodes(&[])), ["8", "7"]);
}

//= docs/spec.md#changes
//= type=test
//# The changes of one pack MUST be made one after the other, while other calls read their snapshot.
#[test]
fn one_after_the_other() {
    let place = ChangeFixture::new(&names(&["node n 1"]));
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let place = &place;
            scope.spawn(move || {
                for round in 0..25 {
                    let turn = ChangeSession::begin(&place.store).unwrap();
                    let count = turn.graph().map_or(0, |graph| graph.unwrap().len());
                    let id = (100 + thread * 25 + round).to_string();
                    let label = ChangeLabel { id: id.as_str().into(), name: "x".into(), at: "now".into() };
                    let add = |tx: Value| {
                        let tx = tx.as_object::<Transaction>().unwrap();
                        tx.add_node("n", &id.as_str().into(), &Value::Null, &Value::Null)
                    };
                    turn.change(label, || place.origin(), add).unwrap();
                    assert!(place.store.pending_graph().map_or(0, |graph| graph.len()) <= count.max(1));
                    turn.commit();
                }
            });
        }
    });
    assert_eq!((place.now().len(), place.store.entries().len()), (101, 100));
}
