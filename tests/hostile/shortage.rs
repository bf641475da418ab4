//! Too little of everything: scripts that take all memory, and a process that has no descriptors left.
#![cfg(target_os = "linux")]

use crate::support::home::Home;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/hostile/shortage");
const SCRIPT: &str = include_str!("shortage/tools.d/greedy.rhai");

/// What a call may hold, in MB.
const LIMIT: u64 = 128;

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
//# A script MUST end when it has used up its steps, its time, its memory or its depth.
#[test]
fn no_script_makes_the_process_die_of_memory() {
    let home = house();
    // Twice what its threads may hold together, and what the process itself needs.
    let mut server = serve(&home, "-v 4000000");
    let ways = cases("take");
    assert!(ways.len() >= 30, "{ways:?}");
    let mut wrong = Vec::new();
    for way in crate::support::sample(ways, 10) {
        let before = peak(server.pid());
        let (told, has_failed) = server.call("take", json!({ "way": way }));
        let told = told.to_string();
        let most = peak(server.pid());
        eprintln!("{way}: {most} MB (before {before}): {told:.120}");
        let words = ["MB", "kB", "took longer", "at most", "are not supported"];
        let is_limit = has_failed && words.iter().any(|word| told.contains(word));
        if !is_limit || most > before.max(100) + 2 * LIMIT {
            wrong.push(format!("{way}: {most} MB, {told:.300}"));
        }
        assert_eq!(server.well("greet", json!({})), "hello", "{way}");
    }
    assert_eq!(wrong, [""; 0]);
}

/// Few descriptors: what a server needs, and hardly more.
const FEW: &str = "-n 96";

fn is_in_words(told: &str) -> bool {
    told.contains("too many open files (at most ")
}

