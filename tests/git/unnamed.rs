//! What verbs that write say beside their answers: nothing of files that no grant to read covers.

use crate::answers::{before, copied_repository, filled, questions, template};
use crate::yard::{Yard, gits};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use toolsd::primitive::git::write_verbs;

/// What no answer may contain: names of files that are not known, or only to the index; and of one that was changed.
const MARKERS: [&str; 2] = ["marker-without-a-grant", "gone.txt"];

/// Leaves files that no grant covers in a state that git would tell.
fn mark(yard: &Yard, folder: &Path, is_staged: bool) {
    fs::create_dir(folder.join(format!("other-{}", MARKERS[0]))).unwrap();
    for name in ["new", "it's a", "other/new"] {
        let name = name.replace("other/", &format!("other-{}/", MARKERS[0]));
        fs::write(folder.join(format!("{name}-{}", MARKERS[0])), "new\n").unwrap();
    }
    fs::write(folder.join(MARKERS[1]), "changed\n").unwrap();
    if is_staged {
        yard.git_in(folder, &["add", "--", MARKERS[1], &format!("new-{}", MARKERS[0])]);
    }
}

/// Puts those of the questions, each in a repository of its own, to a pack that may write all and read one folder.
fn names_nothing(is_asked: fn(&str) -> bool) {
    let model = template();
    let yard = Yard::new();
    let asked = questions(write_verbs()).into_iter().filter(|(_, option, _)| is_asked(option));
    let asked: Vec<_> = asked.flat_map(|question| [(question.clone(), false), (question, true)]).collect();
    let (mut put, mut covered) = (Vec::new(), vec!["model".to_owned()]);
    for (at, ((verb, _, options), is_staged)) in asked.iter().enumerate() {
        let folder = yard.workspace().join(format!("q{at}"));
        copied_repository(&yard, &model.workspace(), &folder);
        before(&yard, &folder, verb.name);
        mark(&yard, &folder, *is_staged);
        let mut options = filled(&model, verb, options);
        options["folder"] = json!(format!("q{at}"));
        for checks in [false, true] {
            options["check"] = json!(checks);
            put.push(json!({ "verb": verb.name, "options": options, "reads": false }));
        }
        covered.push(format!("q{at}/deep"));
    }
    copied_repository(&yard, &model.workspace(), &yard.at("plain"));
    mark(&yard, &yard.at("plain"), false);
    let plain = yard.plain(&yard.at("plain"), &["commit", "-m", "x"]).stdout;
    let plain = String::from_utf8_lossy(&plain).into_owned();
    assert!(MARKERS.iter().all(|marker| plain.contains(marker)), "the attack is void: {plain}");
    let grants = format!("read = {covered:?}, write = [\".\"], git = \"write\"");
    let answers = yard.call_with(&grants, &json!({ "questions": put }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let told = put.iter().zip(answers).filter(|(_, told)| {
        let told = told.to_string();
        MARKERS.iter().any(|marker| told.contains(marker))
    });
    let told: Vec<String> = told.map(|(question, told)| format!("{question}\n  {told}")).collect();
    assert!(told.is_empty(), "{} of {}:\n{}", told.len(), put.len(), told.join("\n"));
    let done = answers.iter().filter(|told| told["code"] == 0).count();
    assert!(done * 4 > put.len(), "{done} of {} were done", put.len());
    let says_so = |told: &&Value| told["notices"].to_string().contains("of what git said are left out or cut");
    assert!(answers.iter().any(|told| says_so(&told)), "nothing was left out");
}

//= docs/spec.md#git
//= type=test
//# What git says beside its answer while it writes MUST name no file that no grant to read covers, whatever is there, and what is left out of it MUST be told.
#[test]
fn no_verb_that_writes_names_what_is_not_granted() {
    names_nothing(|option| option.is_empty());
}

#[test]
#[ignore = "minutes: `.ci/long git`"]
fn no_option_of_a_verb_that_writes_names_what_is_not_granted() {
    names_nothing(|_| true);
}

#[test]
fn a_search_in_commits_is_spoken_as_each_git_understands_it() {
    for git in gits() {
        let yard = Yard::with_repository().with_git_of(&git);
        let told = yard.look("grep", &json!({ "pattern": "one", "refs": "HEAD", "paths": ["a.txt"] }));
        assert_eq!(told["text"], "HEAD:a.txt:one\n", "{}: {told}", git.display());
    }
}

//= docs/spec.md#git
//= type=test
//# A working tree MUST be made and removed below a granted root only, and else be refused before anything is made.
#[test]
fn a_working_tree_is_made_and_removed_below_another_root() {
    let yard = Yard::with_repository();
    let there = yard.workspace().canonicalize().unwrap().parent().unwrap().join("trees");
    fs::create_dir(&there).unwrap();
    let there = there.to_str().unwrap().to_owned();
    let path = format!("{there}/w");
    let add =
        json!({ "verb": "worktree_add", "options": { "path": path, "ref": "HEAD", "detach": true }, "reads": false });
    let remove = json!({ "verb": "worktree_remove", "options": { "path": path }, "reads": false });
    let status = json!({ "verb": "status", "options": { "folder": path, "short": true }, "reads": true });
    let put = json!({ "questions": [add, status, remove] }).to_string();
    let output = yard.command(&["call", "say_all", &put, "--root", &there]).output().unwrap();
    let told = crate::support::said(&output);
    for one in told.as_array().unwrap_or_else(|| panic!("{told}")) {
        assert_eq!((&one["code"], &one["text"]), (&json!(0), &json!("")), "{told}");
    }
    assert!(!Path::new(&path).exists(), "{told}");
    // What is granted and below no root is refused, and nothing is left half done.
    let grants = format!("read = [\".\", {there:?}], write = [\".\", {there:?}], git = \"write\"");
    let told = yard.call_with(&grants, &json!({ "questions": [add] }));
    assert!(told[0]["error"].to_string().contains("outside of the roots"), "{told}");
    assert!(told[0]["help"].to_string().contains(&format!("--root {there}")), "{told}");
    assert!(!Path::new(&path).exists(), "{told}");
    yard.git(&["worktree", "add", "-q", "--detach", &path]);
    let told = yard.call_with(&grants, &json!({ "questions": [remove] }));
    assert!(told[0]["error"].to_string().contains("outside of the roots"), "{told}");
    assert!(Path::new(&path).join("a.txt").exists(), "{told}");
}
