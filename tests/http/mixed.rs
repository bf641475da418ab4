//! All kinds of clients at once, as they come: whatever they do and in whatever order, others are served, and when they are
//! gone nothing is left of them. The order comes from a number, which a failure tells.

use crate::attacks::{PATIENCE, deaf, limited, others_are_served};
use crate::raw::{Raw, call, call_of, request};
use crate::support::http::{Server, stateless};
use serde_json::json;
use std::time::{Duration, Instant};

/// Small enough for each of them to be met by a few clients.
const LIMITS: &str = "connections = 8\nsessions = 4\nbody_ms = 1_500\nwrite_ms = 900\nidle_ms = 1_500";

const BEARER: &str = crate::attacks::BEARER;

/// What a client does.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Silent,
    SlowHead,
    SlowBody,
    Deaf,
    Stranger,
    Caller,
    Endless,
    HalfClosed,
    Flood,
    Session,
    SessionCall,
    Stream,
    Listener,
    Task,
    Odd,
    Pipelined,
}

const KINDS: [Kind; 16] = [
    Kind::Silent,
    Kind::SlowHead,
    Kind::SlowBody,
    Kind::Deaf,
    Kind::Stranger,
    Kind::Caller,
    Kind::Endless,
    Kind::HalfClosed,
    Kind::Flood,
    Kind::Session,
    Kind::SessionCall,
    Kind::Stream,
    Kind::Listener,
    Kind::Task,
    Kind::Odd,
    Kind::Pipelined,
];

/// The next number of a row that looks like chance (Steele, Lea, Flood: SplitMix64).
struct Row(u64);

impl Row {
    fn next(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % below as u64).unwrap()
    }
}

/// A session, if one is given.
fn session(server: &Server) -> Option<String> {
    let client = json!({ "name": "t", "version": "0" });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let mut raw =
        Raw::saying(server, &request(server, BEARER, &crate::support::http::request("initialize", hello).to_string()));
    raw.closes_within(Duration::from_millis(400), |_| {});
    let told = String::from_utf8_lossy(&raw.heard).to_ascii_lowercase();
    Some(told.split_once("mcp-session-id: ")?.1.split("\r\n").next()?.to_owned())
}

