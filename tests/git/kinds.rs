//! The same questions in repositories of other kinds: with submodules, links, old encodings, in the middle of something.

use crate::answers::{changed, copied_repository, plain, questions, state, template};
use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;
use toolsd::primitive::git::verb::GitVerb;
use toolsd::primitive::git::{read_verbs, write_verbs};
use toolsd::world::Programs;
use toolsd::world::disk::Disk;

/// What makes a repository one of this kind, and the folder of the questions, below the workspace.
type Kind = (&'static str, fn(&Yard) -> PathBuf);

const KINDS: &[Kind] = &[
    ("submodules", |yard| {
        submodule(yard);
        yard.git_in(&yard.workspace().join("sub"), &["commit", "-q", "--allow-empty", "-m", "moved"]);
        yard.workspace()
    }),
    ("links", |yard| {
        links(yard);
        fs::remove_file(yard.workspace().join("to-file")).unwrap();
        symlink("b.txt", yard.workspace().join("to-file")).unwrap();
        yard.workspace()
    }),
    ("old encodings", |yard| {
        encodings(yard);
        yard.workspace()
    }),
    ("names that are no UTF-8", |yard| {
        let name = std::ffi::OsStr::from_bytes(b"deep/caf\xe9.txt");
        fs::write(yard.workspace().join(name), "a line\n").unwrap();
        yard.commit("a name");
        fs::write(yard.workspace().join(name), "another line\n").unwrap();
        yard.workspace()
    }),
    ("a folder below the top", |yard| {
        yard.put("deep/a.txt", "one\nline two\nthree\n");
        yard.put("deep/deep/c.txt", "a line\n");
        yard.commit("deep");
        yard.put("deep/b.txt", "a changed line\n");
        yard.workspace().join("deep")
    }),
    ("a detached head", |yard| {
        yard.git(&["checkout", "-q", "--detach", "HEAD~1"]);
        changed(yard, &yard.workspace());
        yard.workspace()
    }),
    ("no commit yet", |yard| {
        let folder = yard.workspace().join("unborn");
        fs::create_dir(&folder).unwrap();
        yard.git_in(&folder, &["init", "-q"]);
        fs::write(folder.join("a.txt"), "one\nline two\n").unwrap();
        yard.git_in(&folder, &["add", "a.txt"]);
        fs::write(folder.join("new.txt"), "new\n").unwrap();
        folder
    }),
    ("a merge that stopped", |yard| {
        clash(yard);
        assert!(!yard.plain(&yard.workspace(), &["merge", "main"]).status.success());
        yard.workspace()
    }),
    ("a rebase that stopped", |yard| {
        clash(yard);
        assert!(!yard.plain(&yard.workspace(), &["rebase", "main"]).status.success());
        yard.workspace()
    }),
    ("a further working tree", |yard| {
        yard.git(&["worktree", "add", "-q", "trees/there", "side"]);
        let folder = yard.workspace().join("trees/there");
        changed(yard, &folder);
        folder
    }),
    ("packed refs", |yard| {
        yard.git(&["pack-refs", "--all", "--prune"]);
        yard.git(&["gc", "-q"]);
        changed(yard, &yard.workspace());
        yard.workspace()
    }),
    ("long hashes", |yard| {
        let folder = yard.workspace().join("long");
        fs::create_dir(&folder).unwrap();
        yard.git_in(&folder, &["init", "-q", "--object-format=sha256"]);
        for text in ["one\n", "one\nline two\nthree\n"] {
            fs::write(folder.join("a.txt"), text).unwrap();
            yard.git_in(&folder, &["add", "-A"]);
            yard.git_in(&folder, &["commit", "-q", "-m", "a line"]);
            yard.git_in(&folder, &["tag", "-a", "-f", "-m", "tagged", "v1"]);
        }
        yard.git_in(&folder, &["branch", "side", "HEAD~1"]);
        folder
    }),
];

/// Where an answer rightly is another one: the kind, the verb, the option, and why.
const OTHERWISE: &[(&str, &str, &str, &str)] = &[];

fn submodule(yard: &Yard) {
    let inner = yard.at("inner");
    fs::create_dir(&inner).unwrap();
    yard.git_in(&inner, &["init", "-q"]);
    for message in ["first", "second"] {
        yard.git_in(&inner, &["commit", "-q", "--allow-empty", "-m", message]);
    }
    let inner = inner.to_str().unwrap();
    yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, "sub"]);
    yard.git(&["commit", "-q", "-m", "with a submodule"]);
    yard.git(&["tag", "with"]);
    let sub = yard.workspace().join("sub");
    yard.git(&["checkout", "-q", "-b", "pointer"]);
    yard.git_in(&sub, &["checkout", "-q", "HEAD~1"]);
    yard.git(&["commit", "-q", "-a", "-m", "another pointer"]);
    yard.git(&["checkout", "-q", "-b", "without"]);
    yard.git(&["rm", "-q", "--cached", "sub"]);
    yard.git(&["rm", "-q", "-f", ".gitmodules"]);
    yard.git(&["commit", "-q", "-m", "without it"]);
    yard.git(&["checkout", "-q", "main"]);
    yard.git_in(&sub, &["checkout", "-q", "-"]);
    assert_eq!(yard.git(&["status", "--porcelain"]), "");
}

