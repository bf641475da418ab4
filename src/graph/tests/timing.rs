//! Measures what the graph promises. Ignored: run it alone, with optimisation.

use super::*;
use crate::graph::FragmentBuilder;
use crate::graph::assemble::assemble;
use crate::order::SortKey as By;
use crate::world::Workspace;
use crate::world::sealed::SealedWorld;
use std::time::{Duration, Instant};

fn best(rounds: usize, mut act: impl FnMut()) -> Duration {
    let once = |()| {
        let start = Instant::now();
        act();
        start.elapsed()
    };
    std::iter::repeat_n((), rounds).map(once).min().unwrap()
}

/// 100 files of 400 requirements, each with three children and a few references.
fn fragments() -> Vec<Arc<crate::graph::fragment::Fragment>> {
    let file = |file: usize| {
        let mut recording = FragmentBuilder::new(format!("spec/{file}.md").into());
        for at in 0..400 {
            let number = file * 400 + at;
            let fields = Value::map([
                ("title", format!("title {number}").into()),
                ("level", ["MUST", "SHOULD", "MAY"][number % 3].into()),
                ("line", (at * 20).into()),
                ("weight", (number * 7919 % 1000).into()),
            ]);
            let parent =
                recording.add_node("requirement", &format!("REQ-{number:06}").into(), &fields, &Value::Null).unwrap();
            for label in ["A", "B", "C"] {
                let fields = Value::map([("label", label.into()), ("text", "x".into())]);
                let id = format!("REQ-{number:06}-{label}").into();
                recording.add_node("assertion", &id, &fields, &parent).unwrap();
            }
            if at % 2 == 0 {
                for step in 1..4 {
                    let to = format!("REQ-{:06}", (number * 31 + step * 977) % 40_100);
                    recording.add_edge(&parent, &to.into(), "implements", &[], &[]).unwrap();
                }
            }
        }
        Arc::new(recording.finish())
    };
    (0..100).map(file).collect()
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn how_fast() {
    let fragments = fragments();
    let functions = Fake::default().shared();
    let make =
        || assemble(None, &fragments, Vec::new(), (Map::new(), Vec::new()), Arc::clone(&functions), None).unwrap();
    println!("assembly {:?}", best(20, || drop(make())));
    let graph = make();
    println!(
        "{} nodes, {} references, {} broken",
        graph.len(),
        graph.edges().len(),
        graph.broken_edges().unwrap().len()
    );
    let kind = names(&["requirement"]);
    println!("first index {:?}", best(1, || drop(graph.nodes(&kind).where_(&map(r#"{ "level": "MUST" }"#)))));
    let must = map(r#"{ "level": "MUST" }"#);
    println!("where by index {:?}", best(1000, || drop(graph.nodes(&kind).where_(&must))));
    let thousand = graph.nodes(&kind).slice(0, Some(1000));
    let by = By::parse(&"-weight".into()).unwrap();
    let above = map(r#"{ "weight": { "greater_than": 10 } }"#);
    let sum = || {
        let column = thousand.where_(&above).unwrap().sort(&by).unwrap().column("weight").unwrap();
        column.iter().filter_map(Value::as_integer).sum::<i64>()
    };
    println!("where, sort, sum over 1000: {:?}", best(200, || assert!(sum() > 0)));
    println!("  where {:?}", best(200, || drop(thousand.where_(&above))));
    println!("  sort {:?}", best(200, || drop(thousand.sort(&by))));
    println!("  column {:?}", best(200, || drop(thousand.column("weight"))));
    let lookup = || assert!(graph.get("assertion", "REQ-033333-B").is_some());
    println!("lookup by id {:?}", best(1000, lookup));
    let by_title = By::parse(&"title".into()).unwrap();
    println!("sort 40000 by text {:?}", best(3, || drop(graph.nodes(&kind).sort(&by_title))));
    println!("scan 160000 by kind {:?}", best(3, || drop(graph.nodes(&[]).where_(&map(r#"{ "kind": "assertion" }"#)))));
}

/// 20,000 requirements with six assertions each: one change of each sort, and taking it back.
#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn how_fast_changes_are() {
    use crate::graph::{ChangeLabel, GraphStore, Transaction};
    let files = FileTable::with(&[]);
    for file in 0..100 {
        let mut lines = Vec::new();
        for at in 0..200 {
            let number = file * 200 + at;
            lines.push(format!("node requirement r{number}"));
            lines.extend((0..6).map(|label| format!("node assertion r{number}-{label} r{number}")));
            lines.push(format!("refer r{number} r{} implements r{}-1", number / 3, number / 3));
        }
        files.put(&format!("f{file:03}"), &lines.join("\n"));
    }
    let listed = Arc::clone(&files);
    let functions = Fake::default()
        .with("read", read_lines)
        .with("build", move |arguments| {
            let g = arguments[0].as_object::<Builder>().unwrap();
            g.scan_files(&listed.paths(), "read", &Value::Null).map(|()| Value::Null)
        })
        .shared();
    let world: Arc<dyn Workspace> = Arc::clone(&files) as _;
    let store = Arc::new(GraphStore::default());
    let within = &|_: Arc<SealedWorld>, run: &mut dyn FnMut() -> Result<()>| run();
    let build =
        crate::graph::BuildPlan { world: &world, functions: &functions, entry: "build", config: &Value::Null, within };
    let start = Instant::now();
    let graph = Arc::clone(store.origin(&build).unwrap().graph());
    println!("{} nodes, {} edges, built in {:?}", graph.len(), graph.edges().len(), start.elapsed());
    let turn = crate::graph::ChangeSession::begin(&store).unwrap();
    let one = |name: &str, act: &dyn Fn(&Transaction) -> Result<()>| {
        let start = Instant::now();
        let label = ChangeLabel { id: name.into(), name: name.into(), at: "now".into() };
        let act = |tx: Value| act(tx.as_object::<Transaction>().unwrap()).map(|()| Value::Null);
        turn.change(label, || store.origin(&build), act).unwrap();
        println!("{name} {:?}", start.elapsed());
    };
    let id = |text: &str| Value::from(text);
    let null = Value::Null;
    one("update", &|tx| tx.update_node(&id("r500"), &Value::map([("level", Value::from("MUST"))])));
    one("add", &|tx| tx.add_node("assertion", &id("r500-7"), &null, &id("r500")).map(|_| ()));
    one("place", &|tx| tx.move_node(&id("r500-7"), &null, &id("r500-5"), None));
    one("link", &|tx| tx.add_edge(&id("r500"), &id("r7"), "implements", &[], &[]));
    one("rename", &|tx| tx.rename_node(&id("r100"), &id("x100")));
    one("remove", &|tx| tx.remove_nodes(&id("r200")));
    for _ in 0..6 {
        let start = Instant::now();
        let name = turn.undo().unwrap().unwrap().name.clone();
        println!("undo {name} {:?}", start.elapsed());
    }
}

/// 2,000 requirements in 200 sections, 4,000 annotations in 1,300 files, as a pack for traceability has them.
fn traced() -> (Arc<FileTable>, Arc<dyn Functions>, Arc<AtomicUsize>) {
    let files = FileTable::with(&[]);
    let mut at = 0;
    for file in 0..1300 {
        let lines: Vec<String> = (0..3 + usize::from(file % 13 == 0))
            .map(|_| {
                at += 1;
                format!("node a a{at}")
            })
            .collect();
        files.put(&format!("src/{file:04}"), &lines.join("\n"));
    }
    let spec: Vec<String> = (0..2000).map(|at| format!("merge r r{at} MUST")).collect();
    files.put("spec", &spec.join("\n"));
    let listed = Arc::clone(&files);
    let called = Arc::new(AtomicUsize::new(0));
    let (first, second) = (Arc::clone(&called), Arc::clone(&called));
    let functions = Fake::default()
        .with("read", read_lines)
        .with("match", move |arguments| {
            first.fetch_add(1, Ordering::Relaxed);
            let number: usize = arguments[1].as_object::<crate::graph::Node>().unwrap().key()[1..].parse().unwrap();
            Ok(Value::map([("section", format!("r{}", number % 2000).into()), ("error", Value::Null)]))
        })
        .with("state", move |arguments| {
            second.fetch_add(1, Ordering::Relaxed);
            let graph = Graph::from_handle(&arguments[0]).unwrap();
            Ok(Value::map([("citations", Value::List(graph.nodes(&names(&["a"])).column("key")?))]))
        })
        .with("build", move |arguments| {
            let g = arguments[0].as_object::<Builder>().unwrap();
            g.scan_files(&listed.paths(), "read", &Value::Null)?;
            g.derive_fields("a", &names(&["section", "error"]), "match", Some(&names(&["s"])))?;
            g.derive_fields("r", &names(&["citations"]), "state", Some(&names(&["s", "a by section"])))?;
            Ok(Value::Null)
        });
    (files, functions.shared(), called)
}

#[test]
#[ignore = "a measurement"]
#[allow(clippy::print_stdout)]
fn how_fast_after_an_edit() {
    let (files, functions, called) = traced();
    let world: Arc<dyn Workspace> = Arc::clone(&files) as _;
    let store = crate::graph::GraphStore::default();
    let within = &|_: Arc<SealedWorld>, run: &mut dyn FnMut() -> Result<()>| run();
    let build =
        crate::graph::BuildPlan { world: &world, functions: &functions, entry: "build", config: &Value::Null, within };
    let read = |graph: &Arc<Graph>| {
        let start = Instant::now();
        let annotations = graph.nodes(&names(&["a"])).column("section").unwrap().len();
        let middle = Instant::now();
        let requirements = graph.nodes(&names(&["r"])).column("citations").unwrap().len();
        let calls = called.swap(0, Ordering::Relaxed);
        println!(
            "  {annotations} annotations {:?}, {requirements} requirements {:?}, {calls} calls",
            middle - start,
            middle.elapsed()
        );
    };
    for round in 0..5 {
        files.put("src/0700", &format!("node a a{}", 5000 + round));
        let start = Instant::now();
        let graph = store.fresh(&build).unwrap();
        println!("build {:?}", start.elapsed());
        read(&graph);
        let anew = crate::graph::GraphStore::default().fresh(&build).unwrap();
        let all = |graph: &Arc<Graph>| graph.nodes(&names(&["r"])).column("citations").unwrap();
        assert!(all(&graph) == all(&anew));
        called.store(0, Ordering::Relaxed);
    }
}
