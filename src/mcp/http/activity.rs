//! What a connection is doing, and since when: written where its bytes pass, read by whoever watches over all of them.

use super::ConnectionLimits;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::sync::Notify;

/// What a connection does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// No byte of the next request is there.
    Idle = 0,
    /// The head of a request is arriving.
    Head = 1,
    /// A request is read and answered.
    Answering = 2,
}

/// Why a connection is closed before its client closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Ending {
    /// There are too many, and none has been silent longer.
    Crowded = 1,
    /// It has not shown the token in time.
    Unproven = 2,
    /// The head of its request did not arrive in time.
    SlowHead = 3,
    /// It was silent for too long.
    Idle = 4,
    /// Nothing was taken of what is sent, or too little while too much waits.
    Unread = 5,
    /// Its client closed its side, and the answer did not come soon.
    Gone = 6,
}

/// How long a request is worked on whose client has closed its side: it may wait for the answer, or be gone.
pub(crate) const HALF_CLOSED: Duration = Duration::from_secs(1);
/// Bytes that the systems between both sides take without anybody's doing.
const HELD: u64 = 512 << 10;
/// How long a connection may take to show how fast it is.
const TRIAL: Duration = Duration::from_secs(2);

/// The activity of one connection. Its own task writes it; times are milliseconds since it was taken.
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
    /// When a write began to wait, and one more; 0 while none does.
    blocked: AtomicU64,
    /// Bytes of answers that were made and not written yet.
    owed: AtomicUsize,
    /// Bytes of a large answer that is to be made.
    reserved: AtomicUsize,
    /// Bytes of a body that is arriving.
    arriving: AtomicUsize,
    /// The body of the request that is answered is large.
    has_large_body: AtomicBool,
    /// Since when something has been owed or arriving all the time, and one more; 0 while nothing is.
    burdened: AtomicU64,
    /// Bytes that were taken or arrived since then.
    progress: AtomicU64,
    /// When its client closed its side, and one more; 0 while it has not.
    hung_up: AtomicU64,
    /// The request that is answered was read to its end.
    is_read: AtomicBool,
    /// Something was sent since the request arrived.
    has_begun: AtomicBool,
    ending: AtomicU8,
    close: Notify,
    /// Whether anything was asked of the stream, and the word of it.
    looked: AtomicBool,
    first_look: Notify,
}

