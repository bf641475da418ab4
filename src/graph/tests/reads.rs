//! Derived fields with `reads`: kept while nothing that they read changed, and always as a fresh build has them.

use super::*;
use crate::graph::{BuildPlan, GraphStore, Node};
use crate::order::SortKey as By;
use crate::value::Kind;
use crate::world::Workspace;
use crate::world::sealed::SealedWorld;
use proptest::prelude::*;

struct ReadsFixture {
    files: Arc<FileTable>,
    functions: Arc<dyn Functions>,
    /// How often each derived function was called.
    calls: Arc<Mutex<BTreeMap<&'static str, usize>>>,
    store: GraphStore,
}

/// A kind's derived fields: kind, field, function, reads.
type Declared = (&'static str, &'static str, &'static str, Option<&'static [&'static str]>);

const DECLARED: &[Declared] = &[
    ("m", "band", "band", Some(&[])),
    ("n", "band", "band", Some(&[])),
    ("n", "all", "all", Some(&["m"])),
    ("n", "some", "some", Some(&["m by band"])),
    ("n", "deep", "deep", Some(&["n", "m"])),
    ("n", "own", "own", Some(&["m"])),
];

impl ReadsFixture {
    fn new(declared: &'static [Declared]) -> Self {
        let files = FileTable::with(&[]);
        let listed = Arc::clone(&files);
        let calls: Arc<Mutex<BTreeMap<&'static str, usize>>> = Arc::default();
        let mut functions = Fake::default().with("read", read_lines).with("build", move |arguments| {
            let g = arguments[0].as_object::<Builder>().unwrap();
            g.scan_files(&listed.paths(), "read", &Value::Null)?;
            let count = g.read(&[])?.nodes(&names(&["n"])).len();
            let fields = Value::map([("line", count.into()), ("level", "built".into()), ("file", "".into())]);
            g.record(|recording| recording.add_node_if_absent("m", &"5".into(), &fields, &"1".into()))?;
            for (kind, field, function, reads) in declared {
                g.derive_fields(kind, &names(&[*field]), function, reads.map(names).as_deref())?;
            }
            g.set_value("title", "teas".into()).map(|()| Value::Null)
        });
        for (name, run) in [
            ("band", band as fn(&Arc<Graph>, &Node) -> Value),
            ("all", all),
            ("some", some),
            ("deep", deep),
            ("own", own),
            ("wild", wild),
        ] {
            let counted = Arc::clone(&calls);
            functions = functions.with(name, move |arguments| {
                *counted.lock().unwrap().entry(name).or_default() += 1;
                let graph = Graph::from_handle(&arguments[0]).unwrap();
                Ok(Value::map([(field_of(name), run(&graph, arguments[1].as_object().unwrap()))]))
            });
        }
        Self { files, functions: functions.shared(), calls, store: GraphStore::default() }
    }

    fn fresh(&self, store: &GraphStore) -> Arc<Graph> {
        let world: Arc<dyn Workspace> = Arc::clone(&self.files) as _;
        let within = &|_: Arc<SealedWorld>, run: &mut dyn FnMut() -> Result<()>| run();
        // Every build is a new one: a file without nodes changes.
        self.files.put("stamp", &self.files.clock.load(Ordering::Relaxed).to_string());
        store
            .fresh(&BuildPlan {
                world: &world,
                functions: &self.functions,
                entry: "build",
                config: &Value::Null,
                within,
            })
            .unwrap()
    }

    fn answers(&self, store: &GraphStore) -> Json {
        let graph = self.fresh(store);
        let nodes = graph.nodes(&names(&["n"]));
        let column = |name: &str| {
            nodes.column(name).map_or_else(|error| error.message.into(), |list| Value::List(list).to_json())
        };
        Json::Array(["band", "all", "some", "deep", "own"].iter().map(|name| column(name)).collect())
    }

    fn counts(&self) -> BTreeMap<&'static str, usize> {
        std::mem::take(&mut *self.calls.lock().unwrap())
    }
}

fn field_of(function: &'static str) -> &'static str {
    if function == "wild" { "all" } else { function }
}

fn band(_: &Arc<Graph>, node: &Node) -> Value {
    (node.field("line").unwrap().as_integer().unwrap_or(0) % 2).into()
}

/// All that can be seen of a set: also what may be refused.
fn seen(nodes: &Nodes) -> Value {
    Value::list(nodes.iter().map(|node| {
        let parent = match node.parent() {
            Ok(parent) => parent.map_or(Value::Null, |parent| parent.key().into()),
            Err(error) => error.message.into(),
        };
        let level = node.field("level").unwrap_or_else(|error| error.message.into());
        Value::list([node.key().into(), node.field("line").unwrap(), level, node.field("band").unwrap(), parent])
    }))
}

fn given(graph: &Arc<Graph>, kind: &str) -> Result<Nodes> {
    let kinds = names(&[kind]);
    Graph::from_value(&Value::Handle(Arc::clone(graph) as _), &kinds).map(|graph| graph.nodes(&kinds))
}

fn all(graph: &Arc<Graph>, node: &Node) -> Value {
    let nodes = given(graph, "m").unwrap();
    let sorted = nodes.union(&node.alone()).unwrap().sort(&By::parse(&"level".into()).unwrap()).unwrap();
    let children = node.alone().children(Some(&names(&["m"]))).unwrap();
    let ancestors = nodes
        .ancestors()
        .map_or_else(|error| error.message.into(), |nodes| Value::list(keys(&nodes).into_iter().map(Value::from)));
    Value::list([seen(&nodes), seen(&sorted), seen(&children), seen(&node.alone()), ancestors])
}

fn some(graph: &Arc<Graph>, node: &Node) -> Value {
    let nodes = given(graph, "m").unwrap();
    let got = graph.get("m", "3").map_or(Value::Null, |node| node.key().into());
    let sorted = nodes.union(&node.alone()).unwrap().sort(&By::parse(&"level".into()).unwrap()).unwrap();
    let odd = nodes.where_(&map(r#"{ "level": "MUST" }"#)).map_or(0, |nodes| nodes.len());
    Value::list([
        seen(&nodes),
        got,
        seen(&sorted),
        odd.into(),
        seen(&node.alone().children(Some(&names(&["m"]))).unwrap()),
    ])
}

/// Reads a field that is derived itself, from what it does not read.
fn deep(graph: &Arc<Graph>, _: &Node) -> Value {
    let nodes = given(graph, "n").unwrap();
    Value::list([Value::List(nodes.column("some").unwrap()), Value::List(nodes.column("all").unwrap())])
}

/// Reads a field of its own node that is derived from the same kind.
fn own(_: &Arc<Graph>, node: &Node) -> Value {
    Value::list([node.field("some").unwrap(), node.field("band").unwrap()])
}

fn wild(graph: &Arc<Graph>, node: &Node) -> Value {
    let handle = Value::Handle(Arc::clone(graph) as _);
    let whole = Value::handle(node.alone());
    let errors = [
        given(graph, "n").map(|_| ()),
        Graph::from_value(&handle, &[]).map(|_| ()),
        graph.field("title").map(|_| ()),
        graph.field("errors").map(|_| ()),
        Nodes::from_value_with_edges(&whole).map(|_| ()),
        node.alone().children(None).map(|_| ()),
        node.parent().map(|_| ()),
        node.field("plain").map(|_| ()),
        node.field("other").map(|_| ()),
    ];
    let columns: Vec<Value> =
        given(graph, "m").unwrap().column("parent.key").unwrap_or_else(|error| vec![error.message.into()]);
    let reported = errors.map(|error| error.map_or_else(|error| error.message.into(), |()| Value::Null));
    assert!(crate::graph::has_limited_reads());
    Value::list(reported.into_iter().chain(columns))
}

fn line() -> impl Strategy<Value = String> {
    let id = 0..6;
    let kind = prop::sample::select(vec!["n", "m", "k"]);
    prop_oneof![
        2 => (kind.clone(), id.clone()).prop_map(|(kind, id)| format!("node {kind} {id}")),
        2 => (kind.clone(), id.clone(), id.clone()).prop_map(|(kind, id, parent)| format!("node {kind} {id} {parent}")),
        1 => (kind.clone(), id.clone()).prop_map(|(kind, id)| format!("once {kind} {id}")),
        2 => (kind, id, prop::sample::select(vec!["MAY", "MUST", "odd"]))
            .prop_map(|(kind, id, level)| format!("merge {kind} {id} {level}")),
        1 => Just(String::new()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn what_is_kept_is_what_a_fresh_build_has(
        rounds in prop::collection::vec(prop::collection::vec((0_usize..5, prop::collection::vec(line(), 0..6), 0..5), 1..3), 1..6)
    ) {
        let bench = ReadsFixture::new(DECLARED);
        for edits in rounds {
            for (file, lines, delete) in edits {
                match delete {
                    0 => bench.files.delete(&format!("f{file}")),
                    _ => bench.files.put(&format!("f{file}"), &lines.join("\n")),
                }
            }
            prop_assert_eq!(bench.answers(&bench.store), bench.answers(&GraphStore::default()));
        }
    }
}

#[test]
fn only_what_read_something_else_is_computed_again() {
    let bench = ReadsFixture::new(&DECLARED[..4]);
    let files = [
        ("a", "\nnode n 1\n\nnode n 2"),
        ("b", "\nnode m 1\nnode m 2"),
        ("c", "node n 3"),
        ("d", "node k 1"),
        ("e", "\nnode m 7"),
    ];
    files.iter().for_each(|(path, text)| bench.files.put(path, text));
    let counted = |edits: &[(&str, &str)]| {
        edits.iter().for_each(|(path, text)| bench.files.put(path, text));
        bench.answers(&bench.store);
        let counts = bench.counts();
        ["band", "all", "some"].map(|name| counts.get(name).copied().unwrap_or(0))
    };
    // Three of kind `n`, and four of kind `m` (one of which `build` adds).
    assert_eq!(counted(&[]), [7, 3, 3], "at first all");
    assert_eq!(counted(&[]), [0, 0, 0], "nothing changed");
    assert_eq!(counted(&[("d", "node k 1\nnode k 2")]), [0, 0, 0], "an unrelated file");
    assert_eq!(counted(&[("a", "\nnode n 1\n\nnode n 2\n")]), [2, 2, 2], "the own file");
    assert_eq!(counted(&[("e", "\nnode m 8")]), [1, 3, 2], "all of a kind that is read, and those with the same band");
    bench.files.delete("c");
    bench.files.put("cc", "\nnode n 3");
    assert_eq!(counted(&[]), [1, 1, 1], "another file");
    assert!(bench.store.derived_cache.len() <= 40);
}

#[test]
fn nothing_is_seen_but_what_is_named() {
    let bench = ReadsFixture::new(&[
        ("n", "all", "wild", Some(&["m"])),
        ("n", "plain", "band", None),
        ("n", "other", "band", Some(&["k"])),
    ]);
    bench.files.put("a", "node k 1\nnode n 2 1\nnode m 3 1");
    let graph = bench.fresh(&bench.store);
    let reported = graph.get("n", "2").unwrap().field("all").unwrap().to_json();
    let expected = [
        "`wild` reads nodes of the kind `n`, which its `reads` does not declare",
        "the whole graph cannot be read in `wild`, whose `reads` limits what it sees",
        "a value of the graph cannot be read in `wild`, whose `reads` limits what it sees",
        "a value of the graph cannot be read in `wild`, whose `reads` limits what it sees",
        "the target of an edge cannot be read in `wild`, whose `reads` limits what it sees",
        "the content of a node cannot be read in `wild`, whose `reads` limits what it sees",
        "`wild` reads nodes of the kind `k`, which its `reads` does not declare",
        "`wild` has `reads`, but reads fields of n that `band` derives without `reads`",
        "`wild` reads what `band` derives from the kind `k`, which its own `reads` does not declare",
        "`wild` reads nodes of the kind `k`, which its `reads` does not declare",
    ];
    assert_eq!(reported, serde_json::json!(expected));
    assert!(!crate::graph::has_limited_reads());
}

#[test]
fn what_is_kept_holds_no_snapshot() {
    let graph = graph(&[("n", "1", "", r#"{ "x": 1 }"#)], &[]);
    let node = || Value::handle(graph.get("n", "1").unwrap());
    let rows = graph.nodes(&[]).select(&names(&["key", "x"])).unwrap();
    let set = crate::order::Set::new(vec![node()]).unwrap();
    let record = graph.get("n", "1").unwrap().pick(&names(&["x"])).unwrap();
    let held = Value::list([node(), Value::handle(rows), Value::handle(set), record]);
    let kept = crate::graph::stored_value::to_stored(held).unwrap();
    assert_eq!(kept.to_json(), serde_json::json!(["1", [{ "key": "1", "x": 1 }], ["1"], { "x": 1 }]));
    let Value::List(items) = &kept else { panic!("a list") };
    assert_eq!(items[2].kind(), Kind::Set);
    assert_eq!(Arc::strong_count(&graph), 1);
}
