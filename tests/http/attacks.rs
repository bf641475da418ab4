//! Attacks on the connections of a server: each is tried on one whose limit is as good as none, where it must succeed, or
//! it proves nothing, and on one whose limit holds. Meanwhile others are served.

use crate::raw::{Raw, call, call_of, request};
use crate::support::home::Home;
use crate::support::http::{Server, request as message, stateless};
use crate::{pots, pots_limited, serve};
use serde_json::json;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A token that no test sends by accident.
const TOKEN: (&str, &str) = ("TOOLSD_HTTP_TOKEN", "a-token-of-the-tests");
pub const BEARER: &str = "Authorization: Bearer a-token-of-the-tests\r\n";

/// Long enough for a server on a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(20);
/// Long enough for a limit of 300 ms to be seen, if there is one.
const GLANCE: Duration = Duration::from_millis(1_500);

/// A server with these limits, and its workspace.
pub fn limited(limits: &str, has_token: bool) -> (Home, Server) {
    let home = pots_limited(limits);
    let server = serve(&home, &[], if has_token { &[TOKEN] } else { &[] });
    (home, server)
}

#[track_caller]
pub fn others_are_served(server: &Server, has_token: bool) {
    let bearer = [("Authorization", "Bearer a-token-of-the-tests")];
    let began = Instant::now();
    let reply = server.ask_with("tools/list", json!({}), if has_token { &bearer } else { &[] });
    assert_eq!(reply.status, 200, "{}", reply.body);
    assert!(began.elapsed() < PATIENCE, "{:?}", began.elapsed());
}

/// Opens one connection that `begin` makes a nuisance, and looks whether it is closed while `meanwhile` goes on. Gives
/// what the server said last.
fn is_cut(
    limits: (&str, &str),
    has_token: bool,
    begin: impl Fn(&Server) -> Raw,
    meanwhile: impl Fn(&mut Raw),
) -> String {
    let (_home, server) = limited(&format!("{} = 86_400_000", limits.0), has_token);
    let mut free = begin(&server);
    assert!(!free.closes_within(GLANCE, &meanwhile), "a void attack: it fails without the limit {limits:?}");
    let (_home, server) = limited(limits.1, has_token);
    let mut cut = begin(&server);
    others_are_served(&server, has_token);
    assert!(cut.closes_within(PATIENCE, &meanwhile), "{limits:?} does not hold");
    others_are_served(&server, has_token);
    String::from_utf8_lossy(&cut.heard).into_owned()
}

//= docs/spec.md#http
//= type=test
//# A connection that sends no whole head of a request in time, at its beginning or after an answer, MUST be closed.
#[test]
fn silent_and_slow_heads_are_cut() {
    let limits = ("idle_ms", "idle_ms = 300");
    assert_eq!(is_cut(limits, false, Raw::open, |_| {}), "");
    assert_eq!(is_cut(limits, true, Raw::open, |_| {}), "");
    let called = |server: &Server| {
        let mut raw = Raw::saying(server, &call(server, "list_pots", BEARER));
        assert_eq!(raw.answer().0, 200);
        raw
    };
    assert_eq!(is_cut(limits, true, called, |_| {}), "");
    // A page that asks what it may send.
    let asks = |server: &Server| {
        let page = format!("Host: {}\r\nOrigin: http://localhost\r\n", server.address);
        Raw::saying(server, &format!("OPTIONS /mcp HTTP/1.1\r\n{page}\r\n"))
    };
    assert!(is_cut(limits, true, asks, |_| {}).starts_with("HTTP/1.1 204"));
    // A head that drips, first or behind a request that was answered.
    let drip = |raw: &mut Raw| {
        raw.say("x");
    };
    let slow = |server: &Server| Raw::saying(server, "POST /mcp HTTP/1.1\r\nX: ");
    assert_eq!(is_cut(limits, true, slow, drip), "");
    let slow = |server: &Server| {
        let mut raw = called(server);
        raw.say("POST /mcp HTTP/1.1\r\nX: ");
        raw
    };
    assert_eq!(is_cut(limits, true, slow, drip), "");
}

//= docs/spec.md#http
//= type=test
//# A body that does not arrive in time MUST be answered with status 408.
#[test]
fn slow_bodies_are_cut() {
    let begin = |server: &Server| Raw::saying(server, &request(server, "", &" ".repeat(100_000))[..600]);
    for drip in ["", " "] {
        let told = is_cut(("body_ms", "body_ms = 300"), false, begin, |raw| {
            raw.say(drip);
        });
        assert!(told.starts_with("HTTP/1.1 408") && told.ends_with("the body did not arrive in 300ms"), "{told}");
    }
}

/// Megabytes that are asked for: more than both systems hold by themselves.
const DEAF: usize = 3;

