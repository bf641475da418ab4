//! Locks between calls, processes and languages: one at a time, and no one waits for a dead one.

use crate::support::{Server, said, workspace};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/locks");

fn toolsd(workspace: &Path, words: &[&str]) -> Command {
    let mut command = crate::support::toolsd(workspace.parent().unwrap());
    command.args(words).args(["--pack", "gate", "--dir", PACKS, "--workspace"]).arg(workspace);
    command
}

fn serve(workspace: &Path) -> Server {
    Server::of(toolsd(workspace, &["serve"]), tempfile::tempdir().unwrap())
}

fn call(server: &mut Server, tool: &str, arguments: Value) -> u64 {
    server.tell("tools/call", json!({ "name": tool, "arguments": arguments }))
}

/// Waits until the file of the lock names its holder.
fn held(workspace: &Path) -> Value {
    for _ in 0..2_000 {
        let note = std::fs::read_to_string(workspace.join("locks/gate")).unwrap_or_default();
        if let Ok(note) = serde_json::from_str(&note) {
            return note;
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    panic!("no process took the lock");
}

//= docs/spec.md#writes
//= type=test
//# Taking a lock twice in one call, or locking a file with other content, MUST be an error.
#[test]
fn the_cases_of_the_gate_hold() {
    let (_home, workspace) = workspace();
    let tested = toolsd(&workspace, &["test", "--format", "json"]).output().unwrap();
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stdout));
    assert_eq!(said(&tested)["passed"], 9);
}

//= docs/spec.md#calls
//= type=test
//# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
#[test]
fn waiting_calls_block_no_others_and_are_cancelled() {
    let (_home, workspace) = workspace();
    let mut holder = serve(&workspace);
    call(&mut holder, "pass_gate", json!({ "hold_ms": 50_000 }));
    let note = held(&workspace);
    assert_eq!((&note["pid"], &note["purpose"]), (&json!(holder.pid()), &json!("a test")));
    let mut waiting = serve(&workspace);
    // More than there are threads for scripts, however many cores there are.
    let count = 4 * std::thread::available_parallelism().unwrap().get();
    let first = call(&mut waiting, "pass_gate", json!({ "timeout_ms": 50000 }));
    let others: Vec<u64> =
        (1..count).map(|_| call(&mut waiting, "pass_gate", json!({ "timeout_ms": 50000 }))).collect();
    assert_eq!(waiting.well("count_lines", json!({})), 0, "a call without a lock runs meanwhile");
    others.into_iter().for_each(|id| waiting.cancel(id));
    let (reported, has_failed) = waiting.call("pass_gate", json!({ "timeout_ms": 0 }));
    let holds = format!("is locked by process {}", holder.pid());
    assert!(has_failed && reported.to_string().contains(&holds), "{reported}");
    // The holder dies: the one that still waits takes over at once, and reports from whom.
    let dead = holder.pid();
    holder.kill();
    let passed = waiting.answer_to(first);
    let passed: Value = serde_json::from_str(passed["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!((&passed["stale"]["pid"], &passed["stale"]["purpose"]), (&json!(dead), &json!("a test")));
    assert_eq!(passed["text"], "x\n", "what the dead one had staged is gone with it");
    assert_eq!(waiting.well("count_lines", json!({})), 1, "who was cancelled wrote nothing");
    waiting.kill();
}

//= docs/spec.md#writes
//= type=test
//# A lock MUST be released when its function fails and when its process dies, and the dead holder MUST be
//# reported.
#[test]
fn a_lock_of_a_dead_process_is_taken_over_and_its_note_is_wiped() {
    let (_home, workspace) = workspace();
    let server = serve(&workspace);
    let dead = server.pid();
    server.kill();
    std::fs::create_dir(workspace.join("locks")).unwrap();
    let pass = |note: &str| {
        std::fs::write(workspace.join("locks/gate"), note).unwrap();
        let passed = toolsd(&workspace, &["call", "pass_gate", "--format", "json"]).output().unwrap();
        assert!(passed.status.success(), "{}", String::from_utf8_lossy(&passed.stdout));
        assert_eq!(std::fs::read_to_string(workspace.join("locks/gate")).unwrap(), "");
        said(&passed)["stale"].clone()
    };
    assert_eq!(pass(&format!("{{\"pid\": {dead}, \"since\": \"2026-01-01T00:00:00Z\"}}"))["pid"], dead);
    assert_eq!(pass(""), false);
}

#[test]
fn eight_processes_lose_nothing() {
    let (_home, workspace) = workspace();
    let passing = (0..8).map(|number| {
        let line = format!("line={number}");
        toolsd(&workspace, &["call", "pass_gate", &line]).stdout(Stdio::null()).spawn().unwrap()
    });
    for mut one in passing.collect::<Vec<_>>() {
        assert!(one.wait().unwrap().success());
    }
    let text = std::fs::read_to_string(workspace.join("a.md")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    assert_eq!(std::fs::read_to_string(workspace.join("locks/gate")).unwrap(), "");
}

/// The Python with the package `filelock`: of this machine, or the one that `TOOLSD_PYTHON` names.
fn python() -> Option<String> {
    let python = std::env::var("TOOLSD_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let there = Command::new(&python).args(["-c", "import filelock"]).stderr(Stdio::null()).status();
    if there.is_ok_and(|status| status.success()) {
        return Some(python);
    }
    eprintln!("skipped: `{python}` has no package `filelock`; `TOOLSD_PYTHON` names another one");
    None
}

//= docs/spec.md#writes
//= type=test
//# A lock that cannot be acquired in time MUST be an error of kind `locked` that names the holder.
#[test]
fn locks_are_those_of_the_python_package_filelock() {
    let Some(python) = python() else { return };
    let (_home, workspace) = workspace();
    std::fs::create_dir(workspace.join("locks")).unwrap();
    // Python holds it: we wait, or get the error.
    let script = "import filelock, sys\nwith filelock.FileLock('locks/gate'):\n    print('held', flush=True)\n    sys.stdin.readline()\n";
    let mut holder = Command::new(&python)
        .args(["-c", script])
        .current_dir(&workspace)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "held\n");
    let refused = toolsd(&workspace, &["call", "pass_gate", "timeout_ms=200", "--format", "json"]).output().unwrap();
    assert!(said(&refused)["error"].as_str().unwrap().contains("`locks/gate` is locked"), "{}", said(&refused));
    let waiting =
        toolsd(&workspace, &["call", "pass_gate", "--format", "json"]).stdout(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let passed = said(&waiting.wait_with_output().unwrap());
    assert_eq!((&passed["waited"], &passed["stale"]), (&json!(true), &json!(false)));
    // We hold it: Python waits, or gets the error.
    let mut server = serve(&workspace);
    call(&mut server, "pass_gate", json!({ "hold_ms": 50_000 }));
    held(&workspace);
    let script = "import filelock\ntry:\n    filelock.FileLock('locks/gate', timeout=0.2).acquire()\n    print('had')\nexcept filelock.Timeout:\n    print('timeout')\n";
    let reported = || {
        let output = Command::new(&python).args(["-c", script]).current_dir(&workspace).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(reported(), "timeout\n");
    // We die: it is free.
    server.kill();
    assert_eq!(reported(), "had\n");
}
