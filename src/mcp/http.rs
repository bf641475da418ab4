//! The Streamable HTTP transport: all revisions at one address.
//!
//! `listener` accepts connections, which hyper serves, and `connections` bounds their number. `access` checks the head
//! of each request, `body` reads its message, and `endpoint` answers it: by `direct_calls` if it is a plain call,
//! otherwise through rmcp. `sessions` holds the sessions of the revisions with handshakes, and `responses` makes the
//! responses of the transport itself.

mod access;
mod body;
mod connections;
mod direct_calls;
mod endpoint;
mod listener;
mod responses;
mod sessions;

pub use access::{AccessPolicy, HttpOptions};
pub use connections::ConnectionLimits;

use super::connection::{Connection, McpServer, Shutdown};
use crate::diagnostic::{Code, Diagnostic, Result};
use arc_swap::ArcSwap;
use body::MAX_BODY;
use connections::Connections;
use direct_calls::DirectCalls;
use endpoint::{HttpEndpoint, RmcpService};
use listener::{HttpListener, affordable};
use rmcp::transport::streamable_http_server::StreamableHttpServerConfig;
use sessions::Sessions;
use std::io;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// The limit of a body that was parsed and serialized again, in bytes: `1e15` becomes `1000000000000000.0`.
const MAX_REWRITTEN_BODY: usize = MAX_BODY * 8;

/// Who may use the server, and how much connections may use. Both can be reloaded while the server runs.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Who may use the server.
    pub access: AccessPolicy,
    /// How much connections may use. `None` if that is unknown: then the defaults apply at the start, and later the
    /// limits stay as they are.
    pub limits: Option<ConnectionLimits>,
}

/// Reads the settings again. If that fails, the settings stay as they are.
pub type ReloadHttpSettings = Arc<dyn Fn() -> Result<HttpSettings> + Send + Sync>;

/// Serves HTTP until `ended` completes. Whenever `reload_requested` completes, the settings are read again.
///
/// # Errors
/// The server cannot listen at the address.
pub(crate) async fn serve(
    server: Arc<McpServer>,
    settings: HttpSettings,
    reload: ReloadHttpSettings,
    reload_requested: impl AsyncFnMut(),
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let HttpSettings { access, limits } = settings;
    let shutdown = Shutdown::default();
    let streams = CancellationToken::new();
    let manager = Arc::new(sessions::manager());
    // `access` and `body` check hosts, origins and sizes. A reserialized body may be longer.
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_REWRITTEN_BODY)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(streams.clone());
    //= docs/spec.md#protocol
    //# The revisions 2024-11-05 to 2025-11-25 and 2026-07-28 MUST be served by one process, and at one HTTP
    //# address.
    let (shared, until) = (Arc::clone(&server), shutdown.clone());
    let direct_calls = DirectCalls::new(Connection::new(Arc::clone(&server), shutdown.clone()));
    let rmcp =
        RmcpService::new(move || Ok(Connection::new(Arc::clone(&shared), until.clone())), Arc::clone(&manager), config);
    let sessions = Sessions::new(manager);
    let listener = HttpListener::open(&server, access.address(), shutdown, streams).await?;
    let connections = Connections::new(affordable(limits.unwrap_or_default()));
    let access = ArcSwap::from_pointee(access);
    let endpoint =
        Arc::new(HttpEndpoint { access, connections, rmcp, sessions, direct_calls, server: Arc::clone(&server) });
    let reloading = reload_settings(Arc::clone(&endpoint), reload, reload_requested);
    listener.serve(Arc::clone(&endpoint), &server, ended, reloading).await;
    Ok(())
}

//= docs/spec.md#http
//# At SIGHUP, settings and token MUST be read again, and settings that are invalid or not trusted MUST NOT
//# change a limit.
/// Reads the settings again, whenever that is requested.
async fn reload_settings(
    endpoint: Arc<HttpEndpoint>,
    reload: ReloadHttpSettings,
    mut reload_requested: impl AsyncFnMut(),
) {
    loop {
        reload_requested().await;
        let reload = Arc::clone(&reload);
        let read = tokio::task::spawn_blocking(move || reload()).await;
        match read.unwrap_or_else(|error| Err(Diagnostic::new(Code::INTERNAL, error.to_string()))) {
            Ok(HttpSettings { access, limits }) => {
                endpoint.access.store(Arc::new(access));
                match limits {
                    Some(limits) => {
                        endpoint.connections.set_limits(affordable(limits));
                        tracing::info!("reloaded the settings and the token");
                    }
                    None => tracing::warn!(
                        "reloaded the token; `[http]` stays as it was: `toolsd.toml` has errors or is not trusted \
                         (`toolsd check` and `toolsd trust` say why); fix it and send SIGHUP again"
                    ),
                }
            }
            Err(diagnostic) => tracing::error!("the settings and the token stay as they were: {diagnostic}"),
        }
    }
}
