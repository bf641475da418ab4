//! Git and programs in use: what they must not do, what they report, and that they end. `hostile` has the attacks.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;

//= docs/spec.md#git
//= type=test
//# The paths that a verb takes and returns MUST be in the working tree below the granted roots.
#[test]
fn nothing_outside_is_read_or_changed() {
    let yard = Yard::with_repository();
    let (workspace, secret) = (yard.workspace(), yard.at("secret"));
    let secret = secret.to_str().unwrap();
    std::os::unix::fs::symlink(secret, workspace.join("link")).unwrap();
    for paths in [json!([secret, "a.txt"]), json!(["../secret", "a.txt"]), json!(["a/../../secret"])] {
        for (verb, more) in
            [("diff", json!({})), ("status", json!({})), ("blame", json!({})), ("grep", json!({ "pattern": "s" }))]
        {
            let mut options = more;
            options["paths"] = paths.clone();
            let refused = yard.look(verb, &options);
            assert!(refused["error"].as_str().unwrap().contains("may not reach"), "{verb}: {refused}");
        }
        for verb in ["add", "hash_object", "commit", "reset"] {
            let refused = yard.act(verb, &json!({ "paths": paths }));
            assert!(refused["error"].as_str().unwrap().contains("may not reach"), "{verb}: {refused}");
        }
    }
    let hashed = yard.act("hash_object", &json!({ "paths": ["link"] }));
    assert!(hashed["error"].as_str().unwrap().contains("leads outside"), "{hashed}");
    let refused = yard.act("worktree_add", &json!({ "path": "../out", "ref": "HEAD", "create": "out" }));
    assert!(refused["error"].is_string() && !yard.at("out").exists(), "{refused}");
    let made = yard.act(
        "commit",
        &json!({ "quiet": true, "allow_empty": true, "message": "-F /etc is not an option here\n\nnor @ a file\n" }),
    );
    assert_eq!(made["text"], "", "{made}");
    assert_eq!(yard.git(&["log", "-1", "--format=%B"]), "-F /etc is not an option here\n\nnor @ a file\n\n");
}

//= docs/spec.md#git
//= type=test
//# A result MUST report what git skipped: hooks, signatures, filters, objects that are missing and writes
//# that are still staged.
#[test]
fn omissions_are_reported() {
    let yard = Yard::with_repository();
    yard.configure("[commit]\ngpgSign = true\n");
    yard.program("workspace/.git/hooks/pre-commit", "exit 1\n");
    let reported = yard.act("commit", &json!({ "allow_empty": true, "message": "x" }))["notices"].to_string();
    for part in ["hooks do not run: pre-commit", "the commit is not signed"] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let options = json!({ "allow_empty": true, "message": "y" });
    let words = ["call", "act_git", &json!({ "verb": "commit", "options": options }).to_string()].map(str::to_owned);
    let output = yard.command(&words.each_ref().map(String::as_str)).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("notice: git: hooks do not run: pre-commit"), "{errors}");
}

//= docs/spec.md#git
//= type=test
//# A verb that reads files MUST have a grant to read the whole working tree, and one that changes files a
//# grant to write it.
#[test]
fn git_gets_all_of_a_working_tree_or_nothing_of_it() {
    let yard = Yard::with_repository();
    yard.put("pub/a.md", "one\n");
    yard.commit("pub");
    yard.git(&["branch", "side"]);
    yard.put("pub/a.md", "the secret\n");
    let narrow = |tool: &str, verb: &str, options: Value| {
        yard.call_of("narrow", tool, &json!({ "verb": verb, "options": options }))
    };
    for (verb, options) in [
        ("status", json!({})),
        ("diff", json!({})),
        ("diff", json!({ "refs": "HEAD", "paths": ["pub"] })),
        ("grep", json!({ "pattern": "secret" })),
        ("files", json!({ "others": true })),
        ("blame", json!({ "paths": ["a.txt"] })),
    ] {
        let reported = narrow("narrow_look", verb, options);
        assert!(reported["error"].to_string().contains("looks at files of the working tree"), "{verb}: {reported}");
    }
    for (verb, options) in [
        ("log", json!({})),
        ("diff", json!({ "refs": ["HEAD~1", "HEAD"] })),
        ("diff", json!({ "cached": true })),
        ("grep", json!({ "pattern": "one", "refs": "HEAD" })),
        ("show", json!({ "refs": "HEAD:a.txt" })),
    ] {
        assert_eq!(narrow("narrow_look", verb, options)["code"], 0, "{verb}");
    }
    for (verb, options) in [("add", json!({ "all": true })), ("commit", json!({ "all": true, "message": "x" }))] {
        let reported = narrow("narrow_act", verb, options);
        assert!(reported["error"].to_string().contains("would read"), "{verb}: {reported}");
    }
    let reported = narrow("narrow_act", "switch", json!({ "ref": "side" }));
    assert!(reported["error"].to_string().contains("changes files of the working tree"), "{reported}");
    assert_eq!(narrow("narrow_act", "add", json!({ "paths": ["pub"] }))["code"], 0);
    assert_eq!(narrow("narrow_act", "commit", json!({ "message": "x" }))["code"], 0);
}

