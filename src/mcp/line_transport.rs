//! The transport of standard streams: one message a line. It does what the transport of rmcp leaves open.
//!
//! - A line that is not a message is answered with an error.
//! - Messages before the first request are dropped.
//! - The number of requests that run at a time is limited. The others wait here, so that pings and cancellations can
//!   pass them.
//! - At the end of input, running calls get a grace period.
//! - Many small answers become few large writes.
//! - A client that does not read its answers holds up only itself. The server stops reading from it once too many bytes
//!   wait for it.

use super::connection::Shutdown;
use super::message::{IncomingMessage, parse_line, readable_id, still_running_error};
use super::settings::Bounds;
use super::wire_json::write_json;
use rmcp::RoleServer;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage, ClientRequest, EmptyResult, ErrorData,
    GetMeta, Notification, RequestId, ServerJsonRpcMessage, ServerNotification, ServerResult,
};
use rmcp::transport::Transport;
use serde::Serialize;
use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;
use tokio::time::Instant;

/// How many bytes of requests may wait before reading pauses.
const MAX_WAITING_BYTES: usize = 32 << 20;

/// How many bytes are read at a time: their answers are counted before more is read.
const READ_SIZE: usize = 64 << 10;

/// How many bytes the answers to all running requests may have: answers that the client has not read wait in memory.
const MAX_ANSWER_BYTES: usize = 256 << 20;

/// Returns how many bytes the answer to a request may have.
pub(crate) type WeighAnswer = Box<dyn Fn(&ClientRequest) -> usize + Send + Sync>;

/// The transport of one connection, for rmcp.
pub(crate) struct LineTransport<R> {
    reader: R,
    buffer: Arc<WriteBuffer>,
    bounds: Bounds,
    shutdown: Shutdown,
    /// Bytes that do not form a complete line yet.
    partial: Vec<u8>,
    /// How many of these bytes were searched for a line end already.
    searched: usize,
    /// Whether the line being read is too long, so that its rest is skipped.
    skipping: bool,
    /// Whether a session is open.
    opened: bool,
    waiting: VecDeque<(usize, ClientJsonRpcMessage)>,
    waiting_bytes: usize,
    /// The ids of waiting requests, except cancelled ones.
    waiting_ids: HashSet<RequestId>,
    /// Messages that are handled before all waiting ones.
    urgent: VecDeque<ClientJsonRpcMessage>,
    in_flight: HashMap<RequestId, InFlight>,
    /// News of lists, each with the running requests that may still answer with the list as it was.
    held: Vec<(ServerJsonRpcMessage, HashSet<RequestId>)>,
    /// The bytes that the answers to running requests may have.
    in_flight_bytes: usize,
    weigh: WeighAnswer,
    /// When the last answer was sent.
    answered: Instant,
}

/// A running request.
struct InFlight {
    /// How many bytes its answer may have.
    weight: usize,
    /// What its answer lists.
    lists: Option<List>,
}

/// A list that requests ask for and notifications say has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    Tools,
    Prompts,
    Resources,
}

enum InputRead {
    Some,
    End,
}

impl<R: AsyncRead + Unpin + Send> LineTransport<R> {
    pub(crate) fn new(
        reader: R,
        buffer: Arc<WriteBuffer>,
        bounds: Bounds,
        shutdown: Shutdown,
        weigh: WeighAnswer,
    ) -> Self {
        Self {
            reader,
            buffer,
            bounds,
            shutdown,
            partial: Vec::new(),
            searched: 0,
            skipping: false,
            opened: false,
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            waiting_ids: HashSet::new(),
            urgent: VecDeque::new(),
            in_flight: HashMap::new(),
            held: Vec::new(),
            in_flight_bytes: 0,
            weigh,
            answered: Instant::now(),
        }
    }

    fn refuse(&self, id: Option<&RequestId>, error: &ErrorData) {
        // JSON-RPC requires `null` where there is no id; rmcp's type omits the key.
        let id = id.map(|id| id.clone().into_json_value());
        self.buffer.push(&serde_json::json!({ "jsonrpc": "2.0", "id": id, "error": error }));
    }

