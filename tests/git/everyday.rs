//! Git and programs in use: what they are kept from, what they tell, and that they end. Attacks stand in `hostile`.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

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
//# An answer MUST name the programs of the repository that were not run, the hooks that this verb would have run and the signature that is missing.
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
        "submodules are not looked into",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let before = fs::read(yard.workspace().join(".git/config")).unwrap();
    yard.act("branch", &json!({ "name": "gone" }));
    let told = yard.act("branch_delete", &json!({ "names": "gone", "force": true }));
    let removed = "git would have removed branch.gone.merge, branch.gone.remote";
    assert!(told["notices"].to_string().contains(removed), "{told}");
    assert_eq!(fs::read(yard.workspace().join(".git/config")).unwrap(), before);
}

/// Each verb in the case that it is made for: in their order, in one repository.
#[test]
fn every_verb_does_what_it_says() {
    let yard = Yard::with_repository();
    let patch = "--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+uno\n two\n";
    yard.put("new.txt", "new\n");
    for (verb, options) in [
        ("add", json!({ "paths": ["new.txt"] })),
        (
            "commit",
            json!({ "message": "new", "quiet": true, "author": "B <b@example.org>", "date": "2026-01-01T00:00:00Z" }),
        ),
        ("branch", json!({ "name": "side" })),
        ("switch", json!({ "ref": "side", "quiet": true })),
        ("apply", json!({ "patch": patch })),
        ("commit", json!({ "all": true, "message": "uno" })),
        ("switch", json!({ "ref": "main" })),
        ("cherry_pick", json!({ "refs": "side", "record_origin": true })),
        ("revert", json!({ "refs": "HEAD" })),
        ("mv", json!({ "paths": ["new.txt", "moved.txt"] })),
        ("restore", json!({ "paths": ["moved.txt", "new.txt"], "staged": true, "worktree": true, "check": false })),
        ("reset", json!({ "mode": "hard" })),
        ("merge", json!({ "ref": "side", "message": "join", "no_ff": true })),
        ("tag", json!({ "name": "v1", "message": "one" })),
        ("tag_delete", json!({ "names": ["v1"] })),
        ("notes_add", json!({ "message": "a note" })),
        ("notes_remove", json!({})),
        ("branch_rename", json!({ "from": "side", "to": "aside" })),
        ("switch", json!({ "create": "moving", "ref": "HEAD~1" })),
        ("commit", json!({ "allow_empty": true, "message": "moves" })),
        ("rebase", json!({ "upstream": "main", "quiet": true })),
        ("branch_delete", json!({ "names": "aside", "force": true })),
        ("rm", json!({ "paths": ["new.txt"], "quiet": true })),
        ("stash_push", json!({ "message": "later" })),
        ("stash_apply", json!({})),
        ("reset", json!({ "mode": "hard", "quiet": true })),
        ("stash_pop", json!({ "entry": 0 })),
        ("commit", json!({ "message": "gone", "all": true })),
        ("worktree_add", json!({ "path": "w", "ref": "main", "create": "tree" })),
        ("sparse_checkout", json!({ "folder": "w", "patterns": ["/*", "!new.txt"] })),
        ("worktree_remove", json!({ "path": "w" })),
        ("worktree_prune", json!({})),
        ("update_ref", json!({ "name": "refs/heads/made", "to": "HEAD" })),
        ("delete_ref", json!({ "name": "refs/heads/made" })),
        ("set_symbolic_ref", json!({ "name": "HEAD", "to": "refs/heads/moving" })),
        ("read_tree", json!({ "ref": "HEAD", "index": "own" })),
        ("write_tree", json!({ "index": "own" })),
        ("mktree", json!({ "entries": [] })),
        ("hash_object", json!({ "content": "x" })),
        ("hash_object", json!({ "paths": ["a.txt"] })),
        (
            "commit_tree",
            json!({ "tree": "HEAD^{tree}", "parents": ["HEAD"], "message": "m", "author": "C <c@example.org>", "date": "1767225600 +0000" }),
        ),
        ("clean", json!({ "paths": ["."], "folders": true })),
    ] {
        let done = yard.act(verb, &options);
        assert!(done["code"].is_i64(), "{verb} {options}: {done}");
    }
    for (verb, options, part) in [
        ("log", json!({ "max_count": 9, "format": "%an|%s", "paths": [] }), "B|new"),
        ("log", json!({ "refs": "main", "format": "%s" }), "Revert \"uno\""),
        ("show", json!({ "refs": "HEAD:a.txt" }), "uno"),
        ("diff", json!({ "refs": ["HEAD~1", "HEAD"], "name_only": true }), "new.txt"),
        ("diff_tree", json!({ "refs": "HEAD", "recursive": true, "name_only": true }), "new.txt"),
        ("rev_list", json!({ "refs": "HEAD", "count": true }), ""),
        ("rev_parse", json!({ "ref": "HEAD", "abbrev_ref": true }), "moving"),
        ("merge_base", json!({ "refs": ["HEAD", "main"] }), ""),
        ("describe", json!({ "always": true }), ""),
        ("blame", json!({ "paths": ["a.txt"], "ref": "HEAD", "lines": "1,1" }), "uno"),
        ("files", json!({}), "a.txt"),
        ("tree", json!({ "ref": "HEAD", "paths": ["a.txt"] }), "a.txt"),
        ("object", json!({ "show": "t", "ref": "HEAD" }), "commit"),
        ("refs", json!({ "names": "refs/heads", "format": "%(refname:short)", "sort": "-refname" }), "main"),
        ("branches", json!({ "format": "%(refname:short)", "contains": "HEAD" }), "moving"),
        ("current_branch", json!({}), "moving"),
        ("tags", json!({ "names": "v*" }), ""),
        ("symbolic_ref", json!({ "ref": "HEAD", "short": true }), "moving"),
        ("grep", json!({ "pattern": "uno", "name_only": true }), "a.txt"),
        ("worktrees", json!({}), yard.workspace().canonicalize().unwrap().to_str().unwrap()),
        ("stash_list", json!({}), ""),
        ("remotes", json!({}), ""),
        ("repository", json!({ "show": "prefix" }), ""),
        ("check_ignore", json!({ "paths": ["a.txt"], "check": false }), ""),
        ("status", json!({ "porcelain": "v2", "branch": true, "untracked": "all" }), "branch.head moving"),
    ] {
        let told = yard.look(verb, &options);
        assert!(told["text"].as_str().unwrap_or_else(|| panic!("{verb}: {told}")).contains(part), "{verb}: {told}");
    }
}

