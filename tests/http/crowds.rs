//! Crowds of calls without an end, of whoever they pretend to be, and bodies that are said to be too large: others are served meanwhile.

use crate::attacks::{limited, others_are_served};
use crate::raw::{Raw, call_of, request};
use crate::support::http::Server;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// More than threads are kept for, on any machine of a few cores.
const CROWD: u8 = 80;

/// By what those of a crowd are told from each other.
const WAYS: [&str; 4] = ["connection", "client", "address", "session"];

fn said(name: &str) -> Value {
    json!({ "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" } })
}

/// A call of a tool in a session, as bytes.
fn in_session(server: &Server, session: &str, tool: &str) -> String {
    let fields = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let call = crate::support::http::request("tools/call", json!({ "name": tool, "arguments": {} }));
    request(server, &fields, &call.to_string())
}

/// One of a crowd, whose call has no end.
fn endless(server: &Server, way: &str, number: u8) -> Raw {
    let watch = |name: &str| call_of(server, json!({ "name": "watch_pot", "arguments": {}, "_meta": said(name) }), "");
    match way {
        "connection" => Raw::saying(server, &watch("other")),
        "client" => Raw::saying(server, &watch(&number.to_string())),
        "address" => Raw::from(server, 10 + number, &watch("other")),
        _ => Raw::saying(server, &in_session(server, &server.session(), "watch_pot")),
    }
}

//= docs/spec.md#calls
//= type=test
//# A call of a connection that has none of the tool at work MUST NOT wait for the end of others: those that have been at work for long are moved aside.
#[test]
fn whoever_a_crowd_pretends_to_be_others_are_served() {
    for way in crate::support::sample(WAYS.to_vec(), 2) {
        let (_home, server) = limited("", false);
        let warm = server.session();
        let mut crowd: Vec<Raw> = (0..CROWD).map(|number| endless(&server, way, number)).collect();
        for round in 0..3 {
            let new = call_of(&server, json!({ "name": "list_pots", "arguments": {}, "_meta": said("other") }), "");
            let others = [("as one of them", new.clone()), ("in a session", in_session(&server, &warm, "list_pots"))];
            for (who, text) in others {
                let began = Instant::now();
                let mut raw = Raw::saying(&server, &text);
                while memchr::memmem::find(&raw.heard, b"blue").is_none() {
                    assert!(!raw.is_closed(), "{who}: {}", String::from_utf8_lossy(&raw.heard));
                    assert!(began.elapsed() < Duration::from_secs(30), "{who} waits for a crowd told by its {way}");
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
            // From elsewhere, too, and what needs no script.
            assert_eq!(Raw::from(&server, 9, &new).answer().0, 200, "{way}, {round}");
            others_are_served(&server, false);
        }
        let ended = crowd.iter_mut().filter_map(|raw| raw.is_closed().then_some(())).count();
        assert_eq!(ended, 0, "of a crowd told by its {way}");
    }
}

//= docs/spec.md#http
//= type=test
//# A body whose length is said to be too large MUST be refused before it comes.
#[test]
fn a_length_that_is_too_large_is_refused_from_the_head_alone() {
    let (_home, server) = limited("body_ms = 86_400_000", false);
    let whole = request(&server, "", "");
    for length in ["4194305", "9223372036854775807"] {
        let head = whole.replace("Content-Length: 0", &format!("Content-Length: {length}"));
        let told = Raw::saying(&server, &head).rest();
        assert!(told.starts_with("HTTP/1.1 413"), "{length}: {told}");
    }
    others_are_served(&server, false);
}
