//! The activity of a connection: what it is doing, since when, and how long it may. Recorded where its bytes pass, and
//! checked for all connections at once.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Limits of connections over HTTP: `[http]` of `toolsd.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// How many connections may be open that have not shown the token yet.
    pub unproven: usize,
    /// How many of these may come from one address.
    pub unproven_per_address: usize,
    /// How long a connection may take to show the token.
    pub unproven_time: Duration,
    /// How many connections may be open that have shown the token; without a token, how many in all.
    pub connections: usize,
    /// How long the head of a request may take, from its first byte.
    pub head_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a body may pause.
    pub body_pause: Duration,
    /// How long a client may read nothing of what is sent to it.
    pub write_time: Duration,
    /// How long a connection may be silent between requests.
    pub idle_time: Duration,
    /// How many bytes may be pending in all connections together: of arriving bodies, and of answers that clients have
    /// not read yet.
    pub pending_bytes: usize,
    /// How many sessions may be open, in the revisions that have sessions.
    pub sessions: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            unproven: 256,
            unproven_per_address: 64,
            unproven_time: Duration::from_secs(5),
            connections: 1_024,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            body_pause: Duration::from_secs(10),
            write_time: Duration::from_secs(20),
            idle_time: Duration::from_secs(75),
            pending_bytes: 256 << 20,
            sessions: 1_000,
        }
    }
}

impl ConnectionLimits {
    /// The interval between two checks of all connections. It is the accuracy of all time limits.
    pub(crate) fn check_interval(&self) -> Duration {
        let times = [self.unproven_time, self.head_time, self.write_time, self.idle_time];
        let least = times.into_iter().min().unwrap_or_default();
        (least / 4).clamp(Duration::from_millis(10), Duration::from_millis(250))
    }

    /// Lowers the limits so that both kinds of connections together are at most `most`.
    pub(crate) fn capped_at(self, most: usize) -> Self {
        let connections = self.connections.min((most * 4 / 5).max(1));
        Self { connections, unproven: self.unproven.min(most.saturating_sub(connections).max(1)), ..self }
    }
}

/// A duration as messages show it.
pub(crate) fn format_duration(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1_000 == 0 => format!("{} s", whole / 1_000),
        odd => format!("{odd} ms"),
    }
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum ConnectionPhase {
    /// No byte of the next request has arrived.
    Idle = 0,
    /// The head of a request is arriving.
    Head = 1,
    /// A request is being read and answered.
    Answering = 2,
}

/// Why a connection is closed before its client closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CloseReason {
    /// Too many connections are open, and no other one has been silent longer.
    Crowded = 1,
    /// The token did not arrive in time.
    Unproven = 2,
    /// The head of its request did not arrive in time.
    SlowHead = 3,
    /// The connection was silent for too long.
    Idle = 4,
    /// The client reads nothing of what is sent, or reads too slowly while too many bytes wait.
    Unread = 5,
    /// The client closed its side, and the answer was not ready soon enough.
    Gone = 6,
}

/// How long a request continues after its client closed its side: the client may wait for the answer, or be gone.
pub(crate) const HALF_CLOSED: Duration = Duration::from_secs(1);

/// How many bytes the operating systems on both sides buffer, even if the client reads nothing.
const SYSTEM_BUFFERS: u64 = 512 << 10;

/// How long a connection is measured before its speed is used.
const MIN_MEASURED_TIME: Duration = Duration::from_secs(2);

/// The activity of one connection, written by its own task. Times are milliseconds since the connection was accepted.
#[derive(Debug)]
pub(crate) struct Activity {
    address: IpAddr,
    begun: Instant,
    proven: AtomicBool,
    phase: AtomicU8,
    /// When the phase began.
    since: AtomicU64,
    /// When a byte last moved, in either direction.
    moved: AtomicU64,
    /// When a write began to wait, plus one; 0 while none waits.
    blocked: AtomicU64,
    /// Bytes of answers that were made and not written yet.
    owed: AtomicUsize,
    /// Bytes of a large answer that is to be made.
    reserved: AtomicUsize,
    /// Bytes of a body that is arriving.
    arriving: AtomicUsize,
    /// Whether the request that is answered has a large body.
    has_large_body: AtomicBool,
    /// Since when bytes have been waiting all the time, plus one; 0 while none wait.
    burdened: AtomicU64,
    /// Bytes that were taken or arrived since that time.
    progress: AtomicU64,
    /// When the client closed its side, plus one; 0 while it has not.
    hung_up: AtomicU64,
    /// Whether the request that is answered was read completely.
    is_read: AtomicBool,
    /// Whether anything was sent since the request arrived.
    has_begun: AtomicBool,
    close_reason: AtomicU8,
    close_signal: Notify,
    /// Whether the stream was polled for bytes.
    polled: AtomicBool,
    first_poll_signal: Notify,
}

