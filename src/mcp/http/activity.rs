//! What a connection is doing and since when, and how long it may: written where its bytes pass, read by the watch over
//! all connections.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// Limits of connections over HTTP: `[http]` of `toolsd.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections that have not shown the token yet.
    pub unproven: usize,
    /// Of these, connections from one address.
    pub unproven_per_address: usize,
    /// How long a connection may take until it has shown the token.
    pub unproven_time: Duration,
    /// Connections that have shown the token; without a token, all.
    pub connections: usize,
    /// How long the head of a request may take from its first byte.
    pub head_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a body may pause.
    pub body_pause: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_time: Duration,
    /// How long a connection may be silent between requests.
    pub idle_time: Duration,
    /// Pending bytes of all connections together: of arriving bodies, and of answers that clients have not taken yet.
    pub pending_bytes: usize,
    /// Sessions, of the revisions that have them.
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
    /// The interval between two checks of all connections: the accuracy of all limits of time.
    pub(crate) fn check_interval(&self) -> Duration {
        let times = [self.unproven_time, self.head_time, self.write_time, self.idle_time];
        let least = times.into_iter().min().unwrap_or_default();
        (least / 4).clamp(Duration::from_millis(10), Duration::from_millis(250))
    }

    /// Lowers the limits to a number of connections, of both kinds together.
    pub(crate) fn capped_at(self, most: usize) -> Self {
        let connections = self.connections.min((most * 4 / 5).max(1));
        Self { connections, unproven: self.unproven.min(most.saturating_sub(connections).max(1)), ..self }
    }
}

/// A duration as messages tell it.
pub(crate) fn format_duration(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1_000 == 0 => format!("{} s", whole / 1_000),
        odd => format!("{odd} ms"),
    }
}

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum ConnectionPhase {
    /// No byte of the next request has arrived.
    Idle = 0,
    /// The head of a request is arriving.
    Head = 1,
    /// A request is read and answered.
    Answering = 2,
}

/// Why a connection is closed before its client closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CloseReason {
    /// Too many connections are open, and none has been silent longer.
    Crowded = 1,
    /// The token did not come in time.
    Unproven = 2,
    /// The head of its request did not arrive in time.
    SlowHead = 3,
    /// The connection was silent for too long.
    Idle = 4,
    /// The client takes nothing of what is sent, or too little while too many bytes wait.
    Unread = 5,
    /// The client closed its side, and the answer did not come soon.
    Gone = 6,
}

/// How long a request is worked on after its client closed its side: the client may wait for the answer, or be gone.
pub(crate) const HALF_CLOSED: Duration = Duration::from_secs(1);

/// How many bytes the systems on both sides buffer, whatever the client takes.
const SYSTEM_BUFFERS: u64 = 512 << 10;

/// How long a connection is measured before its speed counts.
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

    /// Whether the request needs long work on the threads that carry bytes: a large body is read, or a large answer made.
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

    /// Notes that bytes of a body arrived.
    pub(crate) fn record_body_bytes(&self, bytes: usize) {
        self.arriving.fetch_add(bytes, Relaxed);
        self.record_progress(bytes);
    }

    /// Notes that a body has arrived completely, or is given up.
    pub(crate) fn end_body(&self) {
        self.arriving.store(0, Relaxed);
        self.is_read.store(true, Relaxed);
        self.record_progress(0);
    }

    /// The bytes that wait because of this connection.
    pub(crate) fn burden(&self) -> usize {
        self.owed() + self.arriving.load(Relaxed)
    }

    /// Notes that some of the waiting bytes moved.
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

    /// The speed of the waiting bytes, in bytes a second; nothing if it is not known yet, or nothing waits. What the systems
    /// on both sides buffer says nothing of the client, and does not count.
    pub(crate) fn speed(&self) -> Option<u64> {
        let since = self.burdened.load(Relaxed).checked_sub(1)?;
        let time = self.now().saturating_sub(since);
        (Duration::from_millis(time) >= MIN_MEASURED_TIME)
            .then(|| self.progress.load(Relaxed).saturating_sub(SYSTEM_BUFFERS).saturating_mul(1_000) / time.max(1))
    }

    /// Notes that the client closed its side; whether the reader must not see that yet, because an answer is to come.
    /// `whole` is the number of complete requests beside the one that is answered; nothing if one is incomplete.
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

    /// Whether a request waits for its answer, of which nothing was sent.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.is_in(ConnectionPhase::Answering) && !self.has_begun.load(Relaxed)
    }

    /// Notes that the head of a request was read.
    pub(crate) fn begin_answer(&self) {
        self.is_read.store(false, Relaxed);
        self.has_begun.store(false, Relaxed);
        self.has_large_body.store(false, Relaxed);
        self.enter(ConnectionPhase::Answering, self.now());
    }

    /// Notes that a request was answered.
    pub(crate) fn end_answer(&self) {
        self.enter(ConnectionPhase::Idle, self.now());
    }

    /// The order in which connections are closed for others: those whose request is worked on come last; among equals the
    /// one that has been silent longest comes first.
    pub(crate) fn eviction_order(&self) -> (bool, Instant) {
        let is_working = self.is_in(ConnectionPhase::Answering) && !self.is_blocked();
        (is_working, self.begun + Duration::from_millis(self.moved.load(Relaxed)))
    }

    /// The reason to close this connection now, if a limit of time has passed.
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

    /// Asks for the connection to be closed; the first reason counts.
    pub(crate) fn close(&self, why: CloseReason) {
        if self.close_reason.compare_exchange(0, why as u8, Relaxed, Relaxed).is_ok() {
            self.close_signal.notify_one();
        }
    }

    /// Waits until the connection is to be closed.
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
