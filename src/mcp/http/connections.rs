//! All open connections: limits how many of each kind there are and how many bytes they hold together, and chooses
//! which one is closed when there are too many.

use super::activity::{Activity, CloseReason, ConnectionLimits};
use super::head_scan::Heads;
use crate::mcp::sender::{AnswerBudget, run_aside};
use arc_swap::ArcSwap;
use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The connections of a listener.
pub(crate) struct Connections {
    limits: ArcSwap<ConnectionLimits>,
    open: Mutex<OpenConnections>,
    /// Pending bytes, of bodies and of answers.
    pending: AtomicUsize,
    /// Of these, the bytes of connections that are being closed.
    leaving: AtomicUsize,
    /// The bytes of an answer for which there was no room. Until there is room, no further call begins.
    wanted: AtomicUsize,
    /// Bytes of queued notifications that clients have not received yet.
    notice_bytes: Arc<AtomicUsize>,
    /// Notified when a connection was accepted, or the last one is gone.
    changed: Notify,
}

#[derive(Default)]
struct OpenConnections {
    next: u64,
    /// The connections that stay open.
    counted: HashMap<u64, Arc<Activity>>,
    /// The connections that are being closed to make room, and the bytes that this frees.
    leaving: HashMap<u64, usize>,
    /// The number of connections that are not gone yet: those above, and all others that are being closed.
    handles: usize,
}

/// One open connection, counted until this is dropped.
pub(crate) struct ConnectionHandle {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) activity: Arc<Activity>,
    heads: Mutex<Heads>,
}

