//! Git and programs under hostile repositories: nothing that they name is started, nothing outside is reached.
#![allow(clippy::unwrap_used, reason = "tests may panic")]

#[path = "support/mod.rs"]
mod support;

use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PACKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/git");

/// A workspace beside a secret.
struct Yard {
    home: tempfile::TempDir,
}

impl Yard {
    fn new() -> Self {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("workspace")).unwrap();
        fs::write(home.path().join("secret"), "the secret\n").unwrap();
        fs::write(
            home.path().join(".gitconfig"),
            "[user]\nname = a\nemail = a@example.org\n[init]\ndefaultBranch = main\n",
        )
        .unwrap();
        Self { home }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.home.path().join(path)
    }

    fn workspace(&self) -> PathBuf {
        self.at("workspace")
    }

    /// Git as a person runs it.
    fn git(&self, folder: &Path, words: &[&str]) -> String {
        let output = Command::new("git")
            .args(["-c", "core.hooksPath=/dev/null"])
            .args(words)
            .current_dir(folder)
            .env("HOME", self.home.path())
            .output()
            .unwrap();
        assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = support::toolsd(self.home.path());
        command.env("HOME", self.home.path()).args(words);
        command.args(["--pack", "keeper", "--dir", PACKS, "--format", "json", "--workspace"]).arg(self.workspace());
        command
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        let output = self.command(&["call", tool, &arguments.to_string()]).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no JSON: {told}"))
    }

    fn look(&self, words: &[&str]) -> Value {
        self.call("look_git", &json!({ "args": words }))
    }

    fn act(&self, words: &[&str]) -> Value {
        self.call("act_git", &json!({ "args": words }))
    }
}

