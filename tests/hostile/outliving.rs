//! Programs and what they start, when toolsd ends in any way, or their call does.

use crate::house::{House, is_well};
use crate::support::Server;
use serde_json::json;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PACK: &str = include_str!("outliving/lasting.toml");

const SCRIPT: &str = "/// Says it.\nfn echo(args) { args.text }\n\n/// Runs a line.\nfn run_line(args) { run(\"sh\", [\"-c\", args.line], #{ check: false, timeout_ms: (args.seconds * 1000.0).to_int() }).text }\n";

/// Shapes of what a program starts, each with a number of seconds that no other process sleeps for; the last one is
/// itself.
const SHAPES: [&str; 6] = [
    "sleep NUMBER &",
    "setsid sleep NUMBER &",
    "(trap '' TERM HUP INT; sleep NUMBER) &",
    "sh -c 'exec <&- >&- 2>&-; sleep NUMBER & exit' &",
    "perl -e 'use POSIX; exit if fork; POSIX::setsid(); exit if fork; exec @ARGV' sleep NUMBER &",
    "sleep NUMBER",
];

/// The numbers of a test, one for each shape.
fn numbers(of: usize) -> Vec<String> {
    (0..SHAPES.len()).map(|shape| format!("{}{of:02}{shape}.25", std::process::id() + 10_000)).collect()
}

/// A line that starts all of them.
fn line(numbers: &[String]) -> String {
    let parts = SHAPES.iter().zip(numbers).map(|(shape, number)| shape.replace("NUMBER", number));
    parts.collect::<Vec<_>>().join("\n")
}

/// The shapes of which a process exists, with its number.
fn alive(numbers: &[String]) -> Vec<(&'static str, u32)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        if words.next() != Some(b"sleep") {
            continue;
        }
        let word = words.next().unwrap_or_default();
        found.extend(
            numbers.iter().zip(SHAPES).filter(|(number, _)| word == number.as_bytes()).map(|(_, shape)| (shape, pid)),
        );
    }
    found
}

/// Waits until `count` of them exist. Returns those that exist.
fn wait_for(numbers: &[String], count: usize, patience: Duration) -> Vec<(&'static str, u32)> {
    let began = Instant::now();
    loop {
        let found = alive(numbers);
        if found.len() == count || began.elapsed() > patience {
            return found;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn house() -> House {
    let house = House::new();
    house.write("layer/tools.d/lasting.toml", PACK);
    house.write("layer/tools.d/lasting.rhai", SCRIPT);
    fs::create_dir(house.parent().join("temporary")).unwrap();
    house
}

fn serve(house: &House) -> Server {
    let mut command = house.command(&["serve", "--dir", "../layer", "--pack", "lasting"]);
    command.env("TMPDIR", house.parent().join("temporary"));
    Server::serving(command)
}

fn signal(pid: u32, name: &str) {
    assert!(Command::new("kill").args(["-s", name, &pid.to_string()]).status().unwrap().success());
}

//= docs/spec.md#programs
//= type=test
//# A program MUST end, with everything that it started, when its call ends, is cancelled or runs out of time.
//= docs/spec.md#programs
//= type=test
//# When the server ends, for whatever reason, its programs and everything that they started MUST end.
#[test]
fn nothing_outlives_its_host_or_its_call_however_that_ends() {
    let plain = numbers(99);
    let mut shell =
        Command::new("sh").args(["-c", &line(&plain)]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    assert_eq!(wait_for(&plain, SHAPES.len(), Duration::from_secs(60)).len(), SHAPES.len());
    shell.kill().unwrap();
    shell.wait().unwrap();
    let left = alive(&plain);
    left.iter().for_each(|(_, pid)| signal(*pid, "KILL"));
    assert!(left.len() >= SHAPES.len() - 1, "void: only {left:?} outlive a program that is killed");
    for (of, way) in ["end of input", "TERM", "KILL", "cancelled", "time"].into_iter().enumerate() {
        let (house, numbers) = (house(), numbers(of));
        let mut client = serve(&house);
        let seconds = if way == "time" { 3.5 } else { 100.0 };
        let made = house.workspace().join("made/.git");
        let line = format!("mkdir -p made/.git\n{}", line(&numbers));
        let id =
            client.tell("tools/call", json!({ "name": "run_line", "arguments": { "line": line, "seconds": seconds } }));
        let begun = wait_for(&numbers, SHAPES.len(), Duration::from_secs(60));
        assert!(begun.len() == SHAPES.len() || way == "time" && !begun.is_empty(), "{way} is void: {begun:?}");
        assert!(made.exists() || way == "time", "{way} is void");
        match way {
            "end of input" => drop(client.input.take()),
            "cancelled" => client.cancel(id),
            "time" => {
                let reported = client.hear().unwrap().to_string();
                assert!(reported.contains("ran for 3.5 s") || reported.contains("ran for 3.6 s"), "{reported}");
            }
            name => signal(client.pid(), name),
        }
        if !["cancelled", "time"].contains(&way) {
            client.ended();
        }
        let left = wait_for(&numbers, 0, Duration::from_secs(10));
        left.iter().for_each(|(_, pid)| signal(*pid, "KILL"));
        assert!(left.is_empty(), "{way}: {left:?} are left");
        let is_clear = || folders(&house.parent().join("temporary")).is_empty();
        match way {
            // No process is left to do it: the next start removes the folders.
            "KILL" => {}
            "cancelled" | "time" => {
                let began = Instant::now();
                while !is_clear() {
                    assert!(began.elapsed() < Duration::from_secs(30), "{way}: a temporary folder is left");
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
            _ => assert!(is_clear(), "{way}: a temporary folder is left"),
        }
        if ["cancelled", "time"].contains(&way) {
            is_well(&mut client);
        }
    }
}

fn folders(of: &Path) -> Vec<String> {
    fs::read_dir(of).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

//= docs/spec.md#robustness
//= type=test
//# Temporary files and folders of a killed process MUST be removed by the next write and the next start.
#[test]
fn the_temporary_folder_of_a_killed_host_goes_at_the_next_start() {
    let (house, numbers) = (house(), numbers(50));
    let temporary = house.parent().join("temporary");
    let begin = |client: &mut Server| {
        let arguments = json!({ "line": format!("echo mine > $TMPDIR/file; sleep {}", numbers[0]), "seconds": 100.0 });
        client.tell("tools/call", json!({ "name": "run_line", "arguments": arguments }));
        assert_eq!(wait_for(&numbers, 1, Duration::from_secs(60)).len(), 1);
    };
    let mut first = serve(&house);
    begin(&mut first);
    signal(first.child.id(), "KILL");
    first.ended();
    assert_eq!(wait_for(&numbers, 0, Duration::from_secs(2)), []);
    let left = folders(&temporary);
    assert!(left.len() == 1 && left[0].starts_with("toolsd-run-"), "void: {left:?}");
    let mut second = serve(&house);
    let began = Instant::now();
    while !folders(&temporary).is_empty() && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(folders(&temporary), Vec::<String>::new());
    // What belongs to one that lives stays.
    begin(&mut second);
    let mut third = serve(&house);
    is_well(&mut third);
    std::thread::sleep(Duration::from_millis(500));
    assert_eq!(folders(&temporary).len(), 1);
    assert_eq!(alive(&numbers).len(), 1);
}
