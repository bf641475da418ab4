//! The attacks: configuration keys × verbs, links × operations, protected files × verbs.

use crate::yard::Yard;
use serde_json::{Value, json};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// Where a repository names a program, and what makes git start it.
struct Key {
    /// Lines of the configuration; `@` stands for the program and its mark, `@@` for the program alone, `@-` for one that
    /// reads nothing.
    config: &'static str,
    /// Lines of `.gitattributes`.
    attributes: &'static str,
    /// What a person types.
    plain: &'static [&'static str],
    /// The same, as verbs of ours.
    ours: &'static [(&'static str, &'static str)],
}

const KEYS: [Key; 19] = [
    key("[filter \"x\"]\nclean = @", "*.txt filter=x\n", &["add", "-A"], &[("add", "{\"all\":true}")]),
    key("[filter \"x\"]\nclean = @", "*.txt filter=x\n", &["status"], &[("status", "{}")]),
    key(
        "[filter \"x\"]\nsmudge = @\nrequired = true",
        "*.txt filter=x\n",
        &["checkout", "-f", "other"],
        &[("reset", "{\"ref\":\"other\",\"mode\":\"hard\"}")],
    ),
    key("[filter \"a=b\"]\nprocess = @", "*.txt filter=a=b\n", &["diff"], &[("diff", "{}")]),
    key("[diff]\nexternal = @", "", &["diff"], &[("diff", "{}"), ("diff", "{\"patch\":true}")]),
    key("[diff \"x\"]\ncommand = @", "*.txt diff=x\n", &["diff"], &[("diff", "{\"patch\":true}")]),
    key(
        "[diff \"x\"]\ntextconv = @",
        "*.txt diff=x\n",
        &["log", "-p"],
        &[("log", "{\"patch\":true}"), ("blame", "{\"paths\":\"a.txt\"}")],
    ),
    key(
        "[diff \"x\"]\ntextconv = @\ncachetextconv = true",
        "*.txt diff=x\n",
        &["show"],
        &[("show", "{\"refs\":\"HEAD\"}")],
    ),
    key(
        "[merge \"x\"]\ndriver = @ %A",
        "*.txt merge=x\n",
        &["merge", "other"],
        &[("merge", "{\"ref\":\"other\",\"check\":false}")],
    ),
    key("[core]\nfsmonitor = @", "", &["status"], &[("status", "{}"), ("add", "{\"all\":true}"), ("stash_push", "{}")]),
    key(
        "[core]\nfsmonitor = @\n[core]\nfsmonitor = @",
        "",
        &["diff"],
        &[("diff", "{}"), ("diff", "{\"cached\":true}"), ("files", "{\"modified\":true}")],
    ),
    key(
        "[core]\nhooksPath = MARKS/../hooks",
        "",
        &["commit", "-am", "x"],
        &[("commit", "{\"all\":true,\"message\":\"x\"}"), ("switch", "{\"create\":\"new\",\"ref\":\"HEAD\"}")],
    ),
    key("[core]\neditor = @", "", &["commit", "-a"], &[("commit", "{\"all\":true,\"check\":false}")]),
    key(
        "[gpg]\nprogram = @@\n[commit]\ngpgSign = true",
        "",
        &["commit", "-am", "x"],
        &[("commit", "{\"all\":true,\"message\":\"x\"}"), ("cherry_pick", "{\"refs\":\"other\",\"check\":false}")],
    ),
    key("[gpg]\nprogram = @@", "", &["tag", "-s", "-m", "x", "t"], &[("tag", "{\"name\":\"t\",\"message\":\"x\"}")]),
    key("[alias]\nmerge-x = !@", "", &["merge-x"], &[("merge", "{\"ref\":\"other\",\"check\":false}")]),
    key(
        "[core]\nsshCommand = @-\n[remote \"o\"]\nurl = ssh://example.invalid/x",
        "",
        &["fetch", "o"],
        &[("fetch", "{\"remote\":\"o\",\"check\":false,\"timeout_s\":5}")],
    ),
    key(
        "[remote \"o\"]\nurl = ext::@-\n[protocol \"ext\"]\nallow = always",
        "",
        &["fetch", "o"],
        &[("fetch", "{\"remote\":\"o\",\"check\":false}")],
    ),
    key(
        "[remote \"o\"]\nurl = .\nuploadpack = @-",
        "",
        &["fetch", "o"],
        &[("fetch", "{\"remote\":\"o\",\"check\":false}")],
    ),
];

