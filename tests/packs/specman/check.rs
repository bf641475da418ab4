//! Checks as data: `tests/specman/*.toml` hold workspaces, and steps of requests with what must come back.

use crate::support::Server;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What a step may do; anything else is a spelling mistake.
const ACTS: &str = "call read prompt method params arguments remove ordered";

/// What a step may say of the result; each says something.
const ASSERTS: &str = "matches gives fails has has_not contains lacks files unchanged equals keep write";

/// All tables of the folder, merged.
pub struct Table(toml::Table);

/// Steps in one workspace.
pub struct Check {
    pub musts: Vec<String>,
    pub why: String,
    files: Vec<(String, String)>,
    steps: Vec<Value>,
}

/// Reads the folder. Lists of the same name in several files are one list.
pub fn table() -> Table {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/packs/specman");
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    let mut whole = toml::Table::new();
    for path in paths {
        let table: toml::Table =
            fs::read_to_string(&path).unwrap().parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        for (key, value) in table {
            match (whole.get_mut(&key), value) {
                (Some(toml::Value::Array(known)), toml::Value::Array(more)) => known.extend(more),
                (Some(toml::Value::Table(known)), toml::Value::Table(more)) => known.extend(more),
                (None, value) => drop(whole.insert(key, value)),
                _ => panic!("{}: `{key}` is of two kinds", path.display()),
            }
        }
    }
    Table(whole)
}

impl Table {
    /// A table from names to texts.
    pub fn names(&self, key: &str) -> Vec<(String, String)> {
        let entries = self.0[key].as_table().unwrap().iter();
        entries.map(|(name, text)| (name.clone(), text.as_str().unwrap().to_owned())).collect()
    }

    /// A list of tables as JSON.
    pub fn list(&self, key: &str) -> Vec<Value> {
        self.0
            .get(key)
            .and_then(toml::Value::as_array)
            .into_iter()
            .flatten()
            .map(|entry| serde_json::to_value(entry).unwrap())
            .collect()
    }

    /// The checks, each with the files of its workspace.
    pub fn checks(&self) -> Vec<Check> {
        self.list("check").iter().map(|entry| self.check(entry)).collect()
    }

    fn check(&self, entry: &Value) -> Check {
        let why = entry["why"].as_str().expect("every check says why").to_owned();
        let known = ["must", "why", "workspace", "lay", "step"];
        let steps: Vec<Value> = match entry.get("step") {
            Some(steps) => steps.as_array().unwrap().clone(),
            None => {
                let own = entry.as_object().unwrap().iter().filter(|(key, _)| !known.contains(&key.as_str()));
                vec![own.map(|(key, value)| (key.clone(), value.clone())).collect()]
            }
        };
        for step in &steps {
            let keys = step.as_object().unwrap().keys();
            let strange: Vec<_> = keys
                .filter(|key| ![ACTS, ASSERTS].iter().any(|known| known.split(' ').any(|one| one == *key)))
                .collect();
            assert!(strange.is_empty(), "{why}: {strange:?}");
            assert!(ASSERTS.split(' ').any(|key| step.get(key).is_some()), "{why}: a step asserts nothing");
        }
        let mut files = BTreeMap::new();
        let name = entry["workspace"].as_str().unwrap_or("tea");
        let workspace = self.0["workspace"].get(name).unwrap_or_else(|| panic!("{why}: there is no workspace {name}"));
        files.extend(texts(&serde_json::to_value(workspace).unwrap()));
        files.extend(texts(&entry["lay"]));
        let musts = entry["must"]
            .as_array()
            .expect("every check names its musts")
            .iter()
            .map(|must| must.as_str().unwrap().to_owned());
        Check { musts: musts.collect(), why, files: files.into_iter().collect(), steps }
    }
}

fn texts(table: &Value) -> Vec<(String, String)> {
    let entries = table.as_object().into_iter().flatten();
    entries.map(|(path, text)| (path.clone(), text.as_str().unwrap().to_owned())).collect()
}

impl Check {
    /// Writes the files of its workspace into a folder.
    pub fn lay_out(&self, root: &Path) {
        self.files.iter().for_each(|(path, text)| lay(root, path, text));
    }

