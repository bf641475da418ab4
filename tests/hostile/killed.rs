//! What programs made of protected names, when their host was killed: set aside before anybody believes it, and told.

use crate::house::{Client, House};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PACK: &str = r#"
[pack]
title = "Planting"
version = "1.0.0"
activate_if = []
grants = { read = ["."], write = ["out"], run = ["sh"] }

[[tool]]
name = "echo"
description = "Says what it was told, for the tests of programs."
effect = "pure"
input = { type = "object", properties = { text = { type = "string", description = "The text" } }, required = ["text"] }

[[tool]]
name = "run_line"
description = "Runs a line of a shell, for the tests of programs. Gives what it printed."
effect = "runs"
limits = { time_ms = 120000 }
input = { type = "object", properties = { line = { type = "string", description = "The line" } }, required = ["line"] }
"#;

const SCRIPT: &str = "/// Says it.\nfn echo(args) { args.text }\n\n/// Runs a line.\nfn run_line(args) { run(\"sh\", [\"-c\", args.line], #{ check: false, timeout_s: 100 }).text }\n";

/// What a program plants that its host is to find again; it closes the folders behind itself.
const PLANTED: [&str; 4] = ["out/.git", "out/deep/er/.toolsd", "out/toolsd.toml", "out/closed/.GIT"];

/// A line that plants all, says so, and stays.
const LINE: &str = "mkdir -p out/.git/hooks out/deep/er/.toolsd out/closed/.GIT; echo evil > out/.git/hooks/pre-commit; \
                    echo > out/toolsd.toml; chmod 0 out/closed; : > out/planted; sleep 100";

fn house() -> House {
    let house = House::new();
    house.write("layer/tools.d/planting.toml", PACK);
    house.write("layer/tools.d/planting.rhai", SCRIPT);
    fs::create_dir_all(house.workspace().join("out")).unwrap();
    fs::create_dir_all(house.workspace().join("out2")).unwrap();
    house
}

fn serve(house: &House) -> Client {
    Client::start(house.command(&["serve", "--dir", "../layer", "--pack", "planting"]))
}

fn begin(client: &mut Client, line: &str) {
    client.begin("tools/call", json!({ "name": "run_line", "arguments": { "line": line } }));
}

fn wait_for(path: &Path) {
    let began = Instant::now();
    while !path.exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "{} does not come", path.display());
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Kills a host when its program has planted.
fn killed(house: &House) -> Vec<PathBuf> {
    let mut client = serve(house);
    begin(&mut client, LINE);
    wait_for(&house.workspace().join("out/planted"));
    client.child.kill().unwrap();
    client.ended();
    let planted: Vec<PathBuf> = PLANTED.iter().map(|name| house.workspace().join(name)).collect();
    assert!(planted[0].exists() && planted[2].exists(), "void: nothing was planted");
    planted
}

fn status(client: &mut Client) -> Value {
    let answer = client.ask("resources/read", json!({ "uri": "toolsd://status" }));
    serde_json::from_str(answer["result"]["contents"][0]["text"].as_str().unwrap()).unwrap()
}

fn journals(house: &House) -> usize {
    fs::read_dir(house.parent().join("state/toolsd/programs")).map_or(0, Iterator::count)
}

//= docs/spec.md#programs
//= type=test
//# What a program of a killed host made of protected names MUST be set aside before anything of a workspace is used again, and told.
#[test]
fn what_a_program_of_a_killed_host_planted_is_set_aside_by_any_command_and_told() {
    let elsewhere = tempfile::tempdir().unwrap();
    let other = elsewhere.path().to_str().unwrap();
    let commands: [&[&str]; 5] = [
        &["list", "--workspace", "out"],
        &["check"],
        &["doctor"],
        &["call", "echo", "text=x", "--dir", "../layer", "--pack", "planting"],
        // Of another workspace: what lies here may be believed by anybody.
        &["list", "--workspace", other],
    ];
    for words in commands {
        let house = house();
        let planted = killed(&house);
        let output = house.command(words).env("TOOLSD_LOG", "warn").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        for (at, name) in planted.iter().zip(PLANTED) {
            assert!(!at.exists() && told.contains(name), "{words:?}: {name} stays: {told}");
        }
        let hook = house.workspace().join("out/.git.set-aside-1/hooks/pre-commit");
        assert_eq!(fs::read_to_string(hook).unwrap(), "evil\n", "{words:?}: nothing is removed");
        assert_eq!(journals(&house), 0, "{words:?}");
        // As long as it lies there, and only so long.
        let (_, doctor, _) = house.run(&["doctor"]);
        assert!(doctor.contains("left: a program (`sh`) whose server was killed made"), "{doctor}");
        let mut client = serve(&house);
        let told = status(&mut client);
        assert_eq!(told["recovered"].as_array().map(Vec::len), Some(PLANTED.len()), "{told}");
        fs::remove_dir_all(house.workspace().join("out")).unwrap();
        assert_eq!(status(&mut client).get("recovered"), None);
        assert!(!house.run(&["doctor"]).1.contains("left:"));
    }
}

