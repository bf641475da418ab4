//! Counts of connections and bytes over HTTP: how many there are, which one goes, and that each is counted no longer than
//! it lasts. Who counts wrongly closes connections of others, or none.

use crate::attacks::{BEARER, PATIENCE, deaf, limited, open_of, others_are_served};
use crate::raw::{Raw, call, call_of, request};
use crate::support::http::Server;
use serde_json::json;
use std::time::{Duration, Instant};

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

//= docs/spec.md#http
//= type=test
//# When too many connections are open the one that has been silent longest MUST be closed, and another be served at once.
#[test]
fn as_many_are_open_as_may_be_and_the_last_ones() {
    for has_token in [false, true] {
        let (_home, server) = limited("connections = 6", has_token);
        let mut crowd: Vec<Raw> = (0..20).map(|_| Raw::open(&server)).collect();
        // The one that is served takes the sixth place.
        others_are_served(&server, has_token);
        assert_eq!(open_of(&mut crowd, 5, PATIENCE), 5);
        std::thread::sleep(WATCH);
        let open: Vec<usize> = (0..20).filter(|at| !crowd[*at].is_closed()).collect();
        assert_eq!(open, [15, 16, 17, 18, 19]);
        others_are_served(&server, has_token);
    }
}

//= docs/spec.md#http
//= type=test
//# When too many connections are open the one that has been silent longest MUST be closed, and another be served at once.
#[test]
fn the_one_that_was_silent_longest_goes_however_old_it_is() {
    for has_token in [false, true] {
        let (_home, server) = limited("connections = 3", has_token);
        let [mut oldest, mut silent, mut third] = std::array::from_fn(|_| {
            pause();
            caller(&server)
        });
        pause();
        calls(&mut oldest, &server);
        pause();
        let mut newcomer = caller(&server);
        assert!(silent.closes_within(PATIENCE, |_| {}), "the silent one is still there");
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
        let (_home, server) = limited("connections = 6", has_token);
        let mut quiet = caller(&server);
        pause();
        for _ in 0..30 {
            others_are_served(&server, has_token);
        }
        stays_open(&mut quiet, "one of two connections");
        calls(&mut quiet, &server);
    }
    // Of those who have not.
    let (_home, server) = limited("connections = 6", true);
    let mut quiet = Raw::open(&server);
    pause();
    for _ in 0..30 {
        assert!(Raw::saying(&server, &call(&server, "list_pots", "")).rest().starts_with("HTTP/1.1 401"));
    }
    stays_open(&mut quiet, "one of two strangers");
    calls(&mut quiet, &server);
}

#[test]
fn a_crowd_that_comes_at_once_is_heard_one_by_one() {
    // Each of them shows the token with its first bytes.
    let (_home, server) = limited("", true);
    for _ in 0..3 {
        server.signal("STOP");
        let text = call(&server, "list_pots", BEARER);
        let mut crowd: Vec<Raw> = (0..60).map(|_| Raw::saying(&server, &text)).collect();
        server.signal("CONT");
        for (at, raw) in crowd.iter_mut().enumerate() {
            assert_eq!(raw.answer().0, 200, "{at}");
        }
    }
}

#[test]
fn who_reads_slowly_is_not_cut() {
    let (_home, server) = limited("write_ms = 1_500", false);
    let mut slow = Raw::wide(&server);
    // So much that the server sees each piece go, so little that it waits between them.
    rustix::net::sockopt::set_socket_recv_buffer_size(&slow.stream, 128 << 10).unwrap();
    slow.say(&call(&server, "pour_pot", "").repeat(4));
    let mut taken = 0;
    let began = Instant::now();
    while taken < 4 << 20 {
        let mut piece = [0; 96 << 10];
        let read = std::io::Read::read(&mut slow.stream, &mut piece);
        let read = read.unwrap_or_else(|error| panic!("cut after {taken} bytes: {error}"));
        assert!(read > 0, "cut after {taken} bytes");
        taken += read;
        std::thread::sleep(Duration::from_millis(80));
    }
    assert!(began.elapsed() > Duration::from_millis(1_500), "a void test: it read too fast, in {:?}", began.elapsed());
    others_are_served(&server, false);
}

//= docs/spec.md#http
//= type=test
//# A connection whose client takes nothing of what is sent to it MUST be closed.
#[test]
fn who_sends_and_takes_nothing_is_cut() {
    let goes_on = |limits: &str, time: Duration| {
        let (_home, server) = limited(limits, false);
        let mut deaf = deaf(&server);
        let end = Instant::now() + time;
        // The beginning of another request, a byte at a time: the reset that ends it is seen when one cannot be sent.
        while deaf.say("\r\n") && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(20));
        }
        others_are_served(&server, false);
        Instant::now() >= end
    };
    assert!(goes_on(&format!("write_ms = {NEVER}"), Duration::from_secs(2)), "a void attack");
    assert!(!goes_on("write_ms = 300", PATIENCE), "it is not cut");
}

