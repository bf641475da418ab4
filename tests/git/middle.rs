//! Every verb that writes, in a repository that is in the middle of something, in each of its working trees: it leaves
//! what git leaves, or is refused before anything changed.

use crate::answers::{copied_repository, filled, plain, questions, state, template};
use crate::yard::Yard;
use serde_json::{Value, json};
use std::path::Path;
use toolsd::primitive::git::verb::GitVerb;
use toolsd::primitive::git::write_verbs;

/// What a working tree is in the middle of, and the commands of git that bring it there from the branch `held`, which
/// clashes with `main`; the last one stops.
const MIDDLES: &[(&str, &[&[&str]])] = &[
    ("a rebase", &[&["rebase", "main"]]),
    ("a rebase by patches", &[&["rebase", "--apply", "main"]]),
    (
        "a rebase of several branches",
        &[
            &["checkout", "-q", "-b", "top"],
            &["commit", "-q", "--allow-empty", "-m", "top"],
            &["rebase", "--update-refs", "main"],
        ],
    ),
    ("a bisection", &[&["bisect", "start", "held", "v1"]]),
    ("a merge", &[&["merge", "main"]]),
    ("a cherry-pick", &[&["cherry-pick", "near/main~3"]]),
    ("a revert", &[&["revert", "--no-edit", "near/main~3"]]),
];

/// What is asked about the branch that is held, beside each verb alone.
const HELD: &[(&str, &str)] = &[
    ("branch", r#"{ "name": "held", "ref": "v1", "force": true }"#),
    ("branch_delete", r#"{ "names": "held", "force": true }"#),
    ("switch", r#"{ "ref": "held" }"#),
    ("switch", r#"{ "ref": "held", "detach": true }"#),
    ("update_ref", r#"{ "name": "refs/heads/held", "to": "v1" }"#),
    ("delete_ref", r#"{ "name": "refs/heads/held" }"#),
    ("worktree_add", r#"{ "path": "trees/w", "ref": "held" }"#),
    ("worktree_add", r#"{ "path": "trees/w", "ref": "v1", "reset": "held" }"#),
];

/// The folders of a repository: who is in the middle of something, and who is asked.
const PLACES: &[(&str, &str)] = &[(".", "."), (".", "linked"), ("linked", "."), ("linked", "linked")];

/// Brings a copy of the model into the middle of something.
fn begin(yard: &Yard, copy: &Path, place: &str, steps: &[&[&str]]) {
    yard.git_in(copy, &["worktree", "add", "-q", "--detach", "linked", "v1"]);
    let folder = copy.join(place);
    yard.git_in(&folder, &["checkout", "-q", "-b", "held", "v1"]);
    std::fs::write(folder.join("a.txt"), "one\nline of the held\n").unwrap();
    yard.git_in(&folder, &["commit", "-qam", "held"]);
    for step in steps {
        let _the_last_one_stops = yard.plain(&folder, step);
    }
}

/// A text without what hangs on the place of a copy, and on the clock: the hash of a commit, beside a conflict.
fn placed(text: &str, at: usize) -> String {
    let line = |line: &str| line.split_once(">>>>>>> ").map_or(line, |(before, _)| before).to_owned();
    text.replace(&format!("/q{at}"), "/q").split('\n').map(line).collect::<Vec<_>>().join("\n")
}

//= docs/spec.md#git
//= type=test
//# A verb MUST answer what git answers to the same question in the same repository.
#[test]
fn a_branch_that_is_held_is_held_for_a_pack_too() {
    ask(false);
}

#[test]
#[ignore = "minutes: `.ci/long git`"]
fn every_verb_that_writes_does_what_git_does_in_the_middle_of_something() {
    ask(true);
}

/// Asks about the branch that is held, and, if `every_verb`, what each verb does alone.
fn ask(every_verb: bool) {
    let mut all: Vec<(&GitVerb, Value)> = HELD
        .iter()
        .map(|(name, options)| {
            (write_verbs().find(|verb| verb.name == *name).unwrap(), serde_json::from_str(options).unwrap())
        })
        .collect();
    if every_verb {
        let alone = questions(write_verbs()).into_iter().filter(|(_, option, _)| option.is_empty());
        // Where another repository is made, nothing of this one matters; and the working trees of a copy are its model's.
        let alone = alone.filter(|(verb, ..)| verb.name != "worktree_prune");
        all.extend(alone.map(|(verb, _, options)| (verb, options)));
    }
    let model = template();
    let mut faults = Vec::new();
    let mut refused = 0;
    for (number, (middle, steps)) in MIDDLES.iter().enumerate() {
        let yard = Yard::new();
        let mut asked = Vec::new();
        // Each is asked another part of them where not everything is.
        let share = if every_verb { 1 } else { 12 };
        let rows = PLACES.iter().flat_map(|place| all.iter().map(move |question| (place, question))).enumerate();
        let rows: Vec<_> = rows.filter(|(at, _)| (at + number) % share == 0).map(|(_, row)| row).collect();
        for (at, ((busy, here), (verb, options))) in rows.iter().enumerate() {
            for copy in [yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}"))] {
                copied_repository(&yard, &model.workspace(), &copy);
                begin(&yard, &copy, busy, steps);
            }
            let mut options = filled(&model, verb, options);
            options["check"] = json!(false);
            options["folder"] = json!(format!("q{at}/{here}"));
            asked.push(json!({ "verb": verb.name, "options": options, "reads": false }));
        }
        let before: Vec<_> = (0..rows.len()).map(|at| state(&yard, &yard.workspace().join(format!("q{at}")))).collect();
        let answers = yard.call("say_all", &json!({ "questions": asked }));
        let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
        for (at, (((busy, here), (verb, options)), told)) in rows.iter().zip(answers).enumerate() {
            let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
            let options = filled(&model, verb, options);
            let (code, output, errors) = plain(&yard, &theirs.join(here), verb, &options);
            let (ours, theirs) = (state(&yard, &ours), state(&yard, &theirs));
            let is_refused = told["code"] != 0 && ours == before[at];
            refused += usize::from(is_refused);
            let differs: Vec<String> = theirs
                .iter()
                .filter(|(name, text)| ours.get(*name).is_none_or(|own| placed(own, at) != placed(text, at)))
                .map(|(name, text)| format!("{name}: git {text:?}, we {:?}", ours.get(name)))
                .collect();
            if !is_refused && (told["code"] != json!(code) || !differs.is_empty()) {
                faults.push(format!(
                    "{middle} in {busy}, asked in {here}: {} {options}\n  git: {code} {output:?} {errors:?}\n  we: {told}\n  {}",
                    verb.name,
                    differs.join("\n  ")
                ));
            }
        }
    }
    eprintln!("{refused} were refused before anything changed");
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
}
