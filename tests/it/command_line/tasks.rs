//! Calls that run as tasks, on standard streams: looked after, answered, cancelled, expired.

use super::asking::{ask, name};
use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::{Value, json};
use std::time::Duration;

const PACK: &[&str] = &["--pack", "conformance"];

/// A task that never ends, and one that ends at once; neither is kept for long.
const TASK_TOOLS: &str = include_str!("tasks/short.toml");

fn knows_tasks() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn serve() -> (Home, Server) {
    let home = Home::with(&[]);
    let server = Server::start_modern(&home, PACK);
    (home, server)
}

fn call(server: &mut Server, tool: &str, arguments: Value) -> Value {
    ask(server, "tools/call", &json!({ "name": tool, "arguments": arguments }), &knows_tasks())
}

/// Begins a task. Returns its id.
fn begin(server: &mut Server, tool: &str, arguments: Value) -> String {
    let begun = call(server, tool, arguments);
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    begun["result"]["taskId"].as_str().unwrap().to_owned()
}

fn get(server: &mut Server, id: &str) -> Value {
    ask(server, "tasks/get", &json!({ "taskId": id }), &knows_tasks())
}

/// Polls a task until its state satisfies `is_it`.
fn wait(server: &mut Server, id: &str, is_it: impl Fn(&Value) -> bool) -> Value {
    for _ in 0..3_000 {
        let stands = get(server, id);
        if is_it(&stands) {
            return stands;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never reaches that status: {}", get(server, id));
}

fn update(server: &mut Server, id: &str, answers: Value) {
    let params = json!({ "taskId": id, "inputResponses": answers });
    let reported = ask(server, "tasks/update", &params, &knows_tasks());
    assert_eq!(reported["result"], json!({ "resultType": "complete" }), "{reported}");
}

fn asked(stands: &Value) -> Vec<&str> {
    let asked = stands["result"]["inputRequests"].as_object();
    asked.into_iter().flatten().map(|(key, _)| key.as_str()).collect()
}

//= docs/spec.md#tasks
//= type=test
//# The status of a task MUST contain its progress and its open questions, which MUST be answerable one by
//# one.
#[test]
fn a_task_asks_takes_answers_one_by_one_and_keeps_its_result() {
    let (_home, mut server) = serve();
    let id = begin(&mut server, "multi_input", json!({}));
    let stands = wait(&mut server, &id, |stands| stands["result"]["status"] == "input_required");
    assert_eq!(asked(&stands), ["first_name", "last_name"]);
    update(&mut server, &id, json!({ "first_name": { "action": "accept", "content": { "name": 7 } }, "stray": 1 }));
    assert_eq!(asked(&get(&mut server, &id)), ["last_name"]);
    update(&mut server, &id, json!({ "last_name": name("Lovelace") }));
    // An invalid answer is requested again, under a new key.
    let stands = wait(&mut server, &id, |stands| asked(stands) == ["first_name#2"]);
    assert_eq!(stands["result"]["inputRequests"]["first_name#2"]["method"], "elicitation/create");
    update(&mut server, &id, json!({ "first_name#2": name("Ada") }));
    let ended = wait(&mut server, &id, |stands| stands["result"]["status"] == "completed");
    assert_eq!(ended["result"]["result"]["content"][0]["text"], "Ada Lovelace");
    update(&mut server, &id, json!({ "first_name": name("late") }));
    assert_eq!(get(&mut server, &id)["result"]["result"], ended["result"]["result"], "it stays");
}

//= docs/spec.md#tasks
//= type=test
//# A task that is cancelled or exceeds its lifetime MUST be stopped together with its script.
#[test]
fn a_task_says_what_it_does_and_ends_when_it_is_cancelled() {
    let (_home, mut server) = serve();
    // More than scripts have threads: if one continued, those that follow would wait.
    for _ in 0..6 {
        let id = begin(&mut server, "slow_compute", json!({ "seconds": 100, "label": "tea" }));
        wait(&mut server, &id, |stands| stands["result"]["statusMessage"] == "tea: 0 of 100 seconds");
        let reported = ask(&mut server, "tasks/cancel", &json!({ "taskId": id }), &knows_tasks());
        assert_eq!(reported["result"], json!({ "resultType": "complete" }));
        let ended = wait(&mut server, &id, |stands| stands["result"]["status"] != "working");
        assert_eq!(ended["result"]["status"], "cancelled", "{ended}");
    }
    // One that waits for an answer ends too.
    let id = begin(&mut server, "confirm_delete", json!({ "filename": "a" }));
    wait(&mut server, &id, |stands| stands["result"]["status"] == "input_required");
    ask(&mut server, "tasks/cancel", &json!({ "taskId": id }), &knows_tasks());
    wait(&mut server, &id, |stands| stands["result"]["status"] == "cancelled");
    server.end();
}

//= docs/spec.md#tasks
//= type=test
//# A task and its result MUST be kept until the task expires and no longer, within bounds of their number and bytes.
#[test]
fn a_task_expires_and_is_forgotten() {
    let script = "fn spin(args) { while true {} }";
    let home = Home::with(&[("packs/tools.d/short.toml", TASK_TOOLS), ("packs/tools.d/short.rhai", script)]);
    let mut server = Server::start_modern(&home, &["--dir", "packs", "--pack", "short"]);
    let ids: Vec<String> = (0..6).map(|_| begin(&mut server, "spin", json!({}))).collect();
    for id in &ids {
        // Its outcome is visible for as long as it was to run.
        wait(&mut server, id, |stands| match stands["result"]["status"].as_str() {
            Some("working") => false,
            Some(status) => {
                assert_eq!(status, "failed", "{stands}");
                assert!(stands["result"]["error"]["message"].as_str().unwrap().contains("expired"), "{stands}");
                false
            }
            None => stands["error"]["code"] == -32602,
        });
    }
    assert_eq!(call(&mut server, "say", json!({}))["result"]["content"][0]["text"], "said", "the threads are free");
}

//= docs/spec.md#tasks
//= type=test
//# A call MUST become a task only if its request declares the extension, and a tool that requires it MUST
//# name it to other clients.
#[test]
fn a_client_that_does_not_know_tasks_waits_or_is_refused() {
    let (_home, mut server) = serve();
    let plain = json!({});
    let quick = json!({ "name": "slow_compute", "arguments": { "seconds": 0 } });
    let waited = ask(&mut server, "tools/call", &quick, &plain);
    assert_eq!(waited["result"]["resultType"], "complete", "{waited}");
    let needed = json!({ "requiredCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } } });
    for (method, params) in [
        ("tools/call", json!({ "name": "failing_job", "arguments": {} })),
        ("tasks/get", json!({ "taskId": "x" })),
        ("tasks/update", json!({ "taskId": "x", "inputResponses": {} })),
        ("tasks/cancel", json!({ "taskId": "x" })),
    ] {
        let refused = ask(&mut server, method, &params, &plain);
        assert_eq!(refused["error"]["code"], -32021, "{method} {refused}");
        assert_eq!(refused["error"]["data"], needed, "{method}");
    }
    // Earlier revisions have no tasks: the extension is not listed, and declaring it changes nothing.
    let home = Home::with(&[]);
    let mut older = Server::start_for(&home, PACK, &knows_tasks());
    let waited = older.ask("tools/call", &quick);
    assert_eq!(waited["result"]["content"][0]["text"], "computed nothing in 0 seconds");
    let refused = older.ask("tools/call", &json!({ "name": "failing_job", "arguments": {} }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
}

//= docs/spec.md#tasks
//= type=test
//# Questions that precede a task MUST be answered before the task is created.
#[test]
fn what_is_asked_before_a_task_comes_first() {
    let (_home, mut server) = serve();
    let tool = json!({ "name": "test_tool_with_task", "arguments": {} });
    let first = ask(&mut server, "tools/call", &tool, &knows_tasks());
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    assert!(first["result"].get("taskId").is_none());
    let mut again = tool.clone();
    again["requestState"] = first["result"]["requestState"].clone();
    again["inputResponses"] = json!({ "user_name": name("Ada") });
    let begun = ask(&mut server, "tools/call", &again, &knows_tasks());
    assert_eq!(begun["result"]["resultType"], "task", "{begun}");
    assert!(begun["result"].get("requestState").is_none());
    let id = begun["result"]["taskId"].as_str().unwrap().to_owned();
    let ended = wait(&mut server, &id, |stands| stands["result"]["status"] == "completed");
    assert_eq!(ended["result"]["result"]["content"][0]["text"], "Hello, Ada!");
    again["requestState"] = json!("tampered");
    assert_eq!(ask(&mut server, "tools/call", &again, &knows_tasks())["error"]["code"], -32602);
    // Errors in the arguments are reported at once.
    let wrong = call(&mut server, "confirm_delete", json!({}));
    assert_eq!(wrong["result"]["isError"], true, "{wrong}");
}

//= docs/spec.md#tasks
//= type=test
//# A task MUST have an unguessable id, and MUST be visible only to the bearer and the session that created
//# it.
#[test]
fn what_is_no_task_is_refused() {
    let (_home, mut server) = serve();
    for id in ["", "x", "00000000-0000-4000-8000-000000000000", &"y".repeat(100_000)] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = json!({ "taskId": id, "inputResponses": {} });
            let refused = ask(&mut server, method, &params, &knows_tasks());
            assert_eq!(refused["error"]["code"], -32602, "{method}");
            assert!(refused.to_string().len() < 1_000);
        }
    }
    for (method, code) in
        [("tasks/get", -32602), ("tasks/update", -32602), ("tasks/list", -32601), ("tasks/result", -32601)]
    {
        assert_eq!(ask(&mut server, method, &json!({}), &knows_tasks())["error"]["code"], code, "{method}");
    }
}
