//! All open connections: how many of each kind there may be, which one is closed when there are too many, and how much
//! they hold together.

use super::activity::{Activity, Ending};
use super::head_scan::Heads;
use super::{Carrier, ConnectionLimits, beside};
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
    open: Mutex<Open>,
    /// Bytes of bodies and answers that wait.
    pending: AtomicUsize,
    /// Of these, bytes of connections that are being closed.
    leaving: AtomicUsize,
    /// Bytes of an answer for which there was no room: until there is some, no further call is begun.
    wanted: AtomicUsize,
    /// Bytes of what calls said and clients did not hear yet.
    said: Arc<AtomicUsize>,
    /// One came, or the last one is gone.
    changed: Notify,
}

#[derive(Default)]
struct Open {
    next: u64,
    /// Those that may go on.
    counted: HashMap<u64, Arc<Activity>>,
    /// Those that are closed so that others have room, and the bytes that this frees.
    leaving: HashMap<u64, usize>,
    /// How many are not over yet: those, and others that are being closed.
    seats: usize,
}

/// The place of one connection, free again when this is dropped.
pub(crate) struct Seat {
    connections: Arc<Connections>,
    number: u64,
    pub(crate) activity: Arc<Activity>,
    heads: Mutex<Heads>,
}

/// Bytes that are counted as long as this is kept.
pub(crate) struct Charge<'a> {
    seat: &'a Seat,
    bytes: usize,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits, said: Arc<AtomicUsize>) -> Arc<Self> {
        Arc::new(Self {
            limits: ArcSwap::from_pointee(limits),
            open: Mutex::default(),
            pending: AtomicUsize::new(0),
            leaving: AtomicUsize::new(0),
            wanted: AtomicUsize::new(0),
            said,
            changed: Notify::new(),
        })
    }

    pub(crate) fn limits(&self) -> ConnectionLimits {
        **self.limits.load()
    }

    /// From now on these limits hold, for open connections too.
    pub(crate) fn set_limits(&self, limits: ConnectionLimits) {
        self.limits.store(Arc::new(limits));
    }

    fn open(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#http
    //# When too many connections are open the one that has been silent longest MUST be closed, and another be served at once.
    /// Takes a connection. It never waits: where one is too many, another one goes.
    pub(crate) fn admit(self: &Arc<Self>, address: IpAddr, proven: bool) -> Seat {
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
        open.seats += 1;
        open.counted.insert(number, Arc::clone(&activity));
        drop(open);
        self.changed.notify_waiters();
        Seat { connections: Arc::clone(self), number, activity, heads: Mutex::default() }
    }

    /// Closes the connection that has been silent longest, whatever its kind; whether there was one.
    pub(crate) fn close_one(&self) -> bool {
        let mut open = self.open();
        let before = open.counted.len();
        open.make_room(before, |_| true);
        open.counted.len() < before
    }

    /// Closes those whose time is over.
    pub(crate) fn look(&self) {
        let limits = self.limits();
        self.open().counted.retain(|_, activity| match activity.overdue(&limits) {
            Some(why) => {
                activity.end(why);
                false
            }
            None => true,
        });
        self.relieve();
    }

    /// How many are not over, and the bytes that are counted.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let bytes = self.pending.load(Relaxed) + self.leaving.load(Relaxed) + self.said.load(Relaxed);
        (self.open().seats, bytes)
    }

    /// Waits until there is something to look at.
    pub(crate) async fn some(&self) {
        self.until(|seats| seats > 0).await;
    }

    /// Waits until all are over.
    pub(crate) async fn none(&self) {
        self.until(|seats| seats == 0).await;
    }

    async fn until(&self, is_so: impl Fn(usize) -> bool) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Before the look, so that no change is missed.
            changed.as_mut().enable();
            if is_so(self.open().seats) {
                return;
            }
            changed.await;
        }
    }

    //= docs/spec.md#http
    //# While too many bytes wait, in bodies and in answers that clients do not take, a request MUST be refused with status 503.
    /// Whether no more may wait.
    pub(crate) fn is_full(&self) -> bool {
        let waiting = self.pending.load(Relaxed).saturating_add(self.said.load(Relaxed));
        let most = self.limits.load().pending_bytes;
        // What is larger than all that may wait never has room.
        let wanted = self.wanted.load(Relaxed).min(most / 2);
        let is_full = waiting.saturating_sub(self.leaving.load(Relaxed)).saturating_add(wanted) > most;
        if !is_full && wanted > 0 {
            self.wanted.store(0, Relaxed);
        }
        is_full
    }

    //= docs/spec.md#http
    //# While too many bytes wait, the connections that take or send theirs most slowly MUST be closed.
    /// Makes room while too many bytes wait: those that have had their time go, the slowest first, and of those the
    /// one for which most waits. Whether there is room.
    pub(crate) fn relieve(&self) -> bool {
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
                activity.end(Ending::Unread);
            }
        }
        !self.is_full()
    }
}

