//! Runs the steps of a table: requests to a server, what came back, files, git, locks, restarts.

use crate::support::{Server, copy, git, systems};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A project on the disk, and the server that works on it.
pub struct Stage {
    pub root: PathBuf,
    server: Option<Server>,
    kept: BTreeMap<String, Value>,
    pack_config: String,
    _folder: tempfile::TempDir,
}

/// The data of the system.
pub fn data() -> PathBuf {
    systems("spec-kitty")
}

/// A copy of a project: `sample`, one of the corpus, or `none` for an empty folder. With `history` it is a repository.
pub fn project(name: &str, history: bool) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("project");
    fs::create_dir(&root).unwrap();
    match name {
        "none" => {}
        "sample" => copy(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.d/spec-kitty/sample"), &root),
        other => copy(&data().join("corpus").join(other), &root),
    }
    git(&root, &["init", "-q", "-b", "main"]);
    git(&root, &["config", "user.name", "Corpus Bot"]);
    git(&root, &["config", "user.email", "bot@example.com"]);
    if history {
        git(&root, &["add", "-A", "-f"]);
        git(&root, &["commit", "-q", "--allow-empty", "-m", "Begin"]);
    } else {
        fs::remove_dir_all(root.join(".git")).unwrap();
    }
    (folder, root)
}

impl Stage {
    /// The project that a table names (default: `sample`).
    pub fn set(table: &toml::Table) -> Self {
        let name = table.get("project").map_or("sample", |name| name.as_str().unwrap());
        let history = table.get("history").is_none_or(|history| history.as_bool().unwrap());
        let (folder, root) = project(name, history);
        let pack_config = table.get("config").map(|config| config.as_str().unwrap().to_owned()).unwrap_or_default();
        let mut stage = Self { root, server: None, kept: BTreeMap::new(), pack_config, _folder: folder };
        stage.kept.insert("project".to_owned(), json!(stage.root.to_str().unwrap()));
        stage
    }

    fn server(&mut self) -> &mut Server {
        let (root, config) = (self.root.clone(), self.pack_config.clone());
        self.server.get_or_insert_with(|| {
            // What the project says about the pack must not be a file of the project.
            let workspace = root.parent().unwrap();
            fs::write(workspace.join("toolsd.toml"), config).unwrap();
            Server::start(workspace, "spec-kitty")
        })
    }

