//! Questions to the client in both eras, on standard streams, with the pack of the conformance fixtures.

use crate::support::home::Home;
use crate::support::server::Server;
use serde_json::{Value, json};

const PACK: &[&str] = &["--pack", "conformance"];

fn everything() -> Value {
    json!({ "elicitation": {}, "sampling": {}, "roots": {} })
}

fn serve(capabilities: &Value) -> (Home, Server) {
    let home = Home::with(&[]);
    let server = Server::start_for(&home, PACK, capabilities);
    (home, server)
}

fn call(server: &mut Server, id: &str, tool: &str) {
    let params = json!({ "name": tool, "arguments": {} });
    server.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
}

fn answer(server: &mut Server, question: &Value, result: &Value) {
    server.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
}

pub fn name(name: &str) -> Value {
    json!({ "action": "accept", "content": { "name": name } })
}

/// Asks in the stateless era.
pub fn ask(server: &mut Server, method: &str, params: &Value, capabilities: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    });
    server.ask(method, &params)
}

//= docs/spec.md#questions
//= type=test
//# An answer MUST be validated against its schema, and a missing or invalid one MUST be requested again, a
//# bounded number of times.
//= docs/spec.md#calls
//= type=test
//# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
#[test]
fn a_session_is_asked_while_its_calls_wait() {
    let (_home, mut server) = serve(&everything());
    for at in 0..20 {
        call(&mut server, &format!("w{at}"), "test_input_required_result_elicitation");
    }
    let is_question = |message: &Value| message["method"] == "elicitation/create";
    let questions: Vec<Value> = (0..20).map(|_| server.wait(is_question)).collect();
    assert_eq!(questions[0]["params"]["requestedSchema"]["required"], json!(["name"]));
    assert_eq!(server.said("test_trigger_tool_change", &json!({})), "sent", "all wait, and this runs");
    let mut names = std::collections::BTreeSet::new();
    for (at, question) in questions.iter().enumerate() {
        answer(&mut server, question, &json!({ "action": "accept", "content": { "name": at } }));
        let again = server.wait(is_question);
        answer(&mut server, &again, &name(&format!("N{at}")));
        let said = server.wait(|message| message["id"].as_str().is_some_and(|id| id.starts_with('w')));
        names.insert(said["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    assert_eq!(names.len(), 20, "{names:?}");
    // Taken back: the question is too, and the call is not answered.
    call(&mut server, "gone", "test_input_required_result_elicitation");
    let question = server.wait(is_question);
    let cancelled =
        |id: &Value| json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } });
    server.send(&cancelled(&json!("gone")));
    let taken_back = server.wait(|message| message["method"] == "notifications/cancelled" || message["id"] == "gone");
    assert_eq!(taken_back["params"]["requestId"], question["id"]);
}

//= docs/spec.md#questions
//= type=test
//# A client without a required capability MUST get an error that names the capability.
#[test]
fn a_client_that_lacks_something_hears_so_in_both_eras() {
    let (_home, mut server) = serve(&json!({}));
    let params = json!({ "name": "test_missing_capability", "arguments": {} });
    let old = server.ask("tools/call", &params);
    assert_eq!(old["result"]["isError"], true, "{old}");
    let new = ask(&mut server, "tools/call", &params, &json!({}));
    assert_eq!(new["error"]["code"], -32021);
    assert_eq!(new["error"]["data"], json!({ "requiredCapabilities": { "sampling": {} } }));
}

#[test]
fn a_user_is_sent_to_an_address_in_both_eras() {
    let visits = json!({ "elicitation": { "url": {} } });
    let (_home, mut server) = serve(&visits);
    call(&mut server, "visit", "test_elicitation_url");
    let question = server.wait(|message| message["method"] == "elicitation/create");
    assert_eq!(question["params"]["mode"], "url", "{question}");
    assert_eq!(question["params"]["url"], "https://example.org/page");
    assert!(question["params"]["elicitationId"].as_str().is_some_and(|id| !id.is_empty()));
    answer(&mut server, &question, &json!({ "action": "accept" }));
    assert_eq!(server.wait(|message| message["id"] == "visit")["result"]["content"][0]["text"], "accept");
    let mut params = json!({ "name": "test_elicitation_url", "arguments": {} });
    let asked = ask(&mut server, "tools/call", &params, &visits);
    assert_eq!(asked["result"]["inputRequests"]["visit"]["params"]["mode"], "url", "{asked}");
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({ "visit": { "action": "decline" } });
    let ended = ask(&mut server, "tools/call", &params, &visits);
    assert_eq!(ended["result"]["content"][0]["text"], "decline");
    // It is optional: a client that shows forms alone is not asked.
    let forms =
        ask(&mut server, "tools/call", &json!({ "name": "test_elicitation_url" }), &json!({ "elicitation": {} }));
    assert_eq!(forms["result"]["content"][0]["text"], "the client cannot open URLs");
}

//= docs/spec.md#questions
//= type=test
//# A request state that was modified, that belongs to another request or that has expired MUST be refused
//# with code -32602.
#[test]
fn a_stateless_call_is_suspended_and_goes_on() {
    let (_home, mut server) = serve(&json!({}));
    let tool = "test_input_required_result_multi_round";
    let call = |server: &mut Server, tool: &str, answers: Value, state: &Value| {
        let mut params = json!({ "name": tool, "arguments": {}, "inputResponses": answers });
        if !state.is_null() {
            params["requestState"] = state.clone();
        }
        ask(server, "tools/call", &params, &everything())
    };
    let first = call(&mut server, tool, Value::Null, &Value::Null);
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let state = &first["result"]["requestState"];
    let second = call(&mut server, tool, json!({ "step1": name("Ada"), "stray": 1 }), state);
    let keys: Vec<&String> = second["result"]["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["step2"]);
    let state = &second["result"]["requestState"];
    let blue = json!({ "step2": { "action": "accept", "content": { "color": "blue" } } });
    let third = call(&mut server, tool, blue.clone(), state);
    assert_eq!(third["result"]["content"][0]["text"], "Ada likes blue", "{third}");
    let tampered = json!(format!("{}-TAMPERED", state.as_str().unwrap()));
    assert_eq!(call(&mut server, tool, blue.clone(), &tampered)["error"]["code"], -32602);
    let other = "test_input_required_result_elicitation";
    assert_eq!(call(&mut server, other, blue, state)["error"]["code"], -32602);
    // Answers that come before they are asked for need no state.
    let at_once = call(&mut server, other, json!({ "user_name": name("Ada") }), &Value::Null);
    assert_eq!(at_once["result"]["content"][0]["text"], "Hello, Ada!", "{at_once}");
    let prompt = json!({ "name": "test_input_required_result_prompt" });
    let asked = ask(&mut server, "prompts/get", &prompt, &everything());
    assert!(asked["result"]["inputRequests"]["user_context"].is_object(), "{asked}");
}

//= docs/spec.md#questions
//= type=test
//# A case with answers MUST have the same result whether its call waits or is suspended.
#[test]
fn cases_with_answers_pass_in_both_eras() {
    let home = Home::with(&[]);
    let run = |name: &str| home.command().args(["test", name, "--pack", name]).output().unwrap();
    let passed = run("conformance");
    assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stdout));
}