fn links(yard: &Yard) {
    let link = |to: &str, name: &str| {
        let name = yard.workspace().join(name);
        let _none_before = fs::remove_file(&name);
        symlink(to, name).unwrap();
    };
    let commit = |message: &str| {
        yard.git(&["add", "-A"]);
        yard.git(&["commit", "-q", "-m", message]);
    };
    for (to, name) in [("a.txt", "to-file"), ("deep", "to-folder"), ("nowhere", "to-nothing"), ("../secret", "out")] {
        link(to, name);
    }
    commit("links");
    yard.git(&["checkout", "-q", "-b", "linked"]);
    link("b.txt", "to-file");
    link("..", "to-folder");
    fs::remove_file(yard.workspace().join("out")).unwrap();
    commit("other links");
    yard.git(&["checkout", "-q", "-b", "unlinked", "main"]);
    for name in ["to-file", "to-folder", "to-nothing"] {
        fs::remove_file(yard.workspace().join(name)).unwrap();
    }
    yard.put("to-folder/b.txt", "a file now\n");
    yard.put("to-file", "a file now\n");
    commit("files in their places");
    yard.git(&["checkout", "-q", "main"]);
}

fn encodings(yard: &Yard) {
    let latin = |text: &[u8]| fs::write(yard.workspace().join("deep/latin.txt"), text).unwrap();
    yard.put(".gitattributes", "*.crlf text eol=crlf\n");
    yard.put("w.crlf", "a line\r\nanother line\r\n");
    latin(b"a line: caf\xe9\n");
    yard.commit("old");
    latin(b"a line: th\xe9\nand more\n");
    yard.commit("caf\u{e9}");
    let message = yard.at("message");
    fs::write(&message, b"a line: na\xefve\n").unwrap();
    let encoding = ["-c", "i18n.commitEncoding=ISO-8859-1", "commit", "-q", "--allow-empty", "-F"];
    yard.git(&[&encoding[..], &[message.to_str().unwrap()]].concat());
    latin(b"a line: d\xe9j\xe0 vu\n");
    yard.put("w.crlf", "a line\r\nchanged line\r\n");
    let _unchanged = yard.plain(&yard.workspace(), &["add", "w.crlf"]);
}

fn clash(yard: &Yard) {
    yard.git(&["checkout", "-q", "-b", "clash", "v1"]);
    yard.put("a.txt", "one\nline of the clash\n");
    yard.commit("clash");
}

//= docs/spec.md#git
//= type=test
//# A verb MUST answer what git answers to the same question in the same repository.
#[test]
fn a_verb_that_looks_says_what_git_says_in_repositories_of_other_kinds() {
    ask(17);
}

#[test]
#[ignore = "minutes: `.ci/long git`"]
fn a_verb_that_looks_says_what_git_says_in_repositories_of_every_kind() {
    ask(1);
}

