//! Tests of the graph, on a workspace in memory and functions in Rust.
#![allow(clippy::unwrap_used, clippy::panic)]

mod building;
mod changing;
mod drawing;
mod finding;
mod naive;
mod properties;
mod queries;
mod reads;
mod store;
mod timing;
mod walking;

use super::{BlockMapping, Builder, FragmentBuilder, Functions, Graph, Nodes, record_into};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Document;
use crate::parse::blocks::{BlockRules, parse_blocks};
use crate::value::{Function, Json, Map, Object, Value};
use crate::world::{Ambient, EntryKind, Files, FolderEntry, Programs, Stat, WalkOptions, WalkResult};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

type RustFunction = Box<dyn Fn(Vec<Value>) -> Result<Value> + Send + Sync>;

/// Functions in Rust.
#[derive(Default)]
struct Fake {
    functions: BTreeMap<&'static str, RustFunction>,
    fingerprint: [u8; 32],
    /// How often any was called.
    calls: AtomicUsize,
}

impl Fake {
    fn with(mut self, name: &'static str, run: impl Fn(Vec<Value>) -> Result<Value> + Send + Sync + 'static) -> Self {
        self.functions.insert(name, Box::new(run));
        self
    }

    fn shared(self) -> Arc<dyn Functions> {
        Arc::new(self)
    }
}

impl Functions for Fake {
    fn call(&self, name: &str, arguments: Vec<Value>) -> Result<Value> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        match self.functions.get(name) {
            Some(run) => run(arguments),
            None => Err(Diagnostic::new(Code::SCRIPT, format!("no function `{name}`"))),
        }
    }

    fn require(&self, name: &str, _: usize) -> Result<()> {
        match self.functions.contains_key(name) {
            true => Ok(()),
            false => Err(Diagnostic::new(Code::SCRIPT, format!("no function `{name}`"))),
        }
    }

    fn fingerprint(&self) -> [u8; 32] {
        self.fingerprint
    }

    fn parallel(&self, jobs: usize, job: &(dyn Fn(usize) + Sync)) {
        let next = AtomicUsize::new(0);
        let work = || {
            loop {
                let at = next.fetch_add(1, Ordering::Relaxed);
                if at >= jobs {
                    break;
                }
                job(at);
            }
        };
        // As the host does it: all its threads work within the guard of the call.
        let guard = crate::guard::current();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let _entered = guard.as_ref().map(crate::guard::Guard::enter);
                work();
            });
            work();
        });
    }
}

/// A workspace in memory. Its clock is far past the times of the changes, unless a test makes these recent.
#[derive(Default)]
struct FileTable {
    files: Mutex<BTreeMap<String, (Vec<u8>, i64)>>,
    clock: AtomicI64,
    reads: AtomicUsize,
}

impl FileTable {
    fn with(files: &[(&str, &str)]) -> Arc<Self> {
        let world = Self::default();
        files.iter().for_each(|(path, text)| world.put(path, text));
        Arc::new(world)
    }

    fn put(&self, path: &str, text: &str) {
        let at = self.clock.fetch_add(1, Ordering::Relaxed);
        self.files.lock().unwrap().insert(path.to_owned(), (text.as_bytes().to_vec(), at));
    }

    fn delete(&self, path: &str) {
        self.clock.fetch_add(1, Ordering::Relaxed);
        self.files.lock().unwrap().remove(path);
    }

    fn paths(&self) -> Vec<String> {
        self.files.lock().unwrap().keys().cloned().collect()
    }
}

impl Files for FileTable {
    fn root(&self) -> &str {
        "/w"
    }

    fn stat(&self, path: &str) -> Result<Option<Stat>> {
        if matches!(path, "" | ".") {
            let modified_ns = i128::from(self.clock.load(Ordering::Relaxed));
            return Ok(Some(Stat { entry: EntryKind::Folder, size: 0, modified_ns, inode: 2 }));
        }
        Ok(self.files.lock().unwrap().get(path).map(|(bytes, at)| Stat {
            entry: EntryKind::File,
            size: bytes.len() as u64,
            modified_ns: i128::from(*at),
            inode: 1,
        }))
    }

    fn read(&self, path: &str) -> Result<Vec<u8>> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        match self.files.lock().unwrap().get(path) {
            Some((bytes, _)) => Ok(bytes.clone()),
            None => Err(Diagnostic::new(Code::WORLD, format!("`{path}` is not there"))),
        }
    }

    fn list(&self, _path: &str) -> Result<Vec<FolderEntry>> {
        Ok(Vec::new())
    }

    fn walk(&self, _walk: &WalkOptions) -> Result<WalkResult> {
        Ok(WalkResult { files: self.paths(), folders: vec![String::new()], ..WalkResult::default() })
    }

    fn write(&self, _path: &str, _bytes: &[u8]) -> Result<()> {
        Ok(())
    }

    fn remove(&self, _path: &str) -> Result<()> {
        Ok(())
    }
}

impl Ambient for FileTable {
    fn now_ms(&self) -> i64 {
        1_000_000_000
    }

    fn uuid(&self) -> [u8; 16] {
        [0; 16]
    }

    fn env(&self, _name: &str) -> Option<String> {
        None
    }

    fn env_names(&self) -> Vec<String> {
        Vec::new()
    }
}

impl Programs for FileTable {}