    /// The next message that may be handled now.
    fn next_message(&mut self) -> Option<ClientJsonRpcMessage> {
        if let Some(message) = self.urgent.pop_front() {
            return Some(message);
        }
        //= docs/spec.md#protocol
        //# Every request MUST be answered with 20,000 in flight, and a `ping` also while endless scripts run.
        while self.in_flight.len() < self.bounds.in_flight && self.buffer.has_room() {
            let (_, message) = self.waiting.front()?;
            let begun = match message {
                ClientJsonRpcMessage::Request(request) if self.waiting_ids.contains(&request.id) => {
                    let weight = (self.weigh)(&request.request);
                    //= docs/spec.md#protocol
                    //# Reading MUST pause while too many requests or too many bytes of responses are pending.
                    if self.in_flight_bytes > 0 && self.in_flight_bytes.saturating_add(weight) > MAX_ANSWER_BYTES {
                        return None;
                    }
                    Some((request.id.clone(), InFlight { weight, lists: listed_by(&request.request) }))
                }
                _ => None,
            };
            let (size, message) = self.waiting.pop_front()?;
            self.waiting_bytes -= size;
            match begun {
                Some((id, running)) => {
                    self.waiting_ids.remove(&id);
                    //= docs/spec.md#calls
                    //# A running call MUST NOT delay the start of another call while threads are available.
                    self.in_flight_bytes = self.in_flight_bytes.saturating_add(running.weight);
                    self.in_flight.insert(id, running);
                }
                // It was cancelled.
                None if matches!(message, ClientJsonRpcMessage::Request(_)) => continue,
                None => {}
            }
            return Some(message);
        }
        None
    }

    /// Removes a request from the running ones; `false` if it was not running.
    fn finish_request(&mut self, id: &RequestId) -> bool {
        let Some(running) = self.in_flight.remove(id) else { return false };
        self.in_flight_bytes = self.in_flight_bytes.saturating_sub(running.weight);
        true
    }

    //= docs/spec.md#reload
    //# Over standard streams, this notification MUST NOT be sent before an answer with the list as it was.
    /// Keeps a notification back while lists that it makes outdated are being answered.
    fn hold(&mut self, item: &ServerJsonRpcMessage) -> bool {
        let ServerJsonRpcMessage::Notification(news) = item else { return false };
        let changed = match &news.notification {
            ServerNotification::ToolListChangedNotification(_) => List::Tools,
            ServerNotification::PromptListChangedNotification(_) => List::Prompts,
            ServerNotification::ResourceListChangedNotification(_) => List::Resources,
            _ => return false,
        };
        let outdated = self.in_flight.iter().filter(|(_, running)| running.lists == Some(changed));
        let outdated: HashSet<RequestId> = outdated.map(|(id, _)| id.clone()).collect();
        let holds = !outdated.is_empty();
        if holds {
            self.held.push((item.clone(), outdated));
        }
        holds
    }

    /// Sends the notifications that were kept back for this request alone.
    fn release(&mut self, id: &RequestId) {
        self.held.retain_mut(|(item, outdated)| {
            outdated.remove(id);
            if outdated.is_empty() {
                self.buffer.push(item);
            }
            !outdated.is_empty()
        });
    }

    fn take_lines(&mut self) {
        let mut start = 0;
        while let Some(found) = memchr::memchr(b'\n', &self.partial[self.searched..]) {
            let end = self.searched + found;
            if self.skipping {
                self.skipping = false;
            } else if end - start > self.bounds.line {
                self.refuse_length(&self.partial[start..end]);
            } else {
                let incoming = match self.partial[start..end].trim_ascii() {
                    [] => IncomingMessage::Nothing,
                    line => parse_line(line),
                };
                self.accept(incoming, end - start);
            }
            start = end + 1;
            self.searched = start;
        }
        self.partial.drain(..start);
        self.searched = self.partial.len();
        if self.partial.is_empty() && self.partial.capacity() > (1 << 20) {
            // One large message must not keep memory allocated for ever.
            self.partial = Vec::new();
        }
        if self.skipping {
            self.partial.clear();
            self.searched = 0;
        } else if self.partial.len() > self.bounds.line {
            self.refuse_length(&self.partial);
            self.skipping = true;
            self.partial = Vec::new();
            self.searched = 0;
        }
    }

    fn refuse_length(&self, begin: &[u8]) {
        let message = format!("a line may have at most {} bytes: pass large inputs as paths or URIs", self.bounds.line);
        self.refuse(readable_id(begin).as_ref(), &ErrorData::invalid_request(message, None));
    }

