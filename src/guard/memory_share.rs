//! The memory that the calls of one address hold together, and the share of all memory that an address may hold.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes counted by all guards of the process.
static ALL: AtomicI64 = AtomicI64::new(0);
/// The number of addresses that have a guard.
static ADDRESSES: AtomicUsize = AtomicUsize::new(0);
/// The memory of each address. `None` stands for work that is done for all calls, such as a build of the graph.
static COUNTS: Mutex<BTreeMap<Option<u64>, Arc<AddressMemory>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The address whose call this thread works on.
    static WORKS_FOR: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Sets the address towards which guards created on this thread count from now on.
pub fn set_thread_address(address: Option<u64>) {
    WORKS_FOR.set(address);
}

/// The memory counted by the guards of one address.
#[derive(Default)]
struct AddressMemory {
    bytes: AtomicI64,
    guards: AtomicUsize,
}

/// The entry of one guard among those of its address. Dropping it removes the entry.
pub(super) struct MemoryShare {
    address: Option<u64>,
    counts: Arc<AddressMemory>,
}

/// The memory held at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldMemory {
    /// By all guards.
    pub all: i64,
    /// The number of addresses.
    pub addresses: usize,
    /// By the calls of this address.
    pub here: i64,
    /// The number of calls of this address.
    pub guards: usize,
}

impl HeldMemory {
    /// The bytes that one call of this address may hold if all calls together hold more than `most`; `None` if no call
    /// needs to be stopped.
    pub(super) fn allowed_share(self, most: usize) -> Option<usize> {
        let is_over = |bytes: i64, most: usize| usize::try_from(bytes).unwrap_or(0) > most;
        let of_address = most / self.addresses.max(1);
        (is_over(self.all, most) && is_over(self.here, of_address)).then(|| of_address / self.guards.max(1))
    }
}

impl MemoryShare {
    /// Creates the entry of a guard for the address whose call this thread works on.
    pub(super) fn for_this_thread() -> Self {
        Self::for_address(WORKS_FOR.get())
    }

    pub(super) fn for_address(address: Option<u64>) -> Self {
        let mut all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        let counts = Arc::clone(all.entry(address).or_default());
        counts.guards.fetch_add(1, Ordering::Relaxed);
        ADDRESSES.store(all.len(), Ordering::Relaxed);
        Self { address, counts }
    }

    /// Adds bytes to the count, and returns what is then held.
    pub(super) fn add(&self, bytes: i64) -> HeldMemory {
        HeldMemory {
            all: ALL.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            addresses: ADDRESSES.load(Ordering::Relaxed),
            here: self.counts.bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes),
            guards: self.counts.guards.load(Ordering::Relaxed),
        }
    }
}

impl Drop for MemoryShare {
    fn drop(&mut self) {
        // The lock prevents others from taking an entry that is being removed.
        let mut all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        if self.counts.guards.fetch_sub(1, Ordering::Relaxed) == 1 {
            all.remove(&self.address);
        }
        ADDRESSES.store(all.len(), Ordering::Relaxed);
    }
}
