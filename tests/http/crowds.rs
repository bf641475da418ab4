//! A flood of calls without an end in one session, and bodies that are said to be too large: others are served meanwhile.

use crate::attacks::{limited, others_are_served};
use crate::raw::{Raw, call_of, request};
use crate::support::http::Server;
use serde_json::json;
use std::time::{Duration, Instant};

/// More than the threads that there may be, on any machine of a few cores.
const FLOOD: usize = 80;

/// A call of a tool in a session, as bytes.
fn in_session(server: &Server, session: &str, tool: &str, id: usize) -> String {
    let fields = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let mut call = crate::support::http::request("tools/call", json!({ "name": tool, "arguments": {} }));
    call["id"] = id.into();
    request(server, &fields, &call.to_string())
}

//= docs/spec.md#calls
//= type=test
//# The calls of one connection MUST NOT take all threads.
#[test]
fn a_flood_in_one_session_does_not_hold_up_others() {
    let (_home, server) = limited("", false);
    let [flooding, warm] = [server.session(), server.session()];
    let mut flood: Vec<Raw> =
        (0..FLOOD).map(|id| Raw::saying(&server, &in_session(&server, &flooding, "watch_pot", id))).collect();
    for round in 0..3 {
        let new = call_of(&server, json!({ "name": "list_pots", "arguments": {} }), "");
        for (who, text) in
            [("without a session", new), ("in a session", in_session(&server, &warm, "list_pots", round))]
        {
            let began = Instant::now();
            let mut raw = Raw::saying(&server, &text);
            while memchr::memmem::find(&raw.heard, b"blue").is_none() {
                assert!(!raw.is_closed(), "{who}: {}", String::from_utf8_lossy(&raw.heard));
                assert!(began.elapsed() < Duration::from_secs(30), "{who} waits for the flood");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        others_are_served(&server, false);
    }
    let ended = flood.iter_mut().filter_map(|raw| raw.is_closed().then_some(())).count();
    assert_eq!(ended, 0, "calls of the flood go on");
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