impl Activity {
    pub(crate) fn new(address: IpAddr, proven: bool) -> Self {
        Self {
            address,
            begun: Instant::now(),
            proven: AtomicBool::new(proven),
            phase: AtomicU8::new(ConnectionPhase::Idle as u8),
            since: AtomicU64::new(0),
            moved: AtomicU64::new(0),
            blocked: AtomicU64::new(0),
            owed: AtomicUsize::new(0),
            reserved: AtomicUsize::new(0),
            arriving: AtomicUsize::new(0),
            has_large_body: AtomicBool::new(false),
            burdened: AtomicU64::new(0),
            progress: AtomicU64::new(0),
            hung_up: AtomicU64::new(0),
            is_read: AtomicBool::new(false),
            has_begun: AtomicBool::new(false),
            close_reason: AtomicU8::new(0),
            close_signal: Notify::new(),
            polled: AtomicBool::new(false),
            first_poll_signal: Notify::new(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn enter(&self, phase: ConnectionPhase, now: u64) {
        self.since.store(now, Relaxed);
        self.phase.store(phase as u8, Relaxed);
    }

    fn is_in(&self, phase: ConnectionPhase) -> bool {
        self.phase.load(Relaxed) == phase as u8
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.proven.load(Relaxed)
    }

    /// Notes that the client has shown the token; whether it had before.
    pub(crate) fn prove(&self) -> bool {
        self.proven.swap(true, Relaxed)
    }

    /// Notes that the stream was polled for bytes.
    pub(crate) fn mark_polled(&self) {
        if !self.polled.load(Relaxed) && !self.polled.swap(true, Relaxed) {
            self.first_poll_signal.notify_one();
        }
    }

    /// Waits until the stream was polled once: what the client had sent by then was read.
    pub(crate) async fn first_poll(&self) {
        self.first_poll_signal.notified().await;
    }

    /// Notes that bytes arrived.
    pub(crate) fn record_read(&self) {
        let now = self.now();
        self.moved.store(now, Relaxed);
        if self.is_in(ConnectionPhase::Idle) {
            self.enter(ConnectionPhase::Head, now);
        }
    }

    /// Notes that a write waits for the client.
    pub(crate) fn record_blocked_write(&self) {
        if self.blocked.load(Relaxed) == 0 {
            self.blocked.store(self.now() + 1, Relaxed);
        }
    }

    /// Whether a write waits for the client.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Relaxed) > 0
    }

    /// Notes that the client took bytes; returns how many of them were owed.
    pub(crate) fn record_written(&self, bytes: usize) -> usize {
        self.moved.store(self.now(), Relaxed);
        self.blocked.store(0, Relaxed);
        self.has_begun.store(true, Relaxed);
        let paid = bytes.min(self.owed());
        self.owed.fetch_sub(paid, Relaxed);
        self.record_progress(bytes);
        paid
    }

    /// Notes that bytes of an answer were made.
    pub(crate) fn owe(&self, bytes: usize) {
        self.owed.fetch_add(bytes, Relaxed);
        self.record_progress(0);
    }

    /// Bytes of answers that were made and not written yet.
    pub(crate) fn owed(&self) -> usize {
        self.owed.load(Relaxed)
    }

    /// Notes that the request has a large body, which takes long to read.
    pub(crate) fn set_large_body(&self) {
        self.has_large_body.store(true, Relaxed);
    }

    /// Whether the request needs long work on the threads that carry bytes: a large body is read, or a large answer
    /// made.
    pub(crate) fn is_large(&self) -> bool {
        self.has_large_body.load(Relaxed) || self.has_reserved()
    }

    /// Reserves bytes for a large answer that is to be made.
    pub(crate) fn reserve(&self, bytes: usize) {
        self.reserved.fetch_add(bytes, Relaxed);
    }

    /// Whether bytes are reserved.
    fn has_reserved(&self) -> bool {
        self.reserved.load(Relaxed) > 0
    }

    /// Releases at most so many reserved bytes; returns how many they were.
    pub(crate) fn release_reserved(&self, bytes: usize) -> usize {
        let left = |reserved: usize| Some(reserved.saturating_sub(bytes));
        self.reserved.fetch_update(Relaxed, Relaxed, left).map_or(0, |before| before.min(bytes))
    }

    /// Records that bytes of a body arrived.
    pub(crate) fn record_body_bytes(&self, bytes: usize) {
        self.arriving.fetch_add(bytes, Relaxed);
        self.record_progress(bytes);
    }

    /// Records that a body has arrived completely or was given up on.
    pub(crate) fn end_body(&self) {
        self.arriving.store(0, Relaxed);
        self.is_read.store(true, Relaxed);
        self.record_progress(0);
    }

    /// The bytes that wait because of this connection.
    pub(crate) fn burden(&self) -> usize {
        self.owed() + self.arriving.load(Relaxed)
    }

    /// Records that some of the waiting bytes were transferred.
    fn record_progress(&self, bytes: usize) {
        if self.burden() == 0 {
            self.burdened.store(0, Relaxed);
        } else if self.burdened.load(Relaxed) == 0 {
            self.progress.store(bytes as u64, Relaxed);
            self.burdened.store(self.now() + 1, Relaxed);
        } else {
            self.progress.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// The transfer speed of the waiting bytes, in bytes per second; `None` if it is not known yet, or if nothing
    /// waits. Bytes that the operating systems buffer do not count, as they say nothing about the client.
    pub(crate) fn speed(&self) -> Option<u64> {
        let since = self.burdened.load(Relaxed).checked_sub(1)?;
        let time = self.now().saturating_sub(since);
        (Duration::from_millis(time) >= MIN_MEASURED_TIME)
            .then(|| self.progress.load(Relaxed).saturating_sub(SYSTEM_BUFFERS).saturating_mul(1_000) / time.max(1))
    }

    /// Records that the client closed its side. Returns whether the reader must not see that yet, because an answer is
    /// still due. `whole` is the number of complete requests besides the one that is being answered; `None` if one is
    /// incomplete.
    pub(crate) fn record_half_close(&self, whole: Option<usize>) -> bool {
        let has_request = match whole {
            Some(0) => self.is_in(ConnectionPhase::Answering),
            Some(_) => true,
            None => self.is_in(ConnectionPhase::Answering) && self.is_read.load(Relaxed),
        };
        if !has_request && self.owed() == 0 && !self.is_blocked() {
            return false;
        }
        if self.hung_up.load(Relaxed) == 0 {
            self.hung_up.store(self.now() + 1, Relaxed);
        }
        true
    }

    /// Whether a request waits for its answer, and nothing of that answer was sent.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.is_in(ConnectionPhase::Answering) && !self.has_begun.load(Relaxed)
    }

    /// Records that the head of a request was read.
    pub(crate) fn begin_answer(&self) {
        self.is_read.store(false, Relaxed);
        self.has_begun.store(false, Relaxed);
        self.has_large_body.store(false, Relaxed);
        self.enter(ConnectionPhase::Answering, self.now());
    }

    /// Records that a request was answered.
    pub(crate) fn end_answer(&self) {
        self.enter(ConnectionPhase::Idle, self.now());
    }

    /// The order in which connections are closed to make room: those with a running request come last, and among equals
    /// the one that has been silent longest comes first.
    pub(crate) fn eviction_order(&self) -> (bool, Instant) {
        let is_working = self.is_in(ConnectionPhase::Answering) && !self.is_blocked();
        (is_working, self.begun + Duration::from_millis(self.moved.load(Relaxed)))
    }

    /// The reason to close this connection now, if it has exceeded a time limit.
    pub(crate) fn overdue(&self, limits: &ConnectionLimits) -> Option<CloseReason> {
        let now = self.now();
        let over = |since: u64, limit: Duration| Duration::from_millis(now.saturating_sub(since)) > limit;
        let blocked = self.blocked.load(Relaxed);
        //= docs/spec.md#http
        //# A connection that has not shown the token in time MUST be closed.
        if !self.is_proven() && over(0, limits.unproven_time) {
            return Some(if self.is_in(ConnectionPhase::Head) { CloseReason::SlowHead } else { CloseReason::Unproven });
        }
        //= docs/spec.md#http
        //# A connection whose client takes nothing of what is sent to it MUST be closed.
        if blocked > 0 && over(blocked - 1, limits.write_time) {
            return Some(CloseReason::Unread);
        }
        //= docs/spec.md#http
        //# A request whose client closes its side behind it MUST be answered if that takes no longer than a second.
        let hung_up = self.hung_up.load(Relaxed);
        if hung_up > 0 && self.is_in(ConnectionPhase::Answering) && over(hung_up - 1, HALF_CLOSED) {
            return Some(CloseReason::Gone);
        }
        let since = self.since.load(Relaxed);
        match self.phase.load(Relaxed) {
            //= docs/spec.md#http
            //# A head that does not arrive in time MUST be answered with status 408.
            phase if phase == ConnectionPhase::Head as u8 => {
                over(since, limits.head_time).then_some(CloseReason::SlowHead)
            }
            //= docs/spec.md#http
            //# A connection that is silent between requests for too long MUST be closed.
            phase if phase == ConnectionPhase::Idle as u8 => over(since, limits.idle_time).then_some(CloseReason::Idle),
            _ => None,
        }
    }

    /// Requests that the connection be closed. The first reason counts.
    pub(crate) fn close(&self, why: CloseReason) {
        if self.close_reason.compare_exchange(0, why as u8, Relaxed, Relaxed).is_ok() {
            self.close_signal.notify_one();
        }
    }

    /// Waits until the connection must be closed, and returns why.
    pub(crate) async fn closed(&self) -> CloseReason {
        self.close_signal.notified().await;
        let endings = [
            CloseReason::Crowded,
            CloseReason::Unproven,
            CloseReason::SlowHead,
            CloseReason::Idle,
            CloseReason::Unread,
            CloseReason::Gone,
        ];
        let why = self.close_reason.load(Relaxed);
        endings.into_iter().find(|ending| *ending as u8 == why).unwrap_or(CloseReason::Crowded)
    }
}
