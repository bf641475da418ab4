//! Calls that hold a script thread although they were answered: how they are told, and what is done when all are held.

use super::status::{STATUS, fault, status};
use super::{Answer, Completed, Request, Service, outcome};
use crate::diagnostic::{Code, Diagnostic};
use crate::registry::{Registry, ServedTool};
use crate::value::Json;
use crate::world::World;
use crate::world::disk::recovered;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;

/// What a request is about, as its caller calls it.
pub(super) fn name_of(request: &Request) -> String {
    match request {
        Request::Call { tool: name, .. }
        | Request::Prepare { tool: name, .. }
        | Request::Read { uri: name }
        | Request::Prompt { name, .. }
        | Request::Complete { of: Completed::Prompt(name) | Completed::Resource(name), .. } => name.clone(),
        Request::ListResources => "resources/list".to_owned(),
        Request::ListSkills => "skills/list".to_owned(),
    }
}

/// Whether a request asks for the state of the host.
pub(super) fn is_about_it(request: &Request) -> bool {
    matches!(request, Request::Read { uri } if uri == STATUS)
}

/// What was called, for the answer in its place.
pub(super) struct Called(Option<Arc<ServedTool>>);

impl Called {
    pub(super) fn of(service: &Service, request: &Request) -> Self {
        let Request::Call { tool, .. } = request else { return Self(None) };
        Self(service.registry().tools.iter().find(|served| served.name == *tool).cloned())
    }

    /// The answer of a call that was stopped: that of a tool is its result, as if it had stopped by itself.
    pub(super) fn stopped(self, fault: Box<Diagnostic>) -> Answer {
        match self.0 {
            Some(served) if fault.code == Code::LIMIT => Answer::Tool(outcome::of_fault(fault, &served)),
            _ => Answer::Fault(fault),
        }
    }
}

/// What is wrong with the roots of a workspace.
fn displaced(workspace: &dyn World) -> Vec<Json> {
    let roots = std::iter::once(".".to_owned()).chain(workspace.granted_roots());
    roots.filter_map(|root| workspace.stat(&root).err().map(|wrong| fault(&wrong))).collect()
}

impl Service {
    /// The state of a registry, and of the threads that scripts run on.
    pub(super) fn status(&self, registry: &Registry) -> Json {
        let mut told = status(registry);
        //= docs/spec.md#calls
        //# Calls that were answered and hold a thread MUST stand in `toolsd://status`.
        let held = self.pool.held();
        let held: Vec<Json> =
            held.iter().map(|held| json!({ "name": held.name, "since_s": held.since.as_secs() })).collect();
        if !held.is_empty() {
            told["held"] = held.into();
        }
        //= docs/spec.md#programs
        //# What a program of a killed host made of protected names MUST be set aside before anything of a workspace is used again, and told.
        let recovered = recovered();
        if !recovered.is_empty() {
            told["recovered"] = recovered.into();
        }
        //= docs/spec.md#roots
        //# A root that was moved, removed or replaced MUST stand in `toolsd://status`.
        let displaced = self.site.as_ref().map(|site| displaced(site.workspace().as_ref())).unwrap_or_default();
        if !displaced.is_empty() {
            told["roots"] = displaced.into();
        }
        told
    }

    /// Has `act` run when every script thread has been held for so long by calls that cannot be stopped.
    pub fn when_stuck(&self, after: Duration, act: impl Fn() + Send + 'static) {
        self.pool.when_stuck(after, act);
    }
}