    /// The result of a call, and whether the protocol calls it an error.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let (result, failed) = self.server().call(tool, arguments);
        assert!(!failed, "{tool} ended with an error of the protocol: {result}");
        result
    }

    /// Runs one step; `told` is its location.
    pub fn step(&mut self, step: &toml::Table, reported: &str) -> Value {
        for (name, value) in step {
            let fit = match name.as_str() {
                "write" | "remove" | "restart" | "hold" | "advance_ms" | "config" | "run" => {
                    self.before(name, value, reported)
                }
                _ => continue,
            };
            assert!(fit, "{reported}: `{name}`");
        }
        let filled = |stage: &Self, key: &str| step.get(key).map(|value| stage.fill(&as_json(value)));
        let result = if let Some(tool) = step.get("call") {
            let arguments = filled(self, "arguments").unwrap_or_else(|| json!({}));
            let result = self.call(tool.as_str().unwrap(), arguments);
            six_keys(&result, reported);
            result
        } else if let Some(uri) = step.get("read") {
            let uri = self.fill(&as_json(uri));
            self.server().read(uri.as_str().unwrap())
        } else if let Some(method) = step.get("request") {
            let params = filled(self, "params").unwrap_or_else(|| json!({}));
            self.server().request(method.as_str().unwrap(), params)
        } else if let Some(arguments) = step.get("git") {
            let arguments: Vec<String> = strings(&self.fill(&as_json(arguments)));
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            let folder = filled(self, "folder")
                .map_or_else(|| self.root.clone(), |folder| self.root.join(folder.as_str().unwrap()));
            json!(git(&folder, &arguments).trim_end())
        } else if let Some(path) = filled(self, "file") {
            let text = fs::read_to_string(self.root.join(path.as_str().unwrap()))
                .unwrap_or_else(|_| panic!("{reported}: no {path}"));
            serde_json::from_str(&text).unwrap_or_else(|_| json!(text))
        } else {
            json!(null)
        };
        self.expect(step, &result, reported);
        result
    }

    fn expect(&mut self, step: &toml::Table, result: &Value, reported: &str) {
        let text = result.as_str().map_or_else(|| result.to_string(), str::to_owned);
        for (name, value) in step {
            let wanted = self.fill(&as_json(value));
            match name.as_str() {
                "matches" => part(&wanted, result, "", &format!("{reported}: {result}")),
                "gives" => assert_eq!(&wanted, result, "{reported}"),
                "contains" => strings(&wanted)
                    .iter()
                    .for_each(|one| assert!(text.contains(one), "{reported}: no `{one}` in {text}")),
                "lacks" => strings(&wanted)
                    .iter()
                    .for_each(|one| assert!(!text.contains(one), "{reported}: `{one}` in {text}")),
                "fits" => {
                    for (pointer, pattern) in wanted.as_object().unwrap() {
                        let found = result
                            .pointer(pointer)
                            .unwrap_or_else(|| panic!("{reported}: nothing at {pointer} in {result}"));
                        let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                        let regex = regex::Regex::new(pattern.as_str().unwrap()).unwrap();
                        assert!(regex.is_match(&found), "{reported}: {pointer} is {found}, not {pattern}");
                    }
                }
                "keys" => {
                    let keys: Vec<String> = result.as_object().unwrap().keys().cloned().collect();
                    let (mut keys, mut wanted) = (keys, strings(&wanted));
                    keys.sort();
                    wanted.sort();
                    assert_eq!(keys, wanted, "{reported}");
                }
                "absent" => strings(&wanted)
                    .iter()
                    .for_each(|path| assert!(!self.root.join(path).exists(), "{reported}: {path} exists")),
                "present" => strings(&wanted)
                    .iter()
                    .for_each(|path| assert!(self.root.join(path).exists(), "{reported}: {path} does not exist")),
                "keep" => {
                    for (name, pointer) in wanted.as_object().unwrap() {
                        let found = result.pointer(pointer.as_str().unwrap());
                        self.kept.insert(
                            name.clone(),
                            found.unwrap_or_else(|| panic!("{reported}: nothing at {pointer} in {result}")).clone(),
                        );
                    }
                }
                _ => {}
            }
        }
    }

    fn before(&mut self, name: &str, value: &toml::Value, reported: &str) -> bool {
        match name {
            "write" => {
                for (path, text) in self.fill(&as_json(value)).as_object().unwrap() {
                    let path = self.root.join(path);
                    fs::create_dir_all(path.parent().unwrap()).unwrap();
                    fs::write(path, text.as_str().unwrap()).unwrap();
                }
            }
            "remove" => {
                for path in strings(&self.fill(&as_json(value))) {
                    let path = self.root.join(path);
                    if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
                }
            }
            "restart" if value.as_str() == Some("kill") => self.server.take().into_iter().for_each(Server::kill),
            "restart" => drop(self.server.take()),
            "config" => {
                self.pack_config = value.as_str().unwrap().to_owned();
                drop(self.server.take());
            }
            "hold" => {
                let (path, ms) = (value["path"].as_str().unwrap(), value["ms"].as_integer().unwrap());
                hold(&self.root.join(path), u64::try_from(ms).unwrap());
            }
            _ => panic!("{reported}: no `{name}`"),
        }
        true
    }

    /// The names of what was kept, filled in.
    fn fill(&self, json: &Value) -> Value {
        match json {
            Value::String(text) => match text.strip_prefix('$').and_then(|name| self.kept.get(name)) {
                Some(kept) => kept.clone(),
                None => {
                    let mut text = text.clone();
                    for (name, value) in &self.kept {
                        let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                        text = text.replace(&format!("${{{name}}}"), &shown);
                    }
                    json!(text)
                }
            },
            Value::Array(items) => items.iter().map(|item| self.fill(item)).collect(),
            Value::Object(map) => {
                let filled = |key: &String| self.fill(&json!(key)).as_str().unwrap().to_owned();
                Value::Object(map.iter().map(|(key, value)| (filled(key), self.fill(value))).collect())
            }
            other => other.clone(),
        }
    }
}

/// Another holder has the lock for `ms` milliseconds from now.
fn hold(path: &Path, ms: u64) {
    let file = fs::File::options().read(true).write(true).create(true).truncate(false).open(path).unwrap();
    file.lock().unwrap();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(ms));
        drop(file);
    });
}

/// Every result has its six keys, and null as data if the operation failed.
fn six_keys(result: &Value, reported: &str) {
    let keys: Vec<&String> = result.as_object().unwrap_or_else(|| panic!("{reported}: {result}")).keys().collect();
    let wanted = ["success", "message", "data", "artifacts", "errors", "warnings"];
    assert_eq!(keys, wanted, "{reported}");
    let texts = |key: &str| result[key].as_array().unwrap().iter().all(Value::is_string);
    assert!(texts("artifacts") && texts("errors") && texts("warnings"), "{reported}: {result}");
    if result["success"] == false {
        assert!(result["data"].is_null() && !result["errors"].as_array().unwrap().is_empty(), "{reported}: {result}");
    } else {
        assert_eq!(result["errors"], json!([]), "{reported}: {result}");
    }
}

/// `wanted` is a part of `got`: maps may have more keys, lists have as many items.
pub fn part(wanted: &Value, got: &Value, at: &str, reported: &str) {
    match (wanted, got) {
        (Value::Object(wanted), Value::Object(found)) => {
            for (key, value) in wanted {
                part(value, found.get(key).unwrap_or(&Value::Null), &format!("{at}/{key}"), reported);
            }
        }
        (Value::Array(wanted), Value::Array(found)) => {
            assert_eq!(wanted.len(), found.len(), "{reported}: {at} is {got}");
            wanted
                .iter()
                .zip(found)
                .enumerate()
                .for_each(|(index, (one, other))| part(one, other, &format!("{at}/{index}"), reported));
        }
        (Value::Number(one), Value::Number(other)) => assert_eq!(one.as_f64(), other.as_f64(), "{reported}: {at}"),
        _ => assert_eq!(wanted, got, "{reported}: {at}"),
    }
}

pub fn as_json(value: &toml::Value) -> Value {
    serde_json::to_value(value).unwrap()
}

pub fn strings(json: &Value) -> Vec<String> {
    match json {
        Value::String(text) => vec![text.clone()],
        other => other.as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect(),
    }
}
