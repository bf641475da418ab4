//! The protocol, in both its eras. The only room that names rmcp.
//!
//! A request travels: `wire` reads a line and hands it to rmcp's loop; `handler` turns it into a
//! [`crate::call::Request`]; `running` waits for the answer and tells the client of progress meanwhile;
//! `calling` decides whether a call becomes a task, `tasking` runs it, and `tasks` keeps what is known of it;
//! `render` and `faults` write the answer for the revision in use; `outlet` writes the bytes. Over HTTP, `http` takes
//! the place of `wire` and `outlet`: rmcp reads and writes there, and `http` does what it leaves open.

mod about;
mod asking;
mod beside;
mod bus;
mod calling;
mod connection;
mod faults;
mod handler;
mod http;
mod lists;
mod message;
mod outlet;
mod published;
mod render;
mod revision;
mod running;
mod sealing;
mod secret;
mod sender;
mod skills;
mod stdio;
mod strict;
mod tasking;
mod tasks;
mod telling;
mod wire;

pub use http::{ConnectionLimits, Gate, HttpSettings, Listening, Renew};
pub use secret::Secret;
pub use wire::Bounds;

use crate::call::RequestHandler;
use crate::value::Json;
use asking::{Line, Manner, PATIENCE, Put, asked, unheard};
use beside::{LARGE, beside};
use bus::{Bus, Event, STATUS, read_resource};
use connection::{Connection, Followed, Host};
use lists::{Calls, Lists, Shelf, page, typed};
use message::{
    Incoming, duplicate, error_message, id_of, is_removed, long_introduction, message_of, misread, misread_list,
    read_message, read_refused, removed, still_running, unknown_method,
};
use outlet::Outlet;
use revision::Revision;
use rmcp::ServiceExt;
use rmcp::model::ClientRequest;
use rmcp::service::ServerInitializeError;
use running::{EndOnDrop, level_of, logging_level};
use sealing::Sealing;
use sender::{Carrier, Place, Sender};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use strict::{Unreadable, read_json};
use tasking::{Job, owner};
use tasks::{Begun, Owner, Tasks};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use wire::{Ends, Wire};

/// What the server says of itself, and how it serves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its title for people; without one, that of the only pack that serves.
    pub title: Option<String>,
    /// Where it is explained.
    pub website_url: Option<String>,
    /// Its icons: objects with `src`, `mimeType`, `sizes`, `theme`.
    pub icons: Vec<Json>,
    /// So many items are listed at a time; without it all, but a hundred resources.
    pub page_size: Option<usize>,
    /// For how long a client may keep a list, in milliseconds, in the era that asks.
    pub lists_ttl_ms: u64,
    /// How much of everything a connection may use.
    pub bounds: Bounds,
    /// What the state of unfinished requests is sealed with; without it every process takes a key of its own, and
    /// only itself can go on with what it began.
    pub state_key: Option<Secret>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: None,
            website_url: None,
            icons: Vec::new(),
            page_size: None,
            lists_ttl_ms: 5_000,
            bounds: Bounds::default(),
            state_key: None,
        }
    }
}

/// Serves standard input and output until the input ends, the client is gone, or SIGINT, SIGTERM or SIGHUP comes.
/// Standard output is the protocol's from then on: what else is printed goes to standard error.
///
/// All of these ends are good ends. A thread that reads a terminal or a file may still wait for it
/// afterwards: shut the runtime down in the background.
///
/// # Errors
/// The streams cannot be taken, or signals cannot be heard.
pub async fn serve_stdio(service: Arc<dyn RequestHandler>, settings: Settings) -> io::Result<()> {
    let ends = Ends::default();
    // A terminal that is closed is the end too.
    let ended = ended([SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()])?;
    let (input, output) = stdio::take()?;
    let all = ends.all.clone();
    //= docs/spec.md#protocol
    //# The process MUST end with code 0 at the end of its input, at SIGINT, at SIGTERM and at SIGHUP.
    let signals = tokio::spawn(async move {
        ended.await;
        all.cancel();
    });
    serve_until(service, settings, input, output, ends).await;
    signals.abort();
    Ok(())
}

/// Serves HTTP at the address of the gate until SIGINT or SIGTERM comes. SIGHUP has the settings read again by `renew`.
///
/// # Errors
/// The address cannot be listened at, or signals cannot be heard.
pub async fn serve_http(
    service: Arc<dyn RequestHandler>,
    settings: Settings,
    http: HttpSettings,
    renew: Renew,
) -> io::Result<()> {
    let ended = ended([SignalKind::interrupt(), SignalKind::terminate()])?;
    let mut hung_up = signal(SignalKind::hangup())?;
    let renewed = async move || {
        hung_up.recv().await;
    };
    http::serve(Arc::new(Host::new(service, settings)), http, renew, renewed, ended).await
}

/// Comes to be at the first of these signals.
fn ended<const COUNT: usize>(kinds: [SignalKind; COUNT]) -> io::Result<impl Future<Output = ()>> {
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

/// Serves one connection until its input ends, or whoever reads its output is gone.
pub async fn serve(
    service: Arc<dyn RequestHandler>,
    settings: Settings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
) {
    serve_until(service, settings, input, output, Ends::default()).await;
}

async fn serve_until(
    service: Arc<dyn RequestHandler>,
    settings: Settings,
    input: impl AsyncRead + Send + Unpin + 'static,
    output: impl AsyncWrite + Send + Unpin + 'static,
    ends: Ends,
) {
    let outlet = Arc::new(Outlet::default());
    let bounds = settings.bounds;
    let host = Arc::new(Host::new(service, settings));
    let own = Arc::clone(&host);
    let weigh = move |request: &ClientRequest| {
        own.shelf.lists(&own.settings, own.service.as_ref(), Revision::Stateless).weight(request)
    };
    let wire = Wire::new(input, Arc::clone(&outlet), bounds, ends.clone(), Box::new(weigh));
    let (writing, all) = (Arc::clone(&outlet), ends.all.clone());
    let writer = tokio::spawn(async move {
        writing.drain(output).await;
        //= docs/spec.md#robustness
        //# A client that vanishes MUST end its server.
        // Nobody reads any more, or nothing more is to be written.
        all.cancel();
    });
    match Connection::new(host, ends).serve(wire).await {
        Ok(running) => {
            if let Err(error) = running.waiting().await {
                tracing::error!(%error, "the connection broke down");
            }
        }
        // The input ended before a session began: an empty input, or a probe.
        Err(ServerInitializeError::ConnectionClosed(_)) => {}
        Err(error) => tracing::warn!(%error, "no session came about"),
    }
    outlet.finish(Duration::from_secs(1)).await;
    writer.abort();
}