/// Asks for megabytes and reads nothing of them.
pub fn deaf(server: &Server) -> Raw {
    Raw::saying(server, &call(server, "pour_pot", "").repeat(DEAF))
}

//= docs/spec.md#http
//= type=test
//# A connection whose client takes nothing of what is sent to it MUST be closed.
#[test]
fn readers_of_nothing_are_cut() {
    let all_comes = |limits: &str, wait: Duration| {
        let (_home, server) = limited(limits, false);
        let deaf = deaf(&server);
        let end = Instant::now() + wait;
        while Instant::now() < end {
            others_are_served(&server, false);
        }
        // Each part of what comes is looked through once.
        let (looked, found) = (Cell::new(0_usize), Cell::new(0));
        let count = |heard: &[u8]| {
            let head = b"HTTP/1.1 200";
            let from = looked.replace(heard.len()).saturating_sub(head.len() - 1);
            found.set(found.get() + memchr::memmem::find_iter(&heard[from.min(heard.len())..], head).count());
            found.get()
        };
        let (_, is_reset) = deaf.rest_until(|heard| count(heard) == DEAF, PATIENCE);
        (found.get() == DEAF, is_reset)
    };
    assert!(all_comes("write_ms = 86_400_000", GLANCE).0, "a void attack");
    // A busy machine needs longer for it. The system is told to forget what was not taken: it says so by a reset.
    let cut = (1..5).map(|more| all_comes("write_ms = 300", GLANCE * more)).find(|(all, _)| !all);
    assert_eq!(cut, Some((false, true)));
}