    /// Everything that is not as it should be.
    pub fn run(&self) -> Vec<String> {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("workspace");
        fs::create_dir(&root).unwrap();
        self.lay_out(&root);
        let mut server = Server::start(&root, "specman");
        let mut kept = BTreeMap::new();
        let mut errors = Vec::new();
        for (number, step) in self.steps.iter().enumerate() {
            let found = self.step(step, &mut server, &root, &mut kept);
            errors.extend(found.into_iter().map(|error| format!("step {}: {error}", number + 1)));
        }
        errors
    }

    fn step(&self, step: &Value, server: &mut Server, root: &Path, kept: &mut BTreeMap<String, Value>) -> Vec<String> {
        for (path, text) in texts(&step["write"]) {
            lay(root, &path, &text);
        }
        for path in strings(&step["remove"]) {
            fs::remove_file(root.join(path)).unwrap();
        }
        let before = files_below(root);
        let Some(answer) = asked(step, server) else { return Vec::new() };
        let mut errors = judge(step, &answer);
        if let Some(name) = step["keep"].as_str() {
            kept.insert(name.to_owned(), answer.data.clone());
        }
        if let Some(name) = step["equals"].as_str()
            && kept[name] != answer.data
        {
            errors.push(format!("{} is not equal to {name}: {}", answer.data, kept[name]));
        }
        let after = files_below(root);
        if step["unchanged"] == true && before != after {
            errors.push("files changed".to_owned());
        }
        for (path, wanted) in step["files"].as_object().into_iter().flatten() {
            if *wanted == false && root.join(path).exists() {
                errors.push(format!("{path} exists"));
            }
            errors.extend(judge_file(path, wanted, after.get(path)));
        }
        errors
    }
}

/// An answer: its data, its whole text, and the failure if it is one.
struct Answer {
    data: Value,
    text: String,
    failed: bool,
}

fn asked(step: &Value, server: &mut Server) -> Option<Answer> {
    let arguments = step.get("arguments").cloned().unwrap_or_else(|| json!({}));
    let (method, params) = if let Some(tool) = step["call"].as_str() {
        ("tools/call".to_owned(), json!({ "name": tool, "arguments": arguments }))
    } else if let Some(uri) = step["read"].as_str() {
        ("resources/read".to_owned(), json!({ "uri": uri }))
    } else if let Some(prompt) = step["prompt"].as_str() {
        ("prompts/get".to_owned(), json!({ "name": prompt, "arguments": arguments }))
    } else {
        (step["method"].as_str()?.to_owned(), step.get("params").cloned().unwrap_or_else(|| json!({})))
    };
    let whole = server.request(&method, params);
    if let Some(error) = whole.get("error") {
        let mut data = error.clone();
        if let Some(about) = error["data"].as_object() {
            data = json!(about);
            data["rpc"] = error["code"].clone();
            data["message"] = error["message"].clone();
        }
        return Some(Answer { data, text: error.to_string(), failed: true });
    }
    let result = &whole["result"];
    let text = match method.as_str() {
        "tools/call" => result["content"][0]["text"].as_str().unwrap_or_default().to_owned(),
        "resources/read" => result["contents"][0]["text"].as_str().unwrap_or_default().to_owned(),
        "prompts/get" => strings_of(&result["messages"]).join("\n"),
        _ => result.to_string(),
    };
    let data = serde_json::from_str(&text).unwrap_or_else(|_| json!(text));
    Some(Answer { data, text, failed: result["isError"] == true })
}

fn strings_of(messages: &Value) -> Vec<String> {
    let all = messages.as_array().into_iter().flatten();
    all.filter_map(|message| message["content"]["text"].as_str().map(str::to_owned)).collect()
}