//= docs/spec.md#robustness
//= type=test
//# Where the process has no descriptor left, a call that needs one MUST be told so, and later calls MUST be answered as before.
//= docs/spec.md#robustness
//= type=test
//# A server that has too few descriptors to begin with MUST say so and end.
#[test]
fn without_descriptors_calls_are_told_so_and_others_go_on() {
    let home = house();
    let mut wrong = Vec::new();
    // From one that is not enough to start, to one that is enough for all.
    for most in crate::support::sample((8..40).collect(), 11) {
        let mut command = below(&home, &format!("-n {most}"));
        command.args(["serve", "--dir", PACKS, "--pack", "greedy"]);
        let input = [
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": { "protocolVersion": "2025-11-25",
                "capabilities": {}, "clientInfo": { "name": "t", "version": "0" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        ];
        let named = |what: &&str| json!({ "name": "doing", "arguments": { "what": what } });
        let calls = cases("doing").into_iter().map(|what| named(&what));
        let calls = calls.chain([json!({ "name": "greet", "arguments": {} })]).enumerate();
        let calls = calls
            .map(|(at, params)| json!({ "jsonrpc": "2.0", "id": at + 1, "method": "tools/call", "params": params }));
        let lines: Vec<String> = input.into_iter().chain(calls).map(|line| line.to_string()).collect();
        let said = spoken(command, &lines);
        eprintln!("{most}: {}", said.summary);
        wrong.extend(said.wrong.into_iter().map(|wrong| format!("{most} descriptors: {wrong}")));
    }
    assert_eq!(wrong, [""; 0]);
}

/// How a process took what it was told.
struct Said {
    summary: String,
    wrong: Vec<String>,
}

/// Tells a server these lines, ends its input and looks at what it says.
fn spoken(mut command: Command, lines: &[String]) -> Said {
    use std::io::Write;
    use std::process::Stdio;
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    for line in lines {
        // It may have ended before it began.
        let _ = writeln!(input, "{line}");
    }
    drop(input);
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let mut wrong = Vec::new();
    if told.contains("panicked") || output.status.code().is_none() {
        wrong.push(format!("{:?}: {told}", output.status));
    }
    let answers: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |id: usize| answers.iter().find(|answer| answer["id"] == id);
    if answers.is_empty() {
        // Too few to serve at all: it ends with words.
        if output.status.success() || !is_in_words(&told) {
            wrong.push(format!("it serves nothing and says {:?}, {told}", output.status));
        }
        return Said { summary: format!("does not start: {told:.100}"), wrong };
    }
    let (mut well, mut failed) = (0, 0);
    for id in 1..lines.len() - 1 {
        let Some(answer) = of(id) else {
            wrong.push(format!("{} has no answer: {told}", lines[id + 1]));
            continue;
        };
        let text = answer.to_string();
        match answer["result"]["isError"] == true || answer.get("error").is_some() {
            false => well += 1,
            true if is_in_words(&text) => failed += 1,
            true => wrong.push(format!("{}: {text}", lines[id + 1])),
        }
    }
    if !of(lines.len() - 2).is_some_and(|answer| answer.to_string().contains("hello")) {
        wrong.push("it does not greet".to_owned());
    }
    Said { summary: format!("{well} well, {failed} refused"), wrong }
}

//= docs/spec.md#robustness
//= type=test
//# Where the process has no descriptor left, a call that needs one MUST be told so, and later calls MUST be answered as before.
#[test]
fn over_http_connections_take_descriptors_and_give_them_back() {
    let home = house();
    let mut command = below(&home, FEW);
    command.args(["serve", "--http", "127.0.0.1:0"]);
    let server = crate::support::http::Server::from_command(&mut command, &home, &["--dir", PACKS, "--pack", "greedy"]);
    let ask = |what: &str| server.ask("tools/call", json!({ "name": "doing", "arguments": { "what": what } })).answer();
    let has_failed = |answer: &Value| answer["result"]["isError"] == true || answer.get("error").is_some();
    for what in cases("doing") {
        assert!(!has_failed(&ask(what)), "{what}: {}", ask(what));
    }
    let address = server.address;
    let silent: Vec<_> = (0..60).filter_map(|_| std::net::TcpStream::connect(address).ok()).collect();
    std::thread::sleep(Duration::from_millis(500));
    drop(silent);
    let began = Instant::now();
    for what in cases("doing") {
        let mut answer = ask(what);
        while has_failed(&answer) && began.elapsed() < Duration::from_secs(60) {
            assert!(is_in_words(&answer.to_string()), "{what}: {answer}");
            answer = ask(what);
        }
        assert!(!has_failed(&answer), "{what}: {answer}");
    }
}

fn allow(process: u32, descriptors: u64) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limit = Rlimit { current: Some(descriptors), maximum: Some(1_024) };
    prlimit(Pid::from_raw(i32::try_from(process).unwrap()), Resource::Nofile, limit).unwrap();
}

