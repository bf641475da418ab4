//! Recorded runs of the command line, replayed: what came out, what was refused, what was committed.

use super::play::{self, Stage};
use super::{names, tables};
use crate::support::git;
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

/// What only one of two lists has; an item counts as often as it appears.
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
    errors: RefCell<Vec<String>>,
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

    fn error(&self, differs: bool, reported: impl FnOnce() -> String) {
        if differs {
            self.errors.borrow_mut().push(reported());
        }
    }

    fn compare(&self, name: &str, result: &Value, root: &Path) {
        assert!(self.folder.join(name).is_dir(), "there is no recording {name}");
        let differs = self.differs(name);
        let (rc, outcome) = (self.text(name, "rc").unwrap(), differs.contains_key("success"));
        let well = rc.trim() == "0";
        let ours = result["success"].as_bool().unwrap_or(well);
        self.error((ours == well) == outcome, || format!("{name}: recorded {rc}, here {result}"));
        let diff = self.text(name, "commit.diff").or_else(|| self.text(name, "uncommitted.diff").filter(|_| well));
        if let Some(diff) = diff {
            let (mut ours, mut theirs) = (changes(&git(root, &["show", "--format=", "HEAD"])), changes(&diff));
            if differs.contains_key("texts") {
                // The texts are other ones: which files there are is compared.
                for lines in [&mut ours, &mut theirs] {
                    lines.retain(|line| line.starts_with("diff --git"));
                }
            }
            let allowed =
                |key: &str| differs.get(key).map(|all| play::strings(&play::as_json(all))).unwrap_or_default();
            for (key, found) in [("only_here", only(&ours, &theirs)), ("only_there", only(&theirs, &ours))] {
                self.error(found != allowed(key), || format!("{name}: {key} = {found:#?}"));
            }
        }
        let title = |text: String| text.lines().next()?.split('|').nth(2).map(str::to_owned);
        if let Some(title) = self.text(name, "git").and_then(title) {
            let ours = git(root, &["log", "-1", "--format=%s"]).trim().to_owned();
            let fits = differs.get("title").map_or(title.as_str(), |title| title.as_str().unwrap()) == ours;
            self.error(!fits, || format!("{name}: title {title}, here {ours}"));
        }
        if well && !outcome {
            let skip = differs.get("fields").map(|all| play::strings(&play::as_json(all))).unwrap_or_default();
            if let Some(recorded) = self.text(name, "stdout").and_then(|text| json_of(&text, root)) {
                let mut found = Vec::new();
                fields(&recorded, &result["data"], "", &mut found);
                found.retain(|(at, _)| at != "/result");
                found.sort();
                found.dedup_by_key(|(at, _)| at.clone());
                let at: Vec<String> = found.iter().map(|(at, _)| at.clone()).collect();
                self.error(at != skip, || format!("{name}: fields = {at:?} {found:#?}"));
            }
        }
    }
}

/// The first JSON that a run printed.
fn json_of(text: &str, root: &Path) -> Option<Value> {
    let text = text.replace("${PROJECT}", root.to_str().unwrap());
    let from = text.find("\n{").map_or(0, |at| if text.starts_with('{') { 0 } else { at + 1 });
    serde_json::Deserializer::from_str(&text[from..]).into_iter::<Value>().next()?.ok()
}

/// Every field that was recorded and is another one here; further ones are allowed.
fn fields(recorded: &Value, got: &Value, at: &str, found: &mut Vec<(String, String)>) {
    let same = match (recorded, got) {
        (Value::Object(recorded), Value::Object(_)) => {
            recorded.iter().for_each(|(key, value)| fields(value, &got[key], &format!("{at}/{key}"), found));
            true
        }
        (Value::Array(recorded), Value::Array(items)) if recorded.len() == items.len() => {
            recorded.iter().zip(items).for_each(|(one, other)| fields(one, other, &format!("{at}/*"), found));
            true
        }
        // How long ago something of the same run was: a busy machine takes longer.
        (Value::Number(one), Value::Number(other)) if at.ends_with("/minutes_since_commit") => {
            other.as_f64() >= one.as_f64() && other.as_f64() < Some(5.0)
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::String(one), Value::String(other)) => mask(one) == mask(other),
        _ => recorded == got,
    };
    if !same {
        found.push((at.to_owned(), format!("recorded {recorded}, here {got}")));
    }
}

/// The recorded life of a feature, from its tasks to its merge, step by step.
#[test]
#[ignore = "real projects: `just corpora`"]
fn the_recorded_runs_agree() {
    let data = play::data();
    let table = table();
    let folder = data.join("golden");
    let recorded = Recorded {
        folder: &folder,
        used: RefCell::default(),
        allowed: tables(&table, "differs"),
        errors: RefCell::default(),
    };
    let mut seen = BTreeSet::new();
    for scene in tables(&table, "scene") {
        let mut stage = Stage::set(&scene);
        for (at, step) in tables(&scene, "step").iter().enumerate() {
            let golden = step.get("golden").map(|name| name.as_str().unwrap().to_owned());
            let reported =
                format!("{} step {} {}", scene["title"].as_str().unwrap(), at + 1, golden.clone().unwrap_or_default());
            let result = stage.step(step, &reported);
            if let Some(name) = golden {
                recorded.compare(&name, &result, &stage.root);
                seen.insert(name);
            }
        }
    }
    let errors = recorded.errors.borrow();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    let idle: Vec<String> = recorded
        .allowed
        .iter()
        .flat_map(|entry| names(entry, "at"))
        .filter(|name| !recorded.used.borrow().contains(name))
        .collect();
    assert!(idle.is_empty(), "these allowed differences are unused: {idle:?}");
    let passed: BTreeSet<String> = tables(&table, "passed_over").iter().flat_map(|entry| names(entry, "at")).collect();
    let all = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let missing: Vec<String> =
        all.filter(|name| name != "files" && !seen.contains(name) && !passed.contains(name)).collect();
    assert!(missing.is_empty(), "recorded runs that are not checked: {missing:?}");
}

/// Finalizing produces the recorded files byte for byte.
#[test]
#[ignore = "real projects: `just corpora`"]
fn finalized_files_are_those_of_the_command_line() {
    let data = play::data();
    let (_folder, root) = play::project("s3-tasked", true);
    let (before, after) = (data.join("golden/files/before-finalize"), data.join("golden/files/after-finalize"));
    let tasks = root.join("kitty-specs/001-export-todos/tasks");
    for entry in fs::read_dir(&before).unwrap() {
        let entry = entry.unwrap();
        fs::write(tasks.join(entry.file_name()), fs::read(entry.path()).unwrap()).unwrap();
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
