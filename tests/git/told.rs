//! What a caller sees: what failed and why, what was omitted, where a verb does not work.

use crate::yard::Yard;
use serde_json::json;
use std::fs;
use std::os::unix::ffi::OsStrExt;

//= docs/spec.md#git
//= type=test
//# A verb that fails MUST report the exit code and the output of git, and what to do if git needed a program.
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
    assert!(conflict.contains("… (cut: ") && conflict.contains(" bytes) …"), "{conflict}");
    assert_eq!(yard.act("merge_abort", &json!({}))["code"], 0);
}

//= docs/spec.md#git
//= type=test
//# A verb that fails MUST report the exit code and the output of git, and what to do if git needed a program.
#[test]
fn a_program_that_git_wanted_is_told() {
    let yard = Yard::with_repository();
    yard.put(".gitattributes", "a.txt merge=mine\n");
    yard.configure("[merge \"mine\"]\ndriver = true\n");
    yard.commit("attributes");
    yard.git(&["checkout", "-q", "-b", "side"]);
    yard.put("a.txt", "side\n");
    yard.commit("side");
    yard.git(&["checkout", "-q", "main"]);
    yard.put("a.txt", "main\n");
    yard.commit("main");
    let fault = yard.act("merge", &json!({ "ref": "side" }));
    let told = fault["error"].to_string();
    assert!(told.contains("merged by a driver of its own"), "{fault}");
    assert_eq!(yard.git(&["status", "--porcelain"]), "", "nothing changed");
    assert_eq!(fs::read_to_string(yard.workspace().join("a.txt")).unwrap(), "main\n");
    let hook = yard.program("workspace/.git/hooks/pre-commit", "exit 1\n");
    let fault = yard.act("commit", &json!({ "message": "x" }));
    assert!(
        fault["error"].to_string().contains("besides: hooks do not run: pre-commit"),
        "{}: {fault}",
        hook.display()
    );
}

//= docs/spec.md#git
//= type=test
//# A result MUST report what git skipped: hooks, signatures, filters, objects that are missing and writes
//# that are still staged.
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
        let told = yard.look("status", &json!({ "cwd": folder }));
        assert!(told["error"].to_string().contains("without a working tree"), "{folder}: {told}");
    }
}

//= docs/spec.md#command-line
//= type=test
//# `toolsd doctor` MUST try what the verbs of git need, report what fails, and exit with 1 if something is
//# broken.
#[test]
fn doctor_tries_git_and_says_where_it_is_refused() {
    let doctor = |yard: &Yard| {
        let output = yard.command(&["doctor"]).output().unwrap();
        let all = crate::support::said(&output)["findings"].clone();
        let of_git = all.as_array().unwrap().iter().filter(|one| one["about"] == "git");
        of_git.map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let told = doctor(&Yard::with_repository());
    for tried in ["it makes commits", "it merges", "it fills files"] {
        assert!(told.contains(tried) && !told.contains("in vain"), "{told}");
    }
    // A program that replaces itself by another one exists, and does nothing here.
    let yard = Yard::with_repository();
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.exists()).unwrap();
    yard.program("wrapped/git", &format!("exec {} \"$@\"\n", real.display()));
    let wrapped = yard.at("wrapped");
    let told = doctor(&yard.with_git_of(&wrapped));
    assert!(told.contains("broken"), "{told}");
}

//= docs/spec.md#git
//= type=test
//# A result MUST report what git skipped: hooks, signatures, filters, objects that are missing and writes
//# that are still staged.
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

//= docs/spec.md#git
//= type=test
//# Output of git that is not UTF-8 MUST be returned on request, and MUST NOT fail a verb that changed
//# something.
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
        assert!(error.contains("not UTF-8, first in line") && error.contains("caf\u{fffd}"), "{verb}: {refused}");
        assert!(help.contains("lossy_utf8: true"), "{verb}: {refused}");
        let mut options = options;
        options["lossy_utf8"] = json!(true);
        let given = yard.look(verb, &options);
        assert!(given["text"].as_str().unwrap().contains("caf\u{fffd}"), "{verb}: {given}");
        assert!(given["notices"].to_string().contains("`bytes` has it unchanged"), "{verb}: {given}");
    }
    let given = yard.look("show", &json!({ "refs": "HEAD:latin.txt", "lossy_utf8": true }));
    assert_eq!(given["bytes"], "Zmlyc3QKY2Fm6Qo=", "{given}");
    let plain = yard.look("show", &json!({ "refs": "HEAD:a.txt", "lossy_utf8": true }));
    assert_eq!(plain["notices"], json!([]), "{plain}");
}

//= docs/spec.md#git
//= type=test
//# Output of git that is not UTF-8 MUST be returned on request, and MUST NOT fail a verb that changed
//# something.
#[test]
fn what_is_done_is_no_fault_because_of_a_name() {
    let yard = Yard::with_repository();
    let odd = yard.workspace().join(std::ffi::OsStr::from_bytes(b"old\xff"));
    fs::write(&odd, "one\n").unwrap();
    yard.git(&["add", "-A"]);
    let told = yard.act("commit", &json!({ "message": "an odd name" }));
    assert_eq!(told["code"], 0, "{told}");
    assert!(told["notices"].to_string().contains("not UTF-8"), "{told}");
}
