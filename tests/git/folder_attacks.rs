//! What the author of a workspace puts into the folder of a repository: links, pipes, devices, files without an end.

use super::attacks::every_verb;
use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

/// What no answer may contain.
const MARKER: &str = "marker-of-what-no-grant-covers";

/// What git, or toolsd, opens in a folder of a repository: files, and folders with a `/` at their end.
const ENTRIES: &str = include_str!("entries.txt");

/// A workspace with a secret outside of it.
fn prepared() -> Yard {
    let yard = Yard::with_repository();
    yard.put("pub/a.md", "one\n");
    yard.commit("two");
    yard.git(&["update-ref", "refs/heads/other", "HEAD~1"]);
    fs::create_dir(yard.at("outside")).unwrap();
    fs::write(yard.at("outside/file"), MARKER).unwrap();
    symlink("file", yard.at("outside/chain")).unwrap();
    yard
}

fn targets(yard: &Yard, is_folder: bool) -> Vec<std::path::PathBuf> {
    let names: &[&str] =
        if is_folder { &["outside"] } else { &["outside/file", "outside", "outside/chain", "outside/none"] };
    names.iter().map(|name| yard.at(name)).collect()
}

fn questions() -> Vec<Value> {
    let every = every_verb().into_iter().filter(|(_, verb, _)| *verb != "fetch");
    every.map(|(reads, verb, options)| json!({ "verb": verb, "options": options, "reads": reads })).collect()
}

/// All verbs, answered one after the other.
fn asked(yard: &Yard, questions: &[Value]) -> Vec<Value> {
    let reported = yard.call("say_all", &json!({ "questions": questions }));
    reported.as_array().unwrap_or_else(|| panic!("{reported}")).clone()
}

/// All files of a folder and what they hold.
fn contents(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(contents(&path)),
            false => found.push((path.display().to_string(), fs::read(&path).unwrap())),
        }
    }
    found.sort();
    found
}

//= docs/spec.md#git
//= type=test
//# Git of a pack MUST NOT start a program, nor read or write a file outside of the repository and of what the
//# pack was granted.
#[test]
fn no_link_in_a_repository_leads_out() {
    // The attack as git runs it: a commit without an explicit message gets the target of the link as its message.
    let plain = prepared();
    symlink("../../outside/file", plain.workspace().join(".git/MERGE_MSG")).unwrap();
    plain.git(&["commit", "-q", "--allow-empty", "--no-edit"]);
    assert!(plain.git(&["log", "-1", "--format=%B"]).contains(MARKER), "the attack is void");

    for entry in crate::support::sample(ENTRIES.lines().collect(), 4) {
        let yard = prepared();
        let (git_dir, questions) = (yard.workspace().join(".git"), questions());
        let before = contents(&yard.at("outside"));
        let link = git_dir.join(entry.trim_end_matches('/'));
        for target in targets(&yard, entry.ends_with('/')) {
            let aside = yard.at("aside");
            let was_there = fs::symlink_metadata(&link).is_ok();
            if was_there {
                fs::rename(&link, &aside).unwrap();
            }
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(&target, &link).unwrap();
            for (question, reported) in questions.iter().zip(asked(&yard, &questions)) {
                assert!(
                    !reported.to_string().contains(MARKER),
                    "{entry} to {}, {question}: {reported}",
                    target.display()
                );
            }
            assert!(contents(&yard.at("outside")) == before, "{entry} to {}: it was changed", target.display());
            // Git may have replaced the link by a file.
            let _gone = fs::remove_file(&link).or_else(|_| fs::remove_dir_all(&link));
            if was_there {
                fs::rename(&aside, &link).unwrap();
            }
        }
    }
}

/// Links that git has nothing to do with.
#[test]
fn a_folder_of_hooks_may_be_a_link() {
    let yard = Yard::with_repository();
    let hooks = yard.workspace().join(".git/hooks");
    let _none = fs::remove_dir_all(&hooks);
    symlink("../scripts", &hooks).unwrap();
    let made = yard.act("commit", &json!({ "allow_empty": true, "message": "x" }));
    assert_eq!(made["code"], 0, "{made}");
}

