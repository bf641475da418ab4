//! MCP, stateful and stateless revisions alike. No other module names rmcp.
//!
//! The path of a request: `line_transport` reads a line and hands it to rmcp's loop; `handler` turns it into a
//! [`crate::call::Request`]; `connection` waits for the answer and sends progress to the client meanwhile;
//! `tool_call` decides whether a call becomes a task and runs it, and `tasks` keeps its state; `render` renders
//! the answer for the revision in use. Over HTTP, `http` replaces `line_transport`: rmcp reads and writes the messages,
//! and `http` does what rmcp leaves open.

mod connection;
mod elicitation;
mod event_hub;
mod handler;
mod host_tools;
mod http;
mod line_transport;
mod list_items;
mod lists;
mod message;
mod notices;
mod render;
mod result_form;
mod revision;
mod sender;
mod settings;
mod strict_json;
mod wire_json;
mod tasks;
mod tool_call;

pub use host_tools::listed_tools;
pub use http::{AccessPolicy, ConnectionLimits, HttpOptions, HttpSettings, ReloadHttpSettings};
pub use list_items::list_entry;
pub use settings::{Bounds, Secret, ServerSettings};

use crate::call::RequestHandler;
use crate::platform::{SignalKind, signal, take_standard_streams};
use connection::{Connection, McpServer, Shutdown};
use line_transport::{LineTransport, WriteBuffer};
use revision::Revision;
use rmcp::ServiceExt;
use rmcp::model::ClientRequest;
use rmcp::service::ServerInitializeError;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

/// Serves standard input and output until the input ends, the client disappears, or SIGINT, SIGTERM or SIGHUP arrives.
/// From then on only the protocol writes to standard output; everything else that is printed goes to standard error.
///
/// None of these is an error. A thread that reads a terminal or a file may still be blocked afterwards: shut the
/// runtime down in the background.
///
/// # Errors
/// The streams cannot be taken over, or signal handlers cannot be installed.
pub async fn serve_stdio(service: Arc<dyn RequestHandler>, settings: ServerSettings) -> io::Result<()> {
    let shutdown = Shutdown::default();
    // SIGHUP: closing the terminal ends the server too.
    let ended = first_signal([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()])?;
    let (input, output) = take_standard_streams()?;
    let ending = shutdown.now.clone();
    //= docs/spec.md#protocol
    //# The server MUST exit with code 0 at the end of its input and at SIGINT, SIGTERM and SIGHUP, without
    //# waiting for endless scripts.
    let signals = tokio::spawn(async move {
        ended.await;
        ending.cancel();
    });
    serve_until(service, settings, input, output, shutdown).await;
    signals.abort();
    Ok(())
}

/// Serves HTTP until SIGINT or SIGTERM arrives. On SIGHUP, `reload` reads the settings again.
///
/// # Errors
/// The server cannot listen at the address, or signal handlers cannot be installed.
pub async fn serve_http(
    service: Arc<dyn RequestHandler>,
    settings: ServerSettings,
    http: HttpSettings,
    reload: ReloadHttpSettings,
) -> io::Result<()> {
    let ended = first_signal([SignalKind::interrupt(), SignalKind::terminate()])?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let reload_requested = async move || {
        hung_up.recv().await;
    };
    http::serve(Arc::new(McpServer::new(service, settings)), http, reload, reload_requested, ended).await
}

/// Completes when the first of these signals arrives.
fn first_signal<const COUNT: usize>(kinds: [SignalKind; COUNT]) -> io::Result<impl Future<Output = ()>> {
    let heard = CancellationToken::new();
    for kind in kinds {
        let (mut signals, heard) = (signal(kind)?, heard.clone());
        tokio::spawn(async move {
            signals.recv().await;
            heard.cancel();
        });
    }
    Ok(async move { heard.cancelled().await })
}

/// Serves one connection until its input ends or the client stops reading its output.
pub async fn serve(
    service: Arc<dyn RequestHandler>,
    settings: ServerSettings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) {
    serve_until(service, settings, input, output, Shutdown::default()).await;
}

async fn serve_until(
    service: Arc<dyn RequestHandler>,
    settings: ServerSettings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    shutdown: Shutdown,
) {
    let buffer = Arc::new(WriteBuffer::default());
    let bounds = settings.bounds;
    let server = Arc::new(McpServer::new(service, settings));
    let own = Arc::clone(&server);
    let weigh = move |request: &ClientRequest| {
        own.list_cache.lists(&own.settings, own.service.as_ref(), Revision::Stateless).answer_bytes(request)
    };
    let transport = LineTransport::new(input, Arc::clone(&buffer), bounds, shutdown.clone(), Box::new(weigh));
    let (writing, ending) = (Arc::clone(&buffer), shutdown.now.clone());
    let writer = tokio::spawn(async move {
        writing.write_until_closed(output).await;
        //= docs/spec.md#protocol
        //# The server MUST exit when its client disappears.
        // The client stopped reading, or there is nothing more to write.
        ending.cancel();
    });
    match Connection::new(server, shutdown).serve(transport).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::error!(%error, "the connection failed");
            }
        }
        // The input ended before a session began: an empty input, or a probe.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => tracing::warn!(%error, "no session was opened"),
    }
    buffer.finish(Duration::from_secs(1)).await;
    writer.abort();
}
