//! What many calls at once take from the others: threads, and memory.

use crate::support::Server;
use crate::support::home::Home;
use serde_json::{Value, json};
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
