//! Repositories of their own that lie where git knows a file, a link or a folder: no verb takes one away, and one that would
//! is refused before anything changed.

use crate::answers::{copied_repository, plain, state};
use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use toolsd::primitive::git::write_verbs;

/// What git knows at the place that a repository has taken.
const KNOWN: &[&str] = &["a file", "a link", "a folder with a file", "a folder that is to be a file"];

/// The repositories, and where below that place they lie.
const LYING: &[(&str, &str)] = &[
    ("with a commit", ""),
    ("without a commit", ""),
    ("a working tree of this one", ""),
    ("bare", ""),
    ("with a commit", "deep"),
    ("with a commit", "deep/er"),
];

const ASKED: &[(&str, &str)] = &[
    ("restore", r#"{ "paths": "sub" }"#),
    ("restore", r#"{ "paths": "." }"#),
    ("restore", r#"{ "paths": "sub", "source": "other" }"#),
    ("restore", r#"{ "paths": "sub", "source": "HEAD~1", "staged": true, "worktree": true }"#),
    ("reset", r#"{ "mode": "hard" }"#),
    ("reset", r#"{ "mode": "hard", "ref": "other" }"#),
    ("reset", r#"{ "mode": "keep", "ref": "HEAD~1" }"#),
    ("reset", r#"{ "mode": "merge", "ref": "HEAD~1" }"#),
    ("switch", r#"{ "ref": "other" }"#),
    ("merge", r#"{ "ref": "other" }"#),
    ("stash_push", r#"{}"#),
    ("stash_push", r#"{ "paths": "sub" }"#),
    ("rm", r#"{ "paths": "sub", "force": true }"#),
    ("clean", r#"{ "paths": ".", "folders": true }"#),
    ("mv", r#"{ "paths": ["a.txt", "sub"], "force": true }"#),
];

fn model(known: &str) -> Yard {
    let yard = Yard::with_repository();
    let sub = yard.workspace().join("sub");
    match known {
        "a link" => symlink("a.txt", &sub).unwrap(),
        "a file" => fs::write(&sub, "sub\n").unwrap(),
        _ => yard.put("sub/known.txt", "known\n"),
    }
    yard.commit("sub");
    yard.git(&["checkout", "-q", "-b", "other"]);
    if known == "a folder that is to be a file" {
        fs::remove_dir_all(&sub).unwrap();
        fs::write(&sub, "a file now\n").unwrap();
    }
    yard.put("b.txt", "b\n");
    yard.commit("other");
    yard.git(&["checkout", "-q", "main"]);
    yard.put("a.txt", "one\nmore\n");
    yard.commit("more");
    yard
}

/// Puts a repository there; gives its folder.
fn lie(yard: &Yard, copy: &Path, kind: &str, below: &str) -> String {
    let place = format!("sub/{below}").trim_end_matches('/').to_owned();
    let folder = copy.join(&place);
    if !copy.join("sub").is_dir() {
        fs::remove_file(copy.join("sub")).unwrap();
    }
    match kind {
        "a working tree of this one" if folder.exists() => {
            fs::remove_dir_all(&folder).unwrap();
            yard.git_in(copy, &["worktree", "add", "-q", &place, "other"]);
        }
        "a working tree of this one" => drop(yard.git_in(copy, &["worktree", "add", "-q", &place, "other"])),
        _ => {
            fs::create_dir_all(&folder).unwrap();
            let bare: &[&str] = if kind == "bare" { &["--bare"] } else { &[] };
            yard.git_in(&folder, &[&["init", "-q"], bare].concat());
            if kind == "with a commit" {
                fs::write(folder.join("precious"), "precious\n").unwrap();
                yard.git_in(&folder, &["add", "precious"]);
                yard.git_in(&folder, &["commit", "-q", "-m", "precious"]);
            }
        }
    }
    place
}

/// What git keeps of the repository in a folder.
fn kept(folder: &Path) -> Vec<String> {
    let own = folder.join(".git");
    if own.is_file() {
        return vec![".git".to_owned()];
    }
    let mut found = Vec::new();
    let mut folders = vec![if own.exists() { own } else { folder.to_owned() }];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let entry = entry.unwrap();
            found.push(entry.path().strip_prefix(&folder).unwrap().display().to_string());
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            }
        }
    }
    found.sort();
    found
}

//= docs/spec.md#git
//= type=test
//# A tracked symlink MUST be replaced and removed as an entry of its own, and a submodule's pointer without its folder, as git does; where git would take a folder away, all that lies in it MUST pass.
#[test]
fn no_verb_takes_a_repository_away() {
    ask(17);
}

#[test]
#[ignore = "minutes: `.ci/long git`"]
fn no_verb_at_all_takes_a_repository_away_wherever_it_lies() {
    ask(1);
}

/// Asks a share of the verbs in each kind; each kind is asked other ones.
fn ask(share: usize) {
    let (mut faults, mut gone_with_git) = (Vec::new(), 0);
    for (number, known) in KNOWN.iter().enumerate() {
        let (model, yard) = (model(known), Yard::new());
        let rows = LYING.iter().flat_map(|lying| ASKED.iter().map(move |asked| (lying, asked))).enumerate();
        let rows: Vec<_> = rows.filter(|(at, _)| (at + number) % share == 0).map(|(_, row)| row).collect();
        let mut asked = Vec::new();
        let mut places = Vec::new();
        for (at, ((kind, below), (verb, options))) in rows.iter().enumerate() {
            let copies = [yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}"))];
            for copy in &copies {
                copied_repository(&yard, &model.workspace(), copy);
                places.push(lie(&yard, copy, kind, below));
            }
            let mut options: Value = serde_json::from_str(options).unwrap();
            options["check"] = json!(false);
            options["folder"] = json!(format!("q{at}"));
            asked.push(json!({ "verb": verb, "options": options, "reads": false }));
        }
        let earlier: Vec<_> = (0..rows.len())
            .map(|at| {
                let copy = yard.workspace().join(format!("q{at}"));
                (state(&yard, &copy), kept(&copy.join(&places[2 * at])))
            })
            .collect();
        let answers = yard.call("say_all", &json!({ "questions": asked }));
        let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
        for (at, (((kind, below), (name, options)), told)) in rows.iter().zip(answers).enumerate() {
            let verb = write_verbs().find(|verb| verb.name == *name).unwrap();
            let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
            let (before, held) = &earlier[at];
            plain(&yard, &theirs, verb, &serde_json::from_str(options).unwrap());
            let is_held = |copy: &Path| kept(&copy.join(&places[2 * at])).len() >= held.len();
            gone_with_git += usize::from(!is_held(&theirs));
            let is_refused = told["error"].is_string();
            if !is_held(&ours) || is_refused && state(&yard, &ours) != *before {
                faults.push(format!("{known}, {kind} at {below:?}: {name} {options}\n  we: {told}"));
            }
        }
    }
    assert!(gone_with_git * share > 30, "git itself keeps all but {gone_with_git}");
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}