const fn key(
    config: &'static str,
    attributes: &'static str,
    plain: &'static [&'static str],
    ours: &'static [(&'static str, &'static str)],
) -> Key {
    Key { config, attributes, plain, ours }
}

/// Where the key stands.
const PLACES: [&str; 3] = ["config", "included", "worktree"];

/// Two branches that differ, and a file that was changed.
fn split(attributes: &str) -> Yard {
    let yard = Yard::with_repository();
    yard.put(".gitattributes", attributes);
    yard.commit("attributes");
    yard.git(&["checkout", "-q", "-b", "other"]);
    yard.put("a.txt", "one\nthree\n");
    yard.commit("other");
    yard.git(&["checkout", "-q", "main"]);
    yard.put("a.txt", "one\nfour\n");
    yard.commit("main");
    yard.put("a.txt", "one\nfive\n");
    yard.program("hooks/pre-commit", &format!(": > {}/hook\n", yard.at("marks").display()));
    yard.program("hooks/post-checkout", &format!(": > {}/hook\n", yard.at("marks").display()));
    yard
}

fn set(yard: &Yard, key: &Key, place: &str) {
    let program = format!("{} mark", yard.at("program").display());
    let alone = yard.at("program").display().to_string();
    let touches = format!("{} mark", yard.at("toucher").display());
    let text = key.config.replace("@-", &touches).replace("@@", &alone).replace('@', &program);
    let text = text.replace("MARKS", yard.at("marks").to_str().unwrap()) + "\n";
    match place {
        "included" => {
            fs::write(yard.workspace().join(".git/more"), text).unwrap();
            yard.configure("[includeIf \"gitdir:**\"]\npath = more\n[include]\npath = more\n");
        }
        "worktree" => {
            yard.configure("[extensions]\nworktreeConfig = true\n");
            fs::write(yard.workspace().join(".git/config.worktree"), text).unwrap();
        }
        _ => yard.configure(&text),
    }
    if key.plain[0] == "merge" {
        yard.git(&["-c", "core.fsmonitor=false", "checkout", "-q", "-f", "main"]);
    }
}

//= docs/spec.md#git
//= type=test
//# Git MUST NOT see the configuration of a repository, but for keys that name no program, no file and no other repository.
//= docs/spec.md#git
//= type=test
//# No program that the configuration of a repository names MUST be started.
//= docs/spec.md#git
//= type=test
//# What the configuration of a repository includes MUST NOT be read.
#[test]
fn no_key_of_a_repository_starts_a_program() {
    for (at, key) in crate::support::sample(KEYS.iter().enumerate().collect(), 12) {
        for place in if at % 4 == 0 { &PLACES[..] } else { &PLACES[..1] } {
            let plain = split(key.attributes);
            set(&plain, key, place);
            plain.plain(&plain.workspace(), key.plain);
            assert!(!plain.take_marks().is_empty(), "the attack is void: {place} {} {:?}", key.config, key.plain);
            let yard = split(key.attributes);
            set(&yard, key, place);
            for (verb, options) in key.ours {
                let options: Value = serde_json::from_str(options).unwrap();
                let reads = toolsd::primitive::git::read_verbs().any(|known| known.name == *verb);
                let told = if reads { yard.look(verb, &options) } else { yard.act(verb, &options) };
                assert_eq!(yard.take_marks(), [""; 0], "{place} {} {verb}: {told}", key.config);
                assert!(!told.to_string().contains("needs `"), "{verb}: {told}");
            }
        }
    }
}

