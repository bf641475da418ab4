//! Merges, which toolsd makes in steps: each leaves what git's own leaves, by refs, index, files and state.

use crate::answers::{copied_repository, state};
use crate::yard::Yard;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// A kind of merge, as `merges.toml` explains.
type Kind = (String, String, String, String, String);

fn kinds() -> Vec<Kind> {
    let mut table: BTreeMap<String, Vec<Kind>> = toml::from_str(include_str!("merges.toml")).unwrap();
    table.remove("kinds").unwrap()
}

fn shell(yard: &Yard, at: &Path, line: &str) {
    let mut shell = yard.at_home(Command::new("sh"));
    assert!(shell.args(["-c", line]).current_dir(at).stdout(Stdio::null()).status().unwrap().success(), "{line}");
}

/// A repository with both sides, and what is so before; checked out is `ours`.
fn make(yard: &Yard, model: &Path, at: &Path, kind: &Kind) {
    copied_repository(yard, model, at);
    for (name, side) in [("theirs", &kind.2), ("ours", &kind.1)] {
        yard.git_in(at, &["checkout", "-q", "-B", name, "main"]);
        shell(yard, at, side);
        yard.git_in(at, &["add", "-A"]);
        yard.git_in(at, &["commit", "-q", "--allow-empty", "-m", name, "--date=2026-01-01T00:00:00Z"]);
    }
    if kind.0.contains("there already") {
        yard.git_in(at, &["branch", "-f", "theirs", "main"]);
    }
    if kind.0.contains("forward") && !kind.0.contains("only") {
        yard.git_in(at, &["checkout", "-q", "-B", "ours", "main"]);
    }
    shell(yard, at, &kind.3);
}

/// The state of a repository, including what a stopped merge left for its continuation.
fn merged(yard: &Yard, at: &Path) -> Value {
    let mut found = json!(state(yard, at));
    for name in ["MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "SQUASH_MSG", "ORIG_HEAD"] {
        found[name] = json!(fs::read_to_string(at.join(".git").join(name)).ok());
    }
    found
}

//= docs/spec.md#git
//= type=test
//# Git that is stopped MUST leave no lock of its own, and a stopped merge MUST leave what `merge_abort`
//# needs.
#[test]
fn a_merge_leaves_what_git_leaves() {
    let kinds = kinds();
    let model = Yard::with_repository();
    model.put("a.txt", "one\ntwo\nthree\nfour\n");
    model.put("b.bin", "\0\0");
    model.put("deep/b.txt", "b\n");
    model.put("deep/c.txt", "c\n");
    model.commit("begin");
    let yard = Yard::new();
    // Commits of both have the same times, so that their names are the same.
    let mut asked = Vec::new();
    for (at, kind) in kinds.iter().enumerate() {
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        make(&yard, &model.workspace(), &ours, kind);
        copied_repository(&yard, &ours, &theirs);
        let mut options: Value = serde_json::from_str(&kind.4).unwrap();
        options["ref"] = json!("theirs");
        options["cwd"] = json!(format!("q{at}"));
        options["check"] = json!(false);
        asked.push(json!({ "verb": "merge", "options": options, "reads": false }));
    }
    let answers = yard.call("say_all", &json!({ "questions": asked }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut errors = Vec::new();
    for (at, (kind, reported)) in kinds.iter().zip(answers).enumerate() {
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        let options: Value = serde_json::from_str(&kind.4).unwrap();
        let mut words = vec!["merge", "--no-edit"];
        let flags = [("no_ff", "--no-ff"), ("ff_only", "--ff-only"), ("squash", "--squash")];
        words.extend(flags.iter().filter(|(name, _)| options[name] == true).map(|(_, word)| *word));
        words.extend(options["message"].as_str().map(|_| ["-m", "m"]).into_iter().flatten());
        let output = yard.plain(&theirs, &[&words[..], &["theirs"]].concat());
        let (own, plain) = (merged(&yard, &ours), merged(&yard, &theirs));
        // If a file is in the way, git uses another message.
        if reported["code"] != json!(output.status.code()) || own != plain {
            let differs: Vec<String> = plain
                .as_object()
                .unwrap()
                .iter()
                .filter(|(name, text)| own.get(name) != Some(text))
                .map(|(name, text)| format!("{name}: git {text}, we {}", own[name]))
                .collect();
            errors.push(format!("{}: git {output:?}\n  we: {reported}\n  {}", kind.0, differs.join("\n  ")));
        }
        if reported["code"] == 1 && options["squash"].is_null() && kind.0 != "changes in the way" {
            yard.git_in(&ours, &["merge", "--abort"]);
            assert!(!ours.join(".git/MERGE_HEAD").exists(), "{}", kind.0);
        }
    }
    assert!(errors.is_empty(), "{} of {}:\n{}", errors.len(), kinds.len(), errors.join("\n"));
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