impl Activity {
    pub(crate) fn new(address: IpAddr, proven: bool) -> Self {
        Self {
            address,
            begun: Instant::now(),
            proven: AtomicBool::new(proven),
            phase: AtomicU8::new(Phase::Idle as u8),
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
            ending: AtomicU8::new(0),
            close: Notify::new(),
            looked: AtomicBool::new(false),
            first_look: Notify::new(),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn enter(&self, phase: Phase, now: u64) {
        self.since.store(now, Relaxed);
        self.phase.store(phase as u8, Relaxed);
    }

    fn is_in(&self, phase: Phase) -> bool {
        self.phase.load(Relaxed) == phase as u8
    }

    pub(crate) fn address(&self) -> IpAddr {
        self.address
    }

    pub(crate) fn is_proven(&self) -> bool {
        self.proven.load(Relaxed)
    }

    /// It has shown the token; whether it had before.
    pub(crate) fn prove(&self) -> bool {
        self.proven.swap(true, Relaxed)
    }

    /// It was looked whether bytes are there.
    pub(crate) fn looks(&self) {
        if !self.looked.load(Relaxed) && !self.looked.swap(true, Relaxed) {
            self.first_look.notify_one();
        }
    }

    /// Comes to be when what the client sent at first was read, if anything was.
    pub(crate) async fn looked(&self) {
        self.first_look.notified().await;
    }

    /// Bytes arrived.
    pub(crate) fn reads(&self) {
        let now = self.now();
        self.moved.store(now, Relaxed);
        if self.is_in(Phase::Idle) {
            self.enter(Phase::Head, now);
        }
    }

    /// A write, or the end of one, waits for the client.
    pub(crate) fn waits_to_write(&self) {
        if self.blocked.load(Relaxed) == 0 {
            self.blocked.store(self.now() + 1, Relaxed);
        }
    }

    /// Whether a write waits for the client.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked.load(Relaxed) > 0
    }

    /// Bytes were taken; how many of them were owed.
    pub(crate) fn writes(&self, bytes: usize) -> usize {
        self.moved.store(self.now(), Relaxed);
        self.blocked.store(0, Relaxed);
        self.has_begun.store(true, Relaxed);
        let paid = bytes.min(self.owed());
        self.owed.fetch_sub(paid, Relaxed);
        self.moves(bytes);
        paid
    }

    /// Bytes of an answer are made.
    pub(crate) fn owes(&self, bytes: usize) {
        self.owed.fetch_add(bytes, Relaxed);
        self.moves(0);
    }

    /// Bytes of answers that were made and not written yet.
    pub(crate) fn owed(&self) -> usize {
        self.owed.load(Relaxed)
    }

    /// A large body is there: to read it takes long.
    pub(crate) fn has_to_read(&self) {
        self.has_large_body.store(true, Relaxed);
    }

    /// Whether what is done for the request takes long on the way of bytes: a large body is read, or a large answer is
    /// made.
    pub(crate) fn is_large(&self) -> bool {
        self.has_large_body.load(Relaxed) || self.has_reserved()
    }

    /// A large answer is to be made.
    pub(crate) fn reserves(&self, bytes: usize) {
        self.reserved.fetch_add(bytes, Relaxed);
    }

    /// Whether one is.
    fn has_reserved(&self) -> bool {
        self.reserved.load(Relaxed) > 0
    }

    /// So many bytes of it are made, or given up; how many of them were reserved.
    pub(crate) fn uses(&self, bytes: usize) -> usize {
        let left = |reserved: usize| Some(reserved.saturating_sub(bytes));
        self.reserved.fetch_update(Relaxed, Relaxed, left).map_or(0, |before| before.min(bytes))
    }

    /// Bytes of a body arrived.
    pub(crate) fn arrives(&self, bytes: usize) {
        self.arriving.fetch_add(bytes, Relaxed);
        self.moves(bytes);
    }

    /// A body is there to its end, or is given up.
    pub(crate) fn has_arrived(&self) {
        self.arriving.store(0, Relaxed);
        self.is_read.store(true, Relaxed);
        self.moves(0);
    }

    /// Bytes that wait because of this connection.
    pub(crate) fn burden(&self) -> usize {
        self.owed() + self.arriving.load(Relaxed)
    }

    /// So many bytes moved, of those that wait.
    fn moves(&self, bytes: usize) {
        if self.burden() == 0 {
            self.burdened.store(0, Relaxed);
        } else if self.burdened.load(Relaxed) == 0 {
            self.progress.store(bytes as u64, Relaxed);
            self.burdened.store(self.now() + 1, Relaxed);
        } else {
            self.progress.fetch_add(bytes as u64, Relaxed);
        }
    }

    /// Bytes a second of what waits because of this connection; nothing if that is not known yet, or nothing waits. What the
    /// systems on both sides hold by themselves says nothing of the client.
    pub(crate) fn speed(&self) -> Option<u64> {
        let since = self.burdened.load(Relaxed).checked_sub(1)?;
        let time = self.now().saturating_sub(since);
        (Duration::from_millis(time) >= TRIAL)
            .then(|| self.progress.load(Relaxed).saturating_sub(HELD).saturating_mul(1_000) / time.max(1))
    }

    /// Its client closed its side; whether that is to be kept from whoever reads, because an answer is to come.
    /// `whole` says how many requests are there to their end beside the one that is answered, if all are.
    pub(crate) fn hangs_up(&self, whole: Option<usize>) -> bool {
        let has_request = match whole {
            Some(0) => self.is_in(Phase::Answering),
            Some(_) => true,
            None => self.is_in(Phase::Answering) && self.is_read.load(Relaxed),
        };
        if !has_request && self.owed() == 0 && !self.is_blocked() {
            return false;
        }
        if self.hung_up.load(Relaxed) == 0 {
            self.hung_up.store(self.now() + 1, Relaxed);
        }
        true
    }

    /// Whether a request was not answered yet, and nothing of its answer was sent.
    pub(crate) fn awaits_answer(&self) -> bool {
        self.is_in(Phase::Answering) && !self.has_begun.load(Relaxed)
    }

    /// The head of a request is read.
    pub(crate) fn answers(&self) {
        self.is_read.store(false, Relaxed);
        self.has_begun.store(false, Relaxed);
        self.has_large_body.store(false, Relaxed);
        self.enter(Phase::Answering, self.now());
    }

    /// A request is answered.
    pub(crate) fn has_answered(&self) {
        self.enter(Phase::Idle, self.now());
    }

    /// The order in which connections are closed: those whose call is worked on come last; then, how long ago a byte
    /// moved.
    pub(crate) fn closed_before(&self) -> (bool, Instant) {
        let is_working = self.is_in(Phase::Answering) && !self.is_blocked();
        (is_working, self.begun + Duration::from_millis(self.moved.load(Relaxed)))
    }

    /// Which limit of time is over, if one is.
    pub(crate) fn overdue(&self, limits: &ConnectionLimits) -> Option<Ending> {
        let now = self.now();
        let over = |since: u64, limit: Duration| Duration::from_millis(now.saturating_sub(since)) > limit;
        let blocked = self.blocked.load(Relaxed);
        //= docs/spec.md#http
        //# A connection that has not shown the token in time MUST be closed.
        if !self.is_proven() && over(0, limits.unproven_time) {
            return Some(if self.is_in(Phase::Head) { Ending::SlowHead } else { Ending::Unproven });
        }
        //= docs/spec.md#http
        //# A connection whose client takes nothing of what is sent to it MUST be closed.
        if blocked > 0 && over(blocked - 1, limits.write_time) {
            return Some(Ending::Unread);
        }
        //= docs/spec.md#http
        //# A request whose client closes its side behind it MUST be answered if that takes no longer than a second.
        let hung_up = self.hung_up.load(Relaxed);
        if hung_up > 0 && self.is_in(Phase::Answering) && over(hung_up - 1, HALF_CLOSED) {
            return Some(Ending::Gone);
        }
        let since = self.since.load(Relaxed);
        match self.phase.load(Relaxed) {
            //= docs/spec.md#http
            //# A head that does not arrive in time MUST be answered with status 408.
            phase if phase == Phase::Head as u8 => over(since, limits.head_time).then_some(Ending::SlowHead),
            //= docs/spec.md#http
            //# A connection that is silent between requests for too long MUST be closed.
            phase if phase == Phase::Idle as u8 => over(since, limits.idle_time).then_some(Ending::Idle),
            _ => None,
        }
    }

    /// Has the connection closed; the first reason counts.
    pub(crate) fn end(&self, why: Ending) {
        if self.ending.compare_exchange(0, why as u8, Relaxed, Relaxed).is_ok() {
            self.close.notify_one();
        }
    }

    /// Comes to be when the connection is to be closed.
    pub(crate) async fn ended(&self) -> Ending {
        self.close.notified().await;
        let endings = [Ending::Crowded, Ending::Unproven, Ending::SlowHead, Ending::Idle, Ending::Unread, Ending::Gone];
        let why = self.ending.load(Relaxed);
        endings.into_iter().find(|ending| *ending as u8 == why).unwrap_or(Ending::Crowded)
    }
}
