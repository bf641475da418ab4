//! What a caller is told: what failed and why, what was not done, what was left out.

use crate::yard::{Yard, gits};
use serde_json::{Value, json};
use std::fs;
use toolsd::primitive::git::read_verbs;
use toolsd::primitive::git::verb::OptionKind;

//= docs/spec.md#git
//= type=test
//# A verb that fails MUST tell its exit code and what git said on both streams; what is cut MUST be told.
#[test]
fn a_verb_that_fails_says_what_git_said() {
    let yard = Yard::with_repository();
    let nothing = yard.act("commit", &json!({ "message": "x" }))["error"].to_string();
    assert!(nothing.contains("ended with 1") && nothing.contains("nothing to commit"), "{nothing}");
    yard.git(&["checkout", "-q", "-b", "side"]);
    for number in 0..200 {
        yard.put(&format!("{number:03}-a-file-with-a-long-name.txt"), "one\n");
    }
    yard.put("a.txt", "side\n");
    yard.commit("side");
    yard.git(&["checkout", "-q", "main"]);
    for number in 0..200 {
        yard.put(&format!("{number:03}-a-file-with-a-long-name.txt"), "two\n");
    }
    yard.put("a.txt", "main\n");
    yard.commit("main");
    let conflict = yard.act("merge", &json!({ "ref": "side" }))["error"].to_string();
    assert!(conflict.contains("CONFLICT") && conflict.contains("ended with 1"), "{conflict}");
    assert!(conflict.contains("… (cut: ") && conflict.contains(" bytes more)"), "{conflict}");
    let code = yard.act("merge_abort", &json!({}))["code"].clone();
    assert_eq!(code, 0);
}

//= docs/spec.md#git
//= type=test
//# Where a repository has grafts, the caller MUST be told that they do not count.
#[test]
fn grafts_are_told() {
    let yard = Yard::with_repository();
    let told = |yard: &Yard| yard.look("log", &json!({}))["notices"].to_string().contains("info/grafts");
    yard.put(".git/info/grafts", "# nothing\n\n");
    assert!(!told(&yard));
    yard.put(".git/info/grafts", "0123456789012345678901234567890123456789\n");
    assert!(told(&yard), "{}", yard.look("log", &json!({})));
}

//= docs/spec.md#git
//= type=test
//# What an answer would have noticed MUST be told by the fault of a command that fails, too.
#[test]
fn a_fault_names_what_did_not_count() {
    let yard = Yard::with_repository();
    yard.put(".gitattributes", "a.txt merge=mine\n");
    yard.commit("attributes");
    yard.git(&["checkout", "-q", "-b", "side"]);
    yard.put("a.txt", "side\n");
    yard.commit("side");
    yard.git(&["checkout", "-q", "main"]);
    yard.put("a.txt", "main\n");
    yard.commit("main");
    for (key, told) in [
        ("merge.mine.driver", "names a program: merge.mine.driver"),
        ("merge.autostash", "merge.autostash (the repository's)"),
    ] {
        yard.git(&["config", key, "true"]);
        let fault = yard.call("act_git", &json!({ "verb": "merge", "options": { "ref": "side" } }));
        assert!(fault["error"].to_string().contains(told), "{key}: {fault}");
        assert!(fault["error"].to_string().contains("CONFLICT"), "{key}: {fault}");
        yard.git(&["merge", "--abort"]);
        yard.git(&["config", "--unset", key]);
    }
    // One that is none of git's own and is the default for all files.
    yard.put(".gitattributes", "");
    yard.commit("none");
    let mine = fs::read_to_string(yard.at(".gitconfig")).unwrap();
    fs::write(yard.at(".gitconfig"), mine + "[merge]\ndefault = mine\n[merge \"mine\"]\ndriver = true\n").unwrap();
    let fault = yard.act("merge", &json!({ "ref": "side" }));
    assert!(fault["error"].to_string().contains("merge.mine.driver (the user's)"), "{fault}");
}

