//! A host that knows a few files.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Graph;
use crate::primitive::{Host, Notice, PackFile};
use crate::value::{Json, Value};
use crate::world::{Entry, Stat, Walk, Walked, World};
use std::sync::{Arc, Mutex};

pub(super) struct TestHost {
    world: Arc<dyn World>,
    pub(super) notices: Mutex<Vec<Notice>>,
}

impl TestHost {
    pub(super) fn new(_files: &[(&str, &str)]) -> Self {
        Self { world: Arc::new(Nowhere), notices: Mutex::new(Vec::new()) }
    }
}

impl Host for TestHost {
    fn world(&self) -> &Arc<dyn World> {
        &self.world
    }

    fn graph(&self) -> Result<Arc<Graph>> {
        Err(Diagnostic::new(Code::INTERNAL, "no graph here"))
    }

    fn config(&self) -> Value {
        Value::map([("greeting", Value::from("hello"))])
    }

    fn data(&self, name: &str) -> Option<Value> {
        let table = Json::from_iter([("b", Json::from(2)), ("a", Json::from(vec![1, 2, 3]))]);
        (name == "table").then(|| crate::value::Frozen::value(Arc::new(table)))
    }

    fn data_names(&self) -> Vec<String> {
        vec!["table".to_owned()]
    }

    fn render(&self, template: &str, context: &Json) -> Result<String> {
        Ok(format!("{template}: {context}"))
    }

    fn pack_file(&self, path: &str) -> Result<PackFile> {
        Ok(PackFile { text: String::new(), origin: "embedded".to_owned(), path: path.to_owned() })
    }

    fn now_ms(&self) -> i64 {
        0
    }

    fn uuid(&self) -> String {
        "00000000-0000-4000-8000-000000000001".to_owned()
    }

    fn notify(&self, notice: Notice) {
        self.notices.lock().expect("no thread panicked").push(notice);
    }
}

struct Nowhere;

impl World for Nowhere {
    fn root(&self) -> &str {
        "/"
    }
    fn stat(&self, _: &str) -> Result<Option<Stat>> {
        Ok(None)
    }
    fn read(&self, path: &str) -> Result<Vec<u8>> {
        Err(Diagnostic::new(Code::WORLD, format!("there is no file `{path}`")))
    }
    fn list(&self, _: &str) -> Result<Vec<Entry>> {
        Ok(Vec::new())
    }
    fn walk(&self, _: &Walk) -> Result<Walked> {
        Ok(Walked::default())
    }
    fn write(&self, _: &str, _: &[u8]) -> Result<()> {
        Ok(())
    }
    fn remove(&self, _: &str) -> Result<()> {
        Ok(())
    }
    fn now_ms(&self) -> i64 {
        0
    }
    fn uuid(&self) -> [u8; 16] {
        [0; 16]
    }
    fn env(&self, _: &str) -> Option<String> {
        None
    }
    fn env_names(&self) -> Vec<String> {
        Vec::new()
    }
}