    fn accept(&mut self, incoming: IncomingMessage, size: usize) {
        match incoming {
            IncomingMessage::Nothing => {}
            IncomingMessage::Refused(id, error) => self.refuse(id.as_ref(), &error),
            IncomingMessage::Cancelled(params) => self.cancel(params),
            // The client's answers to questions of calls do not queue behind calls.
            IncomingMessage::Other(message) if self.opened && is_answer(&message) => self.urgent.push_back(*message),
            IncomingMessage::Other(message) if self.opened => self.enqueue(size, *message),
            IncomingMessage::Other(_) => tracing::debug!("dropped a message that came before the first request"),
            IncomingMessage::Request { id, request, opens } => {
                if self.in_flight.contains_key(&id) || self.waiting_ids.contains(&id) {
                    return self.refuse(Some(&id), &still_running_error());
                }
                if matches!(*request, ClientRequest::PingRequest(_)) && request.get_meta().is_empty() {
                    let pong = ServerJsonRpcMessage::response(ServerResult::EmptyResult(EmptyResult {}), id);
                    self.buffer.push(&pong);
                    return;
                }
                self.opened |= opens;
                self.waiting_ids.insert(id.clone());
                self.enqueue(size, ClientJsonRpcMessage::request(*request, id));
            }
        }
    }

    fn enqueue(&mut self, size: usize, message: ClientJsonRpcMessage) {
        self.waiting_bytes += size;
        self.waiting.push_back((size, message));
    }

    fn cancel(&mut self, params: CancelledNotificationParam) {
        let Some(id) = &params.request_id else { return };
        //= docs/spec.md#protocol
        //# A cancelled request MUST NOT be answered.
        // A waiting request is dropped, a running one is cancelled, and any other is answered already.
        if !self.waiting_ids.remove(id) && self.finish_request(id) && self.opened {
            self.release(id);
            let notification: CancelledNotification = Notification::new(params);
            self.urgent.push_back(ClientJsonRpcMessage::notification(notification.into()));
        }
    }

    async fn read_piece(&mut self) -> InputRead {
        self.partial.reserve(READ_SIZE);
        match (&mut self.reader).take(READ_SIZE as u64).read_buf(&mut self.partial).await {
            Ok(0) | Err(_) => InputRead::End,
            Ok(_) => InputRead::Some,
        }
    }

    /// Waits after the end of input: `true` once nothing is left to answer or the grace period is over.
    async fn wind_down(&mut self) -> bool {
        if self.waiting.is_empty() && self.in_flight.is_empty() {
            return true;
        }
        //= docs/spec.md#protocol
        //# The server MUST exit with code 0 at the end of its input and at SIGINT, SIGTERM and SIGHUP,
        //# without waiting for endless scripts.
        let late = self.answered + self.bounds.grace;
        tokio::select! {
            () = self.buffer.wait_for_room(), if !self.buffer.has_room() => false,
            () = tokio::time::sleep_until(late) => {
                self.shutdown.now.cancel();
                true
            }
        }
    }
}

fn listed_by(request: &ClientRequest) -> Option<List> {
    match request {
        ClientRequest::ListToolsRequest(_) => Some(List::Tools),
        ClientRequest::ListPromptsRequest(_) => Some(List::Prompts),
        ClientRequest::ListResourcesRequest(_) | ClientRequest::ListResourceTemplatesRequest(_) => {
            Some(List::Resources)
        }
        _ => None,
    }
}

fn is_answer(message: &ClientJsonRpcMessage) -> bool {
    matches!(message, ClientJsonRpcMessage::Response(_) | ClientJsonRpcMessage::Error(_))
}

