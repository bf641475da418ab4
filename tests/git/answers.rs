//! Every verb with every option: what a pack is answered is what git answers a person in the same repository.
//!
//! The questions are made from the table of verbs, and put to unconfined git directly. This finds a verb that answers
//! or behaves differently because it is confined, also one without a test of its own.

use crate::yard::Yard;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use toolsd::primitive_api::git::verb::{GitVerb, OptionKind};
use toolsd::primitive_api::git::{read_verbs, write_verbs};

/// What is asked, in addition to the kinds of options.
#[derive(Deserialize)]
struct Table {
    values: Vec<(String, String, String)>,
    with: Vec<(String, String, String)>,
    silent: Vec<(String, String)>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| toml::from_str(include_str!("answers.toml")).unwrap());

/// The row of an option: that of its verb before one of any verb.
fn row(rows: &'static [(String, String, String)], verb: &GitVerb, option: &str) -> Option<&'static str> {
    let found = rows.iter().filter(|(of, name, _)| name == option && (of.is_empty() || of == verb.name));
    found.max_by_key(|(of, ..)| of.len()).map(|(.., json)| json.as_str())
}

/// A repository with something of everything.
pub fn template() -> Yard {
    let yard = Yard::with_repository();
    let mut shell = yard.at_home(Command::new("sh"));
    assert!(shell.args(["-c", include_str!("template.sh")]).current_dir(yard.workspace()).status().unwrap().success());
    yard
}

/// What was changed and not committed, for verbs that look at it.
pub fn changed(yard: &Yard, folder: &Path) {
    fs::write(folder.join("deep/b.txt"), "a changed line\nanother line\n").unwrap();
    fs::write(folder.join("staged.txt"), "a staged line\n").unwrap();
    yard.git_in(folder, &["add", "staged.txt"]);
    fs::write(folder.join("new.txt"), "a new line\n").unwrap();
}

/// Prepares what a verb that writes needs to have an effect.
pub fn before(yard: &Yard, folder: &Path, verb: &str) {
    match verb {
        "add" | "reset" => changed(yard, folder),
        "commit" => {
            changed(yard, folder);
            fs::write(folder.join("a.txt"), "one\nline two\nfour\n").unwrap();
        }
        "merge_abort" => {
            yard.git_in(folder, &["checkout", "-q", "-b", "clash", "v1"]);
            fs::write(folder.join("a.txt"), "one\nline of the clash\n").unwrap();
            yard.git_in(folder, &["commit", "-qam", "clash"]);
            assert!(!yard.plain(folder, &["merge", "main"]).status.success(), "{verb}: no conflict");
        }
        "worktree_remove" | "worktree_prune" | "worktree_unlock" => {
            yard.git_in(folder, &["worktree", "add", "-q", "trees/there", "side"]);
            match verb {
                "worktree_prune" => fs::remove_dir_all(folder.join("trees")).unwrap(),
                "worktree_unlock" => drop(yard.git_in(folder, &["worktree", "lock", "trees/there"])),
                _ => {}
            }
        }
        _ => {}
    }
}

fn value(verb: &GitVerb, name: &str, kind: OptionKind) -> Value {
    if let Some(json) = row(&TABLE.values, verb, name)
        && !matches!(kind, OptionKind::Flag(_))
    {
        return serde_json::from_str(json).unwrap();
    }
    match kind {
        OptionKind::Flag(_) => json!(true),
        OptionKind::Number(_) => json!(3),
        OptionKind::OneOf(_, known) => json!(known[0]),
        OptionKind::FullRef => json!("refs/heads/side"),
        OptionKind::Refs("") if name == "names" => json!("refs/heads"),
        OptionKind::Ref(_) => json!("HEAD"),
        OptionKind::Refs(_) => json!(["HEAD~1"]),
        OptionKind::Text("--until=") => json!("2037-01-01"),
        OptionKind::Text("--since=") => json!("2001-01-01"),
        OptionKind::Text("--sort=") => json!("-version:refname"),
        OptionKind::Text("--format=") => json!("%(refname) %(objecttype)"),
        OptionKind::Text("--diff-filter=") => json!("AM"),
        OptionKind::Text("--grep=" | "-e") => json!("line"),
        OptionKind::Text(_) | OptionKind::Message => json!("said"),
        OptionKind::Index => json!("own"),
        OptionKind::Person => json!("Bea <bea@example.org>"),
        OptionKind::Date => json!("2026-02-03T04:05:06Z"),
        OptionKind::Path => json!("trees/w"),
        OptionKind::Paths | OptionKind::Files => json!(["deep"]),
        OptionKind::Lines => json!([]),
        OptionKind::Host(_) => json!(20_000),
    }
}

/// Each verb alone, and with each of its options.
pub fn questions(verbs: impl Iterator<Item = &'static GitVerb>) -> Vec<(&'static GitVerb, &'static str, Value)> {
    let mut found = Vec::new();
    for verb in verbs.filter(|verb| !verb.words.is_empty()) {
        let mut needed = Map::new();
        for option in verb.options().filter(|option| option.is_required) {
            needed.insert(option.name.to_owned(), value(verb, option.name, option.kind));
        }
        if verb.name == "commit" {
            needed.insert("message".to_owned(), json!("said"));
        }
        if verb.name == "rev_list" || verb.name == "read_tree" {
            let given = if verb.name == "rev_list" { ("refs", json!(["HEAD"])) } else { ("ref", json!("HEAD")) };
            needed.insert(given.0.to_owned(), given.1);
        }
        if verb.name == "add" {
            needed.insert("paths".to_owned(), json!(["deep"]));
        }
        found.push((verb, "", Value::Object(needed.clone())));
        for option in verb.options() {
            let values = match option.kind {
                OptionKind::OneOf(_, known) => known.iter().map(|word| json!(word)).collect(),
                kind => vec![value(verb, option.name, kind)],
            };
            for value in values {
                let mut options = needed.clone();
                if verb.name == "add" && option.name == "all" || verb.name == "commit" && option.name == "paths" {
                    options.remove("paths");
                }
                options.insert(option.name.to_owned(), value);
                if let Some(more) = row(&TABLE.with, verb, option.name) {
                    options.extend(serde_json::from_str::<Map<String, Value>>(more).unwrap());
                }
                options.retain(|_, value| !value.is_null());
                found.push((verb, option.name, Value::Object(options)));
            }
        }
    }
    found
}

/// What toolsd adds. A person does not need it, and without it git prints the same or more.
const OWN: &[&str] = &[
    "--no-autosquash",
    "--no-autostash",
    "--no-checkout",
    "--no-ext-diff",
    "--no-fork-point",
    "--no-rebase-merges",
    "--no-textconv",
    "--no-track",
    "--no-update-refs",
    "--no-verify",
    "--whitespace=nowarn",
];

/// What a person types for it: arguments and input of git.
fn typed(verb: &GitVerb, options: &Value) -> (Vec<String>, Vec<u8>) {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let all = |value: &Value| match value {
        Value::Array(items) => items.iter().map(text).collect(),
        one => vec![text(one)],
    };
    let mut words: Vec<String> = verb.words.iter().map(|word| (*word).to_owned()).collect();
    let (mut names, mut paths, mut input) = (Vec::new(), Vec::new(), Vec::new());
    for option in verb.options() {
        let Some(value) = options.get(option.name) else { continue };
        match option.kind {
            OptionKind::Flag(word) => words.push(word.to_owned()),
            OptionKind::Ref("") | OptionKind::Refs("") | OptionKind::FullRef | OptionKind::Path => {
                names.extend(all(value));
            }
            OptionKind::Number(word)
            | OptionKind::Text(word)
            | OptionKind::OneOf(word, _)
            | OptionKind::Ref(word)
            | OptionKind::Refs(word) => {
                let is_joined = word.ends_with(['=', '-']);
                for one in all(value) {
                    match is_joined {
                        true => words.push(format!("{word}{one}")),
                        false => words.extend([word.to_owned(), one]),
                    }
                }
            }
            OptionKind::Paths => paths = all(value),
            OptionKind::Files => words.extend(all(value)),
            OptionKind::Message => {
                words.extend(["-F", "-"].map(str::to_owned));
                input = text(value).into_bytes();
            }
            OptionKind::Lines => {
                input = all(value).iter().flat_map(|line| format!("{line}\n").into_bytes()).collect();
            }
            OptionKind::Person | OptionKind::Date | OptionKind::Index | OptionKind::Host(_) => {}
        }
    }
    words.retain(|word| !OWN.contains(&word.as_str()) && !word.starts_with("--ignore-submodules="));
    words.extend(names);
    if !paths.is_empty() {
        words.extend((verb.name != "tree").then(|| "--".to_owned()));
        words.extend(paths);
    }
    (words, input)
}

/// The code, and what git prints for a person.
pub fn plain(yard: &Yard, folder: &Path, verb: &GitVerb, options: &Value) -> (i64, String, String) {
    let (words, input) = typed(verb, options);
    let mut command = yard.at_home(Command::new("git"));
    for setting in
        ["color.ui=false", "core.quotePath=false", "advice.detachedHead=false", "branch.autoSetupMerge=false"]
    {
        command.args(["-c", setting]);
    }
    if let Some(index) = options.get("index") {
        let git_dir = yard.git_in(folder, &["rev-parse", "--absolute-git-dir"]);
        let file = Path::new(git_dir.trim()).join(format!("toolsd-{}.index", index.as_str().unwrap()));
        command.env("GIT_INDEX_FILE", file);
    }
    command.args(&words).current_dir(folder).env("LC_ALL", "C").env("GIT_ADVICE", "0");
    command.env("GIT_EDITOR", ":").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Git may end before it has read all of it.
    drop(child.stdin.take().unwrap().write_all(&input));
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().unwrap_or(-1).into(), text(&output.stdout), text(&output.stderr))
}