/// How many of these are still open, once no more than `few` are, or the time is over.
pub fn open_of(crowd: &mut [Raw], few: usize, time: Duration) -> usize {
    let end = Instant::now() + time;
    loop {
        let open = crowd.iter_mut().filter_map(|raw| (!raw.is_closed()).then_some(())).count();
        if open <= few || Instant::now() > end {
            return open;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

//= docs/spec.md#http
//= type=test
//# When too many connections are open the one that has been silent longest MUST be closed, and another be served at once.
#[test]
fn crowds_make_room_for_others() {
    let proven = |server: &Server| {
        let mut raw = Raw::saying(server, &call(server, "list_pots", BEARER));
        assert_eq!(raw.answer().0, 200);
        raw
    };
    let slow = |server: &Server| Raw::saying(server, "POST /mcp HTTP/1.1\r\nX: ");
    // Its answer is not read.
    let bad = |server: &Server| Raw::saying(server, "POST /mcp HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n");
    type Begin<'a> = &'a dyn Fn(&Server) -> Raw;
    // The last word says whether the first ones are silent longest: answers are written to the deaf ones in any order.
    let cases: [(bool, Begin<'_>, bool); 8] = [
        (false, &Raw::open, true),
        (false, &slow, true),
        (false, &proven, true),
        (false, &deaf, false),
        (true, &proven, true),
        (true, &Raw::open, true),
        (true, &slow, true),
        (true, &bad, true),
    ];
    for (has_token, begin, is_in_order) in crate::support::sample(cases.to_vec(), 4) {
        for (limit, is_limited) in [(6, true), (60_000, false)] {
            let (_home, server) = limited(&format!("connections = {limit}"), has_token);
            let mut crowd: Vec<Raw> = (0..20).map(|_| begin(&server)).collect();
            others_are_served(&server, has_token);
            if is_limited {
                let open = open_of(&mut crowd, limit, PATIENCE);
                assert!(open <= limit, "{open} are open");
                assert!(crowd[0].is_closed() || !is_in_order);
            } else {
                assert_eq!(open_of(&mut crowd, 19, GLANCE), 20, "a void attack");
            }
        }
    }
}

//= docs/spec.md#http
//= type=test
//# The limit of connections MUST be one for all: none for an address, and none for those without the token.
#[test]
fn a_proxy_opens_as_many_as_all_may() {
    for has_token in [false, true] {
        let (_home, server) = limited("", has_token);
        let mut crowd: Vec<Raw> = (0..150).map(|_| Raw::open(&server)).collect();
        others_are_served(&server, has_token);
        assert_eq!(open_of(&mut crowd, 0, GLANCE), 150);
        for raw in &mut crowd {
            raw.say(&call(&server, "list_pots", BEARER));
            assert_eq!(raw.answer().0, 200);
        }
    }
}

#[test]
fn clients_that_read_nothing_do_not_hold_up_others() {
    let (_home, server) = limited("write_ms = 86_400_000", true);
    let text = call(&server, "pour_pot", BEARER).repeat(DEAF);
    let mut crowd: Vec<Raw> = (0..200).map(|_| Raw::saying(&server, &text)).collect();
    let end = Instant::now() + GLANCE;
    while Instant::now() < end {
        others_are_served(&server, true);
    }
    let answered = |raw: &mut Raw| !raw.is_closed() && !raw.heard.is_empty();
    let end = Instant::now() + PATIENCE;
    while crowd.iter_mut().filter_map(|raw| answered(raw).then_some(())).count() < 100 {
        assert!(Instant::now() < end, "a void attack: the crowd gets nothing");
        others_are_served(&server, true);
    }
}

#[test]
fn a_call_that_is_worked_on_is_not_crowded_out() {
    let (_home, server) = limited("connections = 4", false);
    let params = json!({ "name": "watch_pot", "arguments": {}, "_meta": { "progressToken": 1 } });
    let mut working = Raw::saying(&server, &call_of(&server, params, ""));
    while memchr::memmem::find(&working.heard, b"notifications/progress").is_none() {
        assert!(!working.is_closed());
    }
    let mut crowd: Vec<Raw> = (0..20).map(|_| Raw::open(&server)).collect();
    others_are_served(&server, false);
    assert!(open_of(&mut crowd, 3, PATIENCE) < 4 && !working.is_closed());
    // Unless there is nobody else.
    let mut working: Vec<Raw> = (0..8)
        .map(|_| {
            let params = json!({ "name": "watch_pot", "arguments": {}, "_meta": { "progressToken": 1 } });
            Raw::saying(&server, &call_of(&server, params, ""))
        })
        .collect();
    others_are_served(&server, false);
    assert!(open_of(&mut working, 3, PATIENCE) < 4);
}

#[test]
fn streams_that_nobody_reads_leave_room() {
    let (_home, server) = limited("connections = 6", false);
    let mut streams: Vec<Raw> = (0..20)
        .map(|_| {
            let session = server.session();
            let (host, accept) = (server.address, "Accept: text/event-stream");
            Raw::saying(
                &server,
                &format!("GET /mcp HTTP/1.1\r\nHost: {host}\r\n{accept}\r\nMcp-Session-Id: {session}\r\n\r\n"),
            )
        })
        .collect();
    let listens = stateless("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
    let fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n";
    streams.extend((0..20).map(|_| Raw::saying(&server, &request(&server, fields, &listens.to_string()))));
    others_are_served(&server, false);
    assert!(open_of(&mut streams, 6, PATIENCE) <= 6);
    others_are_served(&server, false);
}

//= docs/spec.md#http
//= type=test
//# After status 401 the connection MUST be closed.
#[test]
fn a_stranger_gets_one_small_answer() {
    let (_home, server) = limited("", true);
    for fields in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic a-token-of-the-tests\r\n"] {
        let told = Raw::saying(&server, &call(&server, "list_pots", fields).repeat(2)).rest();
        assert!(told.starts_with("HTTP/1.1 401"), "{told}");
        assert_eq!(told.matches("HTTP/1.1").count(), 1, "{told}");
        assert!(told.contains("connection: close") && told.len() < 1_024, "{told}");
    }
    let told = Raw::saying(&server, &call(&server, "list_pots", BEARER)).answer();
    assert_eq!(told.0, 200);
}

/// More than any server of these tests lets in at the usual limits.
const MANY: usize = 1_040;

#[test]
fn the_usual_limits_hold_a_thousand() {
    let many = || {
        let home = pots();
        let server = serve(&home, &[], &[TOKEN]);
        (home, server)
    };
    type Begin<'a> = &'a dyn Fn(&Server) -> Raw;
    let deaf = |server: &Server| Raw::saying(server, &call(server, "pour_pot", BEARER));
    let slow = |server: &Server| Raw::saying(server, "POST /mcp HTTP/1.1\r\nX: ");
    let bad = |server: &Server| Raw::saying(server, &call(server, "pour_pot", "Authorization: Bearer wrong\r\n"));
    let attacks: [Begin<'_>; 4] = [&Raw::open, &slow, &bad, &deaf];
    for begin in crate::support::sample(attacks.to_vec(), 2) {
        let (_home, server) = many();
        let mut known = Raw::saying(&server, &call(&server, "list_pots", BEARER));
        assert_eq!(known.answer().0, 200);
        let crowd: Vec<Raw> = (0..MANY).map(|_| begin(&server)).collect();
        others_are_served(&server, true);
        drop(crowd);
    }
}

#[test]
fn sessions_of_others_are_not_found() {
    let (_home, server) = limited("", false);
    let session = server.session();
    let list = message("tools/list", json!({})).to_string();
    let with = |id: &str| {
        let fields = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        Raw::saying(&server, &request(&server, &fields, &list)).answer_head()
    };
    assert_eq!(with(&session), 200);
    for other in [session.to_uppercase(), format!("{session}0"), session[1..].to_owned()] {
        assert_eq!(with(&other), 404, "{other}");
    }
}
