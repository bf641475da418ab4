//! Merges, which the host makes in steps: each leaves what git's own leaves, by refs, index, files and state.

use crate::answers::{copied_repository, state};
use crate::yard::{Yard, gits};
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

/// What the branches `ours` and `theirs` change of a common beginning.
type Side = fn(&Yard, &Path);

/// A kind of merge: its name, what both sides change, what is so in the working tree before, and the options.
struct Kind(&'static str, Side, Side, Side, &'static str);

fn put(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join(name).parent().unwrap()).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

const NOTHING: Side = |_, _| {};
const OURS: Side = |_, at| put(at, "a.txt", "ours\ntwo\nthree\nfour\n");
const THEIRS: Side = |_, at| put(at, "a.txt", "theirs\ntwo\nthree\nfour\n");
const END: Side = |_, at| put(at, "a.txt", "one\ntwo\nthree\ntheirs\n");

const KINDS: &[Kind] = &[
    Kind("clean", OURS, END, NOTHING, r#"{ "message": "m" }"#),
    Kind("clean, git's own words", OURS, END, NOTHING, r"{}"),
    Kind("forward", NOTHING, END, NOTHING, r#"{ "message": "m" }"#),
    Kind("forward, with a commit", NOTHING, END, NOTHING, r#"{ "no_ff": true, "message": "m" }"#),
    Kind("there already", OURS, NOTHING, NOTHING, r#"{ "message": "m" }"#),
    Kind("only forward", OURS, END, NOTHING, r#"{ "ff_only": true }"#),
    Kind("squash", OURS, END, NOTHING, r#"{ "squash": true }"#),
    Kind("squash, forward", NOTHING, END, NOTHING, r#"{ "squash": true }"#),
    Kind("squash, conflict", OURS, THEIRS, NOTHING, r#"{ "squash": true }"#),
    Kind("conflict", OURS, THEIRS, NOTHING, r#"{ "message": "m" }"#),
    Kind(
        "changed and removed",
        OURS,
        |_, at| fs::remove_file(at.join("a.txt")).unwrap(),
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "renamed, and a conflict",
        |yard, at| {
            yard.git_in(at, &["mv", "a.txt", "moved.txt"]);
            put(at, "moved.txt", "ours\ntwo\nthree\nfour\n");
        },
        THEIRS,
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "renamed twice",
        |yard, at| drop(yard.git_in(at, &["mv", "a.txt", "1.txt"])),
        |yard, at| drop(yard.git_in(at, &["mv", "a.txt", "2.txt"])),
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "a folder renamed",
        |yard, at| drop(yard.git_in(at, &["mv", "deep", "deeper"])),
        |_, at| put(at, "deep/new.txt", "new\n"),
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "added twice",
        |_, at| put(at, "new.txt", "ours\n"),
        |_, at| put(at, "new.txt", "theirs\n"),
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "file against folder",
        |_, at| {
            fs::remove_file(at.join("a.txt")).unwrap();
            put(at, "a.txt/x", "x\n");
        },
        THEIRS,
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "binary",
        |_, at| put(at, "b.bin", "\0ours"),
        |_, at| put(at, "b.bin", "\0theirs"),
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "mode",
        |_, at| fs::set_permissions(at.join("a.txt"), fs::Permissions::from_mode(0o755)).unwrap(),
        THEIRS,
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "link",
        |_, at| {
            fs::remove_file(at.join("a.txt")).unwrap();
            symlink("b.bin", at.join("a.txt")).unwrap();
        },
        THEIRS,
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind("changes elsewhere", OURS, END, |_, at| put(at, "b.bin", "mine"), r#"{ "message": "m" }"#),
    Kind("changes in the way", OURS, END, |_, at| put(at, "a.txt", "mine\n"), r#"{ "message": "m" }"#),
    Kind(
        "an unknown file in the way",
        OURS,
        |_, at| put(at, "new.txt", "theirs\n"),
        |_, at| put(at, "new.txt", "mine\n"),
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "a style of conflicts",
        OURS,
        THEIRS,
        |yard, at| drop(yard.git_in(at, &["config", "merge.conflictStyle", "diff3"])),
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "ends of lines",
        |_, at| {
            put(at, ".gitattributes", "*.txt text eol=crlf\n");
            put(at, "a.txt", "ours\r\ntwo\r\nthree\r\nfour\r\n");
        },
        END,
        NOTHING,
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "hidden files",
        OURS,
        |_, at| put(at, "deep/b.txt", "theirs\n"),
        |yard, at| drop(yard.git_in(at, &["sparse-checkout", "set", "--no-cone", "/*", "!/deep/"])),
        r#"{ "message": "m" }"#,
    ),
    Kind(
        "a merge under way",
        OURS,
        THEIRS,
        |yard, at| drop(yard.plain(at, &["merge", "-q", "theirs"])),
        r#"{ "message": "m" }"#,
    ),
];

/// A repository with both sides, and what is so before; checked out is `ours`.
fn make(yard: &Yard, model: &Path, at: &Path, kind: &Kind) {
    copied_repository(yard, model, at);
    for (name, side) in [("theirs", kind.2), ("ours", kind.1)] {
        yard.git_in(at, &["checkout", "-q", "-B", name, "main"]);
        side(yard, at);
        yard.git_in(at, &["add", "-A"]);
        yard.git_in(at, &["commit", "-q", "--allow-empty", "-m", name, "--date=2026-01-01T00:00:00Z"]);
    }
    if kind.0.contains("there already") {
        yard.git_in(at, &["branch", "-f", "theirs", "main"]);
    }
    if kind.0.contains("forward") && !kind.0.contains("only") {
        yard.git_in(at, &["checkout", "-q", "-B", "ours", "main"]);
    }
    kind.3(yard, at);
}

/// The state of a repository, with what a merge that stopped left for those who go on.
fn merged(yard: &Yard, at: &Path) -> Value {
    let mut found = json!(state(yard, at));
    for name in ["MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG", "ORIG_HEAD"] {
        found[name] = json!(fs::read_to_string(at.join(".git").join(name)).ok());
    }
    found
}

//= docs/spec.md#git
//= type=test
//# A merge that is killed MUST leave what `merge_abort` needs.
#[test]
fn a_merge_leaves_what_git_leaves() {
    for git in gits() {
        let model = Yard::with_repository().with_git_of(&git);
        model.put("a.txt", "one\ntwo\nthree\nfour\n");
        model.put("b.bin", "\0\0");
        model.put("deep/b.txt", "b\n");
        model.put("deep/c.txt", "c\n");
        model.commit("begin");
        let yard = Yard::new().with_git_of(&git);
        // Commits of both have the same times, so that their names are the same.
        let mut asked = Vec::new();
        for (at, kind) in KINDS.iter().enumerate() {
            let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
            make(&yard, &model.workspace(), &ours, kind);
            copied_repository(&yard, &ours, &theirs);
            let mut options: Value = serde_json::from_str(kind.4).unwrap();
            options["ref"] = json!("theirs");
            options["folder"] = json!(format!("q{at}"));
            options["check"] = json!(false);
            asked.push(json!({ "verb": "merge", "options": options, "reads": false }));
        }
        let answers = yard.call("say_all", &json!({ "questions": asked }));
        let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
        let mut faults = Vec::new();
        for (at, (kind, told)) in KINDS.iter().zip(answers).enumerate() {
            let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
            let options: Value = serde_json::from_str(kind.4).unwrap();
            let mut words = vec!["merge", "--no-edit"];
            let flags = [("no_ff", "--no-ff"), ("ff_only", "--ff-only"), ("squash", "--squash")];
            words.extend(flags.iter().filter(|(name, _)| options[name] == true).map(|(_, word)| *word));
            words.extend(options["message"].as_str().map(|_| ["-m", "m"]).into_iter().flatten());
            let output = yard.plain(&theirs, &[&words[..], &["theirs"]].concat());
            let (own, plain) = (merged(&yard, &ours), merged(&yard, &theirs));
            // Where a file is in the way, git says so in other words.
            if told["code"] != json!(output.status.code()) || own != plain {
                let differs: Vec<String> = plain
                    .as_object()
                    .unwrap()
                    .iter()
                    .filter(|(name, text)| own.get(name) != Some(text))
                    .map(|(name, text)| format!("{name}: git {text}, we {}", own[name]))
                    .collect();
                faults.push(format!("{}: git {output:?}\n  we: {told}\n  {}", kind.0, differs.join("\n  ")));
            }
            if told["code"] == 1 && options["squash"].is_null() && kind.0 != "changes in the way" {
                yard.git_in(&ours, &["merge", "--abort"]);
                assert!(!ours.join(".git/MERGE_HEAD").exists(), "{}", kind.0);
            }
        }
        assert!(faults.is_empty(), "{} of {} ({}):\n{}", faults.len(), KINDS.len(), git.display(), faults.join("\n"));
    }
}

#[test]
fn a_merge_in_the_middle_can_be_given_up() {
    let yard = Yard::with_repository();
    yard.git(&["branch", "side"]);
    yard.put("b.txt", "b\n");
    yard.commit("more");
    // As a kill leaves it: the state is written before the first file changes.
    let head = yard.git(&["rev-parse", "side"]);
    for (name, text) in [("MERGE_MSG", "m\n"), ("MERGE_MODE", ""), ("MERGE_HEAD", head.as_str())] {
        fs::write(yard.workspace().join(".git").join(name), text).unwrap();
    }
    assert_eq!(yard.act("merge_abort", &json!({}))["code"], 0);
    assert!(!yard.workspace().join(".git/MERGE_HEAD").exists());
}
