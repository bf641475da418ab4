//! Repositories as people have them: a working tree outside of its repository, a submodule, a folder of a larger
//! repository, a filter that is a program. A refusal comes before any change, with a message.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A verb, with another folder as workspace.
fn call_in(yard: &Yard, workspace: &Path, tool: &str, verb: &str, options: &Value) -> Value {
    yard.call_at(workspace, "keeper", tool, &json!({ "verb": verb, "options": options }))
}

/// How people let agents work side by side.
//= docs/spec.md#git
//= type=test
//# A git directory outside of the granted roots MUST be refused unless it names the working tree in turn.
#[test]
fn a_work_tree_next_to_its_repository_is_a_workspace() {
    let yard = Yard::with_repository();
    yard.git(&["worktree", "add", "-q", "../tree", "-b", "topic"]);
    let tree = yard.at("tree");
    fs::write(tree.join("new.txt"), "new\n").unwrap();
    let act = |verb: &str, options: &Value| call_in(&yard, &tree, "act_git", verb, options);
    let look = |verb: &str, options: &Value| call_in(&yard, &tree, "look_git", verb, options);
    assert_eq!(look("status", &json!({ "porcelain": "v1" }))["text"], "?? new.txt\n");
    assert_eq!(act("add", &json!({ "paths": ["new.txt"] }))["code"], 0);
    assert_eq!(act("commit", &json!({ "message": "new", "quiet": true }))["code"], 0);
    let switched = act("switch", &json!({ "create": "more", "ref": "main" }));
    assert_eq!(switched["code"], 0, "{switched}");
    assert_eq!(yard.git(&["log", "-1", "--format=%s", "topic"]), "new\n");
    // Another folder that only claims to have the repository does not have it.
    let other = yard.at("other");
    fs::create_dir(&other).unwrap();
    fs::copy(tree.join(".git"), other.join(".git")).unwrap();
    let refused = call_in(&yard, &other, "look_git", "log", &json!({}));
    assert!(refused["error"].to_string().contains("does not name it in turn"), "{refused}");
}