/// A repository with two branches that differ, whose configuration and attributes name a program wherever they can.
fn trap(yard: &Yard) -> PathBuf {
    let workspace = yard.workspace();
    let marks = yard.at("marks");
    fs::create_dir(&marks).unwrap();
    let program = yard.at("program");
    fs::write(&program, format!("#!/bin/sh\ntouch {}/$1\ncat\n", marks.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    yard.git(&workspace, &["init", "-q"]);
    fs::write(workspace.join("a.txt"), "one\ntwo\n").unwrap();
    fs::write(workspace.join(".gitattributes"), "*.txt filter=x=y diff=x merge=x\n*.bin filter=p\n").unwrap();
    fs::write(workspace.join("b.bin"), "bin\n").unwrap();
    yard.git(&workspace, &["add", "-A"]);
    yard.git(&workspace, &["commit", "-q", "-m", "one"]);
    yard.git(&workspace, &["checkout", "-q", "-b", "other"]);
    fs::write(workspace.join("a.txt"), "one\nthree\n").unwrap();
    yard.git(&workspace, &["commit", "-q", "-a", "-m", "other"]);
    yard.git(&workspace, &["checkout", "-q", "main"]);
    fs::write(workspace.join("a.txt"), "one\nfour\n").unwrap();
    fs::write(workspace.join("b.bin"), "changed\n").unwrap();
    let run = |mark: &str| format!("{} {mark}", program.display());
    let hooks = workspace.join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "pre-commit",
        "post-commit",
        "commit-msg",
        "prepare-commit-msg",
        "post-checkout",
        "post-merge",
        "post-index-change",
        "reference-transaction",
        "pre-rebase",
        "applypatch-msg",
        "post-rewrite",
    ] {
        let path = hooks.join(hook);
        fs::write(&path, format!("#!/bin/sh\ntouch {}/hook-{hook}\n", marks.display())).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut config = fs::read_to_string(workspace.join(".git/config")).unwrap();
    config += &format!(
        "[core]\nfsmonitor = {}\nhooksPath = {}\npager = {}\neditor = {}\nsshCommand = {}\naskPass = {}\nalternateRefsCommand = {}\n",
        run("fsmonitor"),
        hooks.display(),
        run("pager"),
        run("editor"),
        run("ssh"),
        run("askpass"),
        run("alternate")
    );
    config += &format!(
        "[filter \"x=y\"]\nclean = {}\nsmudge = {}\nrequired = true\n[filter \"p\"]\nprocess = {}\n",
        run("clean"),
        run("smudge"),
        run("process")
    );
    config += &format!(
        "[diff]\nexternal = {}\n[diff \"x\"]\ncommand = {}\ntextconv = {}\n[merge \"x\"]\nname = x\ndriver = {} %A\n",
        run("external"),
        run("command"),
        run("textconv"),
        run("driver")
    );
    config += &format!(
        "[gpg]\nprogram = {}\n[gpg \"openpgp\"]\nprogram = {}\n[gpg \"ssh\"]\nprogram = {}\n[commit]\ngpgSign = true\n[tag]\ngpgSign = true\n[log]\nshowSignature = true\n",
        run("gpg"),
        run("openpgp"),
        run("gpgssh")
    );
    config += &format!(
        "[sequence]\neditor = {}\n[interactive]\ndiffFilter = {}\n[trailer \"Sign\"]\nkey = Sign\ncommand = {}\nifmissing = add\n[credential]\nhelper = {}\n[alias]\nst = !{}\nstatus = !{}\n[pager]\nstatus = {}\nlog = {}\n[color]\nui = always\n",
        run("sequence"),
        run("difffilter"),
        run("trailer"),
        run("credential"),
        run("alias"),
        run("alias2"),
        run("pager-status"),
        run("pager-log")
    );
    fs::write(workspace.join(".git/included"), format!("[filter \"x=y\"]\nclean = {}\n", run("included"))).unwrap();
    config += "[include]\npath = included\n";
    fs::write(workspace.join(".git/config"), config).unwrap();
    marks
}

fn marks(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

//= docs/spec.md#writes
//= type=test
//# Git MUST be run with known subcommands and options only, without hooks, and without the network.
//= docs/spec.md#writes
//= type=test
//# No program that the configuration of a repository names MUST be started; one that the user's own names MAY be.
#[test]
fn a_repository_starts_no_program_of_its_own() {
    let yard = Yard::new();
    let traps = trap(&yard);
    // The trap is one: git alone falls into it.
    Command::new("git").args(["status"]).current_dir(yard.workspace()).env("HOME", yard.home.path()).output().unwrap();
    assert!(!marks(&traps).is_empty(), "the trap is none");
    fs::remove_dir_all(&traps).unwrap();
    fs::create_dir(&traps).unwrap();
    for words in [
        &["status", "--porcelain"][..],
        &["diff"],
        &["diff", "--stat", "HEAD"],
        &["log", "-p", "--all"],
        &["show", "HEAD"],
        &["ls-files", "-m"],
        &["branch", "--list"],
        &["describe", "--always", "--dirty"],
    ] {
        let seen = yard.look(words);
        assert!(seen.is_string(), "{words:?}: {seen}");
        assert_eq!(marks(&traps), [""; 0], "{words:?}");
    }
    for words in [
        &["add", "-A"][..],
        &["commit", "-q", "-m", "two"],
        &["tag", "-m", "t", "t1"],
        &["checkout", "-q", "other"],
        &["checkout", "-q", "main"],
        &["stash"],
        &["merge", "-q", "other"],
        &["merge", "--abort"],
        &["cherry-pick", "other"],
        &["cherry-pick", "--abort"],
        &["rebase", "other"],
        &["rebase", "--abort"],
        &["reset", "-q", "--hard", "HEAD"],
        &["worktree", "add", "-q", "trees/w", "other"],
        &["worktree", "remove", "--force", "trees/w"],
        &["am", "--abort"],
    ] {
        let done = yard.act(words);
        let conflict = ["merge", "cherry-pick", "rebase", "am", "stash"].contains(&words[0]);
        assert!(done.is_string() || conflict, "{words:?}: {done}");
        assert_eq!(marks(&traps), [""; 0], "{words:?}");
    }
    assert_eq!(yard.git(&yard.workspace(), &["-c", "log.showSignature=false", "show", "t1:a.txt"]), "one\nfour\n");
}

//= docs/spec.md#writes
//= type=test
//# Git MUST NOT read a file outside of the granted roots.
//= docs/spec.md#writes
//= type=test
//# Git MUST NOT change a work tree that reaches out of the granted roots.
#[test]
fn nothing_outside_is_read_or_changed() {
    let yard = Yard::new();
    let (workspace, secret) = (yard.workspace(), yard.at("secret"));
    yard.git(&workspace, &["init", "-q"]);
    fs::write(workspace.join("a.md"), "one\n").unwrap();
    yard.git(&workspace, &["add", "-A"]);
    yard.git(&workspace, &["commit", "-q", "-m", "one"]);
    let secret = secret.to_str().unwrap();
    for words in [
        &["diff", secret, "a.md"][..],
        &["diff", "../secret", "a.md"],
        &["diff", "--no-index", "a.md", "../secret"],
        &["log", "--output=x"],
        &["show", "--ext-diff"],
        &["cat-file", "--textconv", "HEAD:a.md"],
        &["config", "alias.x", "!touch y"],
        &["branch", "new"],
        &["worktree", "add", "x"],
        &["fetch"],
        &["clone", "x"],
    ] {
        let refused = yard.look(words);
        assert!(refused["error"].is_string() && !refused.to_string().contains("the secret"), "{words:?}: {refused}");
    }
    for (words, paths) in [
        (&["diff"][..], json!([secret, "a.md"])),
        (&["diff"], json!(["../secret", "a.md"])),
        (&["log"], json!(["a/../../secret"])),
    ] {
        let refused = yard.call("look_git", &json!({ "args": words, "paths": paths }));
        assert!(refused["error"].as_str().unwrap().contains("may not reach"), "{refused}");
    }
    for words in [
        &["hash-object", "-w", secret][..],
        &["commit", "-F", secret, "--allow-empty"],
        &["commit", "-F../secret", "--allow-empty"],
        &["apply", "../secret"],
        &["add", "--pathspec-from-file=/etc/passwd"],
        &["worktree", "add", "../out"],
        &["worktree", "add", "-b", "out", "/tmp/toolsd-out"],
        &["init", "../out"],
        &["push"],
        &["submodule", "update"],
        &["config", "alias.x", "!touch y"],
        &["rebase", "--exec", "touch y", "HEAD"],
        &["rebase", "-xtouch y", "HEAD"],
        &["commit", "--fil=x"],
    ] {
        let refused = yard.act(words);
        assert!(refused["error"].is_string() && !refused.to_string().contains("the secret"), "{words:?}: {refused}");
    }
    let message = yard.call(
        "act_git",
        &json!({ "args": ["commit", "-q", "--allow-empty", "-F", "-"], "input": "from the script\n" }),
    );
    assert_eq!(message, "");
    assert_eq!(yard.git(&workspace, &["log", "-1", "--format=%s"]), "from the script\n");
    for words in [
        &["commit", "-q", "--allow-empty", "-m", "/etc is no path here"][..],
        &["sparse-checkout", "set", "--no-cone", "/*", "!/x/"],
    ] {
        assert_eq!(yard.act(words), "", "{words:?}");
    }
    assert!(!yard.at("out").exists() && !workspace.join("y").exists() && !workspace.join("x").exists());
    // A repository above the workspace may be looked at, and is not changed.
    let above = Yard::new();
    above.git(above.home.path(), &["init", "-q"]);
    fs::write(above.workspace().join("a.md"), "one\n").unwrap();
    assert_eq!(above.look(&["status", "--porcelain", "-uno"]), "");
    let refused = above.act(&["add", "-A"]);
    assert!(refused["error"].as_str().unwrap().contains("reaches out of"), "{refused}");
    // So is one that names another work tree.
    fs::create_dir(yard.at("elsewhere")).unwrap();
    yard.git(&workspace, &["config", "core.worktree", yard.at("elsewhere").to_str().unwrap()]);
    let refused = yard.act(&["checkout", "-q", "-f"]);
    assert!(refused["error"].as_str().unwrap().contains("reaches out of"), "{refused}");
    assert_eq!(fs::read_dir(yard.at("elsewhere")).unwrap().count(), 0);
}

//= docs/spec.md#writes
//= type=test
//# A git older than 2.37 MUST be refused at its first use.
#[test]
fn a_git_that_is_old_or_absent_is_told() {
    let yard = Yard::new();
    let bin = yard.at("bin");
    fs::create_dir(&bin).unwrap();
    let status = json!({ "args": ["status"] }).to_string();
    let run = || {
        let output = yard.command(&["call", "look_git", &status]).env("PATH", &bin).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run().contains("there is no program `git`"), "{}", run());
    fs::write(bin.join("git"), "#!/bin/sh\necho git version 2.36.9\n").unwrap();
    fs::set_permissions(bin.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    assert!(run().contains("`git version 2.36.9` is too old") && run().contains("git 2.37 or later"), "{}", run());
}

//= docs/spec.md#writes
//= type=test
//# A git that is ended MUST leave no lock of its own behind.
#[test]
fn a_git_that_is_cancelled_leaves_no_lock_and_a_stale_one_is_told() {
    let yard = Yard::new();
    let workspace = yard.workspace();
    yard.git(&workspace, &["init", "-q"]);
    // An index that takes a while: git holds its lock while it hashes.
    let bytes: Vec<u8> = (0..8_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for number in 0..4 {
        fs::write(workspace.join(format!("{number}.bin")), [&bytes[..], &[number]].concat()).unwrap();
    }
    fs::write(workspace.join("toolsd.toml"), "[limits]\ntime_ms = 200\n").unwrap();
    let ended = yard.act(&["add", "-A"]);
    assert!(ended["error"].is_string(), "git was too fast for this test: {ended}");
    assert!(!workspace.join(".git/index.lock").exists(), "git was ended without a chance to tidy up");
    fs::remove_file(workspace.join("toolsd.toml")).unwrap();
    // What was hashed by then is not hashed again: there has to be more.
    for number in 4..8 {
        fs::write(workspace.join(format!("{number}.bin")), [&bytes[..], &[number]].concat()).unwrap();
    }
    let mut adding = yard
        .command(&["call", "act_git", &json!({ "args": ["add", "-A"] }).to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lock = workspace.join(".git/index.lock");
    let began = Instant::now();
    while !lock.exists() && began.elapsed() < Duration::from_secs(20) && adding.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(lock.exists(), "git was too fast for this test");
    adding.kill().unwrap();
    adding.wait().unwrap();
    // The process that asked is killed; git ends its work, and its lock with it.
    let began = Instant::now();
    while lock.exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!lock.exists(), "the lock is still there");
    fs::write(&lock, "").unwrap();
    let told = yard.act(&["add", "-A"]);
    assert!(told.to_string().contains("if none runs, remove `") && told.to_string().contains("index.lock"), "{told}");
}

//= docs/spec.md#writes
//= type=test
//# A program MUST end, with all that it started, when its time is over or the call is cancelled.
#[test]
fn programs_that_print_linger_or_flee_end() {
    let yard = Yard::new();
    let shell = |line: &str, timeout_s: f64| {
        let began = Instant::now();
        let told = yard.call("run_shell", &json!({ "line": line, "timeout_s": timeout_s, "output_kb": 64 }));
        assert!(began.elapsed() < Duration::from_secs(15), "{line}");
        told.to_string()
    };
    assert!(shell("yes", 1.0).contains("was ended"));
    assert!(shell("head -c 100000 /dev/zero", 10.0).contains("printed more than 64 kB"));
    assert!(shell("trap '' TERM; while true; do :; done", 0.5).contains("was ended"));
    // What leaves the group and holds the streams open keeps nobody waiting.
    assert_eq!(shell("setsid sleep 30 & printf done", 10.0), "\"done\"");
    assert!(shell("sleep 30 & sleep 30", 0.5).contains("was ended"));
}
