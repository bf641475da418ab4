//! What a caller sees: what failed and why, what was omitted, where a verb does not work.

use crate::yard::Yard;
use serde_json::json;
use std::fs;
use std::os::unix::ffi::OsStrExt;

//= docs/spec.md#git
//= type=test
//# A verb that fails MUST report the exit code and the output of git, and what to do if git needed a program.
#[test]
fn failing_verbs_report_the_output_of_git() {
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

#[test]
fn programs_that_git_needed_are_reported() {
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
    let error = yard.act("merge", &json!({ "ref": "side" }));
    let reported = error["error"].to_string();
    assert!(reported.contains("merged by a driver of its own"), "{error}");
    assert_eq!(yard.git(&["status", "--porcelain"]), "", "nothing changed");
    assert_eq!(fs::read_to_string(yard.workspace().join("a.txt")).unwrap(), "main\n");
    let hook = yard.program("workspace/.git/hooks/pre-commit", "exit 1\n");
    let error = yard.act("commit", &json!({ "message": "x" }));
    assert!(
        error["error"].to_string().contains("besides: hooks do not run: pre-commit"),
        "{}: {error}",
        hook.display()
    );
}

//= docs/spec.md#git
//= type=test
//# A result MUST report what git skipped: hooks, signatures, filters, objects that are missing and writes
//# that are still staged.
#[test]
fn files_ignored_by_git_are_reported() {
    let yard = Yard::with_repository();
    let blob = yard.git(&["rev-parse", "HEAD:a.txt"]);
    for path in ["a/.git/hooks/x", ".git/config", "../out"] {
        let reported = yard.act("update_index", &json!({ "entries": [format!("100644 {}\t{path}", blob.trim())] }));
        assert!(reported["code"] != 0 || reported["notices"].to_string().contains(path), "{path}: {reported}");
        assert!(!yard.git(&["ls-files"]).contains(path), "{path}");
    }
}

#[test]
fn what_is_no_place_for_a_verb_is_named_as_what_it_is() {
    let yard = Yard::with_repository();
    yard.git(&["clone", "-q", "--bare", ".", "bare.git"]);
    for folder in ["bare.git", "bare.git/refs"] {
        let reported = yard.look("status", &json!({ "cwd": folder }));
        assert!(reported["error"].to_string().contains("without a working tree"), "{folder}: {reported}");
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
    let reported = doctor(&Yard::with_repository());
    for tried in ["it makes commits", "it merges", "it fills files"] {
        assert!(reported.contains(tried) && !reported.contains("in vain"), "{reported}");
    }
    // A program that replaces itself by another one exists, and does nothing here.
    let yard = Yard::with_repository();
    let path = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&path).map(|folder| folder.join("git")).find(|git| git.exists()).unwrap();
    yard.program("wrapped/git", &format!("exec {} \"$@\"\n", real.display()));
    let wrapped = yard.at("wrapped");
    let reported = doctor(&yard.with_git_of(&wrapped));
    assert!(reported.contains("broken"), "{reported}");
}

#[test]
fn what_is_staged_git_does_not_see_and_says_so() {
    let yard = Yard::with_repository();
    let reported = yard.call("write_and_look", &json!({})).to_string();
    assert!(reported.contains("is not on the disk yet: git does not see it"), "{reported}");
}

#[test]
fn run_sends_to_the_verbs_of_git() {
    let yard = Yard::with_repository();
    let reported = yard.call("run_git_by_run", &json!({})).to_string();
    assert!(reported.contains("`run` does not run `git`"), "{reported}");
    assert!(reported.contains("git_read(VERB)") && reported.contains("git = \\\"read\\\""), "{reported}");
}

//= docs/spec.md#git
//= type=test
//# Output of git that is not UTF-8 MUST be returned on request, and MUST NOT fail a verb that changed
//# something.
#[test]
fn non_utf8_text_is_reported_or_returned() {
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

#[test]
fn file_names_do_not_turn_success_into_failure() {
    let yard = Yard::with_repository();
    let odd = yard.workspace().join(std::ffi::OsStr::from_bytes(b"old\xff"));
    fs::write(&odd, "one\n").unwrap();
    yard.git(&["add", "-A"]);
    let reported = yard.act("commit", &json!({ "message": "an odd name" }));
    assert_eq!(reported["code"], 0, "{reported}");
    assert!(reported["notices"].to_string().contains("not UTF-8"), "{reported}");
}