/// Bytes that count as pending until this is dropped.
pub(crate) struct ByteCharge<'a> {
    handle: &'a ConnectionHandle,
    bytes: usize,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits, notice_bytes: Arc<AtomicUsize>) -> Arc<Self> {
        Arc::new(Self {
            limits: ArcSwap::from_pointee(limits),
            open: Mutex::default(),
            pending: AtomicUsize::new(0),
            leaving: AtomicUsize::new(0),
            wanted: AtomicUsize::new(0),
            notice_bytes,
            changed: Notify::new(),
        })
    }

    pub(crate) fn limits(&self) -> ConnectionLimits {
        **self.limits.load()
    }

    /// Replaces the limits, for open connections too.
    pub(crate) fn set_limits(&self, limits: ConnectionLimits) {
        self.limits.store(Arc::new(limits));
    }

    fn open(&self) -> MutexGuard<'_, OpenConnections> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#http
    //# When too many connections are open the one that has been silent longest MUST be closed, and another be served at once.
    /// Admits a connection. Never waits: if it is one too many, another one is closed.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, proven: bool) -> ConnectionHandle {
        let activity = Arc::new(Activity::new(address, proven));
        let limits = self.limits();
        let mut open = self.open();
        if proven {
            open.make_room(limits.connections, Activity::is_proven);
        } else {
            let is_near = |one: &Activity| !one.is_proven() && one.address() == address;
            open.make_room(limits.unproven_per_address, is_near);
            open.make_room(limits.unproven, |one| !one.is_proven());
        }
        let number = open.next;
        open.next += 1;
        open.handles += 1;
        open.counted.insert(number, Arc::clone(&activity));
        drop(open);
        self.changed.notify_waiters();
        ConnectionHandle { connections: Arc::clone(self), number, activity, heads: Mutex::default() }
    }

    /// Closes the connection that has been silent longest, whatever its kind; `false` if there was none.
    pub(crate) fn close_most_silent(&self) -> bool {
        let mut open = self.open();
        let before = open.counted.len();
        open.make_room(before, |_| true);
        open.counted.len() < before
    }

    /// Closes the connections that have exceeded a time limit.
    pub(crate) fn close_overdue(&self) {
        let limits = self.limits();
        self.open().counted.retain(|_, activity| match activity.overdue(&limits) {
            Some(why) => {
                activity.close(why);
                false
            }
            None => true,
        });
        self.make_room_for_bytes();
    }

    /// The number of connections that are not gone, and the bytes that count.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let bytes = self.pending.load(Relaxed) + self.leaving.load(Relaxed) + self.notice_bytes.load(Relaxed);
        (self.open().handles, bytes)
    }

    /// Waits until there is a connection.
    pub(crate) async fn wait_for_any(&self) {
        self.wait_until(|handles| handles > 0).await;
    }

    /// Waits until all connections are gone.
    pub(crate) async fn wait_for_none(&self) {
        self.wait_until(|handles| handles == 0).await;
    }

    async fn wait_until(&self, is_so: impl Fn(usize) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the check, so that no notification is missed.
            changed.as_mut().enable();
            if is_so(self.open().handles) {
                return;
            }
            changed.await;
        }
    }

    //= docs/spec.md#http
    //# While too many bytes wait, in bodies and in answers that clients do not take, a request MUST be refused with status 503.
    /// Whether the limit of waiting bytes is reached.
    pub(crate) fn is_full(&self) -> bool {
        let waiting = self.pending.load(Relaxed).saturating_add(self.notice_bytes.load(Relaxed));
        let most = self.limits.load().pending_bytes;
        // An answer larger than the limit would never get room.
        let wanted = self.wanted.load(Relaxed).min(most / 2);
        let is_full = waiting.saturating_sub(self.leaving.load(Relaxed)).saturating_add(wanted) > most;
        if !is_full && wanted > 0 {
            self.wanted.store(0, Relaxed);
        }
        is_full
    }

    //= docs/spec.md#http
    //# While too many bytes wait, the connections that take or send theirs most slowly MUST be closed.
    /// Closes connections while too many bytes wait: of those whose speed is known, the slowest first, and of equally
    /// slow ones, the one with the most waiting bytes. Returns whether there is room now.
    pub(crate) fn make_room_for_bytes(&self) -> bool {
        if !self.is_full() {
            return true;
        }
        let mut open = self.open();
        let speeds = open
            .counted
            .iter()
            .filter_map(|(number, activity)| Some((activity.speed()?, Reverse(activity.burden()), *number)));
        let mut slowest: Vec<(u64, Reverse<usize>, u64)> = speeds.collect();
        slowest.sort_unstable();
        for (_, _, number) in slowest {
            if !self.is_full() {
                return true;
            }
            if let Some(activity) = open.counted.remove(&number) {
                let freed = activity.burden();
                open.leaving.insert(number, freed);
                self.leaving.fetch_add(freed, Relaxed);
                activity.close(CloseReason::Unread);
            }
        }
        !self.is_full()
    }
}

impl AnswerBudget for ConnectionHandle {
    fn reserve(&self, bytes: usize) -> bool {
        self.activity.reserve(bytes);
        self.connections.pending.fetch_add(bytes, Relaxed);
        let has_room = self.connections.make_room_for_bytes();
        if !has_room {
            self.connections.pending.fetch_sub(self.activity.release_reserved(bytes), Relaxed);
            self.connections.wanted.store(bytes, Relaxed);
        }
        has_room
    }
}

impl OpenConnections {
    /// Closes the most silent connections of a kind until there are fewer than `most`.
    fn make_room(&mut self, most: usize, is_kind: impl Fn(&Activity) -> bool) {
        loop {
            let kind = self.counted.iter().filter(|(_, activity)| is_kind(activity));
            let (mut count, mut first) = (0, None);
            for (number, activity) in kind {
                count += 1;
                let order = (activity.eviction_order(), *number);
                first = first.filter(|least| *least < order).or(Some(order));
            }
            let Some(((is_working, _), number)) = first.filter(|_| count >= most) else { return };
            //= docs/spec.md#http
            //# Where requests are worked on in all connections, the one that is closed MUST be of the address that has the most.
            let number =
                if is_working { self.most_silent_of_largest_address(&is_kind).unwrap_or(number) } else { number };
            if let Some(activity) = self.counted.remove(&number) {
                activity.close(CloseReason::Crowded);
            }
        }
    }