/// Asks each question in one of so many kinds; each kind is asked other ones.
fn ask(share: usize) {
    let all = questions(read_verbs());
    let mut faults = Vec::new();
    let mut used = Vec::new();
    for (number, (kind, make)) in KINDS.iter().enumerate() {
        let questions: Vec<_> =
            all.iter().enumerate().filter(|(at, _)| (at + number) % share == 0).map(|(_, question)| question).collect();
        let yard = template();
        let folder = make(&yard);
        let given = |options: &Value| {
            let mut options = options.clone();
            options["check"] = json!(false);
            options["any_bytes"] = json!(true);
            options["folder"] = json!(folder);
            options
        };
        let asked: Vec<Value> = questions
            .iter()
            .map(|(verb, _, options)| json!({ "verb": verb.name, "options": given(options), "reads": true }))
            .collect();
        let answers = yard.call("say_all", &json!({ "questions": asked }));
        let answers = answers.as_array().unwrap_or_else(|| panic!("{kind}: {answers}"));
        let mut answered = 0;
        for ((verb, option, options), told) in questions.iter().zip(answers) {
            let (code, output, errors) = plain(&yard, &folder, verb, options);
            answered += usize::from(code == 0);
            let text = told["text"].as_str().unwrap_or("nothing was said");
            if told["code"] == json!(code) && timeless(text) == timeless(&output) {
                continue;
            }
            let reason = OTHERWISE.iter().position(|(of, name, with, _)| {
                (of.is_empty() || of == kind) && *name == verb.name && (with.is_empty() || with == option)
            });
            used.extend(reason);
            if reason.is_none() {
                let verb = verb.name;
                faults.push(format!("{kind}: {verb} {options}\n  git: {code} {output:?} {errors:?}\n  we: {told}"));
            }
        }
        assert!(answered * 4 > questions.len(), "{kind}: git itself answers {answered} of {}", questions.len());
    }
    assert!(faults.is_empty(), "{}:\n{}", faults.len(), faults.join("\n"));
    if share > 1 {
        return;
    }
    let idle = OTHERWISE.iter().enumerate().find(|(at, _)| !used.contains(at));
    assert!(idle.is_none(), "no reason is needed: {idle:?}");
}