impl Carrier for Seat {
    fn reserve(&self, bytes: usize) -> bool {
        self.activity.reserves(bytes);
        self.connections.pending.fetch_add(bytes, Relaxed);
        let has_room = self.connections.relieve();
        if !has_room {
            self.connections.pending.fetch_sub(self.activity.uses(bytes), Relaxed);
            self.connections.wanted.store(bytes, Relaxed);
        }
        has_room
    }
}

impl Open {
    /// Until there are fewer than `most` of a kind, the one that was silent longest is closed.
    fn make_room(&mut self, most: usize, is_kind: impl Fn(&Activity) -> bool) {
        loop {
            let kind = self.counted.iter().filter(|(_, activity)| is_kind(activity));
            let (mut count, mut first) = (0, None);
            for (number, activity) in kind {
                count += 1;
                let order = (activity.closed_before(), *number);
                first = first.filter(|least| *least < order).or(Some(order));
            }
            let Some(((is_working, _), number)) = first.filter(|_| count >= most) else { return };
            //= docs/spec.md#http
            //# Where requests are worked on in all connections, the one that is closed MUST be of the address that has the most.
            let number = if is_working { self.of_largest_crowd(&is_kind).unwrap_or(number) } else { number };
            if let Some(activity) = self.counted.remove(&number) {
                activity.end(Ending::Crowded);
            }
        }
    }
}

impl Open {
    /// The connection of a kind that has been silent longest, of the address that has the most of them.
    fn of_largest_crowd(&self, is_kind: impl Fn(&Activity) -> bool) -> Option<u64> {
        let kind = || self.counted.iter().filter(|(_, activity)| is_kind(activity));
        let mut counts: HashMap<IpAddr, usize> = HashMap::new();
        kind().for_each(|(_, activity)| *counts.entry(activity.address()).or_default() += 1);
        let order = |activity: &Activity| (Reverse(counts.get(&activity.address()).copied()), activity.closed_before());
        kind().min_by_key(|(number, activity)| (order(activity), **number)).map(|(number, _)| *number)
    }
}

impl Seat {
    pub(crate) fn connections(&self) -> &Connections {
        &self.connections
    }

    /// Its number, which no other one has had.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The client has shown the token, or need not.
    pub(crate) fn prove(&self) {
        if self.activity.is_proven() {
            return;
        }
        let mut open = self.connections.open();
        open.make_room(self.connections.limits().connections, Activity::is_proven);
        self.activity.prove();
    }

    /// The heads of its requests.
    pub(crate) fn heads(&self) -> MutexGuard<'_, Heads> {
        self.heads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes arrived.
    pub(crate) fn reads(&self, bytes: &[u8]) {
        self.activity.reads();
        self.heads().feed(bytes);
    }

    /// Its client closed its side; whether that is to be kept from whoever reads.
    pub(crate) fn hangs_up(&self) -> bool {
        let whole = self.heads().whole();
        self.activity.hangs_up(whole)
    }

    /// A request is answered.
    pub(crate) fn has_answered(&self) {
        self.connections.pending.fetch_sub(self.activity.uses(usize::MAX), Relaxed);
        self.activity.has_answered();
    }

    /// Bytes that nothing is counted for yet.
    pub(crate) fn charge(&self) -> Charge<'_> {
        Charge { seat: self, bytes: 0 }
    }

    /// Bytes of an answer are on their way: those that were reserved are counted already.
    pub(crate) fn owes(&self, bytes: usize) {
        let reserved = self.activity.uses(bytes);
        self.activity.owes(bytes);
        self.connections.pending.fetch_add(bytes, Relaxed);
        self.connections.pending.fetch_sub(reserved, Relaxed);
    }

    //= docs/spec.md#http
    //# While a large body is read or a large answer is written, the requests of others MUST be answered.
    /// Does something, beside others if a large body is being read or a large answer written.
    pub(crate) fn aside_if_large<T>(&self, work: impl FnOnce() -> T) -> T {
        if self.activity.is_large() { beside(work) } else { work() }
    }

    /// Bytes were taken, with what stands around them.
    pub(crate) fn pays(&self, bytes: usize) {
        let paid = self.activity.writes(bytes);
        if paid > 0 {
            self.connections.pending.fetch_sub(paid, Relaxed);
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let owed = self.activity.owed() + self.activity.uses(usize::MAX);
        self.connections.pending.fetch_sub(owed, Relaxed);
        let mut open = self.connections.open();
        open.counted.remove(&self.number);
        if let Some(freed) = open.leaving.remove(&self.number) {
            self.connections.leaving.fetch_sub(freed, Relaxed);
        }
        open.seats -= 1;
        if open.seats == 0 {
            drop(open);
            self.connections.changed.notify_waiters();
        }
    }
}

impl Charge<'_> {
    pub(crate) fn add(&mut self, bytes: usize) {
        self.seat.activity.arrives(bytes);
        self.hold(bytes);
    }

    /// Counts what is taken beside bytes that arrive.
    pub(crate) fn hold(&mut self, bytes: usize) {
        self.bytes += bytes;
        self.seat.connections.pending.fetch_add(bytes, Relaxed);
    }
}

impl Drop for Charge<'_> {
    fn drop(&mut self) {
        self.seat.activity.has_arrived();
        self.seat.connections.pending.fetch_sub(self.bytes, Relaxed);
    }
}