/// Every verb with what it needs, in a repository where each of its commits and files is there.
pub fn every_verb() -> Vec<(bool, &'static str, Value)> {
    use toolsd::primitive::git::verb::OptionKind;
    let of = |verb: &'static toolsd::primitive::git::verb::GitVerb| {
        let mut options = json!({ "check": false });
        for option in verb.options().filter(|option| option.is_required) {
            options[option.name] = match (option.name, option.kind) {
                ("path", _) => json!("trees/w"),
                (_, OptionKind::FullRef) => json!("refs/heads/new"),
                (_, OptionKind::Refs) => json!(["other"]),
                (_, OptionKind::Ref) => json!("other"),
                (_, OptionKind::OneOf(_, known)) => json!(known[0]),
                (_, OptionKind::Paths) if verb.name == "mv" => json!(["b.bin", "c.bin"]),
                (_, OptionKind::Paths | OptionKind::Files | OptionKind::Contents(_)) => json!(["a.txt"]),
                (_, OptionKind::Lines) => json!([]),
                ("remote", _) => json!("o"),
                ("show", _) => json!("top"),
                (_, OptionKind::Input(_)) => json!("--- a/a.txt\n+++ b/a.txt\n@@ -1,2 +1,2 @@\n-one\n+uno\n five\n"),
                _ => json!("new"),
            };
        }
        if verb.name == "hash_object" {
            options["content"] = json!("new");
        }
        options
    };
    let reading = toolsd::primitive::git::read_verbs().map(|verb| (true, verb.name, of(verb)));
    reading.chain(toolsd::primitive::git::write_verbs().map(|verb| (false, verb.name, of(verb)))).collect()
}

/// All traps at once, under every verb there is: a new verb is tried as soon as it is declared.
#[test]
fn no_verb_starts_a_program_that_a_repository_names() {
    let yard = split("*.txt filter=x diff=x merge=x\n*.bin filter=p\n");
    yard.put("b.bin", "bin\n");
    yard.commit("bin");
    yard.put("a.txt", "one\nfive\n");
    let mut all = String::new();
    let keys = KEYS.iter().filter(|key| !key.config.contains("hooksPath") && !key.config.contains("ext::")).collect();
    for key in crate::support::sample::<&Key>(keys, 10) {
        let alone = yard.at("program").display().to_string();
        let touches = format!("{} mark", yard.at("toucher").display());
        all += &key
            .config
            .replace("@-", &touches)
            .replace("@@", &alone)
            .replace('@', &format!("{} mark", yard.at("program").display()));
        all += "\n";
    }
    let hooks = yard.workspace().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-checkout",
        "post-index-change",
        "reference-transaction",
        "post-merge",
        "pre-rebase",
        "post-rewrite",
    ] {
        yard.program(&format!("workspace/.git/hooks/{hook}"), &format!(": > {}/{hook}\n", yard.at("marks").display()));
    }
    yard.configure(&all);
    yard.plain(&yard.workspace(), &["commit", "-aqm", "void?"]);
    assert!(yard.take_marks().len() > 1, "the trap is none");
    let before = fs::read(yard.workspace().join(".git/config")).unwrap();
    for (reads, verb, options) in every_verb() {
        yard.put("a.txt", "one\nfive\n");
        let told = if reads { yard.look(verb, &options) } else { yard.act(verb, &options) };
        assert_eq!(yard.take_marks(), [""; 0], "{verb} {options}: {told}");
        assert!(told["error"] != json!("arguments"), "{verb} {options}: {told}");
        let after = fs::read(yard.workspace().join(".git/config")).unwrap();
        let same = after == before || verb == "sparse_checkout" || verb == "init";
        assert!(same || after.starts_with(&before), "{verb} changed the configuration");
    }
    let told = yard.look("status", &json!({}));
    assert!(
        told["notices"].to_string().contains("the repository names a program: filter.x.clean; it is not run"),
        "{told}"
    );
}

