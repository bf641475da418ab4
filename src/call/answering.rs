//! What the rooms above ask of a host: the real service, or a stand-in of a test.

use super::{Answer, Caller, Changes, Request, Service};
use crate::registry::Registry;
use std::sync::Arc;

/// A host that answers requests.
pub trait Answering: Send + Sync + 'static {
    /// The registry in use.
    fn registry(&self) -> Arc<Registry>;

    /// What changed outside of calls.
    fn changes(&self) -> &Changes;

    /// Hears where HTTP is listened at: address and port.
    fn listens(&self, _host: &str, _port: u16) {}

    /// Answers a request on a thread of the host's own; `done` is called there, once.
    fn submit(self: Arc<Self>, request: Request, caller: Caller, done: Box<dyn FnOnce(Answer) + Send>);
}

impl Answering for Service {
    fn registry(&self) -> Arc<Registry> {
        Service::registry(self)
    }

    fn changes(&self) -> &Changes {
        Service::changes(self)
    }

    fn listens(&self, host: &str, port: u16) {
        self.listens_at(host, port);
    }

    fn submit(self: Arc<Self>, request: Request, caller: Caller, done: Box<dyn FnOnce(Answer) + Send>) {
        Service::submit(&self, request, caller, done);
    }
}
