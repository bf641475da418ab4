//! Calls that cannot be stopped, against the built binary: they are answered, others continue, a supervisor may start
//! again.
//!
//! The kernel holds their threads: a write lease on the file of a lock makes every process that opens it wait, up to
//! the seconds of `/proc/sys/fs/lease-break-time`, and no guard is asked meanwhile.
#![cfg(target_os = "linux")]

use crate::support::home::Home;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

const PACK: &str = include_str!("watchdog/held.toml");

const SCRIPT: &str = include_str!("watchdog/held.rhai");

const WORDS: [&str; 4] = ["--dir", "packs", "--pack", "held"];

/// `F_SETSIG` of fcntl(2), which `libc` has for some systems only.
const SET_SIGNAL: i32 = 10;

/// Longer than anything takes on a machine that does much else.
const TEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum number of concurrent calls of one connection, and of held threads before calls are refused.
fn threads() -> (usize, usize) {
    let own = thread::available_parallelism().map_or(2, |cores| cores.get()).max(8);
    (own, own * 4)
}

fn house() -> Home {
    Home::with(&[("packs/tools.d/held.toml", PACK), ("packs/tools.d/held.rhai", SCRIPT)])
}

/// A server over standard input and output.
fn serve(home: &Home, words: &[&str]) -> crate::support::Server {
    let mut command = home.command();
    command.arg("serve").args(WORDS).args(words);
    crate::support::Server::of(command, tempfile::tempdir().unwrap())
}

/// While it lives, and until the kernel breaks it, every process that opens the file of the lock waits.
struct Lease(File);

impl Lease {
    /// Takes it once `open` has created the file of the lock, and no process has it open.
    fn take(home: &Home, mut open: impl FnMut() -> bool) -> Self {
        until("the lock is taken", &mut open);
        assert_eq!(fs::read_to_string(late(home)).unwrap(), "late");
        fs::remove_file(late(home)).unwrap();
        let folder = home.workspace().parent().unwrap().join("state/toolsd/locks");
        let file = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        let lease = Self(File::options().read(true).write(true).open(file).unwrap());
        // The signal that announces a waiting process is one that is ignored by default.
        assert!(lease.set(SET_SIGNAL, libc::SIGURG));
        until("the kernel grants a lease", || lease.set(libc::F_SETLEASE, libc::F_WRLCK));
        lease
    }

    #[allow(unsafe_code, reason = "std has no leases")]
    fn set(&self, what: i32, value: i32) -> bool {
        // SAFETY: both commands take a number, and the descriptor is open as long as the file.
        unsafe { libc::fcntl(self.0.as_raw_fd(), what, value) == 0 }
    }
}

/// The file that the tool writes once it has the lock.
fn late(home: &Home) -> PathBuf {
    home.workspace().join("late.txt")
}

#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < TEST_TIMEOUT, "not within {TEST_TIMEOUT:?}: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

fn named(tool: &str) -> Value {
    json!({ "name": tool, "arguments": {} })
}