#[test]
fn an_orderly_end_leaves_nothing_to_look_for() {
    let house = house();
    let mut client = serve(&house);
    client.call("run_line", json!({ "line": "mkdir out/.git; ls -A out" }));
    let aside = house.workspace().join("out/.git.set-aside-1");
    assert!(aside.exists());
    assert_eq!(journals(&house), 0);
    //= docs/spec.md#programs
    //= type=test
    //# What was set aside MUST be told by `doctor` and `toolsd://status` as long as it lies there, whoever called.
    let told = status(&mut client)["recovered"].to_string();
    assert!(told.contains(".git.set-aside-1") && told.contains("`sh` or another program"), "{told}");
    assert!(house.run(&["doctor"]).1.contains("`sh` or another program"));
    fs::remove_dir_all(aside).unwrap();
    assert_eq!(status(&mut client).get("recovered"), None);
    // A name that is no text, and many of them.
    client.call("run_line", json!({ "line": "mkdir -p out/p$(printf '\\377')/.git" }));
    let told = status(&mut client)["recovered"].to_string();
    assert!(told.contains(".git.set-aside-1"), "{told}");
    client.call("run_line", json!({ "line": "for n in $(seq 300); do mkdir -p out/$n/.git; done" }));
    let told = status(&mut client)["recovered"].clone();
    assert!(told.to_string().contains("280 more names that no grant covers"), "{told}");
    assert_eq!(told.as_array().map(Vec::len), Some(22), "{told}");
    fs::remove_dir_all(house.workspace().join("out")).unwrap();
    fs::create_dir(house.workspace().join("out")).unwrap();
    assert_eq!(status(&mut client).get("recovered"), None);
    // What the user makes afterwards is the user's.
    fs::create_dir(house.workspace().join("out/.git")).unwrap();
    client.child.kill().unwrap();
    client.ended();
    house.run(&["list"]);
    assert!(house.workspace().join("out/.git").exists());
}

#[test]
fn two_hosts_leave_each_others_programs_alone() {
    let house = house();
    let mut living = serve(&house);
    let until = |name: &str| format!("while [ ! -e out/{name} ]; do sleep 0.05; done");
    let (make, go) = (until("make"), until("go"));
    let line =
        format!(": > out/begun; {make}; mkdir -p out/living/.git; : > out/made; {go}; ls -A out/living > out/seen");
    begin(&mut living, &line);
    wait_for(&house.workspace().join("out/begun"));
    let (own, planted) = (house.workspace().join("out/living/.git"), killed(&house));
    fs::write(house.workspace().join("out/make"), "").unwrap();
    wait_for(&house.workspace().join("out/made"));
    // Commands come and go: what the living program made is its own until it has ended.
    for _ in 0..3 {
        house.run(&["list"]);
        assert!(own.exists(), "the program of another host is disturbed");
    }
    assert_eq!(journals(&house), 2);
    fs::write(house.workspace().join("out/go"), "").unwrap();
    while living.hear().unwrap().get("id").is_none() {}
    assert_eq!(fs::read_to_string(house.workspace().join("out/seen")).unwrap(), ".git\n");
    assert!(!own.exists());
    house.run(&["list"]);
    assert!(planted.iter().all(|at| !at.exists()) && journals(&house) == 0, "{}", journals(&house));
}

#[test]
fn what_cannot_be_looked_for_is_told_until_it_can() {
    let house = house();
    let planted = killed(&house);
    let (out, away) = (house.workspace().join("out"), house.parent().join("away"));
    fs::rename(&out, &away).unwrap();
    // Not by a link: it leads to what was never looked at.
    fs::create_dir_all(house.parent().join("outside/.git")).unwrap();
    std::os::unix::fs::symlink("../outside", &out).unwrap();
    let (_, told, _) = house.run(&["doctor"]);
    assert!(told.contains("is another one now or gone"), "{told}");
    assert!(house.parent().join("outside/.git").exists());
    fs::remove_file(&out).unwrap();
    fs::rename(&away, &out).unwrap();
    let (_, told, _) = house.run(&["doctor"]);
    assert!(told.contains("set-aside-1") && planted.iter().all(|at| !at.exists()), "{told}");
}

