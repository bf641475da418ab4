//! Recorded runs of the command line, replayed: what came out, what was refused, what was committed.

use crate::play::{self, Stage, git};
use crate::{names, tables};
use serde_json::Value;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

fn table() -> toml::Table {
    include_str!("golden.toml").parse().unwrap()
}

/// The lines that a diff adds and takes away, with its files; times, hashes and ids of processes masked.
fn changes(diff: &str) -> Vec<String> {
    let kept = diff.lines().filter(|line| {
        line.starts_with("diff --git")
            || (line.starts_with(['+', '-']) && !line.starts_with("+++") && !line.starts_with("---"))
    });
    kept.map(mask).collect()
}

fn mask(line: &str) -> String {
    let mut line = line.to_owned();
    for (pattern, by) in [
        (r"\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)", "TIME"),
        (r"\d{4}-\d\d-\d\d", "DATE"),
        (r#"shell_pid(: "|=)\d+"#, "shell_pid${1}PID"),
        (r"\b[0-9a-f]{7,40}\b", "HASH"),
        (r" \(PID: \d+\)", ""),
    ] {
        line = regex::Regex::new(pattern).unwrap().replace_all(&line, by).into_owned();
    }
    line
}

/// What only one of two lists has; an item counts as often as it stands there.
fn only(one: &[String], other: &[String]) -> Vec<String> {
    let mut left = other.to_vec();
    let mut found = Vec::new();
    for item in one {
        match left.iter().position(|known| known == item) {
            Some(at) => drop(left.remove(at)),
            None => found.push(item.clone()),
        }
    }
    found
}

struct Recorded<'a> {
    folder: &'a Path,
    used: RefCell<BTreeSet<String>>,
    allowed: Vec<toml::Table>,
}

impl Recorded<'_> {
    fn text(&self, name: &str, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(name).join(file)).ok()
    }

    /// The differences that are allowed for a run.
    fn differs(&self, name: &str) -> toml::Table {
        let found = self.allowed.iter().find(|entry| names(entry, "at").iter().any(|at| at == name));
        if found.is_some() {
            self.used.borrow_mut().insert(name.to_owned());
        }
        found.cloned().unwrap_or_default()
    }

    fn compare(&self, name: &str, result: &Value, root: &Path) {
        assert!(self.folder.join(name).is_dir(), "there is no recording {name}");
        let differs = self.differs(name);
        let rc = self.text(name, "rc").unwrap();
        if result["success"].is_boolean() && !differs.contains_key("success") {
            assert_eq!(result["success"] == true, rc.trim() == "0", "{name}: {result}");
        }
        if let Some(diff) = self.text(name, "commit.diff").or_else(|| self.text(name, "uncommitted.diff")) {
            let (ours, theirs) = (changes(&git(root, &["show", "--format=", "HEAD"])), changes(&diff));
            let allowed =
                |key: &str| differs.get(key).map(|lines| play::strings(&play::as_json(lines))).unwrap_or_default();
            assert_eq!(only(&ours, &theirs), allowed("only_here"), "{name}: lines of the commit that are only here");
            assert_eq!(
                only(&theirs, &ours),
                allowed("only_there"),
                "{name}: lines of the commit that are only recorded"
            );
        }
        let subject = self
            .text(name, "git")
            .and_then(|text| text.lines().next().and_then(|line| line.split('|').nth(2).map(str::to_owned)));
        if let Some(subject) = subject.filter(|_| !differs.contains_key("subject")) {
            assert_eq!(git(root, &["log", "-1", "--format=%s"]).trim(), subject, "{name}");
        }
        if let Some(recorded) =
            self.text(name, "stdout").and_then(|text| json_of(&text, root)).filter(|_| rc.trim() == "0")
        {
            let skip = differs.get("fields").map(|fields| play::strings(&play::as_json(fields))).unwrap_or_default();
            fields(&recorded, &result["data"], "", &skip, name);
        }
    }
}

