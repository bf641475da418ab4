//! Streamable HTTP: both eras at one address, for those who may come in.
//!
//! `gate` says who may; `listening` takes connections and ends them; `answering` has rmcp answer one request, or
//! `straight` if it is a plain call; `sessions` keeps those of the era of handshakes.

mod answering;
mod gate;
mod listening;
mod sessions;
mod straight;

pub use gate::{Gate, Listening};

use super::{Connection, Ends, Host, Incoming, Revision, Sender, misread_cursor, read_message, read_refused};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use std::io;
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Where the protocol is served.
const PATH: &str = "/mcp";

/// Bytes of the body of a request, at most.
const BODY: usize = 4 << 20;

/// What rmcp answers with.
type Service = StreamableHttpService<Connection, LocalSessionManager>;

/// Serves HTTP until `ended` comes to be.
///
/// # Errors
/// The address cannot be listened at.
pub(crate) async fn serve(host: Arc<Host>, gate: Gate, ended: impl Future<Output = ()>) -> io::Result<()> {
    let ends = Ends::default();
    let streams = CancellationToken::new();
    let sessions = Arc::new(sessions::manager());
    //= docs/spec.md#http
    //# A request that names another host, or comes from another origin, than those allowed MUST be refused with status 403.
    let config = StreamableHttpServerConfig::default()
        .with_json_response(true)
        .with_max_request_body_bytes(BODY)
        .with_allowed_hosts(gate.hosts())
        .with_allowed_origins(gate.origins())
        .enforce_origin_validation()
        .with_cancellation_token(streams.clone());
    //= docs/spec.md#http
    //# Both eras MUST be served at one address.
    let (each, until) = (Arc::clone(&host), ends.clone());
    let straight = straight::Straight::new(Connection::new(Arc::clone(&host), ends.clone()), gate.hosts());
    let service =
        Service::new(move || Ok(Connection::new(Arc::clone(&each), until.clone())), Arc::clone(&sessions), config);
    let listener = listening::Listener::open(&host, gate.address(), ends, streams).await?;
    let door = answering::Door { gate, service, sessions, straight };
    listener.serve(Arc::new(door), &host, ended).await;
    Ok(())
}
