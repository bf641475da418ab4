//! What the calls of one address hold together, and what share of all memory that address has.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes that all guards of the process count.
static ALL: AtomicI64 = AtomicI64::new(0);
/// How many addresses have a guard.
static ADDRESSES: AtomicUsize = AtomicUsize::new(0);
/// What each of them holds; that of no address is what is done for all, such as a build of the graph.
static COUNTS: Mutex<BTreeMap<Option<u64>, Arc<Counts>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The address whose call this thread works on.
    static WORKS_FOR: Cell<Option<u64>> = const { Cell::new(None) };
}

/// From now on the guards that are made on this thread count for this address.
pub fn works_for(address: Option<u64>) {
    WORKS_FOR.set(address);
}

/// What the guards of one address count.
#[derive(Default)]
struct Counts {
    bytes: AtomicI64,
    guards: AtomicUsize,
}

/// One guard among those of its address, until it is dropped.
pub(super) struct Share {
    address: Option<u64>,
    counts: Arc<Counts>,
}

/// What is held at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Together {
    /// By all.
    pub all: i64,
    /// How many addresses these are of.
    pub addresses: usize,
    /// By the calls of this address.
    pub here: i64,
    /// How many calls these are.
    pub guards: usize,
}

impl Together {
    /// What one call of this address may hold while all hold more than `most`; nothing if it need not be stopped.
    pub(super) fn share(self, most: usize) -> Option<usize> {
        let is_over = |bytes: i64, most: usize| usize::try_from(bytes).unwrap_or(0) > most;
        let of_address = most / self.addresses.max(1);
        (is_over(self.all, most) && is_over(self.here, of_address)).then(|| of_address / self.guards.max(1))
    }
}

impl Share {
    /// That of the call which this thread works on.
    pub(super) fn of_this_thread() -> Self {
        Self::of(WORKS_FOR.get())
    }

    pub(super) fn of(address: Option<u64>) -> Self {
        let mut all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = Arc::clone(all.entry(address).or_default());
        counts.guards.fetch_add(1, Ordering::Relaxed);
        ADDRESSES.store(all.len(), Ordering::Relaxed);
        Self { address, counts }
    }

    /// The guard counts so much more; tells what is held then.
    pub(super) fn add(&self, bytes: i64) -> Together {
        Together {
            all: ALL.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            addresses: ADDRESSES.load(Ordering::Relaxed),
            here: self.counts.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            guards: self.counts.guards.load(Ordering::Relaxed),
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        // Under the lock: nobody takes what is just being forgotten.
        let mut all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        if self.counts.guards.fetch_sub(1, Ordering::Relaxed) == 1 {
            all.remove(&self.address);
        }
        ADDRESSES.store(all.len(), Ordering::Relaxed);
    }
}
