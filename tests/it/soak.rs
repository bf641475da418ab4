//! One long run over standard streams and HTTP: calls, with reloads, edits, cancellations and tasks among them. Memory
//! stays flat, and no descriptor or thread is left behind.
//!
//! `.ci/long soak` runs it; `SOAK_CALLS` says how many calls are made, a million if it says nothing.
#![cfg(target_os = "linux")]

mod client;
mod comings;

use client::{Client, Stdio, Web};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
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

/// A workspace, a layer with the pack, and what they lie in.
struct Place {
    home: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        let place = Self { home: tempfile::tempdir().unwrap() };
        for (path, text) in PACK {
            place.write(&format!("layer/{path}"), text);
        }
        for at in 0..40 {
            place.write(&format!("workspace/notes/{at}.md"), "one");
        }
        place
    }

    fn path(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        fs::write(self.path(path), text).unwrap();
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_toolsd"));
        let layer = self.path("layer");
        command
            .arg("serve")
            .args(["--pack", "soak", "--dir"])
            .arg(layer)
            .arg("--workspace")
            .arg(self.path("workspace"));
        command.args(words).env("HOME", self.home.path()).env("XDG_STATE_HOME", self.path("state"));
        command.env("XDG_CONFIG_HOME", self.path("config"));
        command
    }
}

/// What was done, besides echoes.
#[derive(Debug, Default)]
struct Done {
    echoes: u64,
    edits: u64,
    writes: u64,
    cancelled: u64,
    tasks: u64,
    reloads: u64,
}

/// One call, of whichever kind its number says.
fn call(client: &mut dyn Client, place: &Place, at: u64, done: &mut Done) {
    let whose = client.name();
    match at {
        at if at % 5_000 == 4_999 => {
            // Its own pack is read again; what is served meanwhile is the old one or the new one.
            let text = PACK[1].1.replace("Gives back", &format!("{at}: gives back"));
            place.write("layer/tools.d/soak/tools.toml", &text);
            done.reloads += 1;
            client.well("echo", &json!({ "text": "after a reload" }));
        }
        at if at % 500 == 499 => {
            let (path, text) = (format!("workspace/notes/{whose}-{}.md", at / 500 % 20), format!("{whose} at {at}"));
            place.write(&path, &text);
            let found = client.well("count", &json!({ "text": text }));
            assert_eq!(found, json!(1), "an edit was not seen");
            done.edits += 1;
        }
        at if at % 250 == 249 => {
            client.task("work", &json!({ "steps": 50 }));
            done.tasks += 1;
        }
        at if at % 100 == 99 => {
            client.cancelled("spin", &json!({}));
            done.cancelled += 1;
        }
        at if at % 50 == 49 => {
            client.well("put", &json!({ "path": format!("out/{whose}-{}.txt", at % 7), "text": "x".repeat(2_000) }));
            done.writes += 1;
        }
        at => {
            let text = format!("tea {at}");
            assert_eq!(client.well("echo", &json!({ "text": text })), json!(text));
            done.echoes += 1;
        }
    }
}

fn soak(client: &mut dyn Client, place: &Place, calls: u64) {
    let (began, mut done) = (Instant::now(), Done::default());
    let (pid, mut warm) = (client.pid(), None);
    for part in 1..=PARTS {
        for at in (part - 1) * calls / PARTS..part * calls / PARTS {
            call(client, place, at, &mut done);
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
    eprintln!("{}: {done:?}; memory × {growth:.3} since the warm-up", client.name());
    assert!(growth <= GROWTH, "memory grew: {warm:?} to {end:?}");
    assert!(end.descriptors <= warm.descriptors, "descriptors are left: {warm:?} to {end:?}");
    assert!(end.threads <= warm.threads, "threads are left: {warm:?} to {end:?}");
}

#[test]
#[ignore = "takes minutes: .ci/long soak"]
fn a_long_run_leaves_nothing_behind() {
    let calls: u64 = std::env::var("SOAK_CALLS").map_or(1_000_000, |calls| calls.parse().unwrap());
    let place = Place::new();
    let mut stdio = Stdio::start(place.command(&[]));
    let mut web = Web::start(place.command(&["--http", "127.0.0.1:0"]));
    std::thread::scope(|scope| {
        let both =
            [scope.spawn(|| soak(&mut stdio, &place, calls / 2)), scope.spawn(|| soak(&mut web, &place, calls / 2))];
        for one in both {
            one.join().unwrap();
        }
    });
    assert!(Path::new(&place.path("workspace/out")).is_dir());
}

/// The text of a result, as JSON if it is some.
fn said(answer: &Value) -> Value {
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no result: {answer}"));
    assert_ne!(result["isError"], true, "{answer}");
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}