//= docs/spec.md#git
//= type=test
//# The user's git configuration MUST apply as it does in git, including conditional includes and the
//# environment.
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
    assert_eq!(asked["code"], 1, "keys that do not concern packs are not returned: {asked}");
}

//= docs/spec.md#git
//= type=test
//# A remote MUST be in the repository's configuration, and MUST be reached by `https`, `http`, `ssh` or
//# `git`, or be a folder below a granted root.
#[test]
fn remotes_are_named_and_inside_a_root() {
    let yard = Yard::with_repository();
    let fetch = |remote: &str| yard.act("fetch", &json!({ "remote": remote, "timeout_ms": 20000 }));
    yard.git(&["clone", "-q", "--bare", ".", ".git/near"]);
    yard.git(&["clone", "-q", "--bare", ".", "../far"]);
    for (name, url) in [
        ("near", ".git/near"),
        ("far", "../far"),
        ("file", "file:///etc/far"),
        ("ext", "ext::sh -c x"),
        ("odd", "odd://x/y"),
    ] {
        yard.git(&["remote", "add", name, url]);
    }
    assert_eq!(fetch("near")["code"], 0, "{}", fetch("near"));
    assert!(yard.git(&["branch", "-r"]).contains("near/main"));
    for (name, reported) in [
        ("far", "outside of the root"),
        ("file", "outside of the root"),
        ("ext", "transport 'ext' not allowed"),
        ("odd", "transport 'odd' not allowed"),
        ("../far", "there is no remote"),
        ("nere", "known: `near`"),
    ] {
        let refused = fetch(name);
        assert!(refused.to_string().contains(reported), "{name}: {refused}");
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
    yard.configure("[safe]\ndirectory = *\n");
    assert!(yard.look("log", &json!({}))["error"].is_string(), "the repository cannot allow that itself");
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    fs::write(yard.at(".gitconfig"), format!("{mine}[safe]\ndirectory = {}\n", yard.workspace().display())).unwrap();
    assert_eq!(yard.look("log", &json!({}))["code"], 0);
}

//= docs/spec.md#git
//= type=test
//# A git older than 2.38 MUST be refused at its first use.
#[test]
fn old_or_missing_git_is_reported() {
    let yard = Yard::new();
    let bin = yard.at("bin");
    fs::create_dir(&bin).unwrap();
    let status = json!({ "verb": "status" }).to_string();
    let run = || {
        let output = yard.command(&["call", "look_git", &status]).env("PATH", &bin).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run().contains("there is no program `git`"), "{}", run());
    crate::support::write_program(&bin.join("git"), "echo git version 2.37.9\n");
    assert!(run().contains("`git version 2.37.9` is too old") && run().contains("git 2.38 or later"), "{}", run());
}

//= docs/spec.md#git
//= type=test
//# Git that is stopped MUST leave no lock of its own, and a stopped merge MUST leave what `merge_abort`
//# needs.
#[test]
fn cancelled_git_leaves_no_lock_and_stale_ones_are_reported() {
    let yard = Yard::new();
    let workspace = yard.workspace();
    yard.git(&["init", "-q"]);
    // An index that takes a while: git holds its lock while it hashes.
    let bytes: Vec<u8> = (0..24_000_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    for number in 0..4 {
        fs::write(workspace.join(format!("{number}.bin")), [&bytes[..], &[number]].concat()).unwrap();
    }
    let lock = workspace.join(".git/index.lock");
    let is_reported = |reported: &Value| {
        let reported = reported.to_string();
        reported.contains("if no git process is running, remove the lock file") && reported.contains("index.lock")
    };
    // No process was killed: the creator of the lock may still be running.
    fs::write(&lock, "").unwrap();
    let reported = yard.act("add", &json!({ "all": true }));
    assert!(is_reported(&reported) && lock.exists(), "{reported}");
    fs::remove_file(&lock).unwrap();
    fs::write(workspace.join("toolsd.toml"), "[limits]\ntime_ms = 200\n").unwrap();
    let ended = yard.act("add", &json!({ "all": true }));
    assert!(ended["error"].is_string(), "git was too fast for this test: {ended}");
    assert!(!lock.exists(), "git was killed before it could clean up");
    fs::remove_file(workspace.join("toolsd.toml")).unwrap();
}

/// If the index were still that of HEAD, a commit would omit the work of the branch that it claims to merge.
#[test]
fn cancelled_merges_are_not_reported_as_running() {
    let yard = Yard::new();
    let workspace = yard.workspace();
    yard.git(&["init", "-q", "-b", "main"]);
    yard.put("a.txt", "a\n");
    yard.commit("begin");
    yard.git(&["switch", "-q", "-c", "side"]);
    fs::create_dir(workspace.join("many")).unwrap();
    for number in 0..2_000 {
        fs::write(workspace.join(format!("many/{number}.txt")), format!("{number}\n")).unwrap();
    }
    yard.commit("side");
    yard.git(&["switch", "-q", "main"]);
    yard.put("b.txt", "b\n");
    yard.commit("main");
    for time_ms in (80..2_000).step_by(80) {
        fs::write(workspace.join("toolsd.toml"), format!("[limits]\ntime_ms = {time_ms}\n")).unwrap();
        let reported = yard.act("merge", &json!({ "ref": "side" }));
        if reported["error"].is_null() {
            break;
        }
        let is_unchanged = yard.plain(&workspace, &["diff", "--cached", "--quiet", "HEAD"]).status.success();
        assert!(!is_unchanged || !workspace.join(".git/MERGE_HEAD").exists(), "{time_ms} ms: {reported}");
        yard.git(&["reset", "-q", "--hard"]);
        yard.git(&["clean", "-q", "-f", "-e", "toolsd.toml"]);
    }
}

//= docs/spec.md#git
//= type=test
//# A verb MUST fail before any change if a filter applies to an added file, or if objects of the files to
//# write are missing.
#[test]
fn partial_clones_are_reported_and_lose_no_file() {
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
    for (verb, options) in
        [("switch", json!({ "ref": "old" })), ("worktree_add", json!({ "path": "more", "ref": "old" }))]
    {
        let refused = yard.act(verb, &options);
        assert!(refused.to_string().contains("this is a partial clone, and 1 objects"), "{verb}: {refused}");
        assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "a 2\n", "{verb}");
    }
    let seen = yard.look("status", &json!({}));
    assert!(seen["notices"].to_string().contains("this is a partial clone"), "{seen}");
    assert_eq!(yard.act("switch", &json!({ "ref": "same" }))["code"], 0);
    // What was fetched by hand exists.
    yard.git_in(&top, &["cat-file", "-e", "old:a.txt"]);
    assert_eq!(yard.act("switch", &json!({ "ref": "old" }))["code"], 0);
    assert_eq!(fs::read_to_string(top.join("a.txt")).unwrap(), "a 0\n");
}

#[test]
fn letters_beyond_ascii_are_letters() {
    let yard = Yard::with_repository();
    yard.put("letters.txt", "Straße\nÄpfel\n");
    yard.git(&["add", "-A"]);
    for pattern in ["Stra.e", "^[[:alpha:]]*e$"] {
        let found = yard.look("grep", &json!({ "pattern": pattern, "paths": ["letters.txt"] }));
        assert!(found["text"].as_str().unwrap().contains("Straße"), "{pattern}: {found}");
    }
    let found = yard.look("grep", &json!({ "pattern": "äpfel", "ignore_case": true, "paths": ["letters.txt"] }));
    assert!(found["text"].as_str().unwrap().contains("Äpfel"), "{found}");
}