/// The first JSON that a run printed.
fn json_of(text: &str, root: &Path) -> Option<Value> {
    let text = text.replace("${PROJECT}", root.to_str().unwrap());
    let from = text.find("\n{").map_or(0, |at| if text.starts_with('{') { 0 } else { at + 1 });
    serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>().next()?.ok()
}

/// Every field that was recorded, but for those that are named; further ones are allowed.
fn fields(recorded: &Value, got: &Value, at: &str, skip: &[String], name: &str) {
    if skip.iter().any(|one| one == at) {
        return;
    }
    match (recorded, got) {
        (Value::Object(recorded), Value::Object(found)) => {
            for (key, value) in recorded {
                fields(value, found.get(key).unwrap_or(&Value::Null), &format!("{at}/{key}"), skip, name);
            }
        }
        (Value::Array(recorded), Value::Array(found)) => {
            assert_eq!(recorded.len(), found.len(), "{name}: {at} is {got}");
            recorded.iter().zip(found).for_each(|(one, other)| fields(one, other, &format!("{at}/*"), skip, name));
        }
        (Value::Number(one), Value::Number(other)) => assert_eq!(one.as_f64(), other.as_f64(), "{name}: {at}"),
        (Value::String(one), Value::String(other)) => assert_eq!(mask(one), mask(other), "{name}: {at}"),
        _ => assert_eq!(recorded, got, "{name}: {at}"),
    }
}

/// The recorded life of a feature, from its tasks to its merge, step by step.
#[test]
fn the_recorded_runs_agree() {
    let Some(data) = play::data() else { return };
    let table = table();
    let folder = data.join("golden");
    let recorded = Recorded { folder: &folder, used: RefCell::default(), allowed: tables(&table, "differs") };
    let mut seen = BTreeSet::new();
    for scene in tables(&table, "scene") {
        let mut stage = Stage::set(&scene).unwrap();
        for (at, step) in tables(&scene, "step").iter().enumerate() {
            let golden = step.get("golden").map(|name| name.as_str().unwrap().to_owned());
            let told =
                format!("{} step {} {}", scene["title"].as_str().unwrap(), at + 1, golden.clone().unwrap_or_default());
            let result = stage.step(step, &told);
            if let Some(name) = golden {
                recorded.compare(&name, &result, &stage.root);
                seen.insert(name);
            }
        }
    }
    let idle: Vec<String> = recorded
        .allowed
        .iter()
        .flat_map(|entry| names(entry, "at"))
        .filter(|name| !recorded.used.borrow().contains(name))
        .collect();
    assert!(idle.is_empty(), "these differences are allowed and nobody asks: {idle:?}");
    let passed: BTreeSet<String> = tables(&table, "passed_over").iter().flat_map(|entry| names(entry, "at")).collect();
    let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let missing: Vec<String> =
        all.filter(|name| name != "files" && !seen.contains(name) && !passed.contains(name)).collect();
    assert!(missing.is_empty(), "recorded runs that nobody looks at: {missing:?}");
}

/// Finalizing gives the recorded files byte for byte.
#[test]
fn finalized_files_are_those_of_the_command_line() {
    let Some(data) = play::data() else { return };
    let (_folder, root) = play::project("s3-tasked", true).unwrap();
    let (before, after) = (data.join("golden/files/before-finalize"), data.join("golden/files/after-finalize"));
    let tasks = root.join("kitty-specs/001-export-todos/tasks");
    for entry in fs::read_dir(&before).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), tasks.join(entry.file_name())).unwrap();
    }
    let mut server = crate::support::Server::start(root.parent().unwrap(), "spec-kitty");
    let arguments =
        serde_json::json!({ "project_path": root, "operation": "tasks", "feature_slug": "001-export-todos" });
    let result = server.well("feature_operations", arguments);
    assert_eq!(result["data"]["updated_wp_count"], 4, "{result}");
    for entry in fs::read_dir(&after).unwrap() {
        let entry = entry.unwrap();
        let ours = fs::read_to_string(tasks.join(entry.file_name())).unwrap();
        assert_eq!(ours, fs::read_to_string(entry.path()).unwrap(), "{}", entry.path().display());
    }
}