//= docs/spec.md#git
//= type=test
//# A merge that leaves new files in a folder which the other side moved MUST tell so.
#[test]
fn a_folder_that_moved_on_one_side_is_told() {
    let yard = Yard::with_repository();
    for name in ["old/1.txt", "old/2.txt", "stays/1.txt", "stays/2.txt"] {
        yard.put(name, &format!("a long enough text of {name}\n"));
    }
    yard.commit("folders");
    yard.git(&["checkout", "-q", "-b", "moved"]);
    yard.git(&["mv", "old", "new"]);
    yard.git(&["rm", "-q", "stays/2.txt"]);
    yard.commit("moved");
    for (branch, name, is_told) in [("adds", "old/3.txt", true), ("beside", "stays/3.txt", false)] {
        for (from, other) in [("moved", branch), (branch, "moved")] {
            yard.git(&["checkout", "-q", "-B", branch, "main"]);
            yard.put(name, "added\n");
            yard.git(&["add", name]);
            yard.git(&["commit", "-q", "-m", branch]);
            yard.git(&["checkout", "-q", "-B", "here", from]);
            let told = yard.act("merge", &json!({ "ref": other }));
            assert_eq!(told["code"], 0, "{from} {other}: {told}");
            let notices = told["notices"].to_string();
            assert_eq!(notices.contains("merge.directoryRenames is off"), is_told, "{from} {other}: {told}");
        }
    }
}

//= docs/spec.md#git
//= type=test
//# What git passed over though it ended well MUST be told.
#[test]
fn what_git_passed_over_is_told() {
    let yard = Yard::with_repository();
    let blob = yard.git(&["rev-parse", "HEAD:a.txt"]);
    for path in ["a/.git/hooks/x", ".git/config", "../out"] {
        let told = yard.act("update_index", &json!({ "entries": [format!("100644 {}\t{path}", blob.trim())] }));
        assert!(told["code"] != 0 || told["notices"].to_string().contains(path), "{path}: {told}");
        assert!(!yard.git(&["ls-files"]).contains(path), "{path}");
    }
}

#[test]
fn what_is_no_place_for_a_verb_is_named_as_what_it_is() {
    let yard = Yard::with_repository();
    yard.git(&["clone", "-q", "--bare", ".", "bare.git"]);
    for folder in ["bare.git", "bare.git/refs"] {
        let told = yard.look("status", &json!({ "folder": folder }));
        assert!(told["error"].to_string().contains("without a working tree"), "{folder}: {told}");
    }
    let inner = yard.workspace().join("own");
    fs::create_dir(&inner).unwrap();
    yard.git_in(&inner, &["init", "-q"]);
    yard.git_in(&inner, &["commit", "-q", "--allow-empty", "-m", "own"]);
    yard.git(&["-c", "advice.addEmbeddedRepo=false", "add", "own"]);
    let told = yard.act("mv", &json!({ "paths": ["own", "other"] }));
    assert!(told["error"].to_string().contains("`own` is a repository of its own"), "{told}");
}

//= docs/spec.md#git
//= type=test
//# `toolsd doctor` MUST try what the verbs of git need, and tell what fails of it.
#[test]
fn doctor_tries_git_and_says_where_it_is_refused() {
    let yard = Yard::with_repository();
    let doctor = |yard: &Yard| {
        let output = yard.command(&["doctor"]).output().unwrap();
        let all = crate::support::said(&output)["findings"].clone();
        let of_git = all.as_array().unwrap().iter().filter(|one| one["about"] == "git");
        of_git.map(|one| one.to_string()).collect::<Vec<_>>().join("\n")
    };
    for git in gits() {
        let told = doctor(&Yard::with_repository().with_git_of(&git));
        for tried in ["it makes commits", "git starts git", "it fetches"] {
            assert!(told.contains(tried), "{}: {told}", git.display());
        }
        assert!(!told.contains("in vain"), "{}: {told}", git.display());
    }
    // One that starts another program in place of itself is there, and does nothing here.
    let real = gits()[0].join("git").display().to_string();
    yard.program("wrapped/git", &format!("exec {real} \"$@\"\n"));
    let wrapped = yard.at("wrapped");
    let told = doctor(&yard.with_git_of(&wrapped));
    assert!(told.contains("broken"), "{told}");
    let beside = Yard::new();
    fs::create_dir(beside.at(".git")).unwrap();
    assert!(doctor(&beside).contains("reaches out of"), "{}", doctor(&beside));
}