#[test]
fn what_a_killed_host_left_is_set_aside_before_the_next_program_of_a_living_one() {
    let house = house();
    let mut living = serve(&house);
    let planted = killed(&house);
    living.call("run_line", json!({ "line": "true" }));
    assert!(planted.iter().all(|at| !at.exists()));
    let told = status(&mut living);
    assert_eq!(told["recovered"].as_array().map(Vec::len), Some(PLANTED.len()), "{told}");
}

//= docs/spec.md#robustness
//= type=test
//# A command that comes while another one clears up behind a killed process MUST wait until that is done, for 20 s at most.
#[test]
fn no_command_answers_before_what_a_killed_host_left_is_set_aside() {
    let house = house();
    let planted = killed(&house);
    for number in 0..2_000 {
        fs::create_dir(house.workspace().join(format!("out/n{number}"))).unwrap();
    }
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                house.run(&["list"]);
                let left: Vec<&PathBuf> = planted.iter().filter(|at| at.exists()).collect();
                assert!(left.is_empty(), "a command has answered, and {left:?} is there");
            });
        }
    });
}

/// Holds the journal of a process that is gone, as whoever clears up behind it does.
#[test]
fn a_command_waits_for_whoever_finishes_what_a_killed_call_wrote() {
    use rustix::fs::{FlockOperation, flock};
    for kind in ["pending", "programs"] {
        let house = house();
        house.write(&format!("state/toolsd/{kind}/2147483646-x"), "");
        house.write("state/toolsd/programs.lock", "");
        let folder = house.parent().join("state/toolsd");
        let journal = fs::File::open(folder.join(kind).join("2147483646-x")).unwrap();
        let turn = fs::File::open(folder.join("programs.lock")).unwrap();
        for file in [&journal, &turn] {
            flock(file, FlockOperation::NonBlockingLockExclusive).unwrap();
        }
        let mut waiting = house.command(&["list"]).stdout(std::process::Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(1_500));
        assert!(waiting.try_wait().unwrap().is_none(), "{kind}: a command does not wait");
        drop((journal, turn));
        assert!(waiting.wait().unwrap().success(), "{kind}");
    }
}

//= docs/spec.md#robustness
//= type=test
//# A journal that cannot be read MUST be told of before it is removed.
#[test]
fn what_a_journal_says_in_vain_is_told_and_not_for_ever() {
    use std::os::unix::fs::PermissionsExt;
    let gone = json!({ "program": "sh", "writes": [["/gone/for/good", [1, 2]]] }).to_string();
    for (kind, text, days, told, stays) in [
        ("pending", "no JSON", 0, "cannot be read from line 1 on", false),
        ("programs", "no JSON", 0, "cannot be read from line 1 on", false),
        ("programs", &format!("{gone}\n{{\"group\": "), 0, "cannot be read from line 2 on", true),
        ("programs", &gone, 29, "looked for again at each start for 30 days", true),
        ("programs", &gone, 31, "not looked for any more, after 30 days", false),
    ] {
        let house = house();
        house.write(&format!("state/toolsd/{kind}/2147483646-x"), format!("{text}\n"));
        let journal = house.parent().join(format!("state/toolsd/{kind}/2147483646-x"));
        fs::set_permissions(&journal, fs::Permissions::from_mode(0o600)).unwrap();
        let then = std::time::SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
        fs::File::options().write(true).open(&journal).unwrap().set_modified(then).unwrap();
        let (_, said, _) = house.run(&["doctor"]);
        assert!(said.contains(told), "{kind} {text}: {said}");
        assert_eq!(journal.exists(), stays, "{kind} {text}: {said}");
    }
}

