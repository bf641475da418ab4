//! One long run over standard streams and HTTP: calls, with reloads, edits, cancellations and tasks among them. Memory
//! stays flat, and no descriptor or thread is left behind.
//!
//! `.ci/long soak` runs it; `SOAK_CALLS` is the number of calls (default: a million).
#![cfg(target_os = "linux")]

mod client;

use crate::support::home::Home;
use crate::support::{http, server};
use client::Client;
use serde_json::{Value, json};
use std::fs;
use std::time::{Duration, Instant};

const PACK: &[(&str, &str)] = &[
    ("tools.d/soak.toml", include_str!("soak/tools.d/soak.toml")),
    ("tools.d/soak/tools.toml", include_str!("soak/tools.d/soak/tools.toml")),
    ("tools.d/soak/tools.rhai", include_str!("soak/tools.d/soak/tools.rhai")),
    ("tools.d/soak/graph.rhai", include_str!("soak/tools.d/soak/graph.rhai")),
];

/// So much of the run is warm-up, in parts of the whole.
const PARTS: u64 = 10;
/// Parts that are warm-up.
const WARM: u64 = 3;
/// Memory may grow by this part of what it was after the warm-up.
const GROWTH: f64 = 1.10;

/// What a process holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    resident_kb: u64,
    descriptors: usize,
    threads: u64,
}

impl Held {
    fn by(pid: u32) -> Self {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let number = |key: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(key)).unwrap();
            line.trim().trim_end_matches(" kB").parse().unwrap()
        };
        Self {
            resident_kb: number("VmRSS:"),
            descriptors: fs::read_dir(format!("/proc/{pid}/fd")).unwrap().count(),
            threads: number("Threads:"),
        }
    }
}

/// A workspace with notes, and a layer with the pack next to it.
fn place() -> Home {
    let home = Home::with(&[]);
    PACK.iter().for_each(|(path, text)| home.write(&format!("../layer/{path}"), text));
    (0..40).for_each(|at| home.write(&format!("notes/{at}.md"), "one"));
    home
}

/// One call, of the kind that its number selects.
fn call(client: &mut dyn Client, place: &Home, at: u64) {
    let whose = client.name();
    match at {
        at if at % 5_000 == 4_999 => {
            // Its own pack is read again; what is served meanwhile is the old one or the new one.
            let text = PACK[1].1.replace("Returns", &format!("{at}: returns"));
            place.write("../layer/tools.d/soak/tools.toml", &text);
            client.well("echo", &json!({ "text": "after a reload" }));
        }
        at if at % 500 == 499 => {
            let (path, text) = (format!("notes/{whose}-{}.md", at / 500 % 20), format!("{whose} at {at}"));
            place.write(&path, &text);
            let found = client.well("count", &json!({ "text": text }));
            assert_eq!(found, json!(1), "an edit was not seen");
        }
        at if at % 250 == 249 => {
            client.task("work", &json!({ "steps": 50 }));
        }
        at if at % 100 == 99 => {
            client.cancelled("spin");
        }
        at if at % 50 == 49 => {
            client.well("put", &json!({ "path": format!("out/{whose}-{}.txt", at % 7), "text": "x".repeat(2_000) }));
        }
        at => {
            let text = format!("tea {at}");
            assert_eq!(client.well("echo", &json!({ "text": text })), json!(text));
        }
    }
}

fn soak(client: &mut dyn Client, place: &Home, calls: u64) {
    let began = Instant::now();
    let (pid, mut warm) = (client.pid(), None);
    for part in 1..=PARTS {
        for at in (part - 1) * calls / PARTS..part * calls / PARTS {
            call(client, place, at);
        }
        // Tasks are forgotten, and connections closed, a little later.
        std::thread::sleep(Duration::from_secs(3));
        let held = Held::by(pid);
        eprintln!("{}: {:>8} calls, {:>6.1?}: {held:?}", client.name(), part * calls / PARTS, began.elapsed());
        if part == WARM {
            warm = Some(held);
        }
    }
    let (warm, end) = (warm.unwrap(), Held::by(pid));
    let growth = end.resident_kb as f64 / warm.resident_kb as f64;
    eprintln!("{}: memory × {growth:.3} since the warm-up", client.name());
    assert!(growth <= GROWTH, "memory grew: {warm:?} to {end:?}");
    assert!(end.descriptors <= warm.descriptors, "descriptors are left: {warm:?} to {end:?}");
    assert!(end.threads <= warm.threads, "threads are left: {warm:?} to {end:?}");
}

#[test]
#[ignore = "takes minutes: .ci/long soak"]
fn a_long_run_leaves_nothing_behind() {
    let calls: u64 = std::env::var("SOAK_CALLS").map_or(1_000_000, |calls| calls.parse().unwrap());
    let place = place();
    let pack = ["--pack", "soak", "--dir", "../layer"];
    let mut stdio = server::Server::start_modern(&place, &pack);
    let mut web = http::Server::start(&place, &pack, &[]);
    std::thread::scope(|scope| {
        let both =
            [scope.spawn(|| soak(&mut stdio, &place, calls / 2)), scope.spawn(|| soak(&mut web, &place, calls / 2))];
        for one in both {
            one.join().unwrap();
        }
    });
    assert!(place.workspace().join("out").is_dir());
}

/// The text of a result, as JSON if it is some.
fn said(answer: &Value) -> Value {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no result: {answer}"));
    assert_ne!(result["isError"], true, "{answer}");
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}
