//! One line for each call of a tool: what was called, how it ended, which files it changed.

use super::{Outcome, Service};
use crate::diagnostic::Result;
use crate::value::Json;
use serde_json::json;
use std::sync::OnceLock;
use std::time::Instant;

type Line = Box<dyn Fn(&Json) + Send + Sync>;

/// Takes the lines.
#[derive(Default)]
pub struct Audit(OnceLock<Line>);

impl Service {
    /// Has `line` called with one object for each call of a tool, on the thread of the call: `tool`, `operation`, `pack`, `workspace` (the root of the pack), `effect`,
    /// `ended` (`well`, else the kind of the fault), `ms`, `changes`.
    pub fn audit(&self, line: impl Fn(&Json) + Send + Sync + 'static) {
        let _once_is_enough = self.audit.0.set(Box::new(line));
    }
}

impl Audit {
    /// Runs a call and tells of it.
    pub fn around(
        &self,
        tool: &crate::registry::ServedTool,
        arguments: &Json,
        call: impl FnOnce() -> Result<Outcome>,
    ) -> Result<Outcome> {
        let Some(line) = self.0.get() else { return call() };
        let began = Instant::now();
        let ended = call();
        let (kind, changes) = match &ended {
            Err(fault) => (fault.code.kind(), Json::from(Vec::<Json>::new())),
            Ok(outcome) => {
                let kind = outcome.fault.as_ref().map_or("well", |fault| fault.code.kind());
                (kind, outcome.changes.iter().map(|file| json!({ "path": file.path, "change": file.change })).collect())
            }
        };
        let operation = tool.operation(arguments).map(|(operation, _)| operation);
        let effect = operation.map_or(&tool.tool.effect, |operation| &operation.effect);
        line(&json!({
            "tool": tool.name,
            "operation": operation.map(|operation| &operation.name.value),
            "pack": tool.pack.name,
            "workspace": tool.pack.compiled.root.as_ref().map(|root| root.root().to_owned()),
            "effect": effect.value.name(),
            "ended": kind,
            "ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            "changes": changes,
        }));
        ended
    }
}