    /// The connection of a kind that has been silent longest, of the address that has the most connections of that
    /// kind.
    fn most_silent_of_largest_address(&self, is_kind: impl Fn(&Activity) -> bool) -> Option<u64> {
        let kind = || self.counted.iter().filter(|(_, activity)| is_kind(activity));
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        kind().for_each(|(_, activity)| *counts.entry(activity.address()).or_default() += 1);
        let order =
            |activity: &Activity| (Reverse(counts.get(&activity.address()).copied()), activity.eviction_order());
        kind().min_by_key(|(number, activity)| (order(activity), **number)).map(|(number, _)| *number)
    }
}

impl ConnectionHandle {
    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// The number of the connection, which is never reused.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Records that the client has shown the token, or need not show it.
    pub(crate) fn prove(&self) {
        if self.activity.is_proven() {
            return;
        }
        let mut open = self.connections.open();
        open.make_room(self.connections.limits().connections, Activity::is_proven);
        self.activity.prove();
    }

    /// The heads of the requests on this connection.
    pub(crate) fn heads(&self) -> MutexGuard<'_, Heads> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records that bytes arrived.
    pub(crate) fn record_read(&self, bytes: &[u8]) {
        self.activity.record_read();
        self.heads().feed(bytes);
    }

    /// Records that the client closed its side. Returns whether the reader must not see that yet.
    pub(crate) fn record_half_close(&self) -> bool {
        let whole = self.heads().complete_requests();
        self.activity.record_half_close(whole)
    }

    /// Records that a request was answered.
    pub(crate) fn end_answer(&self) {
        self.connections.pending.fetch_sub(self.activity.release_reserved(usize::MAX), Relaxed);
        self.activity.end_answer();
    }

    /// A new charge, of no bytes.
    pub(crate) fn charge(&self) -> ByteCharge<'_> {
        ByteCharge { handle: self, bytes: 0 }
    }

    /// Counts bytes of an answer as pending. Bytes that were reserved count already.
    pub(crate) fn owe(&self, bytes: usize) {
        let reserved = self.activity.release_reserved(bytes);
        self.activity.owe(bytes);
        self.connections.pending.fetch_add(bytes, Relaxed);
        self.connections.pending.fetch_sub(reserved, Relaxed);
    }

    //= docs/spec.md#http
    //# While a large body is read or a large answer is written, the requests of others MUST be answered.
    /// Runs some work; while a large body is read or a large answer is written, another thread takes over other tasks.
    pub(crate) fn run_aside_if_large<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.activity.is_large() { run_aside(work) } else { work() }
    }

    /// Records that the client took bytes, of answers and of their framing.
    pub(crate) fn record_written(&self, bytes: usize) {
        let paid = self.activity.record_written(bytes);
        if paid > 0 {
            self.connections.pending.fetch_sub(paid, Relaxed);
        }
    }
}

impl Drop for ConnectionHandle {
    fn drop(&mut self) {
        let owed = self.activity.owed() + self.activity.release_reserved(usize::MAX);
        self.connections.pending.fetch_sub(owed, Relaxed);
        let mut open = self.connections.open();
        open.counted.remove(&self.number);
        if let Some(freed) = open.leaving.remove(&self.number) {
            self.connections.leaving.fetch_sub(freed, Relaxed);
        }
        open.handles -= 1;
        if open.handles == 0 {
            drop(open);
            self.connections.changed.notify_waiters();
        }
    }
}

impl ByteCharge<'_> {
    /// Counts bytes of a body that arrived.
    pub(crate) fn add(&mut self, bytes: usize) {
        self.handle.activity.record_body_bytes(bytes);
        self.hold(bytes);
    }

    /// Counts memory that is used in addition to the bytes that arrive.
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.handle.connections.pending.fetch_add(bytes, Relaxed);
    }
}

impl Drop for ByteCharge<'_> {
    fn drop(&mut self) {
        self.handle.activity.end_body();
        self.handle.connections.pending.fetch_sub(self.bytes, Relaxed);
    }
}
