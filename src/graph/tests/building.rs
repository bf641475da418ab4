//! Building: merges, errors, references, derived fields.

use super::*;
use crate::graph::{BuildPlan, GraphStore};
use crate::world::Workspace;

fn build(files: &[(&str, &str)], functions: Fake) -> Result<Arc<Graph>> {
    let world: Arc<dyn Workspace> = FileTable::with(files);
    let functions = functions.with("read", read_lines).shared();
    GraphStore::default().fresh(&BuildPlan {
        world: &world,
        functions: &functions,
        entry: "build",
        config: &Value::Null,
        within: &|_, run| run(),
    })
}

fn scan_all(arguments: Vec<Value>) -> Result<Value> {
    let files = names(&["a", "b", "c"]);
    arguments[0].as_object::<Builder>().unwrap().scan_files(&files, "read", &Value::Null).map(|()| Value::Null)
}

#[test]
fn duplicate_nodes_fail_are_ignored_or_merged() {
    let files = [
        ("a", "node n 1\nonce n 2\nmerge r 3 SHOULD\nonce n 2"),
        ("b", "node n 1\nonce n 2\nmerge r 3 MUST\nmerge r 4"),
        ("c", "merge r 3 MAY\nmerge r 4 MAY\nnode r 3"),
    ];
    let graph = build(&files, Fake::default().with("build", scan_all)).unwrap();
    assert_eq!(keys(&graph.nodes(&[])), ["1", "2", "3", "4"]);
    let field = |id: &str, name: &str| graph.get("r", id).unwrap().field(name).unwrap();
    assert_eq!(field("3", "level"), "MUST".into());
    assert_eq!(field("3", "file"), "a".into());
    assert_eq!(field("4", "level"), "MAY".into(), "a field that was not set takes the later value");
    let errors = graph.errors().to_json();
    assert_eq!(errors[0]["message"], "the n `1` is defined twice, first in `a`",);
    assert_eq!((&errors[0]["path"], &errors[1]["path"]), (&"b".into(), &"c".into()));
    assert_eq!(errors.as_array().map(Vec::len), Some(2));
}

//= docs/spec.md#primitives
//= type=test
//# A byte order mark at the beginning of a file MUST be skipped when its text is read, and kept when its text
//# is written.
#[test]
fn a_byte_order_mark_hides_nothing() {
    let files = [("a", "\u{feff}node n 1"), ("b", ""), ("c", "")];
    let graph = build(&files, Fake::default().with("build", scan_all)).unwrap();
    assert_eq!(keys(&graph.nodes(&[])), ["1"]);
}

//= docs/spec.md#scripts
//= type=test
//# A function that does not exist, and a script that fails for every file, MUST fail the graph.
//= docs/spec.md#scripts
//= type=test
//# A graph MUST NOT be used if none of its files could be scanned.
#[test]
fn graphs_without_any_scanned_file_fail() {
    let message = |files: &[(&str, &str)], entry: fn(Vec<Value>) -> Result<Value>| {
        let fake = Fake::default().with("bug", |_| Err(Diagnostic::new(Code::SCRIPT, "a bug"))).with("build", entry);
        build(files, fake).err().unwrap().message.clone()
    };
    fn scan_by(function: &str, arguments: &[Value]) -> Result<Value> {
        let builder = arguments[0].as_object::<Builder>().unwrap();
        builder.scan_files(&names(&["a", "b"]), function, &Value::Null).map(|()| Value::Null)
    }
    let files = [("a", "fail once"), ("b", "fail again"), ("c", "fail too")];
    assert_eq!(message(&files, scan_all), "none of the 3 files of the graph can be scanned; `a`: once");
    assert_eq!(message(&files[..0], |given| scan_by("raed", &given)), "no function `raed`");
    assert_eq!(message(&files, |given| scan_by("bug", &given)), "a bug");
    let one_is_good = [files[0], ("b", "node n 1")];
    assert_eq!(build(&one_is_good, Fake::default().with("build", scan_all)).unwrap().nodes(&[]).len(), 1);
}

#[test]
fn an_error_in_one_file_does_not_stop_others() {
    let files = [("a", "node n 1\nfail no such thing\nnode n 2"), ("c", "node n 3 4")];
    let graph = build(&files, Fake::default().with("build", scan_all)).unwrap();
    assert_eq!(keys(&graph.nodes(&[])), ["3"], "nothing of a file that failed");
    let errors = Json::Array(vec![
        serde_json::json!({ "code": "parse", "column": 1, "line": 2, "message": "no such thing", "path": "a" }),
        serde_json::json!({ "code": "world", "message": "`b` is not there", "path": "b" }),
        serde_json::json!({ "code": "arguments", "message": "the parent `4` of `3` does not exist", "path": "c" }),
    ]);
    assert_eq!(graph.field("errors").unwrap().to_json(), errors);
}