fn judge(step: &Value, answer: &Answer) -> Vec<String> {
    let mut errors = Vec::new();
    if let Some(wanted) = step.get("fails") {
        if !answer.failed {
            errors.push(format!("it did not fail: {}", answer.text));
        }
        part(&answer.data, wanted, "", &mut errors);
    } else if answer.failed {
        errors.push(format!("it failed: {}", answer.text));
    }
    if let Some(wanted) = step.get("matches") {
        part(&answer.data, wanted, "", &mut errors);
    }
    if let Some(wanted) = step.get("gives")
        && *wanted != answer.data
    {
        errors.push(format!("got {}, wanted {wanted}", answer.data));
    }
    for (key, is_wanted) in [("has", true), ("has_not", false)] {
        for one in step[key].as_array().into_iter().flatten() {
            let at = one["at"].as_str().unwrap();
            let items = answer.data.pointer(at).and_then(Value::as_array).cloned().unwrap_or_default();
            let fits = |item: &Value| {
                let mut found = Vec::new();
                part(item, &one["item"], "", &mut found);
                found.is_empty()
            };
            if items.iter().any(fits) != is_wanted {
                errors.push(format!(
                    "{at} {} {}: {}",
                    if is_wanted { "lacks" } else { "has" },
                    one["item"],
                    answer.text
                ));
            }
        }
    }
    let text = &answer.text;
    let shown: String = text.chars().take(600).collect();
    errors.extend(
        strings(&step["contains"])
            .into_iter()
            .filter(|one| !text.contains(one))
            .map(|one| format!("lacks {one:?}: {shown}")),
    );
    errors.extend(
        strings(&step["lacks"]).into_iter().filter(|one| text.contains(one)).map(|one| format!("has {one:?}: {shown}")),
    );
    let mut rest = text.as_str();
    for part in strings(&step["ordered"]) {
        match rest.split_once(&part) {
            Some((_, after)) => rest = after,
            None => errors.push(format!("lacks {part:?} after what should come before it: {shown}")),
        }
    }
    errors
}

/// Maps may have more keys, lists are compared item by item; a wanted text `~part` must be contained.
fn part(got: &Value, wanted: &Value, at: &str, errors: &mut Vec<String>) {
    match (got, wanted) {
        (Value::Object(got), Value::Object(wanted)) => {
            for (key, wanted) in wanted {
                part(got.get(key).unwrap_or(&Value::Null), wanted, &format!("{at}/{key}"), errors);
            }
        }
        (Value::Array(got), Value::Array(wanted)) if got.len() == wanted.len() => {
            for (index, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                part(got, wanted, &format!("{at}/{index}"), errors);
            }
        }
        (Value::String(got), Value::String(wanted))
            if wanted.strip_prefix('~').is_some_and(|part| got.contains(part)) => {}
        _ if got == wanted => {}
        _ => errors.push(format!("{at}: got {got}, wanted {wanted}")),
    }
}

/// `false`: it does not exist; a text: exactly; a list: the file contains each text, or does not if it begins with `!`.
fn judge_file(path: &str, wanted: &Value, got: Option<&String>) -> Vec<String> {
    match (wanted, got) {
        (Value::Bool(false), None) => Vec::new(),
        (Value::Bool(false), Some(_)) => vec![format!("{path} exists")],
        (_, None) => vec![format!("{path} does not exist")],
        (Value::String(wanted), Some(got)) if got == wanted => Vec::new(),
        (Value::Array(_), Some(got)) => {
            let fits = |one: &String| {
                one.strip_prefix('!').map_or_else(|| got.contains(one.as_str()), |part| !got.contains(part))
            };
            strings(wanted)
                .into_iter()
                .filter(|one| !fits(one))
                .map(|one| format!("{path}: {one:?} in\n{got}"))
                .collect()
        }
        (_, Some(got)) => vec![format!("{path} is\n{got}")],
    }
}

fn strings(list: &Value) -> Vec<String> {
    match list {
        Value::String(one) => vec![one.clone()],
        list => list.as_array().into_iter().flatten().map(|one| one.as_str().unwrap().to_owned()).collect(),
    }
}

/// Writes a file; a path that ends with `@` is a symlink to its text.
pub fn lay(root: &Path, path: &str, text: &str) {
    let place = root.join(path.trim_end_matches('@'));
    fs::create_dir_all(place.parent().unwrap()).unwrap();
    if path.ends_with('@') {
        std::os::unix::fs::symlink(text, place).unwrap();
    } else {
        fs::write(place, text).unwrap();
    }
}

/// Path and text of every file, locks excepted.
pub fn files_below(root: &Path) -> BTreeMap<String, String> {
    fn collect(root: &Path, folder: &Path, found: &mut BTreeMap<String, String>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                collect(root, &path, found);
            } else if path.extension().is_none_or(|extension| extension != "lock") {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
                found.insert(name, String::from_utf8_lossy(&fs::read(&path).unwrap_or_default()).into_owned());
            }
        }
    }
    let mut found = BTreeMap::new();
    collect(root, root, &mut found);
    found
}
