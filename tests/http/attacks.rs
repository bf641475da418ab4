//! Attacks on the connections of a server. Each runs against one with a practically unlimited limit, where it must
//! succeed, or it proves nothing, and against one with a limit that holds. Meanwhile others are served.

use crate::raw::{Raw, call, request};
use crate::support::home::Home;
use crate::support::http::Server;
use crate::{pots_limited, serve};
use serde_json::json;
use std::cell::Cell;
use std::time::{Duration, Instant};

/// A token that no test sends by accident.
const TOKEN: (&str, &str) = ("TOOLSD_HTTP_TOKEN", "a-token-of-the-tests");
pub const BEARER: &str = "Authorization: Bearer a-token-of-the-tests\r\n";

/// Long enough for a server on a busy machine.
pub const TEST_TIMEOUT: Duration = Duration::from_secs(20);
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
    assert!(began.elapsed() < TEST_TIMEOUT, "{:?}", began.elapsed());
}

/// Opens one connection that `begin` makes a nuisance, and checks whether it is closed while `meanwhile` runs. Returns
/// what the server sent last.
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
    assert!(cut.closes_within(TEST_TIMEOUT, &meanwhile), "{limits:?} does not hold");
    others_are_served(&server, has_token);
    String::from_utf8_lossy(&cut.heard).into_owned()
}