/// The text of a result that failed.
#[track_caller]
fn failed(answer: &Value) -> &str {
    assert_eq!(answer["result"]["isError"], true, "{answer}");
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

/// The names of the calls that hold threads, from a status.
fn held(status: &Value) -> Vec<&str> {
    status["held"].as_array().into_iter().flatten().map(|held| held["name"].as_str().unwrap()).collect()
}

//= docs/spec.md#calls
//= type=test
//# A running call MUST NOT delay the start of another call while threads are available.
//= docs/spec.md#calls
//= type=test
//# A call MUST end within 300 ms after its limit or its cancellation, whatever its script does.
//= docs/spec.md#calls
//= type=test
//# A call that still runs after it was answered MUST NOT affect the disk, the graph, the memory of its pack
//# or the client.
//= docs/spec.md#calls
//= type=test
//# When no thread is available, a new call MUST fail at once, and `toolsd://status` MUST list the calls that
//# occupy the threads.
#[test]
fn unstoppable_calls_are_answered_reported_and_discarded() {
    let home = house();
    let mut server = serve(&home, &[]);
    let lease = Lease::take(&home, || !server.call("hold", json!({})).1);
    let (own, all) = threads();
    let long: Vec<u64> = (1..own).map(|_| server.tell("tools/call", named("hold_for_long"))).collect();
    assert_eq!(server.well("greet", json!({})), "hello", "threads are busy, and yet this runs");
    assert_eq!(server.read("toolsd://status").get("held"), None, "they are within their limits");
    long.into_iter().for_each(|id| server.cancel(id));
    until("those that were taken back are held", || held(&server.read("toolsd://status")).len() == own - 1);
    assert_eq!(server.well("greet", json!({})), "hello");
    for answer in server.at_once(&vec![("tools/call", named("hold")); all - own + 1]) {
        assert!(failed(&answer).contains("the call took longer than 300 ms"), "{answer}");
    }
    until("every thread is held", || held(&server.read("toolsd://status")).len() == all);
    let status = server.read("toolsd://status");
    assert_eq!(held(&status)[0], "hold_for_long");
    assert!(held(&status).contains(&"hold") && status["held"][0]["since_s"].is_u64(), "{status}");
    let (reported, has_failed) = server.call("greet", json!({}));
    let reported = reported.to_string();
    assert!(
        has_failed
            && reported.contains("every script thread is held by calls that cannot be stopped: `hold_for_long` since")
    );
    drop(lease);
    until("every thread is back", || server.read("toolsd://status").get("held").is_none());
    assert_eq!(server.well("greet", json!({})), "hello");
    assert!(!late(&home).exists(), "nothing was written after the answer");
    until("the lock is free, and without a lease the tool writes", || !server.call("hold", json!({})).1);
    assert!(late(&home).exists());
}

//= docs/spec.md#calls
//= type=test
//# With `--exit-when-stuck`, the server MUST exit with code 70 when all threads stay occupied.
#[test]
fn a_server_that_is_stuck_ends_for_its_supervisor() {
    let home = house();
    let mut server = serve(&home, &["--exit-when-stuck", "1"]);
    let _lease = Lease::take(&home, || !server.call("hold", json!({})).1);
    for _ in 0..threads().1 {
        server.tell("tools/call", named("hold"));
    }
    assert_eq!(server.ended(), Some(70));
}

#[test]
fn a_balancer_is_told_while_every_thread_is_held() {
    let home = house();
    let server = crate::support::http::Server::start(&home, &WORDS, &[]);
    let hold = || server.ask("tools/call", named("hold")).answer();
    let ready = || server.send("GET /readyz", &[], "").status;
    let lease = Lease::take(&home, || !hold().to_string().contains("isError"));
    assert_eq!(ready(), 200);
    std::thread::scope(|scope| (0..threads().1).for_each(|_| drop(scope.spawn(hold))));
    until("every thread is held", || ready() == 503);
    drop(lease);
    until("every thread is back", || ready() == 200);
}

//= docs/spec.md#calls
//= type=test
//# Arguments MUST be validated before the script runs, within the limits of the call.
#[test]
fn arguments_count_for_the_memory_of_their_call() {
    let home = house();
    let mut server = serve(&home, &[]);
    // A text is given what was checked; a function what was converted, too, which takes 40 to 60 MB more.
    for (tool, most) in [("print", 16), ("count", 64)] {
        let (reported, has_failed) = server.call(tool, json!({ "what": vec![json!({ "a": 1 }); 100_000] }));
        let reason = format!("the call used more than {most} MB of memory");
        assert!(has_failed && reported.to_string().contains(&reason), "{tool}: {reported}");
        let (reported, has_failed) = server.call(tool, json!({ "what": [{ "a": 1 }] }));
        assert!(!has_failed, "{tool}: {reported}");
    }
}
