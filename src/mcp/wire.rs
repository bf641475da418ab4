//! The transport: lines in, lines out, with what rmcp's own leaves to us.
//!
//! A line that is no message is answered; what comes before the first request is dropped; no more than a
//! certain number of requests is worked on at a time, the rest wait as they are, so that one that is taken
//! back, or a ping, does not wait with them; at the end of input the calls that run get a grace.
//! A client that does not read is not read from either, once too much waits for it.

use super::{Incoming, Outlet, read_message, still_running};
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientRequest, EmptyResult, ErrorData,
    GetMeta, Notification, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::transport::Transport;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Bytes of requests that wait; above it nothing more is read.
const WAITING: usize = 32 << 20;

/// Bytes that are read at a time: what is answered to them is counted before more are read.
const PIECE: usize = 64 << 10;

/// Bytes that the answers to the requests that are worked on may have, at most: what is answered and not taken waits.
const ANSWERS: usize = 256 << 20;

/// How many bytes the answer to a request may have.
pub(crate) type Weigh = Box<dyn Fn(&ClientRequest) -> usize + Send + Sync>;

/// How much of everything a connection may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Requests that are worked on at a time.
    pub in_flight: usize,
    /// Bytes of a line.
    pub line: usize,
    /// After the end of input, how long calls may run on while none of them is answered.
    pub grace: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { in_flight: 512, line: 16 << 20, grace: Duration::from_millis(500) }
    }
}

/// When a connection comes to its end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ends {
    /// No more requests will come: subscriptions end.
    pub(crate) input: CancellationToken,
    /// It ends now: running calls are cancelled.
    pub(crate) all: CancellationToken,
}

/// A connection, seen from its transport.
pub(crate) struct Wire<R> {
    reader: R,
    outlet: Arc<Outlet>,
    bounds: Bounds,
    ends: Ends,
    /// What was read and is not yet a whole line.
    partial: Vec<u8>,
    /// How much of it is known to hold no end of a line.
    searched: usize,
    /// The line being read is too long: its rest is skipped.
    skipping: bool,
    /// A session is open.
    opened: bool,
    waiting: VecDeque<(usize, ClientJsonRpcMessage)>,
    waiting_bytes: usize,
    /// Requests that wait, without those taken back.
    waiting_ids: HashSet<RequestId>,
    /// What goes before all that waits.
    urgent: VecDeque<ClientJsonRpcMessage>,
    in_flight: HashMap<RequestId, usize>,
    /// Bytes that their answers may have.
    in_flight_bytes: usize,
    weigh: Weigh,
    /// When the last answer went out.
    answered: Instant,
}

enum Read {
    Some,
    End,
}

impl<R: AsyncRead + Unpin + Send> Wire<R> {
    pub(crate) fn new(reader: R, outlet: Arc<Outlet>, bounds: Bounds, ends: Ends, weigh: Weigh) -> Self {
        Self {
            reader,
            outlet,
            bounds,
            ends,
            partial: Vec::new(),
            searched: 0,
            skipping: false,
            opened: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waiting_ids: HashSet::new(),
            urgent: VecDeque::new(),
            in_flight: HashMap::new(),
            in_flight_bytes: 0,
            weigh,
            answered: Instant::now(),
        }
    }

    fn refuse(&self, id: Option<&RequestId>, error: &ErrorData) {
        // JSON-RPC asks for `null` where there is no id; rmcp's type leaves the key out.
        let id = id.map(|id| id.clone().into_json_value());
        self.outlet.push(&serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    /// The next message whose turn it is.
    fn next(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(message) = self.urgent.pop_front() {
            return Some(message);
        }
        //= docs/spec.md#robustness
        //# Every request MUST be answered when twenty thousand are in flight.
        while self.in_flight.len() < self.bounds.in_flight && self.outlet.has_room() {
            let (_, message) = self.waiting.front()?;
            let begun = match message {
                ClientJsonRpcMessage::Request(request) if self.waiting_ids.contains(&request.id) => {
                    let weight = (self.weigh)(&request.request);
                    //= docs/spec.md#protocol
                    //# The answers to the requests that are worked on MUST be bounded in bytes before they are made.
                    if self.in_flight_bytes > 0 && self.in_flight_bytes.saturating_add(weight) > ANSWERS {
                        return None;
                    }
                    Some((request.id.clone(), weight))
                }
                _ => None,
            };
            let (size, message) = self.waiting.pop_front()?;
            self.waiting_bytes -= size;
            match begun {
                Some((id, weight)) => {
                    self.waiting_ids.remove(&id);
                    //= docs/spec.md#protocol
                    //# Calls MUST run concurrently.
                    self.in_flight.insert(id, weight);
                    self.in_flight_bytes = self.in_flight_bytes.saturating_add(weight);
                }
                // It was taken back.
                None if matches!(message, ClientJsonRpcMessage::Request(_)) => continue,
                None => {}
            }
            return Some(message);
        }
        None
    }

    /// A request is worked on no longer; whether it was.
    fn ends(&mut self, id: &RequestId) -> bool {
        let weight = self.in_flight.remove(id);
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(weight.unwrap_or(0));
        weight.is_some()
    }

    fn take_lines(&mut self) {
        let mut start = 0;
        while let Some(found) = memchr::memchr(b'\n', &self.partial[self.searched..]) {
            let end = self.searched + found;
            if self.skipping {
                self.skipping = false;
            } else if end - start > self.bounds.line {
                self.refuse_length();
            } else {
                let incoming = match self.partial[start..end].trim_ascii() {
                    [] => Incoming::Nothing,
                    line => read_message(line),
                };
                self.accept(incoming, end - start);
            }
            start = end + 1;
            self.searched = start;
        }
        self.partial.drain(..start);
        self.searched = self.partial.len();
        if self.partial.is_empty() && self.partial.capacity() > (1 << 20) {
            // One large message must not be kept as memory for ever.
            self.partial = Vec::new();
        }
        if self.skipping {
            self.partial.clear();
            self.searched = 0;
        } else if self.partial.len() > self.bounds.line {
            self.refuse_length();
            self.skipping = true;
            self.partial = Vec::new();
            self.searched = 0;
        }
    }

    fn refuse_length(&self) {
        let message = format!("a line has at most {} bytes: pass large inputs as paths or URIs", self.bounds.line);
        self.refuse(None, &ErrorData::invalid_request(message, None));
    }

    fn accept(&mut self, incoming: Incoming, size: usize) {
        match incoming {
            Incoming::Nothing => {}
            Incoming::Refused(id, error) => self.refuse(id.as_ref(), &error),
            Incoming::Cancelled(params) => self.cancel(params),
            // What a call waits for does not wait behind calls.
            Incoming::Other(message) if self.opened && is_answer(&message) => self.urgent.push_back(*message),
            Incoming::Other(message) if self.opened => self.wait(size, *message),
            //= docs/spec.md#protocol
            //# A notification before the first request MUST NOT end the server.
            Incoming::Other(_) => tracing::debug!("dropped a message that came before the first request"),
            Incoming::Request { id, request, opens } => {
                if self.in_flight.contains_key(&id) || self.waiting_ids.contains(&id) {
                    return self.refuse(Some(&id), &still_running());
                }
                if matches!(*request, ClientRequest::PingRequest(_)) && request.get_meta().is_empty() {
                    //= docs/spec.md#robustness
                    //# A `ping` MUST be answered while scripts without an end run.
                    let pong = ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), id);
                    self.outlet.push(&pong);
                    return;
                }
                self.opened |= opens;
                self.waiting_ids.insert(id.clone());
                self.wait(size, ClientJsonRpcMessage::request(*request, id));
            }
        }
    }

