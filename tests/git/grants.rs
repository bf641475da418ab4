//! Verbs that change something, in repositories of several kinds, for packs that may touch a part of them: each ends as git
//! does for a person, or is refused before anything changed.

use crate::answers::{copied_repository, plain, state, template};
use crate::yard::Yard;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use toolsd::primitive::git::verb::GitVerb;
use toolsd::primitive::git::write_verbs;

/// A name, and what makes a repository one of this kind.
type Kind = (&'static str, fn(&Yard));

const KINDS: &[Kind] = &[
    ("plain", |_| {}),
    ("a submodule beside", |yard| submodule(yard, "sub")),
    ("a submodule within", |yard| submodule(yard, "deep/sub")),
    ("a submodule with its own `.git`", |yard| {
        let inner = yard.workspace().join("own");
        fs::create_dir(&inner).unwrap();
        yard.git_in(&inner, &["init", "-q"]);
        yard.git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "own"]);
        yard.git(&["-c", "advice.addEmbeddedRepo=false", "add", "own"]);
        yard.git(&["commit", "-q", "-m", "own"]);
    }),
    ("links", |yard| {
        symlink("..", yard.workspace().join("deep/up")).unwrap();
        symlink("deep", yard.workspace().join("down")).unwrap();
        yard.git(&["add", "deep/up", "down"]);
        yard.git(&["commit", "-q", "-m", "links"]);
    }),
    ("a repository that git does not know", |yard| {
        let inner = yard.workspace().join("deep/inner");
        fs::create_dir(&inner).unwrap();
        yard.git_in(&inner, &["init", "-q"]);
        yard.git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "inner"]);
    }),
    ("hidden files", |yard| {
        yard.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/joined.txt"]);
    }),
    ("files with other ends of lines", |yard| {
        yard.put(".gitattributes", "*.cfg text\n");
        yard.put("deep/ends.cfg", "team\n");
        yard.put("ends.cfg", "team\n");
        yard.commit("ends");
    }),
    ("files that the index calls unchanged", |yard| marked(yard, "--assume-unchanged")),
    ("files that the index has passed over", |yard| marked(yard, "--skip-worktree")),
];

/// Files of one's own in the place of tracked ones, which git is told to leave out of what it tells.
fn marked(yard: &Yard, mark: &str) {
    yard.put("deep/local.cfg", "team\n");
    yard.git(&["add", "deep/local.cfg"]);
    yard.git(&["commit", "-q", "-m", "local"]);
    for file in ["deep/local.cfg", "joined.txt"] {
        yard.put(file, "my own\n");
        yard.git(&["update-index", mark, file]);
    }
}

/// The grants: `Q` stands for the folder of each question in turn.
const GRANTS: &[(&str, &[&str], &[&str])] = &[
    ("all", &["."], &["."]),
    ("a folder to write", &["."], &["Q/deep"]),
    ("a file to write", &["."], &["Q/deep/b.txt"]),
    ("a glob to write", &["."], &["Q/deep/*.txt"]),
    ("a folder", &["Q/deep"], &["Q/deep"]),
    ("a file", &["Q/deep/b.txt"], &["Q/deep/b.txt"]),
];