//= docs/spec.md#git
//= type=test
//# What the host itself sets in the configuration of a repository MUST be reported.
#[test]
fn what_is_set_and_what_is_not_run_is_told() {
    let yard = Yard::with_repository();
    let told = yard.act("sparse_checkout", &json!({ "patterns": ["/*"] }))["notices"].to_string();
    assert!(told.contains("extensions.worktreeConfig was set"), "{told}");
    assert!(!yard.act("sparse_checkout", &json!({ "patterns": ["/*"] }))["notices"].to_string().contains("was set"));
    for hook in ["pre-commit", "post-checkout", "pre-push", "reference-transaction", "post-index-change"] {
        yard.program(&format!("workspace/.git/hooks/{hook}"), "exit 1\n");
    }
    for (verb, options, hooks) in [
        (
            "commit",
            json!({ "allow_empty": true, "message": "x" }),
            "post-index-change, pre-commit, reference-transaction",
        ),
        (
            "switch",
            json!({ "create": "new", "ref": "HEAD" }),
            "post-checkout, post-index-change, reference-transaction",
        ),
        ("tag", json!({ "name": "t" }), "reference-transaction"),
        ("add", json!({ "all": true }), "post-index-change"),
    ] {
        let told = yard.act(verb, &options);
        assert_eq!(told["notices"], json!([format!("hooks do not run: {hooks}")]), "{verb}: {told}");
    }
    assert_eq!(yard.act("hash_object", &json!({ "content": "x" }))["notices"], json!([]));
}

//= docs/spec.md#writes
//= type=test
//# A dry run MUST NOT change a file nor run a program that changes something.
#[test]
fn a_dry_run_says_where_it_ends() {
    let yard = Yard::with_repository();
    let before = yard.git(&["rev-parse", "HEAD"]);
    let arguments = json!({ "path": "notes/1.md" }).to_string();
    let output = yard.command(&["call", "keep_file", &arguments, "--dry-run"]).output().unwrap();
    let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(told.contains("a dry run ends before `git add"), "{told}");
    assert!(!yard.workspace().join("notes").exists());
    assert_eq!(yard.git(&["rev-parse", "HEAD"]), before);
}

//= docs/spec.md#git
//= type=test
//# A verb that only looks MUST tell that it does not see what the call has written and not kept yet.
#[test]
fn what_is_staged_git_does_not_see_and_says_so() {
    let yard = Yard::with_repository();
    let told = yard.call("write_and_look", &json!({})).to_string();
    assert!(told.contains("is not on the disk yet: git does not see it"), "{told}");
}

#[test]
fn run_sends_to_the_verbs_of_git() {
    let yard = Yard::with_repository();
    let told = yard.call("run_git_by_run", &json!({})).to_string();
    assert!(told.contains("`run` does not run `git`"), "{told}");
    assert!(told.contains("git_read(VERB)") && told.contains("git = \\\"read\\\""), "{told}");
}

/// What no answer may contain: in names, and in what files hold, of which no commit knows.
const MARKER: &str = "marker-without-a-grant";

