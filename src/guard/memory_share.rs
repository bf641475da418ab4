//! The memory that the calls of one address hold together, and the share of all memory that an address may hold.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes counted by all guards of the process.
static ALL: AtomicI64 = AtomicI64::new(0);
/// The number of addresses that have a guard.
static ADDRESSES: AtomicUsize = AtomicUsize::new(0);
/// The memory of each address. `None` stands for work that is done for all, such as a build of the graph.
static COUNTS: Mutex<BTreeMap<Option<u64>, Arc<AddressMemory>>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// The address whose call this thread works on.
    static WORKS_FOR: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Sets the address that the guards created on this thread count for from now on.
pub fn set_thread_address(address: Option<u64>) {
    WORKS_FOR.set(address);
}

/// The memory counted by the guards of one address.
#[derive(Default)]
struct AddressMemory {
    bytes: AtomicI64,
    guards: AtomicUsize,
}

/// The entry of one guard among those of its address, until it is dropped.
pub(super) struct MemoryShare {
    address: Option<u64>,
    counts: Arc<AddressMemory>,
}

/// The memory that is held at a moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeldMemory {
    /// By all.
    pub all: i64,
    /// The number of addresses.
    pub addresses: usize,
    /// By the calls of this address.
    pub here: i64,
    /// The number of these calls.
    pub guards: usize,
}

impl HeldMemory {
    /// The bytes that one call of this address may hold while all calls hold more than `most`; `None` while none needs
    /// to be stopped.
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

    /// Adds bytes to the count, and gives what is held then.
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
        // Under the lock, so that nobody takes an entry that is just being removed.
        let mut all = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
        if self.counts.guards.fetch_sub(1, Ordering::Relaxed) == 1 {
            all.remove(&self.address);
        }
        ADDRESSES.store(all.len(), Ordering::Relaxed);
    }
}
