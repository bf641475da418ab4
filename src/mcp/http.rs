//! Streamable HTTP: both eras at one address, for those who may come in.
//!
//! `gate` says who may; `listening` takes connections and ends them; `answering` has rmcp answer one request, or
//! `straight` if it is a plain call; `sessions` keeps those of the era of handshakes.

mod activity;
mod answering;
mod arrival;
mod connections;
mod counted;
mod gate;
mod head_scan;
mod limits;
mod listening;
mod sessions;
mod straight;
mod watched;

pub use gate::{Gate, Listening};
pub use limits::ConnectionLimits;

use super::{
    Carrier, Connection, Ends, Host, Incoming, Place, Revision, Sender, beside, duplicate, long_introduction,
    message_of, misread_list, read_refused, removed,
};
use crate::diagnostic::{Code, Diagnostic, Result};
use arc_swap::ArcSwap;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where the protocol is served.
const PATH: &str = "/mcp";

/// Bytes of the body of a request, at most.
const BODY: usize = 4 << 20;

/// Bytes of a body that was written anew, at most: `1e15` becomes `1000000000000000.0`.
const REWRITTEN: usize = BODY * 8;

/// What rmcp answers with.
type Service = StreamableHttpService<Connection, LocalSessionManager>;

/// How HTTP is served: who may come in, and what connections may use. Both can be read again while it is served.
#[derive(Clone, Debug)]
pub struct HttpSettings {
    /// Who may come in.
    pub gate: Gate,
    /// What connections may use; nothing if that cannot be known now: what held goes on, at the start what is usual.
    pub limits: Option<ConnectionLimits>,
}

/// Reads the settings again; a fault leaves those that hold.
pub type Renew = Arc<dyn Fn() -> Result<HttpSettings> + Send + Sync>;

/// Serves HTTP until `ended` comes to be. Each time that `renewed` gives something, the settings are read again.
///
/// # Errors
/// The address cannot be listened at.
pub(crate) async fn serve(
    host: Arc<Host>,
    settings: HttpSettings,
    renew: Renew,
    renewed: impl AsyncFnMut(),
    ended: impl Future<Output = ()>,
) -> io::Result<()> {
    let HttpSettings { gate, limits } = settings;
    let ends = Ends::default();
    let streams = CancellationToken::new();
    let manager = Arc::new(sessions::manager());
    // The gate has checked hosts, origins and sizes, for both ways alike. A body that was written anew may be longer.
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(REWRITTEN)
        .disable_allowed_hosts()
        .disable_allowed_origins()
        .with_cancellation_token(streams.clone());
    //= docs/spec.md#http
    //# Both eras MUST be served at one address.
    let (each, until) = (Arc::clone(&host), ends.clone());
    let straight = straight::Straight::new(Connection::new(Arc::clone(&host), ends.clone()));
    let service =
        Service::new(move || Ok(Connection::new(Arc::clone(&each), until.clone())), Arc::clone(&manager), config);
    let sessions = sessions::Sessions::new(manager);
    let listener = listening::Listener::open(&host, gate.address(), limits.unwrap_or_default(), ends, streams).await?;
    let door = Arc::new(answering::Door { gate: ArcSwap::from_pointee(gate), service, sessions, straight });
    let renewing = renewing(Arc::clone(&door), Arc::clone(listener.connections()), renew, renewed);
    listener.serve(Arc::clone(&door), &host, ended, renewing).await;
    Ok(())
}

//= docs/spec.md#http
//# At SIGHUP, the settings and the token MUST be read again, and the server MUST go on.
/// Reads the settings again, each time that it is asked for.
async fn renewing(
    door: Arc<answering::Door>,
    connections: Arc<connections::Connections>,
    renew: Renew,
    mut renewed: impl AsyncFnMut(),
) {
    loop {
        renewed().await;
        let renew = Arc::clone(&renew);
        let read = tokio::task::spawn_blocking(move || renew()).await;
        match read.unwrap_or_else(|error| Err(Diagnostic::new(Code::INTERNAL, error.to_string()))) {
            Ok(HttpSettings { gate, limits }) => {
                door.gate.store(Arc::new(gate));
                match limits {
                    Some(limits) => {
                        connections.set_limits(listening::affordable(limits));
                        tracing::info!("settings and token were read again");
                    }
                    //= docs/spec.md#http
                    //# At SIGHUP, limits in a file that has faults or is not trusted MUST NOT change those that hold.
                    None => tracing::warn!(
                        "the token was read again; `[http]` stays as it was: `toolsd.toml` is not used as it stands \
                         (`toolsd check` and `toolsd trust` say why); mend it and send SIGHUP again"
                    ),
                }
            }
            Err(fault) => tracing::error!("settings and token stay as they were: {fault}"),
        }
    }
}
