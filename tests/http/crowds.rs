//! Crowds of calls without an end, of whoever they pretend to be, and crowds of large answers: others are served meanwhile.

use crate::attacks::{limited, others_are_served};
use crate::raw::{Raw, call, call_of, request};
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
//# Where requests are worked on in all connections, the one that is closed MUST be of the address that has the most.
#[test]
fn a_crowd_of_calls_makes_room_among_itself() {
    let (_home, server) = limited("connections = 6", false);
    let mut lone = Raw::saying(&server, &call(&server, "watch_pot", ""));
    std::thread::sleep(Duration::from_millis(50));
    let mut crowd: Vec<Raw> = (0..20).map(|_| Raw::from(&server, 9, &call(&server, "watch_pot", ""))).collect();
    let end = Instant::now() + Duration::from_secs(30);
    while crowd.iter_mut().filter_map(|raw| raw.is_closed().then_some(())).count() < 14 {
        assert!(Instant::now() < end, "the crowd stays");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(!lone.closes_within(Duration::from_millis(300), |_| {}), "it is closed in place of one of the crowd");
}

//= docs/spec.md#http
//= type=test
//# A body whose length is said to be too large MUST be refused before it comes.
#[test]
fn a_length_that_is_too_large_is_refused_from_the_head_alone() {
    let (_home, server) = limited("body_pause_ms = 86_400_000\nbody_ms = 86_400_000", false);
    let whole = request(&server, "", "");
    for length in ["4194305", "9223372036854775807"] {
        let head = whole.replace("Content-Length: 0", &format!("Content-Length: {length}"));
        let told = Raw::saying(&server, &head).rest();
        assert!(told.starts_with("HTTP/1.1 413"), "{length}: {told}");
    }
    others_are_served(&server, false);
}

//= docs/spec.md#http
//= type=test
//# An answer MUST be counted before it is written, and be dropped with a word where too many bytes wait.
#[test]
fn a_large_answer_for_which_there_is_no_room_is_dropped_with_a_word() {
    // A megabyte is poured at a time.
    for (limit, is_told) in [(64, false), (1, true)] {
        let (_home, server) = limited(&format!("pending_mb = {limit}"), false);
        let session = server.session();
        for text in [call(&server, "pour_pot", ""), in_session(&server, &session, "pour_pot")] {
            let mut raw = Raw::wide(&server);
            raw.say(&text);
            let wanted = if is_told { "bytes was dropped: too many bytes wait" } else { "xxxx" };
            let end = Instant::now() + Duration::from_secs(30);
            while memchr::memmem::find(&raw.heard, wanted.as_bytes()).is_none() {
                let told = String::from_utf8_lossy(&raw.heard[..raw.heard.len().min(400)]).into_owned();
                assert!(!raw.is_closed() && Instant::now() < end, "{limit}: {told}");
                std::thread::sleep(Duration::from_millis(2));
            }
        }
        others_are_served(&server, false);
    }
}