/// A text without the time of now, by which `blame` dates what is in no commit.
fn timeless(text: &str) -> String {
    let is_dated = text.contains("Not Committed Yet") || text.contains("External file");
    let lines = text.lines().map(|line| match line.split_once("Not Committed Yet ") {
        Some((before, after)) => format!("{before}{}", after.split_once(" +").map_or(after, |(_, after)| after)),
        None if is_dated && line.contains("-time ") => String::new(),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Changes of submodules and links: what is so before, by git, and what is asked.
const CHANGES: &[(&str, &str, &str, &str)] = &[
    ("submodules", "", "switch", r#"{ "ref": "pointer" }"#),
    ("submodules", "", "switch", r#"{ "ref": "without" }"#),
    ("submodules", "checkout -q without", "switch", r#"{ "ref": "main" }"#),
    ("submodules", "", "switch", r#"{ "create": "made", "ref": "v1" }"#),
    ("submodules", "", "merge", r#"{ "ref": "pointer" }"#),
    ("submodules", "", "merge", r#"{ "ref": "pointer", "no_ff": true }"#),
    ("submodules", "", "merge", r#"{ "ref": "without", "squash": true }"#),
    ("submodules", "checkout -q -b mine v1", "merge", r#"{ "ref": "with" }"#),
    ("submodules", "", "commit", r#"{ "message": "said", "all": true }"#),
    ("links", "", "switch", r#"{ "ref": "linked" }"#),
    ("links", "", "switch", r#"{ "ref": "unlinked" }"#),
    ("links", "checkout -q unlinked", "switch", r#"{ "ref": "main" }"#),
    ("links", "", "merge", r#"{ "ref": "linked" }"#),
    ("links", "", "merge", r#"{ "ref": "unlinked", "no_ff": true }"#),
    ("links", "", "switch", r#"{ "ref": "v1" , "detach": true }"#),
    ("folders shown", "", "worktree_add", r#"{ "path": "trees/w", "ref": "side" }"#),
    ("folders shown", "", "worktree_add", r#"{ "path": "trees/w", "ref": "v1", "detach": true }"#),
    ("patterns shown", "", "worktree_add", r#"{ "path": "trees/w", "ref": "side" }"#),
    ("patterns shown", "", "switch", r#"{ "ref": "v1", "detach": true }"#),
];

/// A working tree that shows some of its folders.
fn folders_shown(yard: &Yard) {
    yard.put("docs/d.txt", "d\n");
    yard.put("deep/er/e.txt", "e\n");
    yard.commit("folders");
    yard.git(&["branch", "-f", "side"]);
    yard.git(&["sparse-checkout", "set", "deep/er"]);
}

/// One that shows what patterns name.
fn patterns_shown(yard: &Yard) {
    folders_shown(yard);
    yard.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/deep/*", "/deep/er/"]);
}

//= docs/spec.md#git
//= type=test
//# A verb MUST answer what git answers to the same question in the same repository.
#[test]
fn links_and_pointers_of_submodules_change_as_with_git() {
    let yard = Yard::new();
    type Maker = fn(&Yard);
    let makers: [(&str, Maker); 4] = [
        ("submodules", submodule),
        ("links", links),
        ("folders shown", folders_shown),
        ("patterns shown", patterns_shown),
    ];
    let templates: Vec<(&str, Yard)> = makers
        .map(|(kind, make)| {
            let template = template();
            make(&template);
            (kind, template)
        })
        .into_iter()
        .collect();
    let mut asked = Vec::new();
    for (at, (kind, before, verb, options)) in CHANGES.iter().enumerate() {
        let template = &templates.iter().find(|(known, _)| known == kind).unwrap().1;
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        for copy in [&ours, &theirs] {
            copied_repository(&yard, &template.workspace(), copy);
            let words: Vec<&str> = before.split_whitespace().collect();
            if !words.is_empty() {
                yard.git_in(copy, &words);
            }
        }
        let mut options: Value = serde_json::from_str(options).unwrap();
        options["check"] = json!(false);
        options["folder"] = json!(format!("q{at}"));
        asked.push(json!({ "verb": verb, "options": options, "reads": false }));
    }
    let answers = yard.call("say_all", &json!({ "questions": asked }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut faults = Vec::new();
    for (at, ((kind, before, name, options), told)) in CHANGES.iter().zip(answers).enumerate() {
        let verb: &GitVerb = write_verbs().find(|verb| verb.name == *name).unwrap();
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        let (code, _, errors) = plain(&yard, &theirs, verb, &serde_json::from_str(options).unwrap());
        let (ours, theirs) = (state(&yard, &ours), state(&yard, &theirs));
        if told["code"] != json!(code) || ours != theirs {
            let differs: Vec<_> = theirs.iter().filter(|(name, text)| ours.get(*name) != Some(text)).collect();
            faults.push(format!(
                "{kind} {before}: {name} {options}\n  git: {code} {errors}\n  we: {told}\n  {differs:?}"
            ));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), CHANGES.len(), faults.join("\n"));
}

//= docs/spec.md#git
//= type=test
//# What git prints that is not UTF-8 MUST be given where it is asked for, and else be a fault that says where it stands and how to ask.
#[test]
fn what_is_no_text_is_told_or_given() {
    let yard = Yard::with_repository();
    fs::write(yard.workspace().join("latin.txt"), b"first\ncaf\xe9\n").unwrap();
    yard.commit("latin");
    for (verb, options) in [
        ("log", json!({ "patch": true })),
        ("show", json!({ "refs": "HEAD:latin.txt" })),
        ("blame", json!({ "paths": "latin.txt" })),
        ("grep", json!({ "pattern": "caf" })),
    ] {
        let refused = yard.look(verb, &options);
        let (error, help) = (refused["error"].to_string(), refused["help"].to_string());
        assert!(error.contains("no UTF-8, first in line") && error.contains("caf\u{fffd}"), "{verb}: {refused}");
        assert!(help.contains("any_bytes: true"), "{verb}: {refused}");
        let mut options = options;
        options["any_bytes"] = json!(true);
        let given = yard.look(verb, &options);
        assert!(given["text"].as_str().unwrap().contains("caf\u{fffd}"), "{verb}: {given}");
        assert!(given["notices"].to_string().contains("`bytes` has it as it is"), "{verb}: {given}");
    }
    let given = yard.look("show", &json!({ "refs": "HEAD:latin.txt", "any_bytes": true }));
    assert_eq!(given["bytes"], "Zmlyc3QKY2Fm6Qo=", "{given}");
    let plain = yard.look("show", &json!({ "refs": "HEAD:a.txt", "any_bytes": true }));
    assert_eq!(plain["notices"], json!([]), "{plain}");
}

/// What git would say of a submodule that moved is something new, though no file of the repository changed.
#[test]
fn a_submodule_that_moves_is_another_stamp() {
    let yard = Yard::with_repository();
    let inner = yard.at("inner");
    let inner = inner.to_str().unwrap();
    yard.git(&["init", "-q", "-b", "main", inner]);
    yard.git(&["-C", inner, "commit", "-q", "--allow-empty", "-m", "one"]);
    for path in ["sub", "deep/sub"] {
        yard.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", inner, path]);
    }
    yard.git(&["-c", "protocol.file.allow=always", "clone", "-q", inner, "place"]);
    yard.put(
        ".gitmodules",
        &(fs::read_to_string(yard.workspace().join(".gitmodules")).unwrap()
            + "[submodule \"place\"]\n\tpath = place\n\turl = ../inner\n"),
    );
    yard.commit("with submodules");
    // What changed just now has no stamp.
    std::thread::sleep(Duration::from_millis(150));
    let stamp = || Disk::new(yard.workspace().to_str().unwrap(), []).unwrap().git_stamp(&["."]).unwrap();
    let mut before = stamp().expect("it can be told");
    assert_eq!(stamp().as_ref(), Some(&before));
    for path in ["sub", "deep/sub", "place"] {
        yard.git(&["-C", path, "commit", "-q", "--allow-empty", "-m", "two"]);
        std::thread::sleep(Duration::from_millis(150));
        let after = stamp().expect("it can be told");
        assert_ne!(after, before, "{path}");
        before = after;
    }
    yard.git(&["commit", "-q", "--allow-empty", "-m", "another"]);
    let tree = yard.git(&["rev-parse", "HEAD~1"]);
    std::thread::sleep(Duration::from_millis(150));
    before = stamp().expect("it can be told");
    yard.git(&["replace", "HEAD", tree.trim()]);
    std::thread::sleep(Duration::from_millis(150));
    assert_ne!(stamp().expect("it can be told"), before, "what stands for the commit");
}

//= docs/spec.md#git
//= type=test
//# What a verb did that changes something MUST NOT be told as a fault because of what it printed.
#[test]
fn what_is_done_is_no_fault_because_of_a_name() {
    let yard = Yard::with_repository();
    let odd = yard.workspace().join(std::ffi::OsStr::from_bytes(b"old\xff"));
    fs::write(&odd, "one\n").unwrap();
    yard.git(&["add", "-A"]);
    let told = yard.act("commit", &json!({ "message": "an odd name" }));
    assert_eq!(told["code"], 0, "{told}");
    assert!(told["notices"].to_string().contains("no UTF-8"), "{told}");
}

//= docs/spec.md#git
//= type=test
//# A link, a pipe, a device or a file of a size that git never writes in the place of a known part of a repository MUST be refused by name.
#[test]
fn a_file_of_a_repository_that_is_huge_is_refused() {
    for (name, is_known) in
        [("logs/HEAD", true), ("packed-refs", true), ("refs/heads/b", false), ("refs/tags/t", false)]
    {
        let yard = Yard::with_repository();
        let file = yard.workspace().join(".git").join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::File::create(&file).unwrap().set_len(20 << 30).unwrap();
        let told = yard.look("refs", &json!({}))["error"].to_string();
        // Of others git has so much memory, and ends when that is used up.
        let expected = if is_known { "20480 MB" } else { "Out of memory" };
        assert!(told.contains(expected), "{name}: {told}");
    }
}