/// How a repository reaches out, and how git shows that it does.
const REACHES: [(&str, &[&str], &str, &str); 8] = [
    ("git_file", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
    ("git_link", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
    ("common_dir", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
    ("alternates", &["show", "HASH:secret"], "show", "{\"refs\":\"HASH:secret\"}"),
    ("objects_link", &["show", "HASH:secret"], "show", "{\"refs\":\"HASH:secret\"}"),
    ("pack_link", &["show", "HASH:secret"], "show", "{\"refs\":\"HASH:secret\"}"),
    ("work_tree", &["diff", "--no-index", "/dev/null", "../secret"], "files", "{\"others\":true}"),
    ("above", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
];

fn reach(how: &str) -> (Yard, String) {
    let yard = Yard::with_repository();
    let other = yard.at("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("secret"), "the secret\n").unwrap();
    yard.git_in(&other, &["init", "-q"]);
    yard.git_in(&other, &["add", "-A"]);
    yard.git_in(&other, &["commit", "-qm", "secret"]);
    yard.git_in(&other, &["repack", "-adq"]);
    let hash = yard.git_in(&other, &["rev-parse", "HEAD"]).trim().to_owned();
    let own = yard.workspace().join(".git");
    let theirs = other.join(".git");
    let replace = |name: &str| {
        fs::remove_dir_all(own.join(name)).unwrap();
        symlink(theirs.join(name), own.join(name)).unwrap();
    };
    match how {
        "git_file" => {
            fs::remove_dir_all(&own).unwrap();
            fs::write(&own, format!("gitdir: {}\n", theirs.display())).unwrap();
        }
        "git_link" => {
            fs::remove_dir_all(&own).unwrap();
            symlink(&theirs, &own).unwrap();
        }
        "common_dir" => fs::write(own.join("commondir"), format!("{}\n", theirs.display())).unwrap(),
        "alternates" => {
            fs::create_dir_all(own.join("objects/info")).unwrap();
            fs::write(own.join("objects/info/alternates"), format!("{}\n", theirs.join("objects").display())).unwrap();
        }
        "objects_link" => replace("objects"),
        "pack_link" => {
            fs::create_dir_all(own.join("objects/pack")).unwrap();
            replace("objects/pack");
        }
        "work_tree" => yard.configure(&format!("[core]\nworktree = {}\n", other.display())),
        _ => {
            fs::remove_dir_all(&own).unwrap();
            fs::rename(&theirs, yard.at(".git")).unwrap();
        }
    }
    (yard, hash)
}

//= docs/spec.md#git
//= type=test
//# The repository of a command MUST be found by the host, from the folder of the call up to the granted root around it and no further.
//= docs/spec.md#git
//= type=test
//# What a file `.git` or `commondir` names MUST lie below a granted root, with no symlink on the way.
//= docs/spec.md#git
//= type=test
//# A folder of git MUST NOT name another one as the part that it shares unless it is one of its working trees.
//= docs/spec.md#git
//= type=test
//# Alternate object stores outside of the granted roots MUST be refused by name.
//= docs/spec.md#git
//= type=test
//# A symlink within a repository MUST be refused by name, wherever it leads, but for a `HEAD` that is the name of a ref.
//= docs/spec.md#git
//= type=test
//# A repository whose top lies above the granted roots MUST be refused with the way to grant it.
#[test]
fn no_repository_reaches_out_of_the_roots() {
    for (how, plain, verb, options) in REACHES {
        let (yard, hash) = reach(how);
        let words: Vec<String> = plain.iter().map(|word| word.replace("HASH", &hash)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let seen = yard.plain(&yard.workspace(), &words).stdout;
        assert!(String::from_utf8_lossy(&seen).contains("the secret"), "the attack is void: {how}");
        let options: Value = serde_json::from_str(&options.replace("HASH", &hash)).unwrap();
        let told = yard.look(verb, &options).to_string();
        assert!(!told.contains("the secret") && !told.contains("\"secret"), "{how}: {told}");
        if how != "work_tree" {
            assert!(told.contains("\"error\""), "{how}: {told}");
            let acted = yard.act("commit", &json!({ "allow_empty": true, "message": "x" }));
            assert!(acted["error"].is_string(), "{how}: {acted}");
        }
    }
}

/// Links in the repository that git writes through.
const WRITTEN: [&str; 4] = ["logs/HEAD", "logs/refs/heads/main", "index", "COMMIT_EDITMSG"];

#[test]
fn no_link_within_a_repository_is_written_through() {
    for name in WRITTEN {
        let (mut held, mut attacked) = (String::new(), false);
        for ours in [false, true] {
            let yard = Yard::with_repository();
            let link = yard.workspace().join(".git").join(name);
            let target = yard.at("target");
            if name == "index" {
                fs::copy(&link, &target).unwrap()
            } else {
                fs::write(&target, "").map(|()| 0).unwrap()
            };
            let before = fs::read(&target).unwrap();
            fs::remove_file(&link).unwrap();
            symlink(&target, &link).unwrap();
            yard.put("b.txt", "b\n");
            match ours {
                true => {
                    yard.act("add", &json!({ "all": true, "check": false }));
                    held = yard.act("commit", &json!({ "all": true, "message": "x" })).to_string();
                    assert_eq!(fs::read(&target).unwrap(), before, "{name}: {held}");
                }
                false => {
                    yard.plain(&yard.workspace(), &["add", "-A"]);
                    yard.plain(&yard.workspace(), &["commit", "-aqm", "x"]);
                    attacked = fs::read(&target).unwrap() != before;
                }
            }
        }
        assert!(attacked, "the attack is void: {name}");
        assert!(held.contains("is a symlink to"), "{name}: {held}");
    }
}

//= docs/spec.md#git
//= type=test
//# A repository of which the grants of the pack to write cover any part MUST be refused.
#[test]
fn a_repository_that_the_pack_can_write_is_none() {
    let yard = Yard::with_repository();
    let made = yard.workspace().join("out");
    yard.git(&["clone", "-q", "--bare", ".", "out/bare"]);
    fs::create_dir(made.join("r")).unwrap();
    for (folder, marker) in [("out/bare", None), ("out/r", Some("gitdir: ../bare\n"))] {
        if let Some(text) = marker {
            fs::write(yard.workspace().join(folder).join(".git"), text).unwrap();
        }
        let text = format!(
            "[core]\nbare = true\nfsmonitor = {} mark\n[filter \"x\"]\nclean = {0} mark\n",
            yard.at("program").display()
        );
        // The pack cannot write it now; it could before it was a repository, and a program of its own can.
        let config = yard.call("plan_file", &json!({ "path": "out/bare/config", "text": text }));
        assert!(config["error"].to_string().contains("for a repository, which no grant covers"), "{config}");
        fs::write(made.join("bare/config"), &text).unwrap();
        let seen = yard.plain(&yard.workspace().join(folder), &["log", "-1", "--format=%s"]);
        assert!(seen.status.success(), "the attack is void: {folder}");
        let told = yard.look("log", &json!({ "folder": folder }));
        let of_workspace = yard.look("repository", &json!({ "folder": folder, "show": "git_dir" }));
        let whys = ["is no repository: the pack may write", "is a repository without a working tree"];
        for told in [&told, &of_workspace] {
            assert!(whys.iter().any(|why| told["error"].to_string().contains(why)), "{folder}: {told}");
        }
    }
}

/// Files that no grant covers.
const PROTECTED: [&str; 3] = [".toolsd/tools.d/evil.toml", "toolsd.toml", "deep/.TOOLSD/x"];

/// A way to bring a file from a branch, or a patch, into the working tree: what a person types, and what a pack calls.
const BRINGS: [(&[&str], &str, &str); 11] = [
    (&["switch", "-q", "evil"], "switch", "{\"ref\":\"evil\"}"),
    (&["switch", "-q", "--detach", "evil"], "switch", "{\"ref\":\"evil\",\"detach\":true}"),
    (&["reset", "-q", "--hard", "evil"], "reset", "{\"ref\":\"evil\",\"mode\":\"hard\"}"),
    (&["reset", "-q", "--keep", "evil"], "reset", "{\"ref\":\"evil\",\"mode\":\"keep\"}"),
    (&["restore", "--source=evil", "--", "."], "restore", "{\"source\":\"evil\",\"paths\":[\".\"]}"),
    (&["merge", "-q", "evil"], "merge", "{\"ref\":\"evil\"}"),
    (&["merge", "-q", "--squash", "evil"], "merge", "{\"ref\":\"evil\",\"squash\":true}"),
    (&["cherry-pick", "evil"], "cherry_pick", "{\"refs\":[\"evil\"]}"),
    (&["rebase", "-q", "evil"], "rebase", "{\"upstream\":\"evil\"}"),
    (&["revert", "--no-edit", "gone"], "revert", "{\"refs\":[\"gone\"]}"),
    (&["stash", "apply"], "stash_apply", "{}"),
];

fn evil(file: &str) -> Yard {
    let yard = Yard::with_repository();
    yard.git(&["checkout", "-q", "-b", "evil"]);
    yard.put(file, "planted\n");
    yard.commit("evil");
    yard.git(&["checkout", "-q", "-b", "removed"]);
    yard.git(&["rm", "-q", file]);
    yard.commit("gone");
    yard.git(&["tag", "gone"]);
    yard.git(&["checkout", "-q", "main"]);
    yard.put(file, "planted\n");
    yard.git(&["add", "-f", file]);
    yard.git(&["stash", "-q"]);
    // An own commit, so that a rebase has something to do.
    yard.put("c.txt", "c\n");
    yard.commit("own");
    yard
}

//= docs/spec.md#git
//= type=test
//# Every file that git is going to write or remove MUST pass the check of a write by the script itself.
#[test]
fn no_verb_writes_what_no_grant_covers() {
    for file in crate::support::sample(PROTECTED.to_vec(), 4) {
        for (plain, verb, options) in crate::support::sample(BRINGS.to_vec(), 4) {
            let yard = evil(file);
            yard.git(plain);
            assert!(yard.workspace().join(file).exists(), "the attack is void: {plain:?} {file}");
            let yard = evil(file);
            let told = yard.act(verb, &serde_json::from_str(options).unwrap());
            assert!(!yard.workspace().join(file).exists(), "{verb} {file}: {told}");
            let expected = format!("git {verb} would write `{file}`");
            assert!(told["error"].as_str().unwrap_or_default().contains(&expected), "{verb} {file}: {told}");
        }
        patched(file);
        removed(file);
    }
}

/// The same by patches and moves.
fn patched(file: &str) {
    let patch = format!("--- /dev/null\n+++ b/{file}\n@@ -0,0 +1 @@\n+planted\n");
    let rename = format!("diff --git a/a.txt b/{file}\nsimilarity index 100%\nrename from a.txt\nrename to {file}\n");
    let away = format!("diff --git a/{file} b/b.txt\nsimilarity index 100%\nrename from {file}\nrename to b.txt\n");
    for (patch, is_there) in [(&patch, false), (&rename, false), (&away, true)] {
        for ours in [false, true] {
            let yard = Yard::with_repository();
            if is_there {
                yard.put(file, "planted\n");
                yard.commit("there");
            }
            fs::write(yard.at("patch"), patch).unwrap();
            if ours {
                for options in [json!({ "patch": patch }), json!({ "patch": patch, "staged": true })] {
                    let told = yard.act("apply", &options);
                    assert!(told["error"].is_string(), "{told}");
                    assert_eq!(yard.workspace().join(file).exists(), is_there, "apply {file}: {told}");
                }
            } else {
                let folder = Path::new(file).parent().unwrap();
                fs::create_dir_all(yard.workspace().join(folder)).unwrap();
                yard.git(&["apply", yard.at("patch").to_str().unwrap()]);
                assert_ne!(yard.workspace().join(file).exists(), is_there, "the attack is void: {patch}");
            }
        }
    }
    let yard = Yard::with_repository();
    fs::create_dir_all(yard.workspace().join(file).parent().unwrap()).unwrap();
    for to in [file.to_owned(), format!("./{file}"), format!("deep/../{file}")] {
        let told = yard.act("mv", &json!({ "paths": ["a.txt", to] }));
        assert!(told["error"].is_string() && !yard.workspace().join(file).exists(), "mv {to}: {told}");
    }
}

/// The same the other way: what is there goes.
fn removed(file: &str) {
    for (plain, verb, options) in [
        (&["rm", "-q", "--", file][..], "rm", json!({ "paths": [file] })),
        (&["rm", "-rq", "--", "."], "rm", json!({ "paths": ["."], "recursive": true })),
        (&["switch", "-q", "--detach", "HEAD~1"], "switch", json!({ "ref": "HEAD~1", "detach": true })),
        (&["mv", file, "b.txt"], "mv", json!({ "paths": [file, "b.txt"] })),
        (&["stash", "-q"], "stash_push", json!({})),
        (&["clean", "-fdxq"], "clean", json!({ "paths": ["."], "folders": true, "ignored": true })),
    ] {
        let prepared = || {
            let yard = Yard::with_repository();
            yard.put(file, "trusted\n");
            if verb == "clean" {
                return yard;
            }
            yard.commit("trusted");
            if verb == "stash_push" {
                yard.put(file, "changed\n");
            }
            yard
        };
        let yard = prepared();
        let before = fs::read_to_string(yard.workspace().join(file)).unwrap();
        yard.git(plain);
        assert_ne!(
            fs::read_to_string(yard.workspace().join(file)).ok(),
            Some(before.clone()),
            "the attack is void: {verb}"
        );
        let yard = prepared();
        let told = yard.act(verb, &options);
        assert_eq!(fs::read_to_string(yard.workspace().join(file)).unwrap(), before, "{verb}: {told}");
        assert!(told["error"].is_string(), "{verb}: {told}");
    }
}

//= docs/spec.md#git
//= type=test
//# A working tree that git makes or fills MUST NOT hold files that no grant to write covers: they are hidden in it.
#[test]
fn a_new_working_tree_hides_what_no_grant_covers() {
    for file in PROTECTED.iter().filter(|file| !file.contains("TOOLSD")) {
        let yard = evil(file);
        yard.git(&["worktree", "add", "-q", "../plain", "evil"]);
        assert!(yard.at("plain").join(file).exists(), "the attack is void: {file}");
        yard.git(&["worktree", "remove", "--force", "../plain"]);
        let made = yard.act("worktree_add", &json!({ "path": "trees/w", "ref": "evil", "quiet": true }));
        assert!(made["notices"].to_string().contains("hidden"), "{made}");
        let tree = yard.workspace().join("trees/w");
        assert!(tree.join("a.txt").exists() && !tree.join(file).exists(), "{file}: {made}");
        // Nothing is missing for git, whoever runs it.
        assert_eq!(yard.git_in(&tree, &["status", "--porcelain"]), "");
        let shown = yard.act("sparse_checkout", &json!({ "folder": "trees/w", "patterns": ["/*"] }));
        assert!(!tree.join(file).exists(), "{shown}");
        let gone = yard.act("worktree_remove", &json!({ "path": "trees/w" }));
        assert!(!tree.exists(), "{gone}");
    }
}
