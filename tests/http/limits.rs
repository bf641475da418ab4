//! The limits of a server over HTTP, and that it continues when it is offered more.

use crate::attacks::{limited, others_are_served};
use crate::raw::Raw;
use crate::support::http::{Server, request, stateless};
use crate::{pots, pots_limited, serve};
use serde_json::{Value, json};
use std::time::Duration;

/// Bytes of a body, at most.
const MAX_BODY_BYTES: usize = 4 << 20;
fn goes_on(server: &Server) {
    assert_eq!(server.ask("tools/list", json!({})).status, 200);
}

//= docs/spec.md#http
//= type=test
//# A request whose head, body or declared length is too large MUST be refused, and the server MUST continue.
#[test]
fn a_head_or_body_that_is_too_large_is_refused() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let of_length = |length: usize| {
        let body = stateless("tools/list", json!({ "stuff": "" })).to_string();
        body.replace(r#""stuff":"""#, &format!(r#""stuff":"{}""#, "x".repeat(length - body.len())))
    };
    let headers = [("MCP-Protocol-Version", crate::support::http::STATELESS), ("Mcp-Method", "tools/list")];
    assert_eq!(server.send("POST", &headers, &of_length(MAX_BODY_BYTES)).status, 200);
    assert_eq!(server.send("POST", &headers, &of_length(MAX_BODY_BYTES + 1)).status, 413);
    goes_on(&server);
    let many: Vec<(String, String)> = (0..200).map(|at| (format!("X-Header-{at}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(server.send("POST", &many, "{}").status, 431);
    goes_on(&server);
}

/// Opens a session; the answer.
fn hello(server: &Server) -> crate::support::http::Reply {
    let client = json!({ "name": "t", "version": "0" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    server.send("POST", &[], &request("initialize", hello).to_string())
}

//= docs/spec.md#http
//= type=test
//# When too many sessions are open, the longest idle one without a running call MUST be closed, and its
//# requests answered with status 404.
#[test]
fn a_session_whose_call_runs_stays_and_so_does_the_server() {
    let home = pots_limited("max_sessions = 3");
    let server = serve(&home, &[], &[]);
    let begin = || {
        let session = server.session();
        let mut raw = in_session(&server, &session, "watch_pot", json!(1));
        assert!(!raw.closes_within(Duration::from_millis(200), |_| {}));
        (session, raw)
    };
    let (_busy, mut raw) = begin();
    for _ in 0..10 {
        server.session();
    }
    assert!(!raw.is_closed(), "a call was given up for others");
    let _more = (begin(), begin());
    let refused = hello(&server);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")), "calls run in all of them");
    drop(raw);
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while hello(&server).status != 200 {
        assert!(std::time::Instant::now() < end, "an abandoned call is still counted");
    }
}

/// A call in a session, under an id.
fn in_session(server: &Server, session: &str, tool: &str, id: Value) -> Raw {
    let mut call = request("tools/call", json!({ "name": tool, "arguments": {} }));
    call["id"] = id;
    let fields = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    Raw::saying(server, &crate::raw::request(server, &fields, &call.to_string()))
}

#[test]
fn an_id_is_one_request_at_a_time() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let (session, other) = (server.session(), server.session());
    let mut running = in_session(&server, &session, "watch_pot", json!(7));
    assert!(!running.closes_within(Duration::from_millis(200), |_| {}));
    let (status, reported) = in_session(&server, &session, "list_pots", json!(7)).answer();
    assert!(status == 400 && reported.contains("a request with this id is still running"), "{status} {reported}");
    for (session, id) in [(&session, json!("7")), (&session, json!(8)), (&other, json!(7))] {
        assert_eq!(in_session(&server, session, "list_pots", id.clone()).answer_head(), 200, "{id}");
    }
    assert!(!running.is_closed(), "the first one continues");
    let taken_back =
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 7 } }).to_string();
    let headers = [("Mcp-Session-Id", session.as_str()), ("MCP-Protocol-Version", "2025-11-25")];
    assert_eq!(server.send("POST", &headers, &taken_back).status, 202);
    drop(running);
    let end = std::time::Instant::now() + Duration::from_secs(20);
    while in_session(&server, &session, "list_pots", json!(7)).answer_head() != 200 {
        assert!(std::time::Instant::now() < end, "an id is never free again");
    }
}

//= docs/spec.md#questions
//= type=test
//# A call that waits for an answer MUST be able to continue in another process with the same key.
#[test]
fn a_call_that_asks_goes_on_in_another_process() {
    let home = pots();
    let key = [("TOOLSD_STATE_KEY", "0123456789abcdef0123456789abcdef")];
    let pack = ["--pack", "conformance"];
    let first = Server::start(&home, &pack, &key);
    let second = Server::start(&home, &pack, &key);
    let stranger = Server::start(&home, &pack, &[("TOOLSD_STATE_KEY", "fedcba9876543210fedcba9876543210")]);
    let call = |server: &Server, state: &Value, answers: Value| {
        let knows = json!({ "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} } });
        let name = "test_input_required_result_multi_round";
        let mut params = json!({ "name": name, "arguments": {}, "inputResponses": answers, "_meta": knows });
        if !state.is_null() {
            params["requestState"] = state.clone();
        }
        server.ask("tools/call", params).answer()
    };
    let asked = call(&first, &Value::Null, json!({}));
    let state = asked["result"]["requestState"].clone();
    assert_eq!(asked["result"]["inputRequests"]["step1"]["method"], "elicitation/create", "{asked}");
    // It is killed while its client thinks.
    drop(first);
    let name = json!({ "step1": { "action": "accept", "content": { "name": "Ada" } } });
    assert_eq!(call(&stranger, &state, name.clone())["error"]["code"], -32602, "another key");
    let asked = call(&second, &state, name);
    let state = asked["result"]["requestState"].clone();
    drop(second);
    let third = Server::start(&home, &pack, &key);
    let colour = json!({ "step2": { "action": "accept", "content": { "color": "blue" } } });
    let ended = call(&third, &state, colour);
    assert_eq!(ended["result"]["content"][0]["text"], "Ada likes blue", "{ended}");
}

//= docs/spec.md#http
//= type=test
//# Large requests and responses MUST NOT delay those of other clients.
//= docs/spec.md#calls
//= type=test
//# The calls of one connection MUST NOT occupy all threads, and connections with queued calls MUST be served
//# in turn.
#[test]
fn a_flood_in_one_session_does_not_hold_up_others() {
    let (_home, server) = limited("", false);
    let [flooding, warm] = [server.session(), server.session()];
    // More than the threads that there may be, on any machine of a few cores.
    let mut flood: Vec<Raw> = (0..80).map(|id| in_session(&server, &flooding, "watch_pot", json!(id))).collect();
    for round in 0..3 {
        assert_eq!(in_session(&server, &warm, "list_pots", json!(round)).answer_head(), 200);
        assert_eq!(server.ask("tools/call", json!({ "name": "list_pots", "arguments": {} })).status, 200);
        others_are_served(&server, false);
    }
    let ended = flood.iter_mut().filter_map(|raw| raw.is_closed().then_some(())).count();
    assert_eq!(ended, 0, "calls of the flood continue");
}

#[test]
fn a_length_that_is_too_large_is_refused_from_the_head_alone() {
    let (_home, server) = limited("body_ms = 86_400_000", false);
    let whole = crate::raw::request(&server, "", "");
    for length in ["4194305", "9223372036854775807"] {
        let head = whole.replace("Content-Length: 0", &format!("Content-Length: {length}"));
        let reported = Raw::saying(&server, &head).rest();
        assert!(reported.starts_with("HTTP/1.1 413"), "{length}: {reported}");
    }
    others_are_served(&server, false);
}
