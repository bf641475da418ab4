//! The attacks: configuration keys × verbs, links × operations, protected files × verbs.

use crate::yard::Yard;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;

/// Where a repository names a program, and what makes git start it, as `keys.toml` explains.
#[derive(Deserialize)]
struct Key {
    config: String,
    #[serde(default)]
    attributes: String,
    plain: Vec<String>,
    ours: Vec<(String, String)>,
}

fn keys() -> Vec<Key> {
    let mut table: BTreeMap<String, Vec<Key>> = toml::from_str(include_str!("keys.toml")).unwrap();
    table.remove("key").unwrap()
}

/// The lines of its configuration in this yard.
fn config(yard: &Yard, key: &Key) -> String {
    let [program, toucher, marks] = ["program", "toucher", "marks"].map(|name| yard.at(name).display().to_string());
    let text = key.config.replace("@-", &format!("{toucher} mark")).replace("@@", &program);
    text.replace('@', &format!("{program} mark")).replace("MARKS", &marks) + "\n"
}

/// Where the key is set.
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
    let text = config(yard, key);
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
//# Git of a pack MUST NOT start a program, nor read or write a file outside of the repository and of what the
//# pack was granted.
//= docs/spec.md#git
//= type=test
//# `fetch` MUST NOT read the configuration of the repository, and MUST work with that of the user.
#[test]
fn no_key_of_a_repository_starts_a_program() {
    for (at, key) in keys().iter().enumerate() {
        for place in if at % 4 == 0 { &PLACES[..] } else { &PLACES[..1] } {
            let plain = split(&key.attributes);
            set(&plain, key, place);
            let words: Vec<&str> = key.plain.iter().map(String::as_str).collect();
            plain.plain(&plain.workspace(), &words);
            assert!(!plain.take_marks().is_empty(), "the attack is void: {place} {} {:?}", key.config, key.plain);
            let yard = split(&key.attributes);
            set(&yard, key, place);
            for (verb, options) in &key.ours {
                let options: Value = serde_json::from_str(options).unwrap();
                let reads = toolsd::primitive_api::git::read_verbs().any(|known| known.name == verb);
                let reported = if reads { yard.look(verb, &options) } else { yard.act(verb, &options) };
                assert_eq!(yard.take_marks(), [""; 0], "{place} {} {verb}: {reported}", key.config);
                assert!(!reported.to_string().contains("needs `"), "{verb}: {reported}");
            }
        }
    }
}

/// Every verb with what it needs, in a repository in which each of its commits and files exists.
pub fn every_verb() -> Vec<(bool, &'static str, Value)> {
    use toolsd::primitive_api::git::verb::OptionKind;
    let of = |verb: &'static toolsd::primitive_api::git::verb::GitVerb| {
        let mut options = json!({ "check": false });
        for option in verb.options().filter(|option| option.is_required) {
            options[option.name] = match (option.name, option.kind) {
                ("path", _) => json!("trees/w"),
                (_, OptionKind::FullRef) => json!("refs/heads/new"),
                ("remote", _) => json!("o"),
                ("name" | "names", OptionKind::Ref(_) | OptionKind::Refs(_)) => json!("new"),
                (_, OptionKind::Refs(_)) => json!(["other"]),
                (_, OptionKind::Ref(_)) => json!("other"),
                (_, OptionKind::OneOf(_, known)) => json!(known[0]),
                (_, OptionKind::Paths | OptionKind::Files) => json!(["a.txt"]),
                (_, OptionKind::Lines) => json!([]),
                _ => json!("new"),
            };
        }
        options
    };
    let reading = toolsd::primitive_api::git::read_verbs().map(|verb| (true, verb.name, of(verb)));
    reading.chain(toolsd::primitive_api::git::write_verbs().map(|verb| (false, verb.name, of(verb)))).collect()
}

/// All traps at once, under every verb there is: a new verb is tried as soon as it is declared.
#[test]
fn no_verb_starts_a_program_that_a_repository_names() {
    let yard = split("*.txt filter=x diff=x merge=x\n*.bin filter=p\n");
    yard.put("b.bin", "bin\n");
    yard.commit("bin");
    yard.put("a.txt", "one\nfive\n");
    let mut all = String::new();
    let known = keys();
    // A filter whose name has a `=` is in no notice.
    let known = known.iter().filter(|key| !["hooksPath", "ext::", "a=b"].iter().any(|part| key.config.contains(part)));
    all.extend(known.map(|key| config(&yard, key)));
    let hooks = yard.workspace().join(".git/hooks");
    fs::create_dir_all(&hooks).unwrap();
    for hook in ["pre-commit", "post-checkout", "reference-transaction", "post-merge"] {
        yard.program(&format!("workspace/.git/hooks/{hook}"), &format!(": > {}/{hook}\n", yard.at("marks").display()));
    }
    yard.configure(&all);
    yard.plain(&yard.workspace(), &["commit", "-aqm", "void?"]);
    assert!(yard.take_marks().len() > 1, "the trap does not work");
    let reported = yard.look("status", &json!({}));
    assert!(reported["notices"].to_string().contains("passes a filter"), "{reported}");
    for (reads, verb, options) in every_verb() {
        yard.put("a.txt", "one\nfive\n");
        let reported = if reads { yard.look(verb, &options) } else { yard.act(verb, &options) };
        assert_eq!(yard.take_marks(), [""; 0], "{verb} {options}: {reported}");
        assert!(reported["error"] != json!("arguments"), "{verb} {options}: {reported}");
    }
}

