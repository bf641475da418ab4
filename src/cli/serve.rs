//! `toolsd serve`: MCP on standard input and output, with hot reload.

use super::watching::Watching;
use super::{Ended, Exit, Session};
use crate::call::{Service, log_fault};
use crate::diagnostic::{Code, Diagnostic};
use crate::mcp;
use clap::Args;
use std::sync::Arc;
use std::time::Duration;

/// How many threads carry the protocol. Scripts have threads of their own.
const THREADS: usize = 2;

/// Serve MCP on standard input and output.
#[derive(Args)]
pub struct Serve {}

impl Serve {
    pub(super) fn run(self, session: Session) -> Ended {
        let service = session.service()?;
        service.describe();
        let registry = service.registry();
        registry.faults.iter().for_each(log_fault);
        let names: Vec<&str> = registry.packs.iter().map(|pack| pack.name.as_str()).collect();
        let dormant: Vec<&str> = registry.dormant.iter().map(|(name, _)| name.as_str()).collect();
        tracing::info!(packs = names.join(" "), dormant = dormant.join(" "), "serving `{}`", session.workspace.root());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
        let runtime = runtime.map_err(|error| Diagnostic::new(Code::INTERNAL, format!("no runtime: {error}")))?;
        let settings = settings(&service);
        let watched = Arc::clone(&service);
        // Beside the first answers: a large workspace takes a while to be watched.
        let watching = runtime.spawn_blocking(move || Watching::begin(&session, &watched));
        let ended = runtime.block_on(mcp::serve_stdio(Arc::clone(&service) as _, settings));
        drop(watching);
        // A script may run without end: nobody waits for it.
        runtime.shutdown_timeout(Duration::ZERO);
        match ended {
            Ok(()) => Ok(Exit::Well),
            Err(error) => {
                tracing::error!("standard input and output cannot be served: {error}");
                Ok(Exit::Faults)
            }
        }
    }
}

/// What the server says of itself: `[server]` of `toolsd.toml`, else its own name and the title of the only pack.
fn settings(service: &Arc<Service>) -> mcp::Settings {
    let registry = service.registry();
    let said = &registry.settings.workspace.server;
    let usual = mcp::Settings::default();
    let own_title = match registry.packs.as_slice() {
        [pack] => Some(pack.definition.title.value.clone()),
        _ => None,
    };
    mcp::Settings {
        name: said.name.clone().unwrap_or(usual.name),
        title: said.title.clone().or(own_title),
        website_url: said.website_url.clone(),
        icons: said.icons.clone(),
        page_size: said.page_size.and_then(|size| usize::try_from(size).ok()),
        lists_ttl_ms: said.lists_ttl_ms.unwrap_or(usual.lists_ttl_ms),
        ..mcp::Settings::default()
    }
}
