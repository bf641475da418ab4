//! What many calls at once take from the others: threads, and memory.

use crate::support::Server;
use crate::support::home::Home;
use serde_json::json;
use std::time::{Duration, Instant};

const PACK: &str = r#"[pack]
title = "Calls that take much, for tests"
version = "1.0.0"
grants = { read = ["."], run = ["sleep"] }
limits = { time_ms = 100000, memory_mb = 256 }

[[tool]]
name = "wait"
description = "Waits for a program."
effect = "runs"

[[tool]]
name = "quick"
description = "Answers at once."
effect = "pure"

[[tool]]
name = "double"
description = "Doubles a text for ever."
effect = "pure"
[tool.input]
type = "object"
properties.by = { type = "string", description = "How" }
required = ["by"]
"#;

const SCRIPT: &str = r#"fn wait(args) { run("sleep", ["100"]) }
fn quick(args) { 7 }
fn double(args) {
  let s = "0123456789abcdef";
  loop {
    switch args.by {
      "+=" => s += s,
      "+" => s = s + s,
      "both" => s = "x" + s + s,
      "interpolation" => s = `${s}${s}`,
      _ => fail("how?"),
    }
  }
}
"#;

fn serve() -> (Home, Server) {
    let home = Home::with(&[("packs/tools.d/load.toml", PACK), ("packs/tools.d/load.rhai", SCRIPT)]);
    let mut command = home.command();
    command.args(["serve", "--dir", "packs", "--pack", "load"]);
    let server = Server::of(command, tempfile::tempdir().unwrap());
    (home, server)
}

/// A number from the status of a process: threads, or kB.
fn status(server: &Server, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':')).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// How many programs it runs.
fn programs(server: &Server) -> usize {
    let parent = format!("\nPPid:\t{}\n", server.pid());
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let statuses = processes.filter_map(|process| std::fs::read_to_string(process.path().join("status")).ok());
    statuses.filter(|status| status.contains(&parent)).count()
}

//= docs/spec.md#calls
//= type=test
//# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
#[test]
fn calls_whose_programs_run_delay_no_others() {
    let (_home, mut server) = serve();
    let before = status(&server, "Threads");
    (0..64).for_each(|_| _ = server.tell("tools/call", json!({ "name": "wait", "arguments": {} })));
    let began = Instant::now();
    while programs(&server) < 64 {
        assert!(began.elapsed() < Duration::from_secs(30), "{} programs run", programs(&server));
        std::thread::sleep(Duration::from_millis(10));
    }
    let began = Instant::now();
    assert_eq!(server.well("quick", json!({})), 7);
    // 100 ms are plenty on an idle machine.
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    assert!(status(&server, "Threads") < before + 64 + 16, "{} threads", status(&server, "Threads"));
    server.kill();
}

/// Calls that double a text until they are stopped, all at once. Returns their words, and by how many MB the process
/// grew at most.
fn double(ways: &[&str]) -> (Vec<String>, u64) {
    let (_home, mut server) = serve();
    server.well("quick", json!({}));
    let before = status(&server, "VmRSS");
    let call = |way: &&str| ("tools/call", json!({ "name": "double", "arguments": { "by": way } }));
    let answers = server.at_once(&ways.iter().map(call).collect::<Vec<_>>());
    let grown = status(&server, "VmHWM").saturating_sub(before) >> 10;
    server.kill();
    (answers.iter().map(|answer| answer["result"]["content"][0]["text"].to_string()).collect(), grown)
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST stop when its call is cancelled or reaches its limit of steps, time, memory or depth.
#[test]
fn a_text_that_doubles_stays_below_the_limit_of_memory() {
    // The engine joins the parts of an interpolation without asking, and the allocator keeps what was freed for a while.
    for (way, most) in [("+=", 300), ("+", 300), ("both", 300), ("interpolation", 400)] {
        let (said, grown) = double(&[way]);
        assert!(said[0].contains(" MB"), "{said:?}");
        assert!(grown < most, "{way}: {grown} MB");
    }
}

//= docs/spec.md#calls
//= type=test
//# When all calls together use too much memory, the largest one MUST be stopped with an error that reports it.
#[test]
fn eight_texts_that_double_stay_below_the_limit_of_all() {
    let (said, grown) = double(&["+=", "+", "both", "interpolation", "+=", "+", "both", "interpolation"]);
    assert!(said.iter().all(|said| said.contains(" MB")), "{said:?}");
    assert!(grown < 2_048 + 200, "{grown} MB");
}