//= docs/spec.md#scripts
//= type=test
//# A file that cannot be scanned or is too large MUST be an error of that file, and not of the whole graph.
#[test]
fn large_files_are_errors_and_stops_end_the_build() {
    let guard = crate::guard::Guard::new(crate::guard::Limits::default(), crate::guard::CancelFlag::default());
    let _entered = guard.enter();
    let built = |word: &str| {
        let files = [("a", format!("{word} too much")), ("b", "node n 1".to_owned()), ("c", String::new())];
        build(&files.each_ref().map(|(path, text)| (*path, text.as_str())), Fake::default().with("build", scan_all))
    };
    let graph = built("limit").unwrap();
    assert_eq!(keys(&graph.nodes(&[])), ["1"]);
    let error = serde_json::json!([{ "code": "limit", "message": "too much", "path": "a" }]);
    assert_eq!(graph.field("errors").unwrap().to_json(), error);
    assert_eq!(built("stop").err().map(|error| error.message).as_deref(), Some("too much"));
}

#[test]
fn references_are_resolved_at_the_end_in_order_of_appearance() {
    let files = [
        ("a", "node n 1\nrefer 1 2 uses\nrefer 1 nowhere uses\nrefer 1 2 knows 9\nrefer ghost 1 uses"),
        ("b", "node n 2\nnode m 1\nrefer 1 2 uses"),
    ];
    let graph = build(&files, Fake::default().with("build", scan_all)).unwrap();
    let rows =
        graph.edges().select(&names(&["from.kind as of", "from_key", "to_key", "kind", "broken", "path"])).unwrap();
    assert_eq!(
        rows.to_json(),
        serde_json::json!([
            { "of": "n", "from_key": "1", "to_key": "2", "kind": "uses", "broken": false, "path": "a" },
            { "of": "n", "from_key": "1", "to_key": "nowhere", "kind": "uses", "broken": true, "path": "a" },
            { "of": "n", "from_key": "1", "to_key": "2", "kind": "knows", "broken": true, "path": "a" },
            { "of": null, "from_key": "ghost", "to_key": "1", "kind": "uses", "broken": true, "path": "a" },
            { "of": "m", "from_key": "1", "to_key": "2", "kind": "uses", "broken": false, "path": "b" },
        ])
    );
    assert_eq!(graph.broken_edges().unwrap().len(), 3);
    assert_eq!(graph.get("n", "2").unwrap().alone().edges_in(None).unwrap().len(), 2);
    assert!(graph.get("n", "1").unwrap().alone().edges_out(Some(&names(&["knows"]))).unwrap().is_empty());
}

#[test]
fn a_builder_can_be_read_after_a_barrier_and_while_it_grows() {
    let build_it = |arguments: Vec<Value>| {
        let g = arguments[0].as_object::<Builder>().unwrap();
        g.scan_files(&names(&["a"]), "read", &Value::Null)?;
        for node in g.read(&names(&["n"]))?.nodes(&names(&["n"])).iter() {
            let id = format!("copy of {}", node.key());
            g.record(|recording| recording.add_node("copy", &id.into(), &Value::Null, &Value::handle(node)))?;
            g.read(&names(&["n"]))?;
        }
        g.set_value("count", g.read(&names(&["copy"]))?.nodes(&names(&["copy"])).len().into())?;
        g.scan_files(&names(&["b"]), "read", &Value::Null)?;
        Ok(Value::Null)
    };
    let graph =
        build(&[("a", "node n 1\nnode n 2"), ("b", "node n 3")], Fake::default().with("build", build_it)).unwrap();
    assert_eq!(keys(&graph.nodes(&[])), ["1", "2", "copy of 1", "copy of 2", "3"]);
    assert_eq!(graph.field("count"), Ok(2_i64.into()));
    assert_eq!(graph.field("coun").unwrap_err().help.as_deref(), Some("did you mean `count`?"));
    assert_eq!(graph.get("copy", "copy of 2").unwrap().parent().unwrap().unwrap().key(), "2".into());
}