//= docs/spec.md#robustness
//= type=test
//# A journal that lies in the workspace or in a further root MUST NOT be believed, unless the user's own home has it there.
#[test]
fn a_journal_in_the_workspace_or_a_root_is_not_believed() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    // Where the state lies, and whether a variable or the home leads there; the last one is none of the workspace's.
    for (place, by_home) in
        [("workspace/state", false), ("workspace/home", true), ("root/state", false), ("own", false)]
    {
        let house = house();
        house.write("victim/.git/hooks/own", "mine");
        house.write("victim/keep", "mine");
        fs::create_dir_all(house.parent().join("root")).unwrap();
        let (victim, state) = (house.parent().join("victim"), house.parent().join(place));
        let known = fs::metadata(victim.join("keep")).unwrap();
        let mark = json!([known.dev(), known.ino(), known.len(), known.mtime(), known.mtime_nsec()]);
        let folder = fs::metadata(&victim).unwrap();
        let identity = json!([folder.dev(), folder.ino()]);
        let lines = [
            ("pending", json!({ "steps": [[victim.join("keep"), identity, null, mark, null]] })),
            ("programs", json!({ "program": "sh", "writes": [[victim, identity]] })),
        ];
        let below = if by_home { ".local/state/toolsd" } else { "toolsd" };
        for (kind, line) in lines {
            let file = state.join(below).join(kind).join("12345-x");
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, format!("{line}\n")).unwrap();
            fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        }
        let root = house.parent().join("root");
        let mut command = house.command(&["list", "--root", root.to_str().unwrap()]);
        match by_home {
            true => command.env("HOME", &state).env_remove("XDG_STATE_HOME"),
            false => command.env("XDG_STATE_HOME", &state),
        };
        let output = command.env("TOOLSD_LOG", "warn").output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        let stays = victim.join("keep").exists() && victim.join(".git").exists();
        let is_own = place == "own";
        assert_eq!(stays, !is_own, "{place}: {told}");
        assert_eq!(told.contains("is not believed, for the workspace or a root holds it"), !is_own, "{place}: {told}");
    }
}

/// What makes plain git start a program of somebody else's, whatever folder it is called in: the folder, and what is in it.
const ARMED: [(&str, &str); 4] = [
    ("out/a/.git", "HEAD objects/ refs/ config"),
    ("out/b", "HEAD objects/ refs/ config"),
    ("out/c", "HEAD commondir config.worktree"),
    // One within another one.
    ("out/d/.git/z", "HEAD objects/ refs/ config"),
];

//= docs/spec.md#programs
//= type=test
//# What git takes for a repository, whatever its folder is called, MUST count as a protected name: by its `HEAD`.
#[test]
fn nothing_that_a_program_made_or_that_was_set_aside_is_a_repository_for_git() {
    let house = house();
    let canary = house.workspace().join("canary");
    let program = house.workspace().join("program");
    fs::write(&program, format!("#!/bin/sh\n: > {}\n", canary.display())).unwrap();
    let made = std::process::Command::new("chmod").arg("+x").arg(&program).status().unwrap();
    assert!(made.success());
    let config = format!(
        "[core]\nrepositoryformatversion = 0\nfsmonitor = {0}\n[alias]\nzz = !{0}\n[extensions]\nworktreeConfig = true\n",
        program.display()
    );
    let shared = "mkdir -p out/shared/objects out/shared/refs; ";
    let lines = ARMED.iter().map(|(folder, names)| {
        let name = |name: &str| match name {
            "HEAD" => format!("echo ref: refs/heads/x > {folder}/HEAD; "),
            "commondir" => {
                format!("echo ../shared > {folder}/commondir; cp {folder}/config.worktree out/shared/config; ")
            }
            name if name.ends_with('/') => format!("mkdir -p {folder}/{name}; "),
            name => format!("cp config.evil {folder}/{name}; "),
        };
        // `commondir` comes when there is something to share.
        let names: Vec<&str> = names.split(' ').collect();
        format!("mkdir -p {folder}; {}", names.iter().rev().map(|one| name(one)).collect::<String>())
    });
    let line = format!("{shared}{}", lines.collect::<String>());
    fs::write(house.workspace().join("config.evil"), config).unwrap();
    let fires = || {
        // In each folder there is now: what git starts there.
        let mut found = std::process::Command::new("find");
        let found = found.args(["out", "-type", "d"]).current_dir(house.workspace()).output().unwrap();
        let folders = String::from_utf8(found.stdout).unwrap();
        let fired = |folder: &&str| {
            let _of_the_last_one = fs::remove_file(&canary);
            let git = std::process::Command::new("git").arg("zz").current_dir(house.workspace().join(folder)).output();
            drop(git);
            canary.exists()
        };
        folders.lines().filter(fired).map(str::to_owned).collect::<Vec<String>>()
    };
    let plain = std::process::Command::new("sh").args(["-ec", &line]).current_dir(house.workspace()).output().unwrap();
    assert!(plain.status.success(), "{}", String::from_utf8_lossy(&plain.stderr));
    let fired = fires();
    for (folder, _) in ARMED {
        assert!(fired.iter().any(|at| at == folder), "a void attack: {folder} of {fired:?}");
    }
    fs::remove_dir_all(house.workspace().join("out")).unwrap();
    fs::create_dir(house.workspace().join("out")).unwrap();
    let mut client = serve(&house);
    client.call("run_line", json!({ "line": line }));
    assert!(house.workspace().join("out/c/config.worktree").exists(), "void: nothing was made");
    assert_eq!(fires(), [""; 0]);
}