    fn wait(&mut self, size: usize, message: ClientJsonRpcMessage) {
        self.waiting_bytes += size;
        self.waiting.push_back((size, message));
    }

    fn cancel(&mut self, params: CancelledNotificationParam) {
        let Some(id) = &params.request_id else { return };
        //= docs/spec.md#protocol
        //# A cancelled request MUST NOT be answered.
        // A request that still waits is forgotten; one that runs is told; any other is answered already.
        if !self.waiting_ids.remove(id) && self.ends(id) && self.opened {
            let notification: CancelledNotification = Notification::new(params);
            self.urgent.push_back(ClientJsonRpcMessage::notification(notification.into()));
        }
    }

    async fn fill(&mut self) -> Read {
        self.partial.reserve(PIECE);
        match (&mut self.reader).take(PIECE as u64).read_buf(&mut self.partial).await {
            Ok(0) | Err(_) => Read::End,
            Ok(_) => Read::Some,
        }
    }

    /// After the end of input: `true` once nothing is left to be answered, or the grace is over.
    async fn wind_down(&mut self) -> bool {
        if self.waiting.is_empty() && self.in_flight.is_empty() {
            return true;
        }
        //= docs/spec.md#protocol
        //# The end of the process MUST NOT wait for scripts without an end.
        let late = self.answered + self.bounds.grace;
        tokio::select! {
            () = self.outlet.room(), if !self.outlet.has_room() => false,
            () = tokio::time::sleep_until(late) => {
                self.ends.all.cancel();
                true
            }
        }
    }
}

fn is_answer(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_))
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for Wire<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &item {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let is_answer = id.is_some();
        if let Some(id) = id {
            self.ends(id);
            self.answered = Instant::now();
        }
        let sent = self.outlet.push(&item);
        let outlet = Arc::clone(&self.outlet);
        async move {
            if is_answer {
                // That the client is gone is told once, where it was noticed.
                return Ok(());
            }
            outlet.room().await;
            if sent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        }
    }

    // Dropped and called again whenever something else happens: all state is in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let all = self.ends.all.clone();
        loop {
            if all.is_cancelled() {
                return None;
            }
            if let Some(message) = self.next() {
                return Some(message);
            }
            if self.ends.input.is_cancelled() {
                tokio::select! {
                    () = all.cancelled() => return None,
                    done = self.wind_down() => if done { return None },
                }
                continue;
            }
            let outlet = Arc::clone(&self.outlet);
            //= docs/spec.md#protocol
            //# Reading MUST pause while too many requests wait.
            //= docs/spec.md#protocol
            //# Reading MUST pause while too much waits for a client that does not read.
            let reads = self.waiting_bytes < WAITING && !outlet.is_choked();
            let is_full = !outlet.has_room();
            tokio::select! {
                biased;
                () = all.cancelled() => return None,
                read = self.fill(), if reads => match read {
                    Read::Some => self.take_lines(),
                    Read::End => {
                        // A last line without its end is a line.
                        self.partial.push(b'\n');
                        self.take_lines();
                        self.answered = Instant::now();
                        self.ends.input.cancel();
                    }
                },
                () = outlet.room(), if is_full => {}
                () = std::future::pending(), if !reads && !is_full => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.outlet.finish(Duration::from_secs(1)).await;
        Ok(())
    }
}