impl<R: AsyncRead + Unpin + Send + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = io::Error;

    fn send(&mut self, item: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let id = match &item {
            ServerJsonRpcMessage::Response(response) => Some(&response.id),
            ServerJsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        let is_answer = id.is_some();
        if let Some(id) = id {
            self.finish_request(id);
            self.answered = Instant::now();
        }
        let sent = self.hold(&item) || self.buffer.push(&item);
        if let Some(id) = id {
            self.release(id);
        }
        let buffer = Arc::clone(&self.buffer);
        async move {
            if is_answer {
                // The writer has already reported that the client is gone.
                return Ok(());
            }
            buffer.wait_for_room().await;
            if sent { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
        }
    }

    // Cancel-safe: the future is dropped and created again whenever something else happens, so all state is in `self`.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let all = self.shutdown.now.clone();
        loop {
            if all.is_cancelled() {
                return None;
            }
            if let Some(message) = self.next_message() {
                return Some(message);
            }
            if self.shutdown.draining.is_cancelled() {
                tokio::select! {
                    () = all.cancelled() => return None,
                    done = self.wind_down() => if done { return None },
                }
                continue;
            }
            let buffer = Arc::clone(&self.buffer);
            let reads = self.waiting_bytes < MAX_WAITING_BYTES && !buffer.is_choked();
            let is_full = !buffer.has_room();
            tokio::select! {
                biased;
                () = all.cancelled() => return None,
                read = self.read_piece(), if reads => match read {
                    InputRead::Some => self.take_lines(),
                    InputRead::End => {
                        // A last line without a line end counts too.
                        self.partial.push(b'\n');
                        self.take_lines();
                        self.answered = Instant::now();
                        self.shutdown.draining.cancel();
                    }
                },
                () = buffer.wait_for_room(), if is_full => {}
                () = std::future::pending(), if !reads && !is_full => {}
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.buffer.finish(Duration::from_secs(1)).await;
        Ok(())
    }
}

/// How many bytes may wait for the client before new requests and notifications are held back.
const FULL_BYTES: usize = 4 << 20;

/// How many bytes may wait for the client before reading pauses: pongs and refusals are not held back.
const CHOKED_BYTES: usize = 4 * FULL_BYTES;

/// The buffer that all messages to the client go into, and that one task writes to the client.
#[derive(Default)]
pub(crate) struct WriteBuffer {
    state: Mutex<BufferState>,
    /// Notified when there are bytes to write, or the buffer was closed.
    filled: Notify,
    /// Notified when bytes were written, or when the client is gone.
    emptied: Notify,
}

#[derive(Default)]
struct BufferState {
    waiting: Vec<u8>,
    /// Whether the task holds bytes that are not written yet.
    writing: bool,
    /// Whether the client is gone.
    broken: bool,
    /// Whether the buffer refuses further messages.
    closed: bool,
}

impl WriteBuffer {
    fn state(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a message; `false` if it cannot be sent.
    pub(crate) fn push(&self, message: &impl Serialize) -> bool {
        let mut state = self.state();
        if state.broken || state.closed {
            return false;
        }
        let before = state.waiting.len();
        if write_json(&mut state.waiting, message).is_err() {
            state.waiting.truncate(before);
            return false;
        }
        state.waiting.push(b'\n');
        drop(state);
        self.filled.notify_one();
        true
    }

    /// Whether there is room for more messages.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state();
        state.broken || state.waiting.len() < FULL_BYTES
    }

    /// Whether the queued bytes require that reading from the client pauses.
    pub(crate) fn is_choked(&self) -> bool {
        let state = self.state();
        !state.broken && state.waiting.len() >= CHOKED_BYTES
    }

    /// Waits until there is room.
    pub(crate) async fn wait_for_room(&self) {
        loop {
            let emptied = self.emptied.notified();
            if self.has_room() {
                return;
            }
            emptied.await;
        }
    }

    /// Closes the buffer, and waits until everything is written, but no longer than `patience`.
    pub(crate) async fn finish(&self, patience: Duration) {
        self.state().closed = true;
        self.filled.notify_one();
        let written = async {
            loop {
                let emptied = self.emptied.notified();
                {
                    let state = self.state();
                    if state.broken || (state.waiting.is_empty() && !state.writing) {
                        return;
                    }
                }
                emptied.await;
            }
        };
        // After that, a client that does not read is given up on.
        let _ = tokio::time::timeout(patience, written).await;
    }

    /// Writes messages until the buffer is closed and empty, or the client is gone.
    pub(crate) async fn write_until_closed(&self, mut writer: impl AsyncWrite + Unpin) {
        let mut chunk = Vec::new();
        loop {
            let filled = self.filled.notified();
            let closed = {
                let mut state = self.state();
                chunk.clear();
                std::mem::swap(&mut chunk, &mut state.waiting);
                state.writing = !chunk.is_empty();
                state.closed
            };
            if chunk.is_empty() {
                self.emptied.notify_waiters();
                if closed {
                    return;
                }
                filled.await;
                continue;
            }
            let result = async {
                writer.write_all(&chunk).await?;
                writer.flush().await
            };
            if result.await.is_err() {
                let mut state = self.state();
                state.broken = true;
                state.writing = false;
                state.waiting = Vec::new();
                drop(state);
                self.emptied.notify_waiters();
                return;
            }
            // One large answer must not keep memory allocated for ever.
            if chunk.capacity() > FULL_BYTES {
                chunk = Vec::new();
            }
            self.emptied.notify_waiters();
        }
    }
}