/// Bytes that the system holds on the server's side of a connection, sent and not taken.
#[cfg(target_os = "linux")]
fn held_by_the_system(raw: &Raw) -> u64 {
    let named = |address: std::net::SocketAddr| format!("0100007F:{:04X}", address.port());
    // Both ends are asked for: a port of ours may have been one of another connection, which the table holds still.
    let ends = [named(raw.stream.peer_addr().unwrap()), named(raw.stream.local_addr().unwrap())];
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let is_it = |line: &&str| line.split_whitespace().skip(1).take(2).eq(ends.iter());
    let line = table.lines().find(is_it).expect("it is open");
    let queues = line.split_whitespace().nth(4).unwrap();
    u64::from_str_radix(queues.split(':').next().unwrap(), 16).unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn the_system_holds_little_of_what_nobody_takes() {
    let (_home, server) = limited(&format!("write_ms = {NEVER}"), false);
    let deaf = deaf(&server);
    let (mut end, mut most) = (Instant::now() + PATIENCE, 0);
    let mut is_sent = false;
    while Instant::now() < end {
        most = most.max(held_by_the_system(&deaf));
        if most > 10_000 && !is_sent {
            (is_sent, end) = (true, Instant::now() + Duration::from_secs(2));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(is_sent, "a void attack: {most} bytes are held");
    assert!(most <= 600 << 10, "{most} bytes are held");
    others_are_served(&server, false);
}

#[test]
fn the_head_of_a_request_is_bounded() {
    let (_home, server) = limited("", false);
    let with = |bytes: usize| call(&server, "list_pots", &format!("X-Long: {}\r\n", "x".repeat(bytes)));
    let mut raw = Raw::saying(&server, &with(40_000));
    assert_eq!(raw.answer().0, 200);
    for bytes in [66_000, 80_000, 100_000, 200_000] {
        let told = Raw::saying(&server, &with(bytes)).rest_within(PATIENCE).0;
        // What is not read to its end is cut by a reset, which may overtake the word.
        assert!((told.is_empty() && bytes > 100_000) || told.starts_with("HTTP/1.1 431"), "{bytes}: {told}");
    }
    others_are_served(&server, false);
}

#[test]
fn a_stranger_is_refused_before_anything_of_a_body_is_read() {
    let (_home, server) = limited(&format!("body_ms = {NEVER}"), true);
    let head = |fields: &str| {
        let text = request(&server, fields, &" ".repeat(1 << 20));
        text[..text.find("\r\n\r\n").unwrap() + 4].to_owned()
    };
    let told = Raw::saying(&server, &head("")).rest();
    assert!(told.starts_with("HTTP/1.1 401"), "{told}");
    stays_open(&mut Raw::saying(&server, &head(BEARER)), "one whose body is waited for");
    others_are_served(&server, true);
}

/// Open descriptors of a process.
#[cfg(target_os = "linux")]
fn descriptors(server: &Server) -> usize {
    std::fs::read_dir(format!("/proc/{}/fd", server.id())).unwrap().count()
}

#[test]
#[cfg(target_os = "linux")]
fn connections_leave_descriptors_for_files() {
    let home = crate::pots();
    let line = "ulimit -n 400 && exec \"$0\" \"$@\"";
    let mut shell = home.command_of("sh");
    shell.args([
        "-c",
        line,
        env!("CARGO_BIN_EXE_toolsd"),
        "serve",
        "--http",
        "127.0.0.1:0",
        "--dir",
        "packs",
        "--pack",
        "pots",
    ]);
    let server = Server::from_command(&mut shell, &home, &[]);
    server.logs("connections are served in place of");
    let crowd: Vec<Raw> = (0..500).map(|_| Raw::open(&server)).collect();
    others_are_served(&server, false);
    assert!(descriptors(&server) < 300, "{} of 400 descriptors are taken", descriptors(&server));
    drop(crowd);
    others_are_served(&server, false);
}

#[test]
#[cfg(target_os = "linux")]
fn a_server_without_descriptors_closes_a_connection_and_serves_the_next_one() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let (_home, server) = limited("connections = 60_000", false);
    let crowd: Vec<Raw> = (0..60).map(|_| caller(&server)).collect();
    // From outside, as an administrator does it: less than there are.
    let pid = Pid::from_raw(i32::try_from(server.id()).unwrap());
    let few = Rlimit { current: Some(50), maximum: Some(50) };
    prlimit(pid, Resource::Nofile, few).unwrap();
    others_are_served(&server, false);
    drop(crowd);
    others_are_served(&server, false);
}

#[test]
fn at_the_end_no_connection_takes_another_request() {
    for (signal, others) in [("TERM", true), ("INT", false)] {
        let (_home, mut server) = limited(&format!("idle_ms = {NEVER}"), false);
        let mut idle = caller(&server);
        let params = json!({ "name": "watch_pot", "arguments": {}, "_meta": { "progressToken": 1 } });
        let mut working = Raw::saying(&server, &call_of(&server, params, ""));
        while memchr::memmem::find(&working.heard, b"notifications/progress").is_none() {
            assert!(!working.is_closed(), "the call came to nothing");
        }
        if others {
            others_are_served(&server, false);
        }
        server.signal(signal);
        // Until nobody is let in: the running call has its grace from now on.
        let end = Instant::now() + PATIENCE;
        while std::net::TcpStream::connect(server.address).is_ok() {
            assert!(Instant::now() < end, "it listens still");
        }
        idle.say(&call(&server, "list_pots", ""));
        let told = idle.rest_within(PATIENCE).0;
        assert!(!told.contains("HTTP/1.1 200"), "{told}");
        assert_eq!(server.wait().code(), Some(0));
    }
}