fn is_silent(verb: &str, option: &str) -> bool {
    TABLE.silent.iter().any(|(of, name)| name == option && (of.is_empty() || of == verb))
}

//= docs/spec.md#git
//= type=test
//# A verb MUST have the same result as git in the same repository.
#[test]
fn a_verb_that_looks_says_what_git_says() {
    let yard = template();
    changed(&yard, &yard.workspace());
    fs::remove_file(yard.workspace().join("gone.txt")).unwrap();
    let questions = questions(read_verbs());
    let asked: Vec<Value> = questions
        .iter()
        .map(|(verb, _, options)| {
            let mut options = options.clone();
            options["check"] = json!(false);
            json!({ "verb": verb.name, "options": options, "reads": true })
        })
        .collect();
    let answers = yard.call("say_all", &json!({ "questions": asked }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut mismatches = Vec::new();
    for ((verb, option, options), reported) in questions.iter().zip(answers) {
        let (code, output, errors) = plain(&yard, &yard.workspace(), verb, options);
        let is_same = reported["code"] == json!(code) && reported["text"] == json!(output);
        let is_useful = code == 0 && !output.is_empty() || is_silent(verb.name, option);
        if !is_same || !is_useful {
            mismatches.push(format!("{} {options}\n  git: {code} {output:?} {errors:?}\n  we: {reported}", verb.name));
        }
    }
    assert!(mismatches.is_empty(), "{} of {}:\n{}", mismatches.len(), questions.len(), mismatches.join("\n"));
}

/// Everything in a repository and its working tree, except for what depends on the clock.
pub fn state(yard: &Yard, folder: &Path) -> BTreeMap<String, String> {
    let git = |words: &[&str]| {
        let output = yard.plain(folder, words);
        // The names in a tree of notes are hashes of commits: of a ref of notes its name counts.
        let timeless = |line: &str| match line.split_once(' ') {
            Some((name, _)) if name.starts_with("refs/notes/") => Some(name.to_owned()),
            _ => (!line.contains("Notes added by")).then(|| line.to_owned()),
        };
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.split('\n').filter_map(timeless).collect::<Vec<_>>().join("\n")
    };
    let mut found = BTreeMap::new();
    for words in [
        &["for-each-ref", "--format=%(refname) %(symref) %(objecttype) %(tree) %(subject) %(authorname)"][..],
        &["log", "--all", "--format=%T %s %an %ae"],
        &["symbolic-ref", "-q", "HEAD"],
        &["status", "--porcelain", "--ignored", "-uall"],
        &["ls-files", "-s"],
        &["stash", "list"],
    ] {
        found.insert(words.join(" "), git(words));
    }
    // Their order hangs on the clock.
    if let Some(log) = found.get_mut("log --all --format=%T %s %an %ae") {
        let mut lines: Vec<&str> = log.lines().collect();
        lines.sort_unstable();
        *log = lines.join("\n");
    }
    fn files(folder: &Path, top: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.file_name().is_some_and(|name| name == ".git") {
                continue;
            }
            let name = path.strip_prefix(top).unwrap().display().to_string();
            match path.is_dir() {
                _ if path.is_symlink() => {
                    found.insert(name, format!("-> {}", fs::read_link(&path).unwrap().display()));
                }
                true => files(&path, top, found),
                false => {
                    found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap()).into_owned());
                }
            }
        }
    }
    files(folder, folder, &mut found);
    found
}

