//! The memory that all calls and builds hold together. If it is too much, the call that holds the most must end.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The maximum number of bytes that all calls and builds may hold together. A call whose own limit is larger may hold
/// that much.
pub(super) const MAX_TOTAL: usize = 2 << 30;

/// The bytes of all calls.
static TOTAL: AtomicI64 = AtomicI64::new(0);
static CALLS: Mutex<Vec<Arc<CallMemory>>> = Mutex::new(Vec::new());

struct CallMemory {
    bytes: AtomicI64,
    limit: usize,
    must_end: AtomicBool,
}

/// The entry of a call among those of all calls. Dropping it removes the entry.
pub(super) struct TotalMemoryEntry(Arc<CallMemory>);

impl CallMemory {
    fn bytes(&self) -> usize {
        usize::try_from(self.bytes.load(Ordering::Relaxed)).unwrap_or(0)
    }
}

impl TotalMemoryEntry {
    /// Creates the entry of a call that may hold `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        let memory = CallMemory { bytes: AtomicI64::new(0), limit, must_end: AtomicBool::new(false) };
        let memory = Arc::new(memory);
        CALLS.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&memory));
        Self(memory)
    }

    /// Counts allocated bytes, or freed ones if negative.
    pub(super) fn add(&self, bytes: i64) {
        self.0.bytes.fetch_add(bytes, Ordering::Relaxed);
        let total = TOTAL.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if usize::try_from(total).unwrap_or(0) > MAX_TOTAL {
            end_largest();
        }
    }

    /// The bytes that the call holds.
    pub(super) fn bytes(&self) -> usize {
        self.0.bytes()
    }

    /// Whether the call must end because all calls together hold too much, and it holds the most.
    pub(super) fn must_end(&self) -> bool {
        self.0.must_end.load(Ordering::Relaxed)
    }
}

//= docs/spec.md#calls
//# When all calls together use too much memory, the largest one MUST be stopped with an error that reports it.
/// Marks the largest call as one that must end. Calls that end already are not counted, so that none is stopped for
/// memory that is about to be freed.
#[cold]
fn end_largest() {
    let calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
    let others = || calls.iter().filter(|call| !call.must_end.load(Ordering::Relaxed));
    let total: usize = others().map(|call| call.bytes()).sum();
    if let Some(largest) = others().max_by_key(|call| call.bytes())
        && total > MAX_TOTAL.max(largest.limit)
    {
        largest.must_end.store(true, Ordering::Relaxed);
    }
}

impl Drop for TotalMemoryEntry {
    fn drop(&mut self) {
        TOTAL.fetch_sub(self.0.bytes.load(Ordering::Relaxed), Ordering::Relaxed);
        let mut calls = CALLS.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = calls.iter().position(|call| Arc::ptr_eq(call, &self.0)) {
            calls.swap_remove(at);
        }
    }
}
