//! The counters of each thread for its guard, and the allocator that counts what the thread allocates.
//!
//! The allocator is the only `unsafe` code, because it cannot be written without it. Each function passes its arguments
//! to mimalloc unchanged and adds to thread-local cells, so this allocator makes the same guarantees as
//! mimalloc. The cell is constant-initialized and has no destructor, so accessing it never allocates and never fails,
//! not even while a thread is ending.

use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;

/// The counters of a thread: what it holds, and how far it is from the next check of its guard.
pub(super) struct ThreadCounters {
    /// Bytes allocated on this thread since it started.
    pub(super) allocated: Cell<isize>,
    /// Bytes freed on this thread since it started.
    pub(super) freed: Cell<isize>,
    /// The value of [`ThreadCounters::net`] that was last added to the guard.
    pub(super) counted: Cell<isize>,
    /// Bytes that the guard already counts although they are not allocated yet.
    pub(super) promised: Cell<isize>,
    /// If [`ThreadCounters::net`] exceeds this, the guard is consulted at the next tick.
    pub(super) ceiling: Cell<isize>,
    /// If `allocated` exceeds this, the guard is consulted at the next tick: a step that copies a lot takes long even
    /// if it holds nothing in the end.
    pub(super) churn: Cell<isize>,
    /// The largest text allocated since the guard was last consulted. The next step may copy it.
    pub(super) text: Cell<usize>,
    /// The number of ticks until the guard is consulted.
    pub(super) countdown: Cell<i32>,
    /// The part of the countdown that was not ticks but checks in native loops.
    pub(super) unticked: Cell<i32>,
    /// The units of work left until the guard is consulted.
    pub(super) work: Cell<isize>,
    /// When the guard was last consulted, by the coarse clock, in milliseconds.
    pub(super) looked_ms: Cell<i64>,
}

impl ThreadCounters {
    /// Bytes allocated on this thread minus bytes freed on it, since it started.
    #[inline]
    pub(super) fn net(&self) -> isize {
        self.allocated.get().wrapping_sub(self.freed.get())
    }

    /// Whether enough was allocated for the guard to be consulted.
    #[inline]
    pub(super) fn is_full(&self) -> bool {
        self.net() > self.ceiling.get() || self.allocated.get() > self.churn.get()
    }
}

thread_local! {
    pub(super) static COUNTERS: ThreadCounters = const {
        ThreadCounters {
            allocated: Cell::new(0),
            freed: Cell::new(0),
            counted: Cell::new(0),
            promised: Cell::new(0),
            ceiling: Cell::new(isize::MAX),
            churn: Cell::new(isize::MAX),
            text: Cell::new(0),
            countdown: Cell::new(i32::MAX),
            unticked: Cell::new(0),
            work: Cell::new(isize::MAX),
            looked_ms: Cell::new(0),
        }
    };
}

/// The bytes that this thread has allocated minus those that it has freed. The difference of two readings is what the
/// work between them still holds.
pub fn allocated() -> isize {
    COUNTERS.with(|counters| counters.net())
}

/// The global allocator: mimalloc, plus a count of the bytes that each thread allocates and frees.
pub struct CountingAllocator;

fn count(bytes: usize, layout: Layout) {
    COUNTERS.with(|counters| {
        counters.allocated.set(counters.allocated.get().wrapping_add_unsigned(bytes));
        if layout.align() <= 2 && bytes > counters.text.get() {
            counters.text.set(bytes);
        }
    });
}

fn discount(bytes: usize) {
    COUNTERS.with(|counters| counters.freed.set(counters.freed.get().wrapping_add_unsigned(bytes)));
}

#[allow(unsafe_code, reason = "an allocator cannot be written without it; see the top of this file")]
// SAFETY: every call is passed to mimalloc with unchanged arguments.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), layout);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        discount(layout.size());
        // SAFETY: the caller's guarantees are passed on.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), layout);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        discount(layout.size());
        count(size, layout);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}
