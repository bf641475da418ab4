//! A host with nothing to reach: primitives that need more fail, and must fail well.

use serde_json::Value as Json;
use std::sync::{Arc, LazyLock};
use toolsd::diagnostic::{Code, Diagnostic, Result};
use toolsd::graph::Graph;
use toolsd::primitive_api::{Host, Notice, PackFile, SchemaViolation};
use toolsd::value::Value;
use toolsd::world::World;
use toolsd::world::memory::MemoryWorld;

/// See above.
pub struct Nowhere;

static WORLD: LazyLock<Arc<dyn World>> = LazyLock::new(|| Arc::new(MemoryWorld::new()));

fn nothing<T>() -> Result<T> {
    Err(Diagnostic::new(Code::SCRIPT, "there is nothing here"))
}

impl Host for Nowhere {
    fn world(&self) -> &Arc<dyn World> {
        &WORLD
    }

    fn graph(&self) -> Result<Arc<Graph>> {
        nothing()
    }

    fn config(&self) -> Value {
        Value::Null
    }

    fn data(&self, _: &str) -> Option<Value> {
        None
    }

    fn data_names(&self) -> Vec<String> {
        Vec::new()
    }

    fn render(&self, _: &str, _: &Json) -> Result<String> {
        nothing()
    }

    fn read_pack_file(&self, _: &str) -> Result<PackFile> {
        nothing()
    }

    fn validate(&self, _: &Json, _: &Json) -> Result<Vec<SchemaViolation>> {
        nothing()
    }

    fn now_ms(&self) -> i64 {
        0
    }

    fn uuid(&self) -> String {
        String::new()
    }

    fn notify(&self, _: Notice) {}
}
