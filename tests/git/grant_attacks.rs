//! What the verbs of git tell of files that no grant covers, and what they need that a grant is too narrow for.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;

fn narrow(yard: &Yard, verb: &str, options: &Value) -> Value {
    yard.call_of("narrow", "narrow_act", &json!({ "verb": verb, "options": options }))
}

fn single(yard: &Yard, verb: &str, options: &Value) -> Value {
    yard.call_of("single", "single_act", &json!({ "verb": verb, "options": options }))
}

/// A workspace of which `narrow` may read and write `pub`.
fn prepared() -> Yard {
    let yard = Yard::with_repository();
    yard.put("pub/f.txt", "f\n");
    yard.put("private/p.txt", "one\nl2\n");
    yard.commit("two");
    yard.put("private/p.txt", "one\nsecret\n");
    yard.put("private/plan-of-next-year", "x\n");
    yard
}

fn patch(file: &str, guess: &str) -> String {
    format!("--- a/{file}\n+++ b/{file}\n@@ -2 +2 @@\n-{guess}\n+zz\n")
}

//= docs/spec.md#git
//= type=test
//# Every file that a patch touches MUST be one that the pack may read: whether a patch fits tells what a file holds.
#[test]
fn no_patch_tells_whether_a_guess_is_right() {
    let yard = prepared();
    let file = yard.at("patch");
    let fits = |guess: &str| {
        fs::write(&file, patch("private/p.txt", guess)).unwrap();
        yard.plain(&yard.workspace(), &["apply", "--check", "--unidiff-zero", file.to_str().unwrap()]).status.success()
    };
    assert!(fits("secret") && !fits("wrong"), "the attack is void");
    let new = |file: &str| format!("--- /dev/null\n+++ b/{file}\n@@ -0,0 +1 @@\n+x\n");
    for more in [
        json!({ "only_check": true }),
        json!({}),
        json!({ "staged": true, "only_check": true }),
        json!({ "reverse": true, "only_check": true }),
    ] {
        for (right, wrong) in [
            (patch("private/p.txt", "secret"), patch("private/p.txt", "wrong")),
            (new("private/plan-of-next-year"), new("private/no-plan")),
        ] {
            let ask = |patch: &str| {
                let mut options = more.clone();
                options["patch"] = json!(patch);
                narrow(&yard, "apply", &options).to_string().replace("plan-of-next-year", "F").replace("no-plan", "F")
            };
            let (right, wrong) = (ask(&right), ask(&wrong));
            assert_eq!(right, wrong, "{more}");
            assert!(right.contains("git apply would read") && right.contains("take a patch of files"), "{right}");
        }
    }
    let checked = narrow(
        &yard,
        "apply",
        &json!({ "only_check": true, "patch": "--- a/pub/f.txt\n+++ b/pub/f.txt\n@@ -1 +1 @@\n-f\n+g\n" }),
    );
    assert_eq!(checked["code"], 0, "{checked}");
}

//= docs/spec.md#git
//= type=test
//# A path that a verb would tell the state of MUST be one that the pack may look at.
#[test]
fn no_verb_tells_which_files_are_there() {
    let yard = prepared();
    let ask = |there: &str, verb: &str, options: &Value| {
        let mut options = options.clone();
        options["paths"] = json!([there]);
        let tool = if ["files", "status"].contains(&verb) { "narrow_look" } else { "narrow_act" };
        let told = yard.call_of("narrow", tool, &json!({ "verb": verb, "options": options })).to_string();
        told.replace("plan-of-next-year", "F").replace("no-plan", "F")
    };
    for (verb, options) in [
        ("clean", json!({})),
        ("clean", json!({ "ignored": true })),
        ("status", json!({})),
        ("files", json!({ "others": true })),
    ] {
        let (there, absent) =
            (ask("private/plan-of-next-year", verb, &options), ask("private/no-plan", verb, &options));
        assert_eq!(there, absent, "{verb}");
        assert!(there.contains("would read"), "{verb}: {there}");
    }
    for paths in [".", "private"] {
        let told = narrow(&yard, "clean", &json!({ "paths": [paths], "folders": true })).to_string();
        assert!(told.contains("error") && !told.contains("plan-of-next-year"), "{told}");
    }
    let told = narrow(&yard, "clean", &json!({ "paths": ["."] })).to_string();
    assert!(told.contains("would change 1 files that no grant to write covers"), "{told}");
    let told = narrow(&yard, "restore", &json!({ "paths": ["."] })).to_string();
    assert!(told.contains("would change 1 files") && !told.contains("p.txt"), "{told}");
}

