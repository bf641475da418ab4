//! A host with a few files.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Graph;
use crate::primitive_api::{AskedQuestion, Host, Notice, PackFile, PackMemory, QuestionKind, SchemaViolation, form};
use crate::value::{Json, Value};
use crate::world::World;
use crate::world::memory::MemoryWorld;
use crate::world::staged::StagedWorld;
use serde_json::json;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

pub(super) struct TestHost {
    world: Arc<dyn World>,
    remembers: PackMemory,
    pub(super) notices: Mutex<Vec<Notice>>,
    /// While it is set, `render("spin", …)` keeps running and never consults the guard, like a native function that
    /// cannot be stopped.
    pub(super) spins: Arc<AtomicBool>,
}

impl TestHost {
    pub(super) fn new(files: &[(&str, &str)]) -> Self {
        let world = MemoryWorld::with(files.iter().copied()).expect("the paths are good");
        Self {
            world: Arc::new(StagedWorld::new(Arc::new(world), false)),
            remembers: PackMemory::default(),
            notices: Mutex::new(Vec::new()),
            spins: Arc::default(),
        }
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
        while template == "spin" && self.spins.load(Ordering::Acquire) {
            std::thread::yield_now();
        }
        if template.contains("no-such") {
            return Err(Diagnostic::new(Code::TEMPLATE, format!("there is no template `{template}`")));
        }
        Ok(format!("{template}: {context}"))
    }

    fn read_pack_file(&self, path: &str) -> Result<PackFile> {
        Ok(PackFile { text: String::new(), origin: "embedded".to_owned(), path: path.to_owned() })
    }

    fn validate(&self, _: &Json, _: &Json) -> Result<Vec<SchemaViolation>> {
        Ok(Vec::new())
    }

    fn now_ms(&self) -> i64 {
        0
    }

    fn uuid(&self) -> String {
        "00000000-0000-4000-8000-000000000001".to_owned()
    }

    fn memory(&self) -> Option<&PackMemory> {
        Some(&self.remembers)
    }

    fn server(&self) -> serde_json::Map<String, Json> {
        let reported = json!({ "name": "toolsd", "transport": "none", "port": null, "token": null });
        reported.as_object().cloned().unwrap_or_default()
    }

    /// The user accepts the defaults, the model repeats its prompt, and there are no folders.
    fn ask(&self, asked: &[AskedQuestion]) -> Result<Vec<Value>> {
        let answer = |asked: &AskedQuestion| {
            let Some(question) = &asked.question else {
                return Err(Diagnostic::new(Code::ASK, format!("there is no question `{}`", asked.key)));
            };
            Ok(question.kind.answer_value(&match &question.kind {
                QuestionKind::Form { schema, .. } => json!({ "action": "accept", "content": form::defaults(schema) }),
                QuestionKind::Visit { .. } => json!({ "action": "accept" }),
                QuestionKind::Sample(params) => {
                    json!({ "role": "assistant", "content": params["messages"][0]["content"] })
                }
                QuestionKind::Roots => json!({ "roots": [] }),
            }))
        };
        asked.iter().map(answer).collect()
    }

    fn notify(&self, notice: Notice) {
        self.notices.lock().expect("no thread panicked").push(notice);
    }
}