fn numbers(count: i64, derived: impl Fn(&Arc<Graph>, i64) -> Result<Value> + Send + Sync + 'static) -> Arc<Graph> {
    let function = move |arguments: Vec<Value>| {
        let graph = Graph::from_handle(&arguments[0]).unwrap();
        let Value::Handle(node) = &arguments[1] else { panic!("a node") };
        derived(&graph, node.field("at")?.as_integer().unwrap())
    };
    let builder = Builder::new(Fake::default().with("derive_it", function).shared());
    builder
        .record(|recording| {
            (0..count).try_for_each(|at| {
                recording.add_node("n", &at.into(), &Value::map([("at", at.into())]), &Value::Null).map(|_| ())
            })
        })
        .unwrap();
    builder.derive_fields("n", &names(&["square", "other"]), "derive_it", None).unwrap();
    builder.finish().unwrap()
}

#[test]
fn derived_fields_are_computed_once_and_can_be_asked_like_others() {
    for count in [3, 500] {
        let calls = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&calls);
        let graph = numbers(count, move |_, at| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok(Value::map([("square", (at * at).into())]))
        });
        let all = graph.nodes(&names(&["n"]));
        assert_eq!(graph.get("n", "2").unwrap().field("square"), Ok(4_i64.into()));
        assert_eq!(graph.get("n", "2").unwrap().field("other"), Ok(Value::Null));
        assert_eq!(calls.load(Ordering::Relaxed), 1);
        assert_eq!(keys(&all.where_(&map(r#"{ "square": 4 }"#)).unwrap()), ["2"]);
        let sorted = all.sort(&crate::order::SortKey::parse(&"-square".into()).unwrap()).unwrap();
        assert_eq!(sorted.at(0).unwrap().key(), (count - 1).to_string().into());
        assert_eq!(calls.load(Ordering::Relaxed), usize::try_from(count).unwrap());
    }
}

#[test]
fn cyclic_derived_fields_fail_and_name_the_chain() {
    for count in [4, 500] {
        let graph = numbers(count, move |graph, at| {
            let next = graph.get("n", &((at + 1) % count.min(4)).to_string()).unwrap();
            Ok(Value::map([("square", next.field("square")?)]))
        });
        let error = graph.get("n", "1").unwrap().field("square").unwrap_err();
        assert_eq!(error.code, Code::CYCLE);
        assert_eq!(
            error.message,
            "derived fields depend on each other: `derive_it` of n `1` → `derive_it` of n `2` → `derive_it` of n `3` → \
             `derive_it` of n `0` → `derive_it` of n `1`"
        );
        assert_eq!(graph.nodes(&names(&["n"])).column("square").unwrap_err().code, Code::CYCLE);
    }
    let all = numbers(500, |graph, _| graph.nodes(&[]).where_(&map(r#"{ "square": 1 }"#)).map(|_| Value::Null));
    assert_eq!(all.nodes(&[]).distinct("square").unwrap_err().code, Code::CYCLE, "through the whole kind");
}

#[test]
fn derived_fields_are_checked() {
    let graph = numbers(1, |_, _| Ok(Value::map([("sqare", 1_i64.into())])));
    let error = graph.get("n", "0").unwrap().field("square").unwrap_err();
    assert_eq!(
        error.to_string(),
        "`derive_it` returned `sqare`, which `derive_fields` does not declare (did you mean `square`?)"
    );
    let builder = Builder::new(Fake::default().with("f", |_| Ok(Value::Null)).shared());
    assert_eq!(builder.derive_fields("n", &names(&["a"]), "g", None).unwrap_err().message, "no function `g`");
    assert_eq!(builder.derive_values(&names(&["a"]), "g").unwrap_err().message, "no function `g`");
    builder.derive_fields("n", &names(&["a"]), "f", None).unwrap();
    assert!(builder.derive_fields("n", &names(&["b", "a"]), "f", None).is_err());
    builder.record(|recording| recording.add_node("n", &"1".into(), &map_value("a"), &Value::Null)).unwrap();
    assert_eq!(builder.finish().err().unwrap().message, "the field `a` of n is already stored or derived");
    assert!(builder.scan_files(&[], "f", &Value::Null).is_err());
    let reserved = builder.record(|recording| recording.add_node("n", &"2".into(), &map_value("kind"), &Value::Null));
    assert_eq!(reserved.unwrap_err().message, "a node cannot have a field `kind` of its own");
}

fn map_value(name: &str) -> Value {
    Value::map([(name, 1_i64.into())])
}