//= docs/spec.md#git
//= type=test
//# A verb that puts a file anew in its place MUST be refused before it begins if the grants to write cover the file and not its folder.
#[test]
fn a_file_alone_is_too_little_for_git() {
    let prepared = || {
        let yard = Yard::with_repository();
        yard.put("NEWS.md", "one\n");
        yard.commit("news");
        yard.git(&["checkout", "-q", "-b", "other"]);
        yard.put("NEWS.md", "two\n");
        yard.commit("other");
        yard.git(&["checkout", "-q", "main"]);
        yard
    };
    for (verb, options) in [
        ("switch", json!({ "ref": "other" })),
        ("merge", json!({ "ref": "other" })),
        ("cherry_pick", json!({ "refs": "other" })),
        ("revert", json!({ "refs": "HEAD" })),
        ("restore", json!({ "source": "other", "paths": ["NEWS.md"] })),
        ("rm", json!({ "paths": ["NEWS.md"] })),
    ] {
        let yard = prepared();
        let before = yard.git(&["rev-parse", "HEAD"]);
        let told = single(&yard, verb, &options);
        let error = told["error"].as_str().unwrap_or_default();
        assert!(error.contains("anew in its folder, and the pack may write the file alone"), "{verb}: {told}");
        assert_eq!(yard.git(&["status", "--porcelain"]), "", "{verb}");
        assert_eq!(yard.git(&["rev-parse", "HEAD"]), before, "{verb}");
    }
}

//= docs/spec.md#git
//= type=test
//# A granted folder that is not there MUST be made for a verb that puts files into it.
#[test]
fn a_granted_folder_that_is_not_there_is_made() {
    let prepared = || {
        let yard = Yard::with_repository();
        yard.git(&["checkout", "-q", "-b", "other"]);
        yard.put("made/deep/a.md", "a\n");
        yard.commit("other");
        yard.git(&["checkout", "-q", "main"]);
        assert!(!yard.workspace().join("made").exists());
        yard
    };
    for (verb, options) in [
        ("switch", json!({ "ref": "other" })),
        ("merge", json!({ "ref": "other" })),
        ("cherry_pick", json!({ "refs": "other" })),
        ("restore", json!({ "source": "other", "paths": ["made"] })),
        ("worktree_add", json!({ "path": "made/deep/w", "ref": "main", "create": "w" })),
    ] {
        let yard = prepared();
        let told = single(&yard, verb, &options);
        assert_eq!(told["code"], 0, "{verb}: {told}");
        let made = if verb == "worktree_add" { "made/deep/w/a.txt" } else { "made/deep/a.md" };
        assert!(yard.workspace().join(made).exists(), "{verb}: {told}");
    }
    let yard = prepared();
    let told = single(&yard, "restore", &json!({ "source": "other", "paths": ["made/deep/none"], "check": false }));
    assert!(!yard.workspace().join("made").exists(), "{told}");
}

/// A commit has a folder of another repository under a protected name: git makes it, empty.
#[test]
fn no_submodule_makes_a_protected_folder() {
    let prepared = || {
        let yard = Yard::with_repository();
        let head = yard.git(&["rev-parse", "HEAD"]);
        yard.git(&["checkout", "-q", "-b", "evil"]);
        yard.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{},.toolsd", head.trim())]);
        yard.put("b.txt", "b\n");
        yard.git(&["add", "b.txt"]);
        yard.git(&["commit", "-qm", "evil"]);
        let _made_by_git = fs::remove_dir(yard.workspace().join(".toolsd"));
        yard.git(&["checkout", "-q", "main"]);
        yard
    };
    for (plain, verb, options) in [
        (&["restore", "--source=evil", "--", "."][..], "restore", json!({ "source": "evil", "paths": ["."] })),
        (&["reset", "-q", "--hard", "evil"], "reset", json!({ "ref": "evil", "mode": "hard" })),
        (&["switch", "-q", "evil"], "switch", json!({ "ref": "evil" })),
    ] {
        let yard = prepared();
        yard.git(plain);
        assert!(yard.workspace().join(".toolsd").exists(), "the attack is void: {plain:?}");
        let yard = prepared();
        let told = yard.act(verb, &options);
        assert!(!yard.workspace().join(".toolsd").exists(), "{verb}: {told}");
        assert!(told.to_string().contains(".toolsd"), "{verb}: {told}");
    }
}