/// What is so before, by git; whether files are changed then; and what is asked.
const QUESTIONS: &[(&str, bool, &str, &str)] = &[
    ("", false, "switch", r#"{ "ref": "deeper" }"#),
    ("", true, "switch", r#"{ "ref": "main", "create": "made" }"#),
    ("", false, "switch", r#"{ "ref": "filled" }"#),
    ("", false, "reset", r#"{ "ref": "deeper", "mode": "hard" }"#),
    ("", true, "reset", r#"{ "mode": "hard" }"#),
    ("", false, "reset", r#"{ "ref": "deeper", "mode": "keep" }"#),
    ("", true, "reset", r#"{ "ref": "HEAD" }"#),
    ("", false, "merge", r#"{ "ref": "deeper" }"#),
    ("", false, "merge", r#"{ "ref": "deeper", "squash": true }"#),
    ("", false, "merge", r#"{ "ref": "other" }"#),
    ("", false, "cherry_pick", r#"{ "refs": "deeper" }"#),
    ("checkout -q deeper", false, "revert", r#"{ "refs": "HEAD" }"#),
    ("checkout -q deeper", false, "rebase", r#"{ "upstream": "main" }"#),
    ("", false, "rebase", r#"{ "upstream": "deeper" }"#),
    ("", true, "restore", r#"{ "paths": "deep/b.txt" }"#),
    ("", true, "restore", r#"{ "paths": "deep" }"#),
    ("", false, "restore", r#"{ "paths": "deep/b.txt", "source": "deeper", "staged": true, "worktree": true }"#),
    ("", true, "stash_push", r#"{ "paths": "deep/b.txt" }"#),
    ("", true, "stash_push", r#"{}"#),
    ("", true, "stash_push", r#"{ "untracked": true }"#),
    ("", false, "stash_pop", r#"{}"#),
    ("", false, "stash_apply", r#"{}"#),
    ("", false, "rm", r#"{ "paths": "deep/b.txt" }"#),
    ("", false, "rm", r#"{ "paths": "deep/b.txt", "cached": true }"#),
    ("", false, "mv", r#"{ "paths": ["deep/b.txt", "deep/moved.txt"] }"#),
    ("", true, "clean", r#"{ "paths": "deep" }"#),
    ("", true, "clean", r#"{ "paths": ".", "folders": true }"#),
    ("", true, "add", r#"{ "paths": "deep/b.txt" }"#),
    ("", true, "add", r#"{ "paths": "deep" }"#),
    ("", true, "add", r#"{ "all": true }"#),
    ("add deep/b.txt", true, "commit", r#"{ "message": "said" }"#),
    ("", true, "commit", r#"{ "message": "said", "all": true }"#),
    ("", true, "commit", r#"{ "message": "said", "paths": "deep/b.txt" }"#),
    (
        "",
        false,
        "apply",
        r#"{ "patch": "--- a/deep/b.txt\n+++ b/deep/b.txt\n@@ -1,2 +1,2 @@\n-a line\n+the line\n another line\n" }"#,
    ),
    ("", false, "sparse_checkout", r#"{ "patterns": ["/*"] }"#),
    ("", false, "sparse_checkout", r#"{ "patterns": ["/*", "!/deep/b.txt"] }"#),
    ("", false, "worktree_add", r#"{ "path": "deep/w", "ref": "side2" }"#),
    ("", false, "init", r#"{ "path": "deep/r" }"#),
    ("", false, "init", r#"{ "path": "deep" }"#),
    ("clash", false, "merge_abort", r#"{}"#),
];

fn submodule(yard: &Yard, path: &str) {
    let inner = yard.at("inner");
    fs::create_dir(&inner).unwrap();
    yard.git_in(&inner, &["init", "-q"]);
    yard.git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "first"]);
    let inner = inner.to_str().unwrap();
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, path]);
    yard.git(&["commit", "-q", "-m", "with a submodule"]);
}

/// A repository of this kind, with branches that differ from it in one file, or in a file that is new.
fn prepared(make: fn(&Yard)) -> Yard {
    let yard = template();
    make(&yard);
    for (branch, file, text) in [
        ("deeper", "deep/b.txt", "a deeper line\nanother line\n"),
        ("filled", "deep/new/made.txt", "made\n"),
        ("other", "deep/b.txt", "a line\nanother line\na last line\n"),
        ("main", "deep/c.txt", "c\n"),
    ] {
        let from =
            if branch == "main" { &["checkout", "-q", "main"][..] } else { &["checkout", "-q", "-b", branch, "main"] };
        yard.git(from);
        yard.put(file, text);
        yard.git(&["add", file]);
        yard.git(&["commit", "-q", "-m", branch]);
    }
    yard
}

/// Brings a copy to where the question begins.
fn begun(yard: &Yard, folder: &Path, before: &str, is_changed: bool) {
    if is_changed {
        fs::write(folder.join("deep/b.txt"), "a changed line\nanother line\n").unwrap();
        fs::write(folder.join("deep/new.txt"), "new\n").unwrap();
    }
    // Git sees no difference, and writes them anew all the same.
    for file in ["deep/ends.cfg", "ends.cfg"].iter().filter(|file| folder.join(file).exists()) {
        fs::write(folder.join(file), "team\r\n").unwrap();
    }
    if before == "clash" {
        yard.git_in(folder, &["checkout", "-q", "deeper"]);
        fs::write(folder.join("deep/b.txt"), "a clashing line\nanother line\n").unwrap();
        yard.git_in(folder, &["commit", "-q", "-m", "clash", "deep/b.txt"]);
        yard.git_in(folder, &["checkout", "-q", "-b", "clashing", "deeper"]);
        yard.git_in(folder, &["reset", "-q", "--hard", "HEAD~1"]);
        fs::write(folder.join("deep/b.txt"), "another clash\nanother line\n").unwrap();
        yard.git_in(folder, &["commit", "-q", "-m", "clashing", "deep/b.txt"]);
        assert!(!yard.plain(folder, &["merge", "deeper"]).status.success());
    } else if !before.is_empty() {
        yard.git_in(folder, &before.split(' ').collect::<Vec<_>>());
    }
}

/// All that is there, and what a command that was not ended leaves.
fn all(yard: &Yard, folder: &Path) -> BTreeMap<String, String> {
    let mut found = state(yard, folder);
    let entries = fs::read_dir(folder.join(".git")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.retain(|name| name.starts_with("rebase") || name.starts_with("sequencer") || name.ends_with("_HEAD"));
    names.retain(|name| name != "ORIG_HEAD");
    names.sort();
    found.insert("begun".to_owned(), names.join(" "));
    found
}

//= docs/spec.md#git
//= type=test
//# A verb MUST do what git does, or be refused before anything changed, whatever part of a repository the grants cover.
#[test]
fn each_verb_ends_as_with_git_or_is_refused_before_anything_changed() {
    ask(31);
}

#[test]
#[ignore = "minutes: `.ci/long git`"]
fn each_verb_with_every_grant_in_every_kind_ends_as_with_git_or_is_refused() {
    ask(1);
}

/// Asks a share of the questions with each grant in each kind.
fn ask(share: usize) {
    let (mut faults, mut counts) = (Vec::new(), BTreeMap::new());
    for (number, (kind, make)) in KINDS.iter().enumerate() {
        let template = prepared(*make);
        for (place, (grant, read, write)) in GRANTS.iter().enumerate() {
            let part = number * GRANTS.len() + place;
            let questions: Vec<_> = QUESTIONS
                .iter()
                .enumerate()
                .filter(|(at, _)| (at + part).is_multiple_of(share))
                .map(|(_, one)| one)
                .collect();
            let yard = Yard::new();
            let told = put(&yard, &template, &questions, (read, write));
            for (at, ((before, is_changed, name, options), told)) in questions.iter().zip(told).enumerate() {
                let verb: &GitVerb = write_verbs().find(|verb| verb.name == *name).unwrap();
                let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
                let earlier = all(&yard, &theirs);
                let (code, _, errors) = plain(&yard, &theirs, verb, &serde_json::from_str(options).unwrap());
                let (ours, theirs) = (all(&yard, &ours), all(&yard, &theirs));
                let written: Vec<&String> = earlier
                    .keys()
                    .chain(ours.keys())
                    .filter(|file| !file.contains(' ') && *file != "begun" && earlier.get(*file) != ours.get(*file))
                    .filter(|file| !write.iter().any(|glob| is_covered(glob, file)))
                    .collect();
                if !written.is_empty() {
                    faults.push(format!(
                        "{kind}, {grant}: {name} {options} wrote {written:?}, which no grant covers: {told}"
                    ));
                }
                let is_same = told["code"] == json!(code) && ours == theirs;
                // Git passes over a repository that it does not know of; who would lose it is asked to do that by hand.
                let is_of_its_own = told["error"].to_string().contains("is a repository of its own");
                let is_refused = (told["error"].is_string() || told["code"] != json!(0)) && ours == earlier;
                *counts.entry(*grant).or_insert(0) += usize::from(is_same);
                if !is_same && (!is_refused || *grant == "all" && code == 0 && !is_of_its_own) {
                    let differs: Vec<_> = theirs.iter().filter(|(name, text)| ours.get(*name) != Some(text)).collect();
                    faults.push(format!("{kind}, {grant}: {before:?} {is_changed} {name} {options}\n  git: {code} {errors:?}\n  we: {told}\n  git leaves {differs:?}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
    // A pack that may write the folder can do most of it, and one that may write the file does not go without.
    let asked = KINDS.len() * QUESTIONS.len() / share;
    for (grant, least) in [("all", asked * 8 / 10), ("a folder to write", asked / 2), ("a file to write", asked / 12)] {
        assert!(counts[grant] >= least, "{grant}: {} of {asked} end as with git: {counts:?}", counts[grant]);
    }
}

/// Whether one of the grants covers a file, by its path in the repository.
fn is_covered(glob: &str, file: &str) -> bool {
    let glob = glob.trim_start_matches("Q/");
    match glob.rsplit_once("/*") {
        _ if glob == "." => true,
        Some((folder, end)) => {
            file.strip_prefix(folder).is_some_and(|rest| rest.rfind('/') == Some(0) && rest.ends_with(end))
        }
        None => file == glob || file.strip_prefix(glob).is_some_and(|rest| rest.starts_with('/')),
    }
}

/// Puts the questions for a pack with these grants, each in a copy of its own, and makes another copy for git.
fn put(
    yard: &Yard,
    template: &Yard,
    questions: &[&(&str, bool, &str, &str)],
    grants: (&[&str], &[&str]),
) -> Vec<Value> {
    let mut asked = Vec::new();
    for (at, (before, is_changed, verb, options)) in questions.iter().enumerate() {
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        for copy in [&ours, &theirs] {
            copied_repository(yard, &template.workspace(), copy);
            begun(yard, copy, before, *is_changed);
        }
        let mut options: Value = serde_json::from_str(options).unwrap();
        options["check"] = json!(false);
        options["folder"] = json!(format!("q{at}"));
        asked.push(json!({ "verb": verb, "options": options, "reads": false }));
    }
    let each = |globs: &[&str]| -> Vec<String> {
        let of = |glob: &&str| (0..questions.len()).map(|at| glob.replace('Q', &format!("q{at}"))).collect::<Vec<_>>();
        globs.iter().flat_map(of).collect()
    };
    let grants = format!("read = {:?}, write = {:?}, git = \"write\"", each(grants.0), each(grants.1));
    let answers = yard.call_with(&grants, &json!({ "questions": asked }));
    answers.as_array().unwrap_or_else(|| panic!("{answers}")).clone()
}

//= docs/spec.md#git
//= type=test
//# A repository and a working tree MUST be made only where the pack may write all of the folder.
#[test]
fn what_is_made_is_checked_and_not_a_name_in_it() {
    let yard = Yard::with_repository();
    yard.put("src/a.txt", "a\n");
    yard.commit("src");
    let asked = [
        ("init", json!({ "path": "src" }), false),
        ("init", json!({ "path": "src/f1" }), false),
        ("init", json!({ "path": "wt/r" }), true),
        ("worktree_add", json!({ "path": "few", "ref": "main", "create": "one" }), false),
        ("worktree_add", json!({ "path": "wt/w", "ref": "main", "create": "two" }), true),
    ];
    let questions: Vec<Value> =
        asked.iter().map(|(verb, options, _)| json!({ "verb": verb, "options": options, "reads": false })).collect();
    // The grants cover a name that somebody thought of, or every file that there is.
    let grants = r#"read = ["."], write = ["src/f*", "few/file", "few/a.txt", "few/src/*", "wt"], git = "write""#;
    let answers = yard.call_with(grants, &json!({ "questions": questions }));
    for ((verb, options, may), told) in asked.iter().zip(answers.as_array().unwrap()) {
        let is_refused = told["error"].to_string().contains("the pack may not write all of");
        assert_eq!(is_refused, !may, "{verb} {options}: {told}");
        assert!(!told["help"].to_string().contains("src/file"), "{told}");
    }
    assert!(!yard.workspace().join("src/.git").exists() && !yard.workspace().join("few").exists());
}

//= docs/spec.md#git
//= type=test
//# A verb MUST do what git does, or be refused before anything changed, whatever part of a repository the grants cover.
#[test]
fn a_verb_is_checked_by_all_of_the_working_tree_wherever_it_is_called() {
    for (verb, options) in [
        ("sparse_checkout", json!({ "patterns": ["/deep/"], "folder": "deep" })),
        ("stash_push", json!({ "untracked": true, "folder": "deep" })),
    ] {
        let yard = template();
        yard.put("deep/b.txt", "changed\n");
        yard.put("new.txt", "new\n");
        let before = all(&yard, &yard.workspace());
        let question = json!({ "verb": verb, "options": options, "reads": false });
        let grants = r#"read = ["."], write = ["deep"], git = "write""#;
        let told = yard.call_with(grants, &json!({ "questions": [question] }));
        assert!(told[0]["error"].is_string(), "{verb}: {told}");
        assert_eq!(all(&yard, &yard.workspace()), before, "{verb}: {told}");
    }
}

//= docs/spec.md#git
//= type=test
//# A submodule that no grant to read covers MUST keep no verb from what it does beside it.
#[test]
fn a_submodule_elsewhere_is_in_no_verbs_way() {
    for (kind, make) in KINDS.iter().filter(|(kind, _)| kind.contains("beside") || kind.contains("its own")) {
        let yard = template();
        make(&yard);
        yard.put("deep/b.txt", "changed\n");
        let questions = [
            ("status", json!({ "porcelain": "v1" }), true),
            ("files", json!({ "modified": true }), true),
            ("add", json!({ "paths": "deep/b.txt" }), false),
            ("commit", json!({ "message": "said" }), false),
        ];
        let asked: Vec<Value> = questions
            .iter()
            .map(|(verb, options, reads)| json!({ "verb": verb, "options": options, "reads": reads }))
            .collect();
        let grants = r#"read = ["deep"], write = ["deep"], git = "write""#;
        let answers = yard.call_with(grants, &json!({ "questions": asked }));
        for (question, told) in asked.iter().zip(answers.as_array().unwrap()) {
            assert_eq!(told["code"], 0, "{kind}: {question}: {told}");
        }
        assert_eq!(answers[0]["text"], " M deep/b.txt\n", "{kind}");
        assert_eq!(yard.git(&["show", "--format=%s", "--name-only"]), "said\n\ndeep/b.txt\n", "{kind}");
    }
}