#[test]
fn a_submodule_is_a_workspace() {
    let yard = Yard::with_repository();
    let inner = yard.at("inner");
    fs::create_dir(&inner).unwrap();
    yard.git_in(&inner, &["init", "-q"]);
    yard.git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let inner = inner.to_str().unwrap();
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub"]);
    let sub = yard.workspace().join("sub");
    fs::write(sub.join("a.txt"), "a\n").unwrap();
    assert_eq!(call_in(&yard, &sub, "act_git", "add", &json!({ "paths": ["a.txt"] }))["code"], 0);
    assert_eq!(call_in(&yard, &sub, "act_git", "commit", &json!({ "message": "a" }))["code"], 0);
    assert_eq!(yard.git_in(&sub, &["log", "-1", "--format=%s"]), "a\n");
    let other = yard.at("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join(".git"), format!("gitdir: {}\n", yard.workspace().join(".git/modules/sub").display()))
        .unwrap();
    let refused = call_in(&yard, &other, "look_git", "log", &json!({}));
    assert!(refused["error"].to_string().contains("does not name it in turn"), "{refused}");
}

//= docs/spec.md#git
//= type=test
//# The paths that a verb takes and returns MUST be in the working tree below the granted roots.
#[test]
fn a_folder_of_a_larger_repository_is_a_workspace() {
    let yard = Yard::with_repository();
    yard.put("part/a.md", "a\n");
    yard.put("beside/secret.md", "s\n");
    yard.commit("parts");
    yard.git(&["branch", "side"]);
    let part = yard.workspace().join("part");
    let act = |verb: &str, options: &Value| call_in(&yard, &part, "act_git", verb, options);
    let look = |verb: &str, options: &Value| call_in(&yard, &part, "look_git", verb, options);
    for name in ["part/new.md", "beside/new-secret.md"] {
        yard.put(name, "new\n");
    }
    yard.put("beside/secret.md", "changed\n");
    yard.put("part/a.md", "changed\n");
    for (verb, options, text) in [
        ("status", json!({ "porcelain": "v1" }), Some(" M part/a.md\n?? part/new.md\n")),
        ("diff", json!({ "name_only": true }), Some("part/a.md\n")),
        ("files", json!({ "others": true }), Some("new.md\n")),
        ("grep", json!({ "pattern": "changed" }), Some("a.md:changed\n")),
        ("log", json!({ "format": "%s", "max_count": 1 }), Some("parts\n")),
        ("repository", json!({ "show": "prefix" }), Some("part/\n")),
        ("status", json!({}), None),
    ] {
        let reported = look(verb, &options);
        assert!(!reported.to_string().contains("secret"), "{verb}: {reported}");
        assert!(reported["code"] == 0 && text.is_none_or(|text| reported["text"] == text), "{verb}: {reported}");
    }
    assert!(look("status", &json!({ "paths": ["../beside"] }))["error"].to_string().contains("may not reach"));
    assert_eq!(act("add", &json!({ "all": true }))["code"], 0);
    assert_eq!(yard.git(&["diff", "--cached", "--name-only"]), "part/a.md\npart/new.md\n");
    assert_eq!(act("commit", &json!({ "message": "part" }))["code"], 0);
    yard.git(&["add", "beside/new-secret.md"]);
    let reset = act("reset", &json!({}));
    assert!(reset["notices"].to_string().contains("1 files outside of `"), "{reset}");
    let reported = look("status", &json!({}));
    assert!(reported["notices"].to_string().contains("is not shown or added: the repository is"), "{reported}");
    let refused = act("commit", &json!({ "message": "part", "all": true }));
    assert!(refused["error"].to_string().contains("is about the whole repository"), "{refused}");
    assert!(refused["help"].to_string().contains("--root"), "{refused}");
    let nothing = act("commit", &json!({ "message": "part", "check": false }));
    assert!(nothing["code"] == 1 && !nothing.to_string().contains("new-secret"), "{nothing}");
    let refused = act("switch", &json!({ "ref": "side" }));
    assert!(refused["error"].to_string().contains("which reaches out of"), "{refused}");
    assert!(refused["help"].to_string().contains("start with `--root "), "{refused}");
}

//= docs/spec.md#git
//= type=test
//# A verb MUST fail before any change if a filter applies to an added file, or if objects of the files to
//# write are missing.
#[test]
fn what_a_filter_hides_is_never_committed_in_the_clear() {
    for (of_user, name) in [(false, "git-crypt"), (true, "lfs")] {
        let yard = Yard::with_repository();
        let filter = format!("[filter \"{name}\"]\nclean = cat\nsmudge = cat\nrequired = true\n");
        match of_user {
            true => {
                let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
                fs::write(yard.at(".gitconfig"), format!("{mine}{filter}")).unwrap();
            }
            false => yard.configure(&filter),
        }
        yard.put(".gitattributes", &format!("*.key filter={name}\n"));
        yard.put("a.key", "converted\n");
        yard.commit("with a filter");
        yard.put("a.key", "the secret\n");
        yard.put("b.txt", "b\n");
        let head = yard.git(&["rev-parse", "HEAD"]);
        for (verb, options) in [
            ("add", json!({ "all": true })),
            ("add", json!({ "paths": ["a.key"] })),
            ("commit", json!({ "all": true, "message": "x" })),
            ("commit", json!({ "paths": ["a.key"], "message": "x" })),
        ] {
            let refused = yard.act(verb, &options);
            let reported = refused["error"].to_string();
            assert!(
                reported.contains(&format!("`a.key` passes a filter (`{name}`), which is a program")),
                "{verb}: {refused}"
            );
            assert_eq!(yard.git(&["diff", "--cached", "--name-only"]), "", "{verb}");
            assert_eq!(yard.git(&["rev-parse", "HEAD"]), head, "{verb}");
        }
        let well = yard.act("add", &json!({ "paths": ["b.txt"] }));
        assert_eq!(well["code"], 0, "a file next to it is added: {well}");
        let seen = yard.look("status", &json!({ "porcelain": "v1" }));
        assert!(seen["notices"].to_string().contains("`a.key` passes a filter"), "{seen}");
    }
}

/// What a person does with the repository of a filter, before and after a pack changes files other than the filtered
/// one.
#[test]
fn beside_a_filtered_file_a_pack_works_as_without() {
    for name in ["git-crypt", "lfs"] {
        let yard = Yard::with_repository();
        yard.configure(&format!("[filter \"{name}\"]\nclean = tr a-y b-z\nsmudge = tr b-z a-y\nrequired = true\n"));
        yard.put(".gitattributes", &format!("*.key filter={name}\n"));
        yard.put("a.key", "aaa\n");
        yard.commit("with a filter");
        yard.git(&["branch", "other"]);
        yard.git(&["checkout", "-q", "-b", "topic"]);
        yard.put("a.key", "ccc\n");
        yard.commit("another secret");
        yard.git(&["checkout", "-q", "main"]);
        // As a fresh clone is, in which every file is as old as the index.
        fs::remove_file(yard.workspace().join("a.key")).unwrap();
        yard.git(&["checkout", "-q", "--", "a.key"]);
        yard.put("b.txt", "b\n");
        for (verb, options) in [
            ("add", json!({ "paths": ["b.txt"] })),
            ("commit", json!({ "message": "b" })),
            ("commit", json!({ "message": "a", "paths": ["a.txt"], "allow_empty": true })),
            ("switch", json!({ "ref": "other" })),
            ("switch", json!({ "ref": "main" })),
        ] {
            let reported = yard.act(verb, &options);
            assert_eq!(reported["code"], 0, "{name} {verb}: {reported}");
            assert_eq!(yard.git(&["show", "HEAD:a.key"]), "bbb\n", "{verb}");
        }
        assert_eq!(yard.git(&["status", "--porcelain"]), "", "{name}");
        for (verb, options) in [
            ("switch", json!({ "ref": "topic" })),
            ("merge", json!({ "ref": "topic" })),
            ("worktree_add", json!({ "path": "tree", "ref": "other" })),
        ] {
            if name == "lfs" {
                continue;
            }
            let refused = yard.act(verb, &options);
            assert!(refused["error"].to_string().contains("`a.key` passes a filter"), "{verb}: {refused}");
            assert!(refused["help"].to_string().contains("do this by hand: `git "), "{verb}: {refused}");
            assert_eq!(yard.git(&["status", "--porcelain"]), "", "{verb} changed nothing");
        }
        if name == "lfs" {
            let reported = yard.act("switch", &json!({ "ref": "topic" }));
            assert!(reported["notices"].to_string().contains("`git lfs pull` fills it"), "{reported}");
            assert_eq!(fs::read_to_string(yard.workspace().join("a.key")).unwrap(), "ddd\n");
        }
    }
}

/// As `git init --separate-git-dir` leaves it: the advice leads to a repository that works.
#[test]
fn a_repository_that_was_put_elsewhere_is_one_that_names_its_folder() {
    let yard = Yard::new();
    yard.git(&["init", "-q", "--separate-git-dir=../elsewhere.git"]);
    yard.commit("first");
    let refused = yard.look("log", &json!({}));
    let top = yard.workspace().canonicalize().unwrap();
    let advice = format!("`git config core.worktree {}`", top.display());
    assert!(refused["help"].to_string().contains(&advice), "{refused}");
    yard.git(&["config", "core.worktree", top.to_str().unwrap()]);
    assert_eq!(yard.look("log", &json!({}))["code"], 0);
}

/// What only cleans has nothing to do where files are written.
#[test]
fn a_filter_that_only_cleans_is_not_in_the_way_of_a_switch() {
    let yard = Yard::with_repository();
    yard.configure("[filter \"strip\"]\nclean = tr a-y b-z\nsmudge = cat\n");
    yard.put(".gitattributes", "*.key filter=strip\n");
    yard.git(&["checkout", "-q", "-b", "topic"]);
    yard.put("a.key", "aaa\n");
    yard.commit("cleaned");
    yard.git(&["checkout", "-q", "main"]);
    assert_eq!(yard.act("switch", &json!({ "ref": "topic" }))["code"], 0);
    assert_eq!(fs::read_to_string(yard.workspace().join("a.key")).unwrap(), "bbb\n");
}

/// A populated submodule that did not move.
#[test]
fn a_submodule_is_not_in_the_way_of_add() {
    let yard = Yard::with_repository();
    let inner = yard.at("inner");
    fs::create_dir(&inner).unwrap();
    yard.git_in(&inner, &["init", "-q"]);
    fs::write(inner.join("a.txt"), "a\n").unwrap();
    yard.git_in(&inner, &["add", "-A"]);
    yard.git_in(&inner, &["commit", "-q", "-m", "first"]);
    let inner = inner.to_str().unwrap();
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub"]);
    yard.commit("with a submodule");
    yard.put("sub/a.txt", "changed\n");
    yard.put("b.txt", "b\n");
    for (verb, options) in [
        ("add", json!({ "all": true })),
        ("commit", json!({ "message": "b" })),
        ("commit", json!({ "message": "c", "all": true, "allow_empty": true })),
    ] {
        let reported = yard.act(verb, &options);
        assert_eq!(reported["code"], 0, "{verb}: {reported}");
    }
    assert_eq!(yard.git(&["show", "--format=", "--name-only", "HEAD~1"]), "b.txt\n");
    // One that moved is added as git adds it.
    yard.git_in(&yard.workspace().join("sub"), &["commit", "-q", "-am", "second"]);
    assert_eq!(yard.act("add", &json!({ "all": true }))["code"], 0);
    assert_eq!(yard.git(&["diff", "--cached", "--name-only"]), "sub\n");
}

/// A team that shares a folder: the group may write, and git works.
#[test]
fn a_repository_that_a_group_can_write_works() {
    use std::os::unix::fs::PermissionsExt;
    let yard = Yard::with_repository();
    for folder in ["", ".git", ".git/refs", ".git/objects"] {
        let at = yard.workspace().join(folder);
        fs::set_permissions(at, fs::Permissions::from_mode(0o2775)).unwrap();
    }
    assert_eq!(yard.look("status", &json!({}))["code"], 0);
    assert_eq!(yard.act("commit", &json!({ "allow_empty": true, "message": "x" }))["code"], 0);
}

//= docs/spec.md#git
//= type=test
//# A repository that refers to repositories, object stores or configuration that the pack may not access MUST
//# be refused.
#[test]
fn an_include_counts_within_the_roots_and_is_refused_outside() {
    let yard = Yard::with_repository();
    fs::write(yard.at("secret"), "[user]\nname = Outside\n").unwrap();
    yard.put("shared.gitconfig", "[user]\nname = Inside\n");
    yard.configure("[include]\npath = ../shared.gitconfig\n");
    assert_eq!(yard.look("config", &json!({ "name": "user.name" }))["line"], "Inside");
    yard.act("commit", &json!({ "allow_empty": true, "message": "x" }));
    assert_eq!(yard.git(&["log", "-1", "--format=%an"]), "Inside\n");
    yard.configure("[include]\npath = ../../secret\n");
    let refused = yard.look("log", &json!({}));
    assert!(refused["error"].to_string().contains("cannot be used"), "{refused}");
    assert!(refused["help"].to_string().contains("--root"), "{refused}");
}

/// The environment of toolsd configures git as a person's shell does.
//= docs/spec.md#git
//= type=test
//# The user's git configuration MUST apply as it does in git, including conditional includes and the
//# environment.
#[test]
fn the_environment_configures_git() {
    let yard = Yard::with_repository();
    let question = json!({ "verb": "config", "options": { "name": "user.name", "show_scope": true } }).to_string();
    let mut command = yard.command(&["call", "look_git", &question]);
    command.env("GIT_CONFIG_COUNT", "1").env("GIT_CONFIG_KEY_0", "User.Name").env("GIT_CONFIG_VALUE_0", "Env");
    let output = command.output().unwrap();
    assert_eq!(crate::support::said(&output)["line"], "command\tEnv");
}

//= docs/spec.md#git
//= type=test
//# Where the system does not confine git, a repository with a symlink, an include, a program of its own or
//# missing objects MUST be refused.
#[test]
fn what_leads_out_is_refused_where_nothing_confines_git() {
    let question = json!({ "verb": "log", "options": {} }).to_string();
    let look = |yard: &Yard| {
        let output = yard.command(&["call", "look_git", &question, "--sandbox", "off"]).output().unwrap();
        crate::support::said(&output)
    };
    let yard = Yard::with_repository();
    assert_eq!(look(&yard)["code"], 0, "{}", look(&yard));
    for setting in [
        "[include]\npath = x\n",
        "[includeIf \"gitdir:**\"]\npath = x\n",
        "[filter \"x\"]\nclean = cat\n",
        "[diff \"x\"]\ntextconv = cat\n",
        "[merge \"x\"]\ndriver = cat\n",
        "[remote \"x\"]\npromisor = true\n",
        "[core]\nworktree = ../x\n",
    ] {
        let yard = Yard::with_repository();
        yard.configure(setting);
        let refused = look(&yard)["error"].to_string();
        assert!(refused.contains("the system does not confine git here"), "{setting}: {refused}");
    }
    std::os::unix::fs::symlink("main", yard.workspace().join(".git/refs/heads/linked")).unwrap();
    assert!(look(&yard)["error"].to_string().contains("is a symlink"), "{}", look(&yard));
    // Git reads the bytes of a path, whatever they are.
    for name in [b"other\xff", b"other\r"] {
        let yard = Yard::with_repository();
        let other = yard.at("").join(std::ffi::OsStr::from_bytes(name));
        fs::create_dir(&other).unwrap();
        fs::write(other.join("secret"), "the secret\n").unwrap();
        for words in [&["init"][..], &["add", "-A"], &["commit", "-qm", "x"]] {
            yard.git_in(&other, words);
        }
        let hash = yard.git_in(&other, &["rev-parse", "HEAD:secret"]).trim().to_owned();
        let info = yard.workspace().join(".git/objects/info");
        fs::create_dir_all(&info).unwrap();
        fs::write(info.join("alternates"), [b"../../../", &name[..], b"/.git/objects\n"].concat()).unwrap();
        assert_eq!(yard.git(&["show", &hash]), "the secret\n", "the attack is void");
        let question = json!({ "verb": "show", "options": { "refs": hash } }).to_string();
        let output = yard.command(&["call", "look_git", &question, "--sandbox", "off"]).output().unwrap();
        let refused = crate::support::said(&output)["error"].to_string();
        assert!(refused.contains("(alternates)"), "{refused}");
    }
}

//= docs/spec.md#robustness
//= type=test
//# A file MUST be written as a whole or not at all.
//= docs/spec.md#git
//= type=test
//# A verb that reads files MUST have a grant to read the whole working tree, and one that changes files a
//# grant to write it.
#[test]
fn a_working_tree_is_made_below_the_roots_only() {
    let yard = Yard::with_repository();
    fs::create_dir(yard.at("outside")).unwrap();
    std::os::unix::fs::symlink(yard.at("outside"), yard.workspace().join("trees")).unwrap();
    let add = |path: &str| yard.act("worktree_add", &json!({ "path": path, "ref": "HEAD", "detach": true }));
    for path in ["trees/w", "../w", yard.at("w").to_str().unwrap()] {
        let refused = add(path);
        assert!(refused["error"].is_string(), "{path}: {refused}");
    }
    assert_eq!(fs::read_dir(yard.at("outside")).unwrap().count(), 0);
    // One that is granted by `--root`.
    fs::create_dir(yard.at("more")).unwrap();
    let place = yard.at("more").canonicalize().unwrap().join("w");
    for (verb, options) in [
        ("worktree_add", json!({ "path": place, "ref": "HEAD", "detach": true })),
        ("worktree_remove", json!({ "path": place })),
    ] {
        let question = json!({ "verb": verb, "options": options }).to_string();
        let more = yard.at("more");
        let words = ["call", "act_git", &question, "--root", more.to_str().unwrap()];
        let reported = crate::support::said(&yard.command(&words).output().unwrap());
        assert_eq!(reported["code"], 0, "{reported}");
    }
    assert!(!place.exists());
    // One with work in it is removed by force only.
    assert_eq!(add("w")["code"], 0);
    yard.put("w/mine.txt", "mine\n");
    let refused = yard.act("worktree_remove", &json!({ "path": "w" }));
    assert!(refused["error"].to_string().contains("contains modified or untracked files"), "{refused}");
    assert_eq!(yard.act("worktree_remove", &json!({ "path": "w", "force": true }))["code"], 0);
    assert!(!yard.workspace().join("w").exists());
    // If git still had one whose folder was removed by hand, this would add a second entry.
    assert_eq!(add("gone")["code"], 0);
    fs::remove_dir_all(yard.workspace().join("gone")).unwrap();
    assert!(add("gone")["error"].to_string().contains("registered as a working tree"), "{}", add("gone"));
    assert_eq!(yard.act("worktree_prune", &json!({}))["code"], 0);
    assert_eq!(add("gone")["code"], 0);
}
