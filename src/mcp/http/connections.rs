//! All open connections: how many there may be, what each may take, and which one is closed for another.

use crate::script::CallerId;
use arc_swap::ArcSwap;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// The limit of a head, and of what hyper buffers of a connection, in bytes.
pub(super) const MAX_HEAD: usize = 64 << 10;

/// Limits of connections over HTTP: `[http]` of `toolsd.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How many connections may be open.
    pub connections: usize,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a client may read nothing of what is sent to it.
    pub write_time: Duration,
    /// How long a connection may take for the head of its next request, silence included.
    pub idle_time: Duration,
    /// How many sessions may be open, in the revisions that have sessions.
    pub sessions: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            body_time: Duration::from_secs(60),
            write_time: Duration::from_secs(20),
            idle_time: Duration::from_secs(75),
            sessions: 1_000,
        }
    }
}

/// The connections of a listener.
pub(super) struct Connections {
    limits: ArcSwap<ConnectionLimits>,
    open: Mutex<HashMap<u64, Arc<OpenConnection>>>,
    next: AtomicU64,
    /// Notified when a connection is gone.
    gone: Notify,
}

pub(super) struct OpenConnection {
    number: u64,
    begun: Instant,
    is_answering: AtomicBool,
    /// When a byte last moved, in milliseconds since it began.
    moved: AtomicU64,
    /// What arrived since the last answer: the head of a request, and what came with it.
    head: Mutex<Vec<u8>>,
    /// Cancelled when the connection is closed for another.
    closing: CancellationToken,
}

/// The place of an open connection, until this is dropped.
pub(super) struct ConnectionPlace {
    connections: Arc<Connections>,
    pub(super) connection: Arc<OpenConnection>,
}

/// A request that is being answered, until this is dropped.
pub(super) struct Answering(Arc<OpenConnection>);

impl Connections {
    pub(super) fn new(limits: ConnectionLimits) -> Arc<Self> {
        Arc::new(Self {
            limits: ArcSwap::from_pointee(limits),
            open: Mutex::default(),
            next: AtomicU64::new(0),
            gone: Notify::new(),
        })
    }

    pub(super) fn limits(&self) -> ConnectionLimits {
        **self.limits.load()
    }

    /// Replaces the limits. Those of time apply to connections that are accepted from now on.
    pub(super) fn set_limits(&self, limits: ConnectionLimits) {
        self.limits.store(Arc::new(limits));
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Arc<OpenConnection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many connections are open.
    pub(super) fn count(&self) -> usize {
        self.open().len()
    }

    //= docs/spec.md#http
    //# When too many connections are open, the longest idle one MUST be closed, whatever its address or
    //# token.
    /// Admits a connection. If it is one too many, another one is closed first.
    pub(super) async fn admit(self: &Arc<Self>) -> ConnectionPlace {
        let most = self.limits().connections;
        self.wait_until(|open| {
            let is_closing = open.values().any(|connection| connection.closing.is_cancelled());
            if open.len() >= most && !is_closing {
                close_most_silent(open);
            }
            open.len() < most
        })
        .await;
        let connection = Arc::new(OpenConnection {
            number: self.next.fetch_add(1, Relaxed),
            begun: Instant::now(),
            is_answering: AtomicBool::new(false),
            moved: AtomicU64::new(0),
            head: Mutex::default(),
            closing: CancellationToken::new(),
        });
        self.open().insert(connection.number, Arc::clone(&connection));
        ConnectionPlace { connections: Arc::clone(self), connection }
    }

    /// Closes the connection that has been silent longest.
    pub(super) fn close_most_silent(&self) {
        close_most_silent(&self.open());
    }

    /// Waits until all connections are gone.
    pub(super) async fn wait_for_none(&self) {
        self.wait_until(HashMap::is_empty).await;
    }

    async fn wait_until(&self, is_so: impl Fn(&HashMap<u64, Arc<OpenConnection>>) -> bool) {
        loop {
            let gone = self.gone.notified();
            tokio::pin!(gone);
            // Registered before the check, so that no notification is missed.
            gone.as_mut().enable();
            if is_so(&self.open()) {
                return;
            }
            gone.await;
        }
    }
}

/// Closes the connection that has been silent longest. Those that wait for an answer come last.
fn close_most_silent(open: &HashMap<u64, Arc<OpenConnection>>) {
    let first = open.values().min_by_key(|connection| {
        let silent_since = connection.begun + Duration::from_millis(connection.moved.load(Relaxed));
        (connection.closing.is_cancelled(), connection.is_answering.load(Relaxed), silent_since, connection.number)
    });
    if let Some(connection) = first {
        tracing::debug!("a connection is closed for another: it has been silent longest");
        connection.closing.cancel();
    }
}

impl OpenConnection {
    /// Records that bytes moved, in either direction.
    pub(super) fn record_moved(&self) {
        let now = u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved.store(now, Relaxed);
    }

    /// Records bytes that arrived, if a head may be among them.
    pub(super) fn record_head(&self, bytes: &[u8]) {
        if !self.is_answering.load(Relaxed) {
            let mut head = self.head.lock().unwrap_or_else(PoisonError::into_inner);
            let room = MAX_HEAD.saturating_sub(head.len());
            head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    /// Takes the head that was recorded, with either kind of line ends. Returns whether it declares a length.
    pub(super) fn take_head_with_length(&self) -> bool {
        let head = std::mem::take(&mut *self.head.lock().unwrap_or_else(PoisonError::into_inner));
        let lines = head.trim_ascii_start().split(|byte| *byte == b'\n');
        lines
            .take_while(|line| !line.trim_ascii().is_empty())
            .any(|line| line.get(..15).is_some_and(|name| name.eq_ignore_ascii_case(b"content-length:")))
    }

    /// Records that a request was let in, and is being answered.
    pub(super) fn begin_answer(self: &Arc<Self>) -> Answering {
        self.is_answering.store(true, Relaxed);
        Answering(Arc::clone(self))
    }

    /// Waits until the connection must be closed for another.
    pub(super) async fn closing(&self) {
        self.closing.cancelled().await;
    }

    /// Who calls, unless it is a session.
    pub(super) fn caller_id(&self) -> CallerId {
        CallerId(self.number)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.is_answering.store(false, Relaxed);
    }
}

impl Drop for ConnectionPlace {
    fn drop(&mut self) {
        self.connections.open().remove(&self.connection.number);
        self.connections.gone.notify_waiters();
    }
}
