//! Git and programs in use: what they are kept from, what they tell, and that they end. Attacks stand in `hostile`.
#![allow(clippy::unwrap_used, reason = "tests may panic")]
#![allow(dead_code, reason = "the yard is shared")]

#[path = "support/mod.rs"]
mod support;
#[path = "hostile/yard.rs"]
mod yard;

use serde_json::json;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};
use yard::Yard;

//= docs/spec.md#git
//= type=test
//# Git MUST NOT read a file outside of the granted roots.
//= docs/spec.md#git
//= type=test
//# A file whose content git keeps by its name MUST be one that the script itself may read.
#[test]
fn nothing_outside_is_read_or_changed() {
    let yard = Yard::with_repository();
    let (workspace, secret) = (yard.workspace(), yard.at("secret"));
    let secret = secret.to_str().unwrap();
    std::os::unix::fs::symlink(secret, workspace.join("link")).unwrap();
    for paths in [json!([secret, "a.txt"]), json!(["../secret", "a.txt"]), json!(["a/../../secret"])] {
        for (verb, more) in [
            ("diff", json!({})),
            ("log", json!({})),
            ("status", json!({})),
            ("blame", json!({})),
            ("grep", json!({ "pattern": "s" })),
        ] {
            let mut options = more;
            options["paths"] = paths.clone();
            let refused = yard.look(verb, &options);
            assert!(refused["error"].as_str().unwrap().contains("may not reach"), "{verb}: {refused}");
        }
        for verb in ["add", "rm", "hash_object", "commit", "restore", "clean", "stash_push"] {
            let refused = yard.act(verb, &json!({ "paths": paths }));
            assert!(refused["error"].as_str().unwrap().contains("may not reach"), "{verb}: {refused}");
        }
    }
    let hashed = yard.act("hash_object", &json!({ "paths": ["link"] }));
    assert!(hashed["error"].as_str().unwrap().contains("leads outside"), "{hashed}");
    for (verb, options) in [
        ("worktree_add", json!({ "path": "../out", "ref": "HEAD", "create": "out" })),
        ("init", json!({ "path": "../out" })),
        ("init", json!({ "folder": "..", "path": "out" })),
    ] {
        let refused = yard.act(verb, &options);
        assert!(refused["error"].is_string() && !yard.at("out").exists(), "{verb}: {refused}");
    }
    let made = yard.act(
        "commit",
        &json!({ "quiet": true, "allow_empty": true, "message": "-F /etc is no option here\n\nnor @ a file\n" }),
    );
    assert_eq!(made["text"], "", "{made}");
    assert_eq!(yard.git(&["log", "-1", "--format=%B"]), "-F /etc is no option here\n\nnor @ a file\n\n");
    assert!(yard.act("init", &json!({ "path": "new/r", "branch": "trunk" }))["code"] == 0);
    assert!(workspace.join("new/r/.git/HEAD").exists());
}

