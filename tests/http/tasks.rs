//! Tasks over HTTP: any request of their client finds them, and those of others do not.

use crate::support::home::Home;
use crate::support::http::{Reply, Server};
use serde_json::{Value, json};

fn ask(server: &Server, method: &str, mut params: Value, more: &[(&str, &str)]) -> Reply {
    let knows = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    params["_meta"] = json!({ "io.modelcontextprotocol/clientCapabilities": knows });
    server.ask_with(method, params, more)
}

//= docs/spec.md#tasks
//= type=test
//# A task MUST have an unguessable id, and MUST be visible only to the bearer and the session that created
//# it.
#[test]
fn a_task_outlives_its_connection_and_stays_its_clients() {
    let home = Home::with(&[]);
    let server = Server::start(&home, &["--pack", "conformance"], &[]);
    let params = json!({ "name": "slow_compute", "arguments": { "seconds": 90 } });
    let begun = ask(&server, "tools/call", params, &[]).answer();
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let task = json!({ "taskId": id });
    assert_eq!(ask(&server, "tasks/get", task.clone(), &[]).answer()["result"]["status"], "working");
    // The name in the header is what a balancer goes by.
    assert_eq!(ask(&server, "tasks/get", task.clone(), &[("Mcp-Name", "another")]).code(), -32020);
    let session = server.session();
    for other in [("Mcp-Session-Id", session.as_str()), ("Authorization", "Bearer other")] {
        let hidden = ask(&server, "tasks/get", task.clone(), &[other]);
        assert!(!hidden.body.contains("working"), "{hidden:?}");
        ask(&server, "tasks/cancel", task.clone(), &[other]);
    }
    assert_eq!(ask(&server, "tasks/get", task.clone(), &[]).answer()["result"]["status"], "working");
    assert_eq!(ask(&server, "tasks/cancel", task, &[]).answer()["result"]["resultType"], "complete");
}
