//! Too little of everything: scripts that take all memory, and a process that has no descriptors left.
#![cfg(target_os = "linux")]

use crate::support::home::Home;
use serde_json::json;
use std::fs;
use std::process::Command;

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/shortage");
const SCRIPT: &str = include_str!("shortage/tools.d/greedy.rhai");

/// The memory limit of a call, in MB.
const MEMORY_LIMIT_MB: u64 = 128;

fn house() -> Home {
    let home = Home::with(&[("small.txt", "small\n"), ("large.txt", &"a".repeat(8 << 20))]);
    assert!(Command::new("git").args(["init", "-q"]).current_dir(home.workspace()).status().unwrap().success());
    home
}

/// The binary below a limit of the system.
fn below(home: &Home, limit: &str) -> Command {
    let plain = home.command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit {limit}; exec \"$0\" \"$@\"")]).arg(plain.get_program());
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.current_dir(home.workspace());
    command
}

fn serve(home: &Home, limit: &str) -> crate::support::Server {
    let mut command = below(home, limit);
    command.args(["serve", "--dir", PACKS, "--pack", "greedy"]);
    crate::support::Server::of(command, tempfile::tempdir().unwrap())
}

/// The words of the cases of a function of the script.
fn cases(function: &str) -> Vec<&'static str> {
    let (_, body) = SCRIPT.split_once(&format!("fn {function}(args) {{")).unwrap();
    let (body, _) = body.split_once("\n}\n").unwrap();
    let case = |line: &'static str| line.strip_prefix("        \"")?.split_once("\" => ").map(|(name, _)| name);
    body.lines().filter_map(case).collect()
}

/// The most memory that a process held since this was last asked, in MB.
fn peak(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let _ = fs::write(format!("/proc/{process}/clear_refs"), "5");
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() >> 10
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST stop when its call is cancelled or reaches its limit of steps, time, memory or depth.
#[test]
fn no_script_makes_the_process_die_of_memory() {
    let home = house();
    // Twice what its threads may hold together, and what the process itself needs.
    let mut server = serve(&home, "-v 4000000");
    let ways = cases("grab");
    assert!(ways.len() >= 30, "{ways:?}");
    let mut wrong = Vec::new();
    for way in crate::support::sample(ways, 10) {
        let before = peak(server.pid());
        let (reported, has_failed) = server.call("grab", json!({ "way": way }));
        let reported = reported.to_string();
        let most = peak(server.pid());
        eprintln!("{way}: {most} MB (before {before}): {reported:.120}");
        let words = ["MB", "kB", "took longer", "at most", "are not supported"];
        let is_limit = has_failed && words.iter().any(|word| reported.contains(word));
        if !is_limit || most > before.max(100) + 2 * MEMORY_LIMIT_MB {
            wrong.push(format!("{way}: {most} MB, {reported:.300}"));
        }
        assert_eq!(server.well("greet", json!({})), "hello", "{way}");
    }
    assert_eq!(wrong, [""; 0]);
}

fn allow(process: u32, descriptors: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(descriptors), maximum: Some(1_024) };
    prlimit(Pid::from_raw(i32::try_from(process).unwrap()), Resource::Nofile, limit).unwrap();
}

//= docs/spec.md#robustness
//= type=test
//# When the process has no descriptors left, or may not extend a file, only the affected call MUST fail, with
//# the reason.
//= docs/spec.md#robustness
//= type=test
//# A server or a command that cannot get the descriptors or the threads that it needs MUST report that and exit.
#[test]
fn calls_fail_without_descriptors_and_others_continue() {
    let home = house();
    let mut server = serve(&home, "-n 1024");
    for _ in 0..2 {
        allow(server.pid(), 4);
        for what in cases("doing") {
            let (reported, has_failed) = server.call("doing", json!({ "what": what }));
            assert!(
                !has_failed || reported.to_string().contains("too many open files (at most "),
                "{what}: {reported}"
            );
            assert_eq!(server.well("greet", json!({})), "hello", "{what}");
        }
        allow(server.pid(), 1_024);
        cases("doing").into_iter().for_each(|what| drop(server.well("doing", json!({ "what": what }))));
    }
    let few = below(&home, "-n 8").args(["serve", "--dir", PACKS]).output().unwrap();
    let reported = String::from_utf8_lossy(&few.stderr);
    assert!(few.status.code().is_some_and(|code| code != 0) && reported.contains("too many open files"), "{reported}");
}
