//! Tests of functions called by name, also from threads of primitives; notices; constants; data behind handles.

use super::super::{Pool, Program};
use super::host::TestHost;
use super::value;
use crate::diagnostic::{Code, Diagnostic};
use crate::guard::{CancelFlag, Guard, Limits};
use crate::primitive_api::{LogLevel, Notice};
use crate::value::{Json, Value};
use serde_json::json;
use std::sync::{Arc, Mutex};

fn guard(limits: Limits) -> Arc<Guard> {
    Guard::new(limits, CancelFlag::default())
}

#[test]
fn functions_are_called_by_name_as_their_script_sees_them() {
    let (program, _) = Program::compile(&[
        ("p/graph.rhai", "fn read(x) { [\"graph\", x, deep()] }"),
        ("p/lib.rhai", "fn deep() { \"lib\" }"),
        ("p/tool.rhai", "fn read(x) { \"tool\" } fn deep() { \"tool\" }"),
    ]);
    let host = Arc::new(TestHost::new(&[]));
    let call = |script: &str| {
        let functions = program.functions_seen_by(script);
        let result = program.run_native("p/tool.rhai", host.clone(), guard(Limits::default()), || {
            functions.call("read", vec![1_i64.into()])
        });
        result.map(|value| value.to_json())
    };
    assert_eq!(call("p/graph.rhai"), Ok(json!(["graph", 1, "lib"])));
    assert_eq!(call("p/tool.rhai"), Ok(json!("tool")));
    let error = call("p/lib.rhai").expect("the library sees the graph");
    assert_eq!(error, json!(["graph", 1, "lib"]));
    let missing = program.run_native("p/tool.rhai", host.clone(), guard(Limits::default()), || {
        program.functions_seen_by("p/tool.rhai").call("raed", vec![Value::Null])
    });
    assert_eq!(
        missing.expect_err("there is none").to_string(),
        "`p/tool.rhai` has no function `raed` with 1 argument (did you mean `read`?)"
    );
}

#[test]
fn jobs_in_parallel_share_guard_host_and_depth() {
    let text = "fn main(n) { print(`job ${n}`); let s = 0; for i in 0..1000 { s += 1; } s }
        fn endless(n) { loop { } } fn down(n) { if n > 0 { down(n - 1) } }";
    let (program, _) = Program::compile(&[("a.rhai", text)]);
    let run = |function: &'static str, limits: Limits| {
        let (program, guard) = (program.clone(), guard(limits));
        let kept = Arc::clone(&guard);
        let host = Arc::new(TestHost::new(&[]));
        let reported = Arc::clone(&host);
        let results = Pool::new().run(move || {
            let functions = program.functions_seen_by("a.rhai");
            let results: Mutex<Vec<Result<Value, Box<Diagnostic>>>> = Mutex::default();
            let result = program.run_native("a.rhai", host, guard, || {
                functions.parallel(8, &|at| {
                    let result = functions.call(function, vec![at.into()]);
                    results.lock().expect("no panic").push(result);
                });
                Ok(())
            });
            result.map(|()| results.into_inner().expect("no panic"))
        });
        let notices = reported.notices.lock().expect("no panic").clone();
        (results.expect("no panic"), kept, notices)
    };
    let (results, guard, notices) = run("main", Limits::default());
    assert!(results.expect("no error").iter().all(|result| *result == Ok(1_000_i64.into())));
    assert!(guard.ticks() > 8 * 1_000, "{}", guard.ticks());
    assert_eq!(notices.len(), 8);
    let (results, ..) = run("endless", Limits { ticks: 100_000, ..Limits::default() });
    assert_eq!(results.expect_err("it is stopped").code, Code::LIMIT);
    let (results, ..) = run("down", Limits { depth: 5, ..Limits::default() });
    let errors = results.expect("each job fails by itself");
    assert!(errors.iter().any(Result::is_err) && errors.iter().any(Result::is_ok), "{errors:?}");
}

#[test]
fn print_is_a_line_of_the_log() {
    let (program, _) =
        Program::compile(&[("a.rhai", "fn main() { print([1, \"a\"]); log(\"warning\", #{ a: 1 }); progress(1, 2) }")]);
    let host = Arc::new(TestHost::new(&[]));
    program.run("a.rhai", "main", Vec::new(), host.clone(), guard(Limits::default())).expect("it runs");
    let notices = host.notices.lock().expect("no panic").clone();
    assert_eq!(
        notices,
        [
            Notice::Log { level: LogLevel::Info, data: Json::from("[1,\"a\"]") },
            Notice::Log { level: LogLevel::Warning, data: json!({ "a": 1 }) },
            Notice::Progress { done: 1.0, total: Some(2.0), message: None },
        ]
    );
}

#[test]
fn sequences_behind_handles_are_used_like_lists() {
    let lines = "let d = new_graph(); d.add_node(\"tea\", \"a\", #{ n: 1 }); d.add_node(\"tea\", \"b\", #{ n: 2 }); let nodes = d.nodes(\"tea\");";
    let with = |expression: &str| value(&format!("{lines} {expression}"));
    assert_eq!(with("let o = []; for node in nodes { o.push(node.n); } o"), json!([1, 2]));
    assert_eq!(with("[nodes.len(), nodes[0].n, nodes[-1].n, nodes.is_empty()]"), json!([2, 1, 2, false]));
    assert_eq!(with("nodes.map(|node| node.n * 2)"), json!([2, 4]));
    assert_eq!(with("[nodes.some(|node| node.n > 1), nodes.reduce(|sum, node| sum + node.n, 0)]"), json!([true, 3]));
    assert_eq!(with("[nodes[0] == nodes[0], nodes[0] == (), nodes[0] != nodes[1]]"), json!([true, false, true]));
    assert!(super::error(&format!("fn main() {{ {lines} nodes[0].n = 3; }}")).contains("a node cannot be changed"));
    let list = "let d = new_graph(); d.add_node(\"tea\", \"a\", #{ l: [1] }); let a = d.get(\"tea\", \"a\");";
    assert_eq!(value(&format!("{list} [a.l.is_empty(), a.l.len(), a.l.contains(1)]")), json!([false, 1, true]));
    assert!(super::error(&format!("fn main() {{ {list} a.l.push(2); }}")).contains("a node cannot be changed"));
    assert!(super::error(&format!("fn main() {{ {lines} nodes[0].nn }}")).contains("no field `nn`"));
    assert!(
        super::error(&format!("fn main() {{ {lines} for x in nodes[0] {{ print(x); }} }}"))
            .contains("a node is not a sequence")
    );
    assert!(super::error(&format!("fn main() {{ {lines} nodes[7] }}")).contains("there is no item 7 in a list of 2"));
}

#[test]
fn closures_cross_primitives_with_what_they_captured() {
    assert_eq!(value("let k = -1; [1, 3, 2].sort(|x| x * k)"), json!([3, 2, 1]));
    assert_eq!(value("let m = merge(#{ f: |x| x + 1 }, #{ a: 1 }); let f = m.f; f.call(2)"), 3);
    assert!(super::error("fn main() { [1].sort(|x| throw \"no\") }").ends_with(": no"));
}
