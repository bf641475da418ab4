//! Counts what each thread allocates, so that a call's growth can be measured and stopped.
//!
//! This is the one place with `unsafe`: an allocator cannot be written without it. Each function hands its
//! arguments to mimalloc unchanged and adds a number to a cell of the thread; what mimalloc promises, this
//! allocator promises. The cell is constant-initialised and has no destructor, so that touching it neither
//! allocates nor fails, not even while a thread ends.

use super::LOCAL;
use mimalloc::MiMalloc;
use std::alloc::{GlobalAlloc, Layout};

/// mimalloc, with a count of the bytes that each thread holds: allocated there minus freed there.
pub struct Counting;

fn count(bytes: usize) {
    LOCAL.with(|local| local.allocated.set(local.allocated.get().wrapping_add_unsigned(bytes)));
}

fn discount(bytes: usize) {
    LOCAL.with(|local| local.freed.set(local.freed.get().wrapping_add_unsigned(bytes)));
}

#[allow(unsafe_code, reason = "an allocator cannot be written without it; see the head of this file")]
// SAFETY: every call is handed to mimalloc with the arguments it came with.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { MiMalloc.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        discount(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { MiMalloc.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller's promise is passed on.
        unsafe { MiMalloc.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        discount(layout.size());
        count(size);
        // SAFETY: the caller's promise is passed on.
        unsafe { MiMalloc.realloc(pointer, layout, size) }
    }
}