/// Each verb that looks, with each of its options, and with two at a time where more is looked at.
fn looks() -> Vec<Value> {
    let mut found = Vec::new();
    for verb in read_verbs().filter(|verb| !verb.words.is_empty()) {
        let value = |name: &str, kind: OptionKind| match kind {
            OptionKind::Flag(_) => json!(true),
            OptionKind::Number(_) | OptionKind::Entry => json!(3),
            OptionKind::OneOf(_, known) => json!(known[known.len() - 1]),
            OptionKind::FullRef => json!("HEAD"),
            OptionKind::Ref | OptionKind::RefOf(_) | OptionKind::Refs | OptionKind::RefsOf(_) => json!("HEAD"),
            OptionKind::Names => json!("refs/heads"),
            OptionKind::Date(_) => json!("2001-01-01"),
            OptionKind::Format(_) => json!("%H"),
            OptionKind::RefFormat(_) => json!("%(refname)"),
            OptionKind::Sort(_) => json!("refname"),
            OptionKind::Index => json!("own"),
            OptionKind::Paths if name == "paths" => json!(["."]),
            OptionKind::Paths | OptionKind::Files | OptionKind::Contents(_) | OptionKind::Path => {
                json!(["pub/a.md", "private/new"])
            }
            OptionKind::Text("-L") => json!("1,1"),
            _ => json!("marker"),
        };
        let mut needed = json!({});
        for option in verb.options().filter(|option| option.is_required) {
            needed[option.name] = value(option.name, option.kind);
        }
        let options: Vec<_> = verb.options().collect();
        for (at, one) in options.iter().enumerate() {
            let few = matches!(verb.name, "status" | "files" | "diff" | "grep" | "check_ignore");
            for other in options[at..].iter().take(if few { usize::MAX } else { 1 }) {
                let mut given = needed.clone();
                given[one.name] = value(one.name, one.kind);
                given[other.name] = value(other.name, other.kind);
                found.push(json!({ "verb": verb.name, "options": given, "reads": true }));
            }
        }
        found.push(json!({ "verb": verb.name, "options": needed, "reads": true }));
    }
    found
}

//= docs/spec.md#git
//= type=test
//# What is found in the working tree where no grant to read covers it MUST NOT be named, and the answer MUST tell how many such files were left out.
#[test]
fn nothing_that_is_not_granted_is_named_or_shown() {
    let yard = Yard::with_repository();
    yard.put("pub/a.md", "one\n");
    yard.put("private/known.txt", "known\n");
    yard.put(".gitignore", "*.log\n");
    yard.commit("two");
    // None of this is in a commit or in the index.
    for name in ["private/known.txt", "a.txt"] {
        yard.put(name, &format!("{MARKER}\n"));
    }
    for name in [MARKER, "private/new", "private/deep/new", "new/new", "x.log"] {
        yard.put(&format!("{name}-{MARKER}"), &format!("{MARKER}\n"));
    }
    yard.put(&format!("other-{MARKER}/deep/file"), "x");
    yard.put(&format!("private/{MARKER}.log"), "x");
    yard.put("private/.gitignore", &format!("{MARKER}\nnew*\n"));
    yard.put("pub/new.md", "new\n");
    let plain = yard.git(&["status", "--porcelain", "-uall"]);
    assert!(plain.contains(MARKER), "the attack is void");
    let questions = looks();
    let answers = yard.call_of("narrow", "narrow_all", &json!({ "questions": questions }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut faults = Vec::new();
    for (question, told) in questions.iter().zip(answers) {
        let mut told = told.clone();
        // What was asked for may be repeated.
        if let Some(text) = told.get_mut("error") {
            *text = json!(text.as_str().unwrap_or_default().replace(&question["options"].to_string(), ""));
        }
        if told.to_string().contains(MARKER) {
            faults.push(format!("{question}: {told}"));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), questions.len(), faults.join("\n"));
    let status = json!([{ "verb": "status", "options": { "porcelain": "v1", "untracked": "all" }, "reads": true }]);
    let told = yard.call_of("narrow", "narrow_all", &json!({ "questions": status }))[0].clone();
    assert_eq!(told["text"], "?? pub/new.md\n", "{told}");
    let left = plain.lines().count() - 1;
    assert!(told["notices"].to_string().contains(&format!("{left} files are left out")), "{left}: {told}");
    // Whoever may read all is told of all.
    let all = yard.look("status", &json!({ "porcelain": "v1", "untracked": "all" }));
    assert_eq!(all["text"], json!(plain), "{all}");
    fs::remove_dir_all(yard.workspace().join("private")).unwrap();
}
