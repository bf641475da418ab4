//! What a server over HTTP takes at most, and that it goes on when it is offered more.

use crate::client::{Server, request, stateless};
use crate::{pots, serve};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Bytes of a body, at most.
const BODY: usize = 4 << 20;
/// Sessions that are open at a time.
const SESSIONS: usize = 1_000;

fn goes_on(server: &Server) {
    assert_eq!(server.ask("tools/list", json!({})).status, 200);
}

//= docs/spec.md#http
//= type=test
//# A request whose head or body is too large MUST be refused, and the server MUST go on.
#[test]
fn a_head_or_body_that_is_too_large_is_refused() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let of_length = |length: usize| {
        let body = stateless("tools/list", json!({ "stuff": "" })).to_string();
        body.replace(r#""stuff":"""#, &format!(r#""stuff":"{}""#, "x".repeat(length - body.len())))
    };
    let headers = [("MCP-Protocol-Version", crate::client::STATELESS), ("Mcp-Method", "tools/list")];
    assert_eq!(server.send("POST", &headers, &of_length(BODY)).status, 200);
    assert_eq!(server.send("POST", &headers, &of_length(BODY + 1)).status, 413);
    goes_on(&server);
    let many: Vec<(String, String)> = (0..200).map(|at| (format!("X-Header-{at}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(server.send("POST", &many, "{}").status, 431);
    goes_on(&server);
    // One without an end: the server gives up on it, and the client learns so or is cut off.
    let mut endless = TcpStream::connect(server.address).unwrap();
    endless.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    endless.set_write_timeout(Some(Duration::from_secs(30))).unwrap();
    let mut sent = write!(endless, "POST /mcp HTTP/1.1\r\nX-Endless: ").is_ok();
    for _ in 0..1_024 {
        sent = sent && endless.write_all(&[b'x'; 4_096]).is_ok();
    }
    let mut reply = Vec::new();
    let heard = endless.read_to_end(&mut reply).map_err(|error| error.kind());
    let told = String::from_utf8_lossy(&reply);
    assert!(told.starts_with("HTTP/1.1 431") || heard == Err(ErrorKind::ConnectionReset), "{heard:?} {told}");
    goes_on(&server);
}

//= docs/spec.md#http
//= type=test
//# When too many sessions are open another MUST be refused with status 503, until one ends.
#[test]
fn too_many_sessions_are_refused_until_one_ends() {
    let home = pots();
    let server = serve(&home, &[], &[]);
    let hello =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } });
    let hello = request("initialize", hello).to_string();
    let mut first: Option<String> = None;
    for at in 0..SESSIONS {
        let reply = server.send("POST", &[], &hello);
        assert_eq!(reply.status, 200, "{at}");
        first.get_or_insert_with(|| reply.header("mcp-session-id").unwrap().to_owned());
    }
    let refused = server.send("POST", &[], &hello);
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("60")));
    goes_on(&server);
    let first = first.unwrap();
    assert_eq!(server.send("DELETE", &[("Mcp-Session-Id", &first)], "").status / 100, 2);
    assert_eq!(server.send("POST", &[], &hello).status, 200);
}

//= docs/spec.md#questions
//= type=test
//# Processes with one key MUST be able to go on with what another of them began.
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