//= docs/spec.md#git
//= type=test
//# An answer MUST name the programs of the repository that were not run, the hooks that did not run and the signature that is missing.
//= docs/spec.md#git
//= type=test
//# What git would write into the configuration of a repository MUST NOT reach it, and MUST be reported.
#[test]
fn what_is_left_out_is_told() {
    let yard = Yard::with_repository();
    yard.configure("[commit]\ngpgSign = true\n[filter \"lfs\"]\nclean = git-lfs clean -- %f\n[include]\npath = more\n[branch \"gone\"]\nremote = origin\nmerge = refs/heads/gone\n");
    yard.program("workspace/.git/hooks/pre-commit", "exit 1\n");
    yard.put(".gitmodules", "");
    let told = yard.act("commit", &json!({ "allow_empty": true, "message": "x" }))["notices"].to_string();
    for part in [
        "filter.lfs.clean; it is not run (git lfs files show as pointers)",
        "hooks do not run: pre-commit",
        "the commit is not signed",
        "includes `more`; it is not read",
        "submodules are left out",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let before = fs::read(yard.workspace().join(".git/config")).unwrap();
    yard.act("branch", &json!({ "name": "gone" }));
    let told = yard.act("branch_delete", &json!({ "names": "gone", "force": true }));
    assert!(told["notices"].to_string().contains("git would have set branch.gone.merge, branch.gone.remote"), "{told}");
    assert_eq!(fs::read(yard.workspace().join(".git/config")).unwrap(), before);
}

/// The user's own settings that count: who commits, and what is ignored everywhere.
#[test]
fn the_user_is_who_they_are() {
    let yard = Yard::with_repository();
    fs::write(yard.at(".gitconfig"), "[user]\nname = Me\nemail = me@example.org\n[core]\nexcludesFile = ~/ignored\n[includeIf \"gitdir:~/workspace/\"]\npath = mine\n").unwrap();
    fs::write(yard.at("mine"), "[user]\nemail = work@example.org\n").unwrap();
    fs::write(yard.at("ignored"), "*.swp\n").unwrap();
    yard.put("a.swp", "x");
    assert_eq!(yard.look("status", &json!({ "porcelain": "v1" }))["text"], "");
    yard.act("commit", &json!({ "allow_empty": true, "message": "x" }));
    assert_eq!(yard.git(&["log", "-1", "--format=%an <%ae>"]), "Me <work@example.org>\n");
    assert_eq!(yard.look("config", &json!({ "name": "user.email" }))["line"], "work@example.org");
    let asked = yard.look("config", &json!({ "name": "core.excludesFile", "check": false }));
    assert_eq!(asked["code"], 1, "what is no matter of packs is not told: {asked}");
}

//= docs/spec.md#git
//= type=test
//# A remote MUST be one that the repository's configuration has by name, and a folder only if it lies below a granted root.
//= docs/spec.md#git
//= type=test
//# Only `fetch` MUST reach a remote.
#[test]
fn a_remote_is_named_and_lies_below_a_root() {
    let yard = Yard::with_repository();
    let fetch = |remote: &str| yard.act("fetch", &json!({ "remote": remote, "timeout_s": 20 }));
    yard.git(&["clone", "-q", "--bare", ".", ".git/near"]);
    yard.git(&["clone", "-q", "--bare", ".", "../far"]);
    for (name, url) in [("near", ".git/near"), ("far", "../far"), ("file", "file:///etc/far")] {
        yard.git(&["remote", "add", name, url]);
    }
    assert_eq!(fetch("near")["code"], 0, "{}", fetch("near"));
    assert!(yard.git(&["branch", "-r"]).contains("near/main"));
    for (name, told) in [
        ("far", "outside of the root"),
        ("file", "outside of the root"),
        ("../far", "there is no remote"),
        ("nere", "known: `near`"),
    ] {
        let refused = fetch(name);
        assert!(refused.to_string().contains(told), "{name}: {refused}");
    }
    assert!(!yard.git(&["branch", "-r"]).contains("far"));
}

//= docs/spec.md#git
//= type=test
//# A repository of another user MUST be refused unless the user's own `safe.directory` names it.
#[test]
fn a_repository_of_another_user_is_refused() {
    let yard = Yard::with_repository();
    // Only root can give files away.
    if std::os::unix::fs::chown(yard.workspace().join(".git"), Some(12_345), None).is_err() {
        return;
    }
    let refused = yard.look("log", &json!({}));
    assert!(refused.to_string().contains("belongs to another user (12345)"), "{refused}");
    yard.configure(&format!("[safe]\ndirectory = *\n"));
    assert!(yard.look("log", &json!({}))["error"].is_string(), "the repository cannot say so itself");
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    fs::write(yard.at(".gitconfig"), mine + &format!("[safe]\ndirectory = {}\n", yard.workspace().display())).unwrap();
    assert_eq!(yard.look("log", &json!({}))["code"], 0);
}

//= docs/spec.md#git
//= type=test
//# A patch that renames MUST be refused.
#[test]
fn a_merge_beside_files_of_others_goes_on_without_renames() {
    let yard = Yard::with_repository();
    yard.git(&["checkout", "-q", "-b", "other"]);
    yard.put("b.txt", "b\n");
    yard.commit("b");
    yard.git(&["checkout", "-q", "main"]);
    yard.put("toolsd.toml", "# ours\n");
    yard.commit("ours");
    let merged = yard.act("merge", &json!({ "ref": "other" }));
    assert_eq!(merged["code"], 0, "{merged}");
    assert!(merged["notices"].to_string().contains("renames were not followed"), "{merged}");
    assert_eq!(fs::read_to_string(yard.workspace().join("toolsd.toml")).unwrap(), "# ours\n");
    let patch = "diff --git a/b.txt b/c.txt\nsimilarity index 100%\nrename from b.txt\nrename to c.txt\n";
    let refused = yard.act("apply", &json!({ "patch": patch }));
    assert!(refused["error"].as_str().unwrap().contains("renames or copies"), "{refused}");
}

//= docs/spec.md#git
//= type=test
//# A git older than 2.37 MUST be refused at its first use.
#[test]
fn a_git_that_is_old_or_absent_is_told() {
    let yard = Yard::new();
    let bin = yard.at("bin");
    fs::create_dir(&bin).unwrap();
    let status = json!({ "verb": "status" }).to_string();
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
    yard.git(&["init", "-q"]);
    // An index that takes a while: git holds its lock while it hashes.
    let bytes: Vec<u8> = (0..8_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for number in 0..4 {
        fs::write(workspace.join(format!("{number}.bin")), [&bytes[..], &[number]].concat()).unwrap();
    }
    fs::write(workspace.join("toolsd.toml"), "[limits]\ntime_ms = 200\n").unwrap();
    let ended = yard.act("add", &json!({ "all": true }));
    assert!(ended["error"].is_string(), "git was too fast for this test: {ended}");
    assert!(!workspace.join(".git/index.lock").exists(), "git was ended without a chance to tidy up");
    fs::remove_file(workspace.join("toolsd.toml")).unwrap();
    // What was hashed by then is not hashed again: there has to be more.
    for number in 4..8 {
        fs::write(workspace.join(format!("{number}.bin")), [&bytes[..], &[number]].concat()).unwrap();
    }
    let mut adding = yard
        .command(&["call", "act_git", &json!({ "verb": "add", "options": { "all": true } }).to_string()])
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
    let told = yard.act("add", &json!({ "all": true }));
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