//= docs/spec.md#git
//= type=test
//# A repository that refers to repositories, object stores or configuration that the pack may not access MUST
//# be refused.
#[test]
fn what_only_a_file_names_is_not_borrowed() {
    let yard = Yard::with_repository();
    yard.put("private/r/secret", MARKER);
    let inner = yard.workspace().join("private/r");
    yard.git_in(&inner, &["init", "-q"]);
    yard.git_in(&inner, &["add", "-A"]);
    yard.git_in(&inner, &["commit", "-qm", "secret"]);
    yard.put("pub/w/a.md", "a\n");
    let hash = yard.git_in(&inner, &["rev-parse", "HEAD:secret"]).trim().to_owned();
    let show = |folder: &str, of: &str| {
        let question = json!({ "verb": "show", "reads": true, "options": { "cwd": folder, "refs": of } });
        yard.call_of("narrow", "narrow_all", &json!({ "questions": [question] }))[0].to_string()
    };
    fs::write(yard.workspace().join("pub/w/.git"), "gitdir: ../../private/r/.git\n").unwrap();
    let seen = yard.git_in(&yard.workspace().join("pub/w"), &["show", "HEAD:secret"]);
    assert!(seen.contains(MARKER), "the attack is void");
    let reported = show("pub/w", "HEAD:secret");
    assert!(!reported.contains(MARKER) && reported.contains("where the pack may read nothing"), "{reported}");
    // A working tree that git made there is one.
    yard.git(&["worktree", "add", "-q", "pub/tree"]);
    assert!(show("pub/tree", "HEAD:a.txt").contains("one"), "{}", show("pub/tree", "HEAD:a.txt"));
    let alternates = yard.workspace().join(".git/objects/info/alternates");
    fs::create_dir_all(alternates.parent().unwrap()).unwrap();
    fs::write(&alternates, "../../private/r/.git/objects\n").unwrap();
    assert!(yard.git(&["show", &hash]).contains(MARKER), "the attack is void");
    let reported = show("pub", &hash);
    assert!(!reported.contains(MARKER) && reported.contains("where the pack may read nothing"), "{reported}");
}

/// What toolsd itself reads of a repository, and a few files that git reads whole.
const READ: [&str; 4] = ["", "commondir", "config", "HEAD"];

fn put(kind: &str, at: &Path) {
    match kind {
        "pipe" => assert!(Command::new("mkfifo").arg(at).status().unwrap().success()),
        "huge" => File::create(at).unwrap().set_len(8 << 30).unwrap(),
        "device" => symlink("/dev/zero", at).unwrap(),
        _ => fs::create_dir(at).unwrap(),
    }
}

/// What a call prints.
fn printed(mut command: Command) -> String {
    String::from_utf8_lossy(&command.stderr(Stdio::null()).output().unwrap().stdout).into_owned()
}

//= docs/spec.md#git
//= type=test
//# A symlink, a special file or an oversized file in place of a known part of a repository MUST be refused by
//# name.
//= docs/spec.md#robustness
//= type=test
//# A file that toolsd reads for itself MUST be a regular file of a bounded size.
#[test]
fn nothing_in_a_repository_holds_the_host() {
    let questions = questions();
    for entry in crate::support::sample(READ.to_vec(), 4) {
        for kind in ["pipe", "huge", "device", "folder"] {
            if kind == "folder" && entry.is_empty() {
                continue;
            }
            let yard = Yard::with_repository();
            yard.configure("[extensions]\nworktreeConfig = true\n");
            let at = if entry.is_empty() {
                yard.workspace().join(".git")
            } else {
                yard.workspace().join(".git").join(entry)
            };
            let _none = fs::remove_file(&at).or_else(|_| fs::remove_dir_all(&at));
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            put(kind, &at);
            let what = format!("{kind} for .git/{entry}");
            let stamp = printed(yard.command(&["call", "stamp_git", "{}"]));
            assert!(["true", "false"].contains(&stamp.trim()), "{what}: {stamp}");
            let arguments = json!({ "questions": questions }).to_string();
            let reported = printed(yard.command(&["call", "say_all", &arguments]));
            let reported: Value = serde_json::from_str(&reported).unwrap_or_else(|_| panic!("{what}: {reported}"));
            let reported = reported.as_array().unwrap_or_else(|| panic!("{what}: {reported}"));
            assert_eq!(reported.len(), questions.len(), "{what}");
            if kind != "folder" {
                let refused = |reported: &&Value| reported["error"].is_string();
                assert_eq!(reported.iter().filter(refused).count(), reported.len(), "{what}: {reported:?}");
            }
        }
    }
}

//= docs/spec.md#git
//= type=test
//# Verbs that change a repository MUST run one at a time across processes, and MUST wait briefly for the lock
//# of another git.
#[test]
fn a_writer_waits_for_the_other() {
    let yard = Yard::with_repository();
    let calls: Vec<_> = (0..8)
        .map(|number| {
            let arguments = json!({ "path": format!("notes/{number}.md") }).to_string();
            yard.command(&["call", "keep_file", &arguments])
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for call in calls {
        let output = call.wait_with_output().unwrap();
        let (reported, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(reported.trim(), "0", "{errors}");
    }
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
    assert_eq!(yard.git(&["rev-list", "--count", "HEAD"]).trim(), "9");
}