fn begin(server: &Server, kind: Kind) -> Raw {
    let endless = |tool: &str, meta: serde_json::Value| {
        call_of(server, json!({ "name": tool, "arguments": {}, "_meta": meta }), BEARER)
    };
    match kind {
        Kind::Silent => Raw::open(server),
        Kind::SlowHead => Raw::saying(server, &format!("POST /mcp HTTP/1.1\r\n{BEARER}X: ")),
        Kind::SlowBody => {
            let text = request(server, BEARER, &" ".repeat(1 << 20));
            Raw::saying(server, &text[..text.len() - 100_000])
        }
        Kind::Deaf => Raw::saying(server, &call(server, "pour_pot", BEARER).repeat(3)),
        Kind::Stranger => deaf(server),
        Kind::Caller => Raw::saying(server, &call(server, "list_pots", BEARER)),
        Kind::Endless => Raw::saying(server, &endless("watch_pot", json!({ "progressToken": 1 }))),
        Kind::HalfClosed => {
            let raw = Raw::saying(server, &call(server, "simmer_pot", BEARER));
            let _may_be_cut = raw.stream.shutdown(std::net::Shutdown::Write);
            raw
        }
        Kind::Flood => {
            Raw::saying(server, &endless("flood_pot", json!({ "io.modelcontextprotocol/logLevel": "error" })))
        }
        Kind::Session => {
            let _forgotten = session(server);
            Raw::open(server)
        }
        Kind::SessionCall | Kind::Stream => {
            let Some(session) = session(server) else { return Raw::open(server) };
            let fields = format!("{BEARER}Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
            if matches!(kind, Kind::Stream) {
                let accept = "Accept: text/event-stream";
                return Raw::saying(
                    server,
                    &format!("GET /mcp HTTP/1.1\r\nHost: {}\r\n{accept}\r\n{fields}\r\n", server.address),
                );
            }
            let call = crate::support::http::request("tools/call", json!({ "name": "watch_pot", "arguments": {} }));
            Raw::saying(server, &request(server, &fields, &call.to_string()))
        }
        Kind::Listener => {
            let listens = stateless("subscriptions/listen", json!({ "notifications": { "toolsListChanged": true } }));
            let fields = format!("{BEARER}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n");
            Raw::saying(server, &request(server, &fields, &listens.to_string()))
        }
        Kind::Task => {
            let knows = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
            Raw::saying(server, &endless("simmer_pot", json!({ "io.modelcontextprotocol/clientCapabilities": knows })))
        }
        Kind::Odd => Raw::saying(server, &call(server, "list_pots", BEARER).replacen("\r\n", "\n", 2)),
        Kind::Pipelined => Raw::saying(server, &call(server, "list_pots", BEARER).repeat(20)),
    }
}

/// Whether somebody is served before long: while calls run in all connections, it may be closed for another.
fn somebody_is_served(server: &Server, what: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        let mut raw = Raw::wide(server);
        raw.say(&call(server, "list_pots", BEARER));
        let closed = raw.closes_within(PATIENCE, |raw| {
            if raw.heard.ends_with(b"}") {
                let _enough = raw.stream.shutdown(std::net::Shutdown::Both);
            }
        });
        let told = String::from_utf8_lossy(&raw.heard).into_owned();
        if told.starts_with("HTTP/1.1 200") {
            return;
        }
        assert!(closed && told.is_empty(), "{what}: {told:?}");
        assert!(Instant::now() < end, "{what}: nobody is served: {told:?}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Threads and descriptors that come and go by themselves.
#[cfg(target_os = "linux")]
const FEW: usize = 4;

/// Open descriptors and threads of a process.
#[cfg(target_os = "linux")]
fn taken(server: &Server) -> [usize; 2] {
    ["fd", "task"].map(|what| std::fs::read_dir(format!("/proc/{}/{what}", server.id())).unwrap().count())
}

fn run(seed: u64, steps: usize) {
    let (_home, mut server) = limited(LIMITS, true);
    // Until all is there that comes with the first requests.
    server.signal("HUP");
    others_are_served(&server, true);
    std::thread::sleep(Duration::from_millis(500));
    #[cfg(target_os = "linux")]
    let before = taken(&server);
    let (mut row, mut open, mut done): (Row, Vec<Raw>, Vec<Kind>) = (Row(seed), Vec::new(), Vec::new());
    for step in 0..steps {
        match row.next(8) {
            0 if !open.is_empty() => drop(open.swap_remove(row.next(open.len()))),
            1 => server.signal("HUP"),
            2 => somebody_is_served(&server, &format!("seed {seed}, step {step}, {done:?}")),
            3 => std::thread::sleep(Duration::from_millis(row.next(200) as u64)),
            _ => {
                done.push(KINDS[row.next(KINDS.len())]);
                open.push(begin(&server, done[done.len() - 1]));
            }
        }
    }
    let what = format!("seed {seed}: {done:?}");
    somebody_is_served(&server, &what);
    drop(open);
    let end = Instant::now() + PATIENCE * 2;
    #[cfg(target_os = "linux")]
    while taken(&server).iter().zip(before).any(|(now, before)| *now > before + FEW) {
        assert!(Instant::now() < end, "{what}: {before:?} became {:?}", taken(&server));
        std::thread::sleep(Duration::from_millis(50));
    }
    // Each limit is as it was: so many sessions are there at a time, so many connections stay.
    while (0..4).filter_map(|_| session(&server)).count() < 4 {
        assert!(Instant::now() < end, "{what}: sessions are counted that are over");
    }
    others_are_served(&server, true);
    server.signal("TERM");
    let told = server.logs("at the end there are");
    assert!(told.contains("0 connections, 0 calls, 0 tasks"), "{told} {what}");
    assert_eq!(server.wait().code(), Some(0), "{what}");
}

#[test]
fn whatever_clients_do_others_are_served_and_nothing_is_left() {
    // One that nobody chose, and those that found something once.
    let chosen = std::env::var("TOOLSD_SEED").ok().and_then(|seed| seed.parse().ok());
    let seeds =
        chosen.map_or_else(|| crate::support::sample(vec![1, 2, u64::from(std::process::id())], 1), |seed| vec![seed]);
    for seed in seeds {
        run(seed, 60);
    }
}