/// A file system may take several spellings of a name for one.
#[test]
fn a_new_working_tree_hides_every_spelling() {
    for file in [".TOOLSD/x", "deep/.Toolsd/tools.d/x.toml", "ToolsD.toml", "a [b]/TOOLSD~1/x"] {
        let yard = Yard::with_repository();
        yard.git(&["checkout", "-q", "-b", "evil"]);
        yard.put(file, "planted\n");
        yard.commit("evil");
        yard.git(&["checkout", "-q", "main"]);
        let made = yard.act("worktree_add", &json!({ "path": "trees/w", "ref": "evil" }));
        assert!(made["notices"].to_string().contains("hidden"), "{file}: {made}");
        let tree = yard.workspace().join("trees/w");
        assert!(tree.join("a.txt").exists() && !tree.join(file).exists(), "{file}: {made}");
        assert_eq!(yard.git_in(&tree, &["status", "--porcelain"]), "", "{file}");
    }
}

//= docs/spec.md#git
//= type=test
//# Every file that git is going to write or remove MUST pass the check of a write by the script itself.
/// What an index of its own names, and what is staged beside the paths of a stash, goes from the working tree, too.
#[test]
fn what_only_an_index_names_is_checked() {
    let yard = Yard::with_repository();
    yard.put(".toolsd/x", "trusted\n");
    yard.put("deep/a.txt", "a\n");
    yard.git(&["add", "-f", "."]);
    fs::copy(yard.workspace().join(".git/index"), yard.workspace().join(".git/toolsd-own.index")).unwrap();
    yard.git(&["rm", "-q", "--cached", ".toolsd/x", "deep/a.txt"]);
    let told = yard.act("rm", &json!({ "paths": [".toolsd/x"], "index": "own", "force": true }));
    assert!(told["error"].as_str().is_some_and(|told| told.contains("git rm would write `.toolsd/x`")), "{told}");
    yard.git(&["add", "-f", "."]);
    let told = yard.act("stash_push", &json!({ "paths": ["deep"], "staged": true }));
    assert!(
        told["error"].as_str().is_some_and(|told| told.contains("git stash_push would write `.toolsd/x`")),
        "{told}"
    );
    assert!(yard.workspace().join(".toolsd/x").exists());
}

//= docs/spec.md#roots
//= type=test
//# Whether something is there that no grant covers MUST NOT be told, nor through a link that leads to it.
#[test]
fn no_link_tells_whether_something_is_there() {
    let yard = prepared();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, yard.workspace().join("pub").join(name)).unwrap();
    link("../private", "there-1");
    link("../nothing", "there-0");
    link(yard.home.path().to_str().unwrap(), "out-1");
    link("/nowhere/at/all", "out-0");
    assert!(yard.workspace().join("pub/there-1").exists() && !yard.workspace().join("pub/there-0").exists(), "void");
    for (verb, reads, more) in [
        ("status", true, json!({})),
        ("log", true, json!({})),
        ("repository", true, json!({ "show": "top" })),
        ("config", true, json!({ "name": "core.bare" })),
        ("add", false, json!({ "all": true })),
        ("init", false, json!({})),
        ("worktree_prune", false, json!({})),
    ] {
        for kind in ["there", "out"] {
            for below in ["", "/deeper"] {
                let ask = |is_there: u8| {
                    let mut options = more.clone();
                    options["folder"] = json!(format!("pub/{kind}-{is_there}{below}"));
                    let tool = if reads { "narrow_look" } else { "narrow_act" };
                    let told = yard.call_of("narrow", tool, &json!({ "verb": verb, "options": options }));
                    assert!(told["error"].is_string(), "{verb} {options}: {told}");
                    told.to_string().replace(&format!("{kind}-{is_there}"), "LINK")
                };
                assert_eq!(ask(1), ask(0), "{verb} {kind}{below}");
            }
        }
    }
}
