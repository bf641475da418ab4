//! The host of a function whose answer may be cached: it notes what the function looked at.

use crate::diagnostic::Result;
use crate::graph::{ChangeEntry, Graph};
use crate::primitive_api::{AskedQuestion, Host, Notice, PackFile, PackMemory, SchemaViolation};
use crate::value::{Json, Value};
use crate::world::World;
use crate::world::run::ProgramOutput;
use std::sync::{Arc, Mutex, PoisonError};

/// Passes everything on to the host of a call, and notes whether more was looked at than the pack and its graph.
pub struct DependencyTracker {
    host: Arc<dyn Host>,
    dependencies: Mutex<Dependencies>,
}

/// What a function looked at.
#[derive(Clone, Default)]
pub struct Dependencies {
    pub graph: Option<Arc<Graph>>,
    /// Whether there was something else that can change without the graph: files, the clock, the client, memory; or a
    /// notice, which has to be sent again.
    pub elsewhere: bool,
}

impl DependencyTracker {
    /// Tracks what a function asks of this host.
    pub fn new(host: Arc<dyn Host>) -> Arc<Self> {
        Arc::new(Self { host, dependencies: Mutex::default() })
    }

    /// What the function has looked at so far.
    pub fn dependencies(&self) -> Dependencies {
        self.dependencies.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The host, noted as asked for something that can change without the graph.
    fn elsewhere(&self) -> &Arc<dyn Host> {
        self.dependencies.lock().unwrap_or_else(PoisonError::into_inner).elsewhere = true;
        &self.host
    }
}

impl Host for DependencyTracker {
    fn graph(&self) -> Result<Arc<Graph>> {
        let graph = self.host.graph();
        let mut dependencies = self.dependencies.lock().unwrap_or_else(PoisonError::into_inner);
        match (&graph, &dependencies.graph) {
            (Ok(graph), Some(known)) if Arc::ptr_eq(graph, known) => {}
            (Ok(graph), None) => dependencies.graph = Some(Arc::clone(graph)),
            _ => dependencies.elsewhere = true,
        }
        drop(dependencies);
        graph
    }

    fn config(&self) -> Value {
        self.host.config()
    }

    fn data(&self, name: &str) -> Option<Value> {
        self.host.data(name)
    }

    fn data_names(&self) -> Vec<String> {
        self.host.data_names()
    }

    fn render(&self, template: &str, context: &Json) -> Result<String> {
        self.host.render(template, context)
    }

    fn read_pack_file(&self, path: &str) -> Result<PackFile> {
        self.host.read_pack_file(path)
    }

    fn validate(&self, value: &Json, schema: &Json) -> Result<Vec<SchemaViolation>> {
        self.host.validate(value, schema)
    }

    fn world(&self) -> &Arc<dyn World> {
        self.elsewhere().world()
    }

    fn graph_of_files(&self) -> Result<Arc<Graph>> {
        self.elsewhere().graph_of_files()
    }

    fn changes(&self) -> Vec<Arc<ChangeEntry>> {
        self.elsewhere().changes()
    }

    fn stale_files(&self) -> Result<Vec<String>> {
        self.elsewhere().stale_files()
    }

    fn change(&self, name: &str, act: &dyn Fn(Value) -> Result<Value>) -> Result<Arc<ChangeEntry>> {
        self.elsewhere().change(name, act)
    }

    fn undo(&self, to: Option<&str>) -> Result<Option<Vec<Arc<ChangeEntry>>>> {
        self.elsewhere().undo(to)
    }

    fn refresh(&self, discard: bool, full: bool) -> Result<Arc<Graph>> {
        self.elsewhere().refresh(discard, full)
    }

    fn now_ms(&self) -> i64 {
        self.elsewhere().now_ms()
    }

    fn uuid(&self) -> String {
        self.elsewhere().uuid()
    }

    fn notify(&self, notice: Notice) {
        self.elsewhere().notify(notice);
    }

    fn tell_in_result(&self, notice: &str) {
        self.elsewhere().tell_in_result(notice);
    }

    fn ask(&self, asked: &[AskedQuestion]) -> Result<Vec<Value>> {
        self.elsewhere().ask(asked)
    }

    fn recorded(&self, key: &str) -> Option<Json> {
        self.elsewhere().recorded(key)
    }

    fn record(&self, key: &str, value: Json) {
        self.elsewhere().record(key, value);
    }

    fn client_supports(&self, capability: &str) -> bool {
        self.elsewhere().client_supports(capability)
    }

    fn memory(&self) -> Option<&PackMemory> {
        self.elsewhere().memory()
    }

    fn server(&self) -> serde_json::Map<String, Json> {
        self.elsewhere().server()
    }

    fn wait_replaced(&self, job: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.elsewhere().wait_replaced(job)
    }

    fn wait_for_program(&self, job: &mut dyn FnMut() -> Result<ProgramOutput>) -> Result<ProgramOutput> {
        self.elsewhere().wait_for_program(job)
    }

    fn session(&self) -> serde_json::Map<String, Json> {
        self.elsewhere().session()
    }

    fn has_time(&self) -> bool {
        self.elsewhere().has_time()
    }

    fn sleep(&self, ms: u64) -> Result<()> {
        self.elsewhere().sleep(ms)
    }
}