//= docs/spec.md#git
//= type=test
//# A verb that reads files of the working tree MUST be refused files that no grant to read covers.
#[test]
fn files_that_no_grant_covers_are_not_read_through_git() {
    let yard = Yard::with_repository();
    yard.put("pub/a.md", "one\n");
    yard.commit("pub");
    for file in ["pub/a.md", "a.txt", ".env"] {
        yard.put(file, "the secret\n");
    }
    for paths in [json!(()), json!([]), json!(["."]), json!(["a.txt"]), json!([".env", "pub"])] {
        let call = |tool: &str, verb: &str, more: Value| {
            let mut options = more;
            options["paths"] = paths.clone();
            yard.call_of("narrow", tool, &json!({ "verb": verb, "options": options }))
        };
        for told in [
            call("narrow_look", "diff", json!({})),
            call("narrow_look", "diff", json!({ "refs": "HEAD" })),
            call("narrow_look", "grep", json!({ "pattern": "secret" })),
            call("narrow_act", "add", json!({ "all": true })),
            call("narrow_act", "add", json!({ "force": true })),
            call(
                "narrow_act",
                "commit",
                json!({ "all": paths == json!(()), "message": "x", "allow_empty": paths == json!([]) }),
            ),
            call("narrow_act", "stash_push", json!({})),
        ] {
            let is_empty_commit = paths == json!([]) && told["line"].as_str().is_some_and(|line| line.ends_with("] x"));
            assert!(
                told["error"].as_str().is_some_and(|told| told.contains("would read")) || is_empty_commit,
                "{paths}: {told}"
            );
        }
    }
    let seen = yard.call_of("narrow", "narrow_look", &json!({ "verb": "diff", "options": { "paths": ["pub"] } }));
    assert!(seen["text"].as_str().unwrap().contains("the secret"), "{seen}");
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

/// A rule is told with the file that it stands in, as git tells it: the host shows git copies.
#[test]
fn a_rule_is_told_where_it_stands() {
    let yard = Yard::with_repository();
    let ignored = yard.at("ignored");
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    fs::write(yard.at(".gitconfig"), mine + "[core]\nexcludesFile = ~/ignored\n").unwrap();
    fs::write(&ignored, "# mine\n*.swp\n").unwrap();
    yard.put(".gitignore", "*.log\n");
    fs::write(yard.workspace().join(".git/info/exclude"), "\n\n*.own\n").unwrap();
    let exclude = yard.workspace().canonicalize().unwrap().join(".git/info/exclude");
    let asked = json!({ "paths": ["a.swp", "a.log", "a.own"], "verbose": true });
    let told = yard.look("check_ignore", &asked)["text"].as_str().unwrap().replace('\0', " ");
    let rules =
        format!("{} 2 *.swp a.swp .gitignore 1 *.log a.log {} 3 *.own a.own ", ignored.display(), exclude.display());
    assert_eq!(told, rules);
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

/// Git reads the repository that it asks, and the files that the user's configuration includes.
#[test]
fn another_repository_below_the_root_is_asked() {
    let yard = Yard::with_repository();
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    fs::write(yard.at(".gitconfig"), mine + "[include]\npath = ~/more/settings\n").unwrap();
    fs::create_dir(yard.at("more")).unwrap();
    fs::write(yard.at("more/settings"), "[fetch]\nprune = true\n").unwrap();
    let second = yard.workspace().join("second");
    fs::create_dir(&second).unwrap();
    yard.git_in(&second, &["init", "-q"]);
    yard.git_in(&second, &["remote", "add", "first", ".."]);
    let told = yard.act("fetch", &json!({ "remote": "first", "folder": "second" }));
    assert_eq!(told["code"], 0, "{told}");
    assert_eq!(yard.git_in(&second, &["branch", "-r"]), "  first/main\n");
}

//= docs/spec.md#git
//= type=test
//# A verb that reads files of the working tree MUST be refused files that no grant to read covers.
#[test]
fn a_search_in_a_folder_needs_no_more_than_that() {
    let yard = Yard::with_repository();
    yard.put("pub/a.md", "one\n");
    yard.commit("pub");
    let search = |options: Value| yard.call_of("narrow", "narrow_look", &json!({ "verb": "grep", "options": options }));
    let found = search(json!({ "pattern": "one", "folder": "pub" }));
    assert_eq!(found["text"], "a.md:one\n", "{found}");
    for options in [json!({ "pattern": "one" }), json!({ "pattern": "one", "folder": "pub", "paths": ["../a.txt"] })] {
        let refused = search(options);
        assert!(refused["error"].to_string().contains("git grep would read"), "{refused}");
    }
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
    yard.configure("[safe]\ndirectory = *\n");
    assert!(yard.look("log", &json!({}))["error"].is_string(), "the repository cannot say so itself");
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    fs::write(yard.at(".gitconfig"), format!("{mine}[safe]\ndirectory = {}\n", yard.workspace().display())).unwrap();
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

/// Git before 2.50 follows renames even where it is told not to: a change of a file that the pack may write comes where that
/// file was moved to.
//= docs/spec.md#git
//= type=test
//# Every file that git is going to write or remove MUST pass the check of a write by the script itself.
#[test]
fn no_rename_brings_a_change_to_a_file_of_others() {
    for (verb, options) in [
        ("merge", json!({ "ref": "other" })),
        ("merge", json!({ "ref": "other", "squash": true })),
        ("cherry_pick", json!({ "refs": "other" })),
        ("cherry_pick", json!({ "refs": "other", "no_commit": true })),
        ("revert", json!({ "refs": "back" })),
        ("rebase", json!({ "upstream": "main" })),
        ("stash_pop", json!({})),
        ("stash_apply", json!({})),
    ] {
        let attack = || {
            let yard = Yard::with_repository();
            let text = "fn one() {}\nfn two() {}\nfn three() {}\nfn four() {}\n";
            yard.put("a.rhai", text);
            yard.commit("a");
            yard.git(&["checkout", "-q", "-b", "other"]);
            yard.put("a.rhai", &format!("{text}planted\n"));
            yard.commit("planted");
            yard.git(&["checkout", "-q", "-b", "back"]);
            yard.put("a.rhai", text);
            yard.commit("back");
            yard.git(&["checkout", "-q", "main"]);
            if verb.starts_with("stash") {
                yard.put("a.rhai", &format!("{text}planted\n"));
                yard.git(&["stash", "push", "-q"]);
            }
            fs::create_dir_all(yard.workspace().join(".toolsd/tools.d")).unwrap();
            yard.git(&["mv", "a.rhai", ".toolsd/tools.d/a.rhai"]);
            // What is only in the index counts as ours, too.
            if !verb.starts_with("stash") && options["no_commit"].is_null() {
                yard.commit("moved");
            }
            if verb == "rebase" {
                yard.git(&["checkout", "-q", "other"]);
            }
            yard
        };
        let is_planted = |yard: &Yard| {
            let found = fs::read_to_string(yard.workspace().join(".toolsd/tools.d/a.rhai"));
            found.is_ok_and(|text| text.contains("planted"))
        };
        let plain = attack();
        let words: &[&str] = match verb {
            "merge" => &["merge", "--no-edit", "other"],
            "cherry_pick" if options["no_commit"] == true => &["cherry-pick", "-n", "other"],
            "cherry_pick" => &["cherry-pick", "other"],
            "revert" => &["revert", "--no-edit", "back"],
            "rebase" => &["rebase", "-q", "main"],
            _ => &["stash", "pop", "-q"],
        };
        plain.git(words);
        assert!(is_planted(&plain), "{verb}: the attack is void");
        let yard = attack();
        let told = yard.act(verb, &options);
        assert!(told["error"].to_string().contains("no grant covers `.toolsd`"), "{verb} {options}: {told}");
        assert!(!is_planted(&yard), "{verb} {options}");
    }
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
    crate::support::write_program(&bin.join("git"), "echo git version 2.36.9\n");
    assert!(run().contains("`git version 2.36.9` is too old") && run().contains("git 2.37 or later"), "{}", run());
}

//= docs/spec.md#git
//= type=test
//# A working tree that a killed host left half made MUST be found by its repository.
#[test]
fn a_working_tree_of_a_killed_host_is_found_again() {
    let yard = Yard::with_repository();
    assert_eq!(yard.act("worktree_add", &json!({ "path": "more/tree", "ref": "HEAD", "create": "more" }))["code"], 0);
    let marker = yard.workspace().join("more/tree/.git");
    let right = fs::read_to_string(&marker).unwrap();
    let name = right.trim_end().rsplit('/').next().unwrap();
    fs::write(&marker, format!("gitdir: /tmp/toolsd-git-gone/worktrees/{name}\n")).unwrap();
    let seen = yard.look("status", &json!({ "folder": "more/tree" }));
    assert_eq!(seen["code"], 0, "{seen}");
    assert_eq!(fs::read_to_string(&marker).unwrap(), right);
    // Another one that says so is none.
    fs::create_dir_all(yard.workspace().join("more/other")).unwrap();
    fs::write(yard.workspace().join("more/other/.git"), format!("gitdir: /tmp/toolsd-git-gone/worktrees/{name}\n"))
        .unwrap();
    let refused = yard.look("status", &json!({ "folder": "more/other" }));
    assert!(refused["error"].as_str().unwrap().contains("which is not there"), "{refused}");
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
    let bytes: Vec<u8> = (0..24_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for number in 0..4 {
        fs::write(workspace.join(format!("{number}.bin")), [&bytes[..], &[number]].concat()).unwrap();
    }
    let lock = workspace.join(".git/index.lock");
    let is_told = |told: &Value| {
        let told = told.to_string();
        told.contains("if none runs, remove `") && told.contains("index.lock")
    };
    // Nobody was ended: whoever made it may be at work.
    fs::write(&lock, "").unwrap();
    let told = yard.act("add", &json!({ "all": true }));
    assert!(is_told(&told) && lock.exists(), "{told}");
    fs::remove_file(&lock).unwrap();
    fs::write(workspace.join("toolsd.toml"), "[limits]\ntime_ms = 200\n").unwrap();
    let ended = yard.act("add", &json!({ "all": true }));
    assert!(ended["error"].is_string(), "git was too fast for this test: {ended}");
    assert!(!lock.exists(), "git was ended without a chance to tidy up");
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
    let began = Instant::now();
    while !lock.exists() && began.elapsed() < Duration::from_secs(20) && adding.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    // In the moment after it has made its lock, git does not know yet that it has to take it away.
    std::thread::sleep(Duration::from_millis(50));
    assert!(lock.exists(), "git was too fast for this test");
    adding.kill().unwrap();
    adding.wait().unwrap();
    // The process that asked is killed; git is asked to end, and takes its lock with it.
    let began = Instant::now();
    while lock.exists() && began.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!lock.exists(), "the lock is still there");
    fs::write(&lock, "").unwrap();
    let told = yard.act("add", &json!({ "all": true }));
    assert!(is_told(&told) && lock.exists(), "{told}");
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

//= docs/spec.md#git
//= type=test
//# In a partial clone the caller MUST be told that nothing is fetched that is missing.
//= docs/spec.md#git
//= type=test
//# A verb that fills files from objects MUST be refused where these are missing: git takes the files away before it misses them.
#[test]
fn a_partial_clone_is_told_and_loses_no_file() {
    let yard = Yard::new();
    let (up, top) = (yard.at("up"), yard.workspace());
    fs::create_dir(&up).unwrap();
    yard.git_in(&up, &["init", "-q", "-b", "main"]);
    yard.git_in(&up, &["config", "uploadpack.allowFilter", "true"]);
    for number in 0..3 {
        fs::write(up.join("a.txt"), format!("a {number}\n")).unwrap();
        yard.git_in(&up, &["add", "-A"]);
        yard.git_in(&up, &["commit", "-qm", "more"]);
    }
    let from = format!("file://{}", up.display());
    yard.git_in(&yard.at("."), &["clone", "-q", "--filter=blob:none", &from, "partial"]);
    yard.git_in(&yard.at("partial"), &["branch", "old", "HEAD~2"]);
    yard.git_in(&yard.at("partial"), &["branch", "same", "HEAD"]);
    for entry in fs::read_dir(yard.at("partial")).unwrap().map(Result::unwrap) {
        fs::rename(entry.path(), top.join(entry.file_name())).unwrap();
    }
    for (verb, options) in [
        ("switch", json!({ "ref": "old" })),
        ("reset", json!({ "ref": "old", "mode": "hard" })),
        ("restore", json!({ "paths": ["a.txt"], "source": "old" })),
        ("worktree_add", json!({ "path": "more", "ref": "old" })),
    ] {
        let refused = yard.act(verb, &options);
        assert!(refused.to_string().contains("this is a partial clone, and 1 objects"), "{verb}: {refused}");
        assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "a 2\n", "{verb}");
    }
    let seen = yard.look("status", &json!({}));
    assert!(seen["notices"].to_string().contains("this is a partial clone"), "{seen}");
    assert_eq!(yard.act("switch", &json!({ "ref": "same" }))["code"], 0);
    // What was fetched by hand is there.
    yard.git_in(&top, &["cat-file", "-e", "old:a.txt"]);
    assert_eq!(yard.act("switch", &json!({ "ref": "old" }))["code"], 0);
    assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "a 0\n");
}

#[test]
fn letters_beyond_ascii_are_letters_and_addresses_to_push_to_are_told() {
    let yard = Yard::with_repository();
    yard.put("letters.txt", "Straße\nÄpfel\n");
    yard.git(&["add", "-A"]);
    yard.git(&["remote", "add", "far", "https://example.org/a"]);
    yard.git(&["remote", "set-url", "--push", "far", "ssh://example.org/b"]);
    for pattern in ["Stra.e", "^[[:alpha:]]*e$"] {
        let found = yard.look("grep", &json!({ "pattern": pattern, "paths": ["letters.txt"] }));
        assert!(found["text"].as_str().unwrap().contains("Straße"), "{pattern}: {found}");
    }
    let found = yard.look("grep", &json!({ "pattern": "äpfel", "ignore_case": true, "paths": ["letters.txt"] }));
    assert!(found["text"].as_str().unwrap().contains("Äpfel"), "{found}");
    let told = yard.look("remotes", &json!({}));
    assert!(told.to_string().contains("ssh://example.org/b (push)"), "{told}");
}

/// What `git replace` put in the place of something is what git shows, and so does the pack's.
#[test]
fn what_was_replaced_is_seen_as_git_sees_it() {
    let yard = Yard::with_repository();
    for number in 0..2 {
        yard.put("a.txt", &format!("more {number}"));
        yard.git(&["commit", "-qam", "more"]);
    }
    let count = |yard: &Yard| yard.look("rev_list", &json!({ "refs": "HEAD", "count": true }))["text"].clone();
    let before = count(&yard);
    yard.git(&["replace", "--graft", "HEAD"]);
    assert!(before != count(&yard) && count(&yard).as_str().unwrap().trim() == "1", "{before}: {}", count(&yard));
}

/// After `toolsd new pack` there is a `.toolsd` that git does not know.
#[test]
fn a_pack_that_git_does_not_know_is_in_the_way_and_the_way_out_is_told() {
    let yard = Yard::with_repository();
    yard.put("new.txt", "new");
    yard.put(".toolsd/tools.d/own.toml", "");
    for (verb, options) in [("stash_push", json!({ "untracked": true })), ("clean", json!({ "paths": "." }))] {
        let refused = yard.act(verb, &options);
        let help = refused["help"].as_str().unwrap();
        assert!(help.contains("commit `.toolsd` or name it in `.gitignore`"), "{verb}: {refused}");
    }
    yard.put(".gitignore", ".toolsd\n");
    yard.git(&["add", ".gitignore"]);
    yard.commit("ignored");
    assert_eq!(yard.act("stash_push", &json!({ "untracked": true }))["code"], 0);
}