//= docs/spec.md#http
//= type=test
//# A client that does not send a request or read a response in time MUST be disconnected.
#[test]
fn silent_and_slow_heads_are_cut() {
    let called = |server: &Server| {
        let mut raw = Raw::saying(server, &call(server, "list_pots", BEARER));
        assert_eq!(raw.answer().0, 200);
        raw
    };
    let slow = |server: &Server| Raw::saying(server, "POST /mcp HTTP/1.1\r\nX: ");
    let slow_after_a_call = |server: &Server| {
        let mut raw = called(server);
        raw.say("POST /mcp HTTP/1.1\r\nX: ");
        raw
    };
    type Begin<'a> = &'a dyn Fn(&Server) -> Raw;
    // How it begins, and what it keeps sending.
    let cases: [(Begin<'_>, &str); 4] = [(&Raw::open, ""), (&called, ""), (&slow, "x"), (&slow_after_a_call, "x")];
    for (begin, drip) in cases {
        let meanwhile = |raw: &mut Raw| {
            raw.say(drip);
        };
        assert_eq!(is_cut(("keep_alive_timeout_ms", "keep_alive_timeout_ms = 300"), true, begin, meanwhile), "");
    }
}

#[test]
fn slow_bodies_are_cut() {
    let begin = |server: &Server| Raw::saying(server, &request(server, "", &" ".repeat(100_000))[..600]);
    for drip in ["", " "] {
        let reported = is_cut(("body_timeout_ms", "body_timeout_ms = 300"), false, begin, |raw| {
            raw.say(drip);
        });
        assert!(
            reported.starts_with("HTTP/1.1 408") && reported.ends_with("the body did not arrive in 300ms"),
            "{reported}"
        );
    }
}

/// Megabytes that are asked for: more than both systems hold by themselves.
const DEAF: usize = 3;

/// Asks for megabytes and reads nothing of them.
pub fn deaf(server: &Server) -> Raw {
    Raw::saying(server, &call(server, "pour_pot", "").repeat(DEAF))
}

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
        let (_, is_reset) = deaf.rest_until(|heard| count(heard) == DEAF, TEST_TIMEOUT);
        (found.get() == DEAF, is_reset)
    };
    assert!(all_comes("write_timeout_ms = 86_400_000", GLANCE).0, "a void attack");
    // A busy machine needs longer for it. The server drops unsent bytes, which the client sees as a reset.
    let cut = (1..5).map(|more| all_comes("write_timeout_ms = 300", GLANCE * more)).find(|(all, _)| !all);
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
//# When too many connections are open, the longest idle one MUST be closed, whatever its address or token.
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
    let cases: [(bool, Begin<'_>); 4] = [(false, &Raw::open), (false, &proven), (true, &slow), (true, &bad)];
    for (has_token, begin) in cases {
        for (limit, is_limited) in [(6, true), (60_000, false)] {
            let (_home, server) = limited(&format!("max_connections = {limit}"), has_token);
            let mut crowd: Vec<Raw> = (0..20).map(|_| begin(&server)).collect();
            others_are_served(&server, has_token);
            if is_limited {
                let open = open_of(&mut crowd, limit, TEST_TIMEOUT);
                assert!(open <= limit, "{open} are open");
                assert!(crowd[0].is_closed());
            } else {
                assert_eq!(open_of(&mut crowd, 19, GLANCE), 20, "a void attack");
            }
        }
    }
}

//= docs/spec.md#http
//= type=test
//# With a token, a request without it MUST be refused with status 401, and its connection MUST be closed.
#[test]
fn a_stranger_gets_one_small_answer() {
    let (_home, server) = limited("", true);
    for fields in ["", "Authorization: Bearer wrong\r\n", "Authorization: Basic a-token-of-the-tests\r\n"] {
        let reported = Raw::saying(&server, &call(&server, "list_pots", fields).repeat(2)).rest();
        assert!(reported.starts_with("HTTP/1.1 401"), "{reported}");
        assert_eq!(reported.matches("HTTP/1.1").count(), 1, "{reported}");
        assert!(reported.contains("connection: close") && reported.len() < 1_024, "{reported}");
    }
    let reported = Raw::saying(&server, &call(&server, "list_pots", BEARER)).answer();
    assert_eq!(reported.0, 200);
}

/// Long enough for a connection to be closed that should not be.
const WATCH: Duration = Duration::from_millis(400);
/// A time that never comes.
const NEVER: &str = "86_400_000";

/// A connection that has made a call.
fn caller(server: &Server) -> Raw {
    let mut raw = Raw::open(server);
    calls(&mut raw, server);
    raw
}

/// Makes a call, which is answered.
#[track_caller]
fn calls(raw: &mut Raw, server: &Server) {
    raw.say(&call(server, "list_pots", BEARER));
    assert_eq!(raw.answer().0, 200);
}

/// Two moments that no clock of the server takes for one.
fn pause() {
    std::thread::sleep(Duration::from_millis(30));
}

#[track_caller]
fn stays_open(raw: &mut Raw, whose: &str) {
    assert!(!raw.closes_within(WATCH, |_| {}), "{whose} is closed");
}

#[test]
fn the_one_that_was_silent_longest_goes_however_old_it_is() {
    for has_token in [false, true] {
        let (_home, server) = limited("max_connections = 3", has_token);
        let [mut oldest, mut silent, mut third] = std::array::from_fn(|_| {
            pause();
            caller(&server)
        });
        pause();
        calls(&mut oldest, &server);
        pause();
        let mut newcomer = caller(&server);
        assert!(silent.closes_within(TEST_TIMEOUT, |_| {}), "the silent one is still connected");
        for (raw, whose) in [(&mut oldest, "the oldest"), (&mut third, "the third"), (&mut newcomer, "the newcomer")] {
            stays_open(raw, whose);
            calls(raw, &server);
        }
        others_are_served(&server, has_token);
    }
}

#[test]
fn a_place_is_free_again_when_its_connection_ends() {
    // Of those who have shown the token, and of all where there is none.
    for has_token in [false, true] {
        let (_home, server) = limited("max_connections = 6", has_token);
        let mut quiet = caller(&server);
        pause();
        for _ in 0..30 {
            others_are_served(&server, has_token);
        }
        stays_open(&mut quiet, "one of two connections");
        calls(&mut quiet, &server);
    }
}

#[test]
fn a_stranger_is_refused_before_anything_of_a_body_is_read() {
    let (_home, server) = limited(&format!("body_timeout_ms = {NEVER}"), true);
    let head = |fields: &str| {
        let text = request(&server, fields, &" ".repeat(1 << 20));
        text[..text.find("\r\n\r\n").unwrap() + 4].to_owned()
    };
    let reported = Raw::saying(&server, &head("")).rest();
    assert!(reported.starts_with("HTTP/1.1 401"), "{reported}");
    stays_open(&mut Raw::saying(&server, &head(BEARER)), "one whose body is waited for");
    others_are_served(&server, true);
}