/// Reads a file of lines: `node kind id [parent]`, `once kind id`, `merge kind id level`, `refer from to kind [needs]`,
/// `block id items`, `fail message`. A node that is referred to is an id or `kind:id`. Every node has the fields `file`, `line` and `level`.
fn read_lines(arguments: Vec<Value>) -> Result<Value> {
    let f = &arguments[0];
    let document = arguments[1].as_object::<Document>().unwrap();
    for (line, text) in (1_i64..).zip(document.text().lines()) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let word = |at: usize| words.get(at).copied().map_or(Value::Null, Value::from);
        let fields =
            |level: Value| Value::map([("file", document.path().into()), ("line", line.into()), ("level", level)]);
        record_into(f, |recording| match words.first().copied() {
            Some("node") => recording.add_node(words[1], &word(2), &fields(Value::Null), &word(3)),
            Some("once") => recording.add_node_if_absent(words[1], &word(2), &fields(Value::Null), &Value::Null),
            Some("merge") => {
                let max = levels();
                recording.merge_node(words[1], &word(2), &fields(word(3)), &Value::Null, &max)
            }
            Some("refer") => {
                let needs: Vec<Value> = words.get(4).map(|text| Value::from(*text)).into_iter().collect();
                let to = match words[2].split_once(':') {
                    Some((kind, id)) => Value::map([("kind", kind.into()), ("id", id.into())]),
                    None => word(2),
                };
                recording.add_edge(&word(1), &to, words[3], &needs, &[]).map(|()| Value::Null)
            }
            Some("block") => add_block(recording, words[1], words[2].parse().unwrap()),
            Some("limit") => Err(Diagnostic::new(Code::LIMIT, words[1..].join(" "))),
            Some("stop") => Err(crate::guard::current().unwrap().exceeded(words[1..].join(" "), "time_ms")),
            Some("fail") => Err(Diagnostic::new(Code::PARSE, words[1..].join(" "))
                .at(document.source().place(document.line_ranges()[usize::try_from(line).unwrap() - 1].clone()))),
            _ => Ok(Value::Null),
        })?;
    }
    Ok(Value::Null)
}

/// Adds a block: a node of the kind `n` that replaces one of its id, with so many nodes of the kind `m` in it.
fn add_block(recording: &mut FragmentBuilder, id: &str, items: usize) -> Result<Value> {
    let rules =
        serde_json::json!({ "start": "^# (?<id>.*)$", "items": { "item": "^(?<label>[A-C])\\. (?<text>.*)$" } });
    let rules = BlockRules::read(&Value::from_json(&rules))?;
    let how =
        map(r#"{ "kind": "n", "id": "id", "fields": [], "items": { "kind": "m", "key": "label", "fields": [] } }"#);
    let text: Vec<String> = "ABC".chars().take(items).map(|label| format!("{label}. one")).collect();
    let found = parse_blocks(&Document::new("block", format!("# {id}\n{}", text.join("\n"))), &rules)?;
    recording.add_blocks(&found, &rules, &BlockMapping::parse(&how)?).map(|_| Value::Null)
}

fn levels() -> Map {
    let order = ["MAY", "SHOULD", "MUST"].map(Value::from).to_vec();
    [("level".into(), Value::List(order))].into()
}

/// A closure for `filter` and `sort`.
struct RustClosure<F>(F);

impl<F: Fn(Value) -> Value + Send + Sync + 'static> crate::value::Callable for RustClosure<F> {
    fn call(&self, mut arguments: Vec<Value>) -> Result<Value> {
        Ok((self.0)(arguments.remove(0)))
    }
}

fn closure(run: impl Fn(Value) -> Value + Send + Sync + 'static) -> Function {
    Arc::new(RustClosure(run))
}

fn json(text: &str) -> Value {
    Value::from_json(&serde_json::from_str(text).unwrap())
}

fn map(text: &str) -> Map {
    match json(text) {
        Value::Map(map) => map,
        other => panic!("{other:?} is not a map"),
    }
}

fn names(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn keys(nodes: &Nodes) -> Vec<String> {
    nodes.iter().map(|node| node.key().to_string()).collect()
}

/// A graph of `(kind, id, parent or "", fields)` and `(from, to, kind)`.
fn graph(nodes: &[(&str, &str, &str, &str)], edges: &[(&str, &str, &str)]) -> Arc<Graph> {
    let builder = Builder::new(Fake::default().shared());
    builder
        .record(|recording| {
            for (kind, id, parent, fields) in nodes {
                let parent = if parent.is_empty() { Value::Null } else { (*parent).into() };
                recording.add_node(kind, &(*id).into(), &json(fields), &parent)?;
            }
            for (from, to, kind) in edges {
                recording.add_edge(&(*from).into(), &(*to).into(), kind, &[], &[])?;
            }
            Ok(())
        })
        .unwrap();
    builder.finish().unwrap()
}

/// The whole content of a graph.
fn dump(graph: &Arc<Graph>) -> Json {
    let all = graph.nodes(&[]);
    let parents: Vec<Json> =
        all.iter().map(|node| node.parent().unwrap().map_or(Json::Null, |node| node.to_json())).collect();
    let children: Vec<Json> = all.iter().map(|node| node.alone().children(None).unwrap().to_json()).collect();
    let inward: Vec<Json> = all.iter().map(|node| node.alone().edges_in(None).unwrap().to_json()).collect();
    serde_json::json!({
        "nodes": all.to_json(), "parents": parents, "children": children, "in": inward,
        "edges": graph.edges().to_json(), "errors": graph.errors().to_json(),
    })
}