/// How a repository reaches out, and how git shows that it does.
const REACHES: [(&str, &[&str], &str, &str); 7] = [
    ("git_file", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
    ("git_link", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
    ("common_dir", &["show", "HEAD:secret"], "show", "{\"refs\":\"HEAD:secret\"}"),
    ("alternates", &["show", "HASH:secret"], "show", "{\"refs\":\"HASH:secret\"}"),
    ("objects_link", &["show", "HASH:secret"], "show", "{\"refs\":\"HASH:secret\"}"),
    ("pack_link", &["show", "HASH:secret"], "show", "{\"refs\":\"HASH:secret\"}"),
    ("work_tree", &["diff", "--no-index", "/dev/null", "../secret"], "files", "{\"others\":true}"),
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
        _ => yard.configure(&format!("[core]\nworktree = {}\n", other.display())),
    }
    (yard, hash)
}

//= docs/spec.md#git
//= type=test
//# A repository MUST be found as git finds it, from the folder of the call upward.
//= docs/spec.md#git
//= type=test
//# A git directory outside of the granted roots MUST be refused unless it names the working tree in turn.
//= docs/spec.md#git
//= type=test
//# A repository that refers to repositories, object stores or configuration that the pack may not access MUST
//# be refused.
//= docs/spec.md#git
//= type=test
//# A symlink, a special file or an oversized file in place of a known part of a repository MUST be refused by
//# name.
#[test]
fn no_repository_reaches_out_of_the_roots() {
    for (how, plain, verb, options) in REACHES {
        let (yard, hash) = reach(how);
        let words: Vec<String> = plain.iter().map(|word| word.replace("HASH", &hash)).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let seen = yard.plain(&yard.workspace(), &words).stdout;
        assert!(String::from_utf8_lossy(&seen).contains("the secret"), "the attack is void: {how}");
        let options: Value = serde_json::from_str(&options.replace("HASH", &hash)).unwrap();
        let reported = yard.look(verb, &options).to_string();
        assert!(!reported.contains("the secret") && !reported.contains("\"secret"), "{how}: {reported}");
        if how != "work_tree" {
            assert!(reported.contains("\"error\""), "{how}: {reported}");
            let acted = yard.act("commit", &json!({ "allow_empty": true, "message": "x" }));
            assert!(acted["error"].is_string(), "{how}: {acted}");
        }
    }
}

//= docs/spec.md#git
//= type=test
//# A repository that the pack can write to MUST be refused.
#[test]
fn repositories_the_pack_can_write_are_refused() {
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
        // The pack cannot write it now; it could before it was a repository, and a program that it may run can.
        let config = yard.call("plan_file", &json!({ "path": "out/bare/config", "text": text }));
        assert!(config["error"].to_string().contains("for a repository, which no grant covers"), "{config}");
        fs::write(made.join("bare/config"), &text).unwrap();
        let seen = yard.plain(&yard.workspace().join(folder), &["log", "-1", "--format=%s"]);
        assert!(seen.status.success(), "the attack is void: {folder}");
        let reported = yard.look("log", &json!({ "cwd": folder }));
        let of_workspace = yard.look("repository", &json!({ "cwd": folder, "show": "git_dir" }));
        let whys = ["is not a repository: the pack may write", "is a repository without a working tree"];
        for reported in [&reported, &of_workspace] {
            assert!(whys.iter().any(|why| reported["error"].to_string().contains(why)), "{folder}: {reported}");
        }
    }
}

//= docs/spec.md#git
//= type=test
//# Changes that git makes to `toolsd.toml` and `.toolsd` MUST be reported.
#[test]
fn host_files_changed_by_git_are_reported() {
    for (verb, options) in [("switch", json!({ "ref": "evil" })), ("merge", json!({ "ref": "evil" }))] {
        let yard = Yard::with_repository();
        yard.git(&["checkout", "-q", "-b", "evil"]);
        yard.put(".toolsd/tools.d/evil.toml", "planted\n");
        yard.commit("evil");
        yard.git(&["checkout", "-q", "main"]);
        let reported = yard.act(verb, &options);
        assert!(yard.workspace().join(".toolsd/tools.d/evil.toml").exists(), "{verb}: {reported}");
        let notices = reported["notices"].to_string();
        assert!(
            notices.contains("`.toolsd/tools.d/evil.toml`") && notices.contains("toolsd trust"),
            "{verb}: {reported}"
        );
    }
}