pub fn copied(from: &Path, to: &Path) {
    assert!(Command::new("cp").args(["-a"]).arg(from).arg(to).status().unwrap().success());
}

/// A copy of a repository, and its index as git would have it there: another file is another time.
pub fn copied_repository(yard: &Yard, from: &Path, to: &Path) {
    copied(from, to);
    let _conflicts_stay = yard.plain(to, &["update-index", "-q", "--refresh"]);
}

/// The options with a blob for the `@` in lines of an index or a tree.
pub fn filled(template: &Yard, verb: &GitVerb, options: &Value) -> Value {
    if verb.name != "update_index" {
        return options.clone();
    }
    let blob = template.git(&["rev-parse", "HEAD:a.txt"]);
    serde_json::from_str(&options.to_string().replace('@', blob.trim())).unwrap()
}

#[test]
fn a_verb_that_changes_something_leaves_what_git_leaves() {
    let (yard, template) = (&Yard::new(), &template());
    let questions = crate::support::sample(questions(write_verbs()), 40);
    let mut asked = Vec::new();
    for (at, (verb, _, options)) in questions.iter().enumerate() {
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        copied_repository(yard, &template.workspace(), &ours);
        before(yard, &ours, verb.name);
        // The working trees of a copy are those of its model.
        match verb.name.starts_with("worktree_") {
            true => {
                copied_repository(yard, &template.workspace(), &theirs);
                before(yard, &theirs, verb.name);
            }
            false => copied_repository(yard, &ours, &theirs),
        }
        let mut options = filled(template, verb, options);
        options["check"] = json!(false);
        options["cwd"] = json!(format!("q{at}"));
        asked.push(json!({ "verb": verb.name, "options": options, "reads": false }));
    }
    let answers = yard.call("say_all", &json!({ "questions": asked }));
    let answers = answers.as_array().unwrap_or_else(|| panic!("{answers}"));
    let mut mismatches = Vec::new();
    for (at, ((verb, option, options), reported)) in questions.iter().zip(answers).enumerate() {
        let (ours, theirs) = (yard.workspace().join(format!("q{at}")), yard.at(&format!("q{at}")));
        let options = filled(template, verb, options);
        let (code, output, errors) = plain(yard, &theirs, verb, &options);
        let (ours, theirs) = (state(yard, &ours), state(yard, &theirs));
        let differs: Vec<String> = theirs
            .iter()
            .filter(|(name, text)| ours.get(*name) != Some(text))
            .map(|(name, text)| format!("{name}: git {text:?}, we {:?}", ours.get(name)))
            .chain(ours.keys().filter(|name| !theirs.contains_key(*name)).map(|name| format!("{name}: only ours")))
            .collect();
        if reported["code"] != json!(code) || code != 0 || !differs.is_empty() {
            let differs = differs.join("\n  ");
            mismatches.push(format!(
                "{} {option} {options}\n  git: {code} {output:?} {errors:?}\n  we: {reported}\n  {differs}",
                verb.name
            ));
        }
    }
    assert!(mismatches.is_empty(), "{} of {}:\n{}", mismatches.len(), questions.len(), mismatches.join("\n"));
}