//= docs/spec.md#reload
//= type=test
//# Packs that cannot be read because the process has no descriptor left MUST go on serving.
#[test]
fn packs_that_cannot_be_read_for_want_of_descriptors_go_on_serving() {
    let home = house();
    crate::support::copy(Path::new(PACKS), &home.workspace().join("packs"));
    let mut command = home.command();
    command.args(["serve", "--dir", "packs", "--pack", "greedy"]);
    let mut server = crate::support::Server::of(command, tempfile::tempdir().unwrap());
    assert_eq!(server.well("greet", json!({})), "hello");
    // Long enough for the watcher to begin, and then to see the edit.
    std::thread::sleep(Duration::from_secs(2));
    allow(server.pid(), 4);
    let edited = fs::read_to_string(format!("{PACKS}/tools.d/greedy.toml")).unwrap().replace("hello", "good day");
    home.write("packs/tools.d/greedy.toml", &edited);
    let began = Instant::now();
    while began.elapsed() < Duration::from_secs(3) {
        assert_eq!(server.well("greet", json!({})), "hello");
        std::thread::sleep(Duration::from_millis(100));
    }
    allow(server.pid(), 1_024);
    while server.well("greet", json!({})) != "good day" {
        assert!(began.elapsed() < Duration::from_secs(60), "the edit is served once there are descriptors again");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Another user, who has no processes yet, and a limit on them. Root has none: it becomes that user.
const OTHERS: u32 = 41_234;

//= docs/spec.md#robustness
//= type=test
//# A command that cannot have the threads that it needs MUST say so and end.
#[test]
fn without_threads_a_command_says_so_and_ends() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!(
            "not tried: the processes of this user are not this test's alone, and only root becomes another"
        );
    }
    let folder = tempfile::tempdir().unwrap();
    let (program, at) = (folder.path().join("toolsd"), folder.path().join("workspace"));
    fs::copy(env!("CARGO_BIN_EXE_toolsd"), &program).unwrap();
    fs::create_dir(&at).unwrap();
    fs::create_dir_all(at.join(".agent/skills")).unwrap();
    for path in [folder.path(), &at] {
        std::os::unix::fs::chown(path, Some(OTHERS), Some(OTHERS)).unwrap();
    }
    let (mut refused, mut served) = (0, 0);
    for most in (1..=16).chain([20, 24, 28, 40, 64]) {
        let mut command = Command::new("setpriv");
        let other = OTHERS.to_string();
        command.args(["--reuid", &other, "--regid", &other, "--clear-groups", "prlimit"]);
        command.arg(format!("--nproc={most}")).arg(&program).args(["serve", "--pack", "skills"]);
        command.current_dir(&at).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", &at);
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        } });
        fs::write(folder.path().join("input"), format!("{hello}\n")).unwrap();
        let said = command.stdin(fs::File::open(folder.path().join("input")).unwrap()).output().unwrap();
        let [out, err] = [&said.stdout, &said.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let is_served = out.contains("protocolVersion") && said.status.success();
        let is_refused = said.status.code() == Some(2) && err.contains("too few threads") && err.contains("ulimit -u");
        assert!(is_served || is_refused, "{most}: {}: {out}{err}", said.status);
        (refused, served) = (refused + i32::from(is_refused), served + i32::from(is_served));
    }
    assert!(refused > 4 && served > 1, "refused {refused}, served {served}");
}

//= docs/spec.md#robustness
//= type=test
//# A write beyond the size that the system allows a file MUST fail alone.
#[test]
fn a_file_that_may_not_grow_fails_alone() {
    let home = Home::with(&[("small.txt", "small\n")]);
    let pack = concat!(
        "[pack]\ntitle = \"Large\"\nversion = \"1.0.0\"\ngrants = { write = [\".\"] }\n",
        "[[tool]]\nname = \"grow\"\ndescription = \"Writes a file of as many bytes as one asks for.\"\neffect = \"writes\"\n",
        "[tool.input]\ntype = \"object\"\nrequired = [\"size\"]\nproperties.size = { type = \"integer\", description = \"Bytes\" }\n",
    );
    home.write("packs/tools.d/large.toml", pack);
    home.write(
        "packs/tools.d/large.rhai",
        "fn grow(args) { write_text(\"grown.txt\", \"a\".repeat(args.size)); \"grown\" }\n",
    );
    // 1 MB, in the blocks of 512 bytes that `sh` counts in.
    let mut command = below(&home, "-f 2048");
    command.args(["serve", "--dir", "packs", "--pack", "large"]);
    let mut server = crate::support::Server::of(command, tempfile::tempdir().unwrap());
    for size in [100, 4 << 20, 100, 8 << 20, 200] {
        let (said, failed) = server.call("grow", json!({ "size": size }));
        assert_eq!(failed, size > 1 << 20, "{size}: {said}");
        let kept = fs::read(home.workspace().join("grown.txt")).unwrap().len();
        assert_eq!(kept, if size > 1 << 20 { 100 } else { size }, "{said}");
    }
    let left: Vec<_> = fs::read_dir(home.workspace()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().contains("toolsd")), "{left:?}");
}
