//! The bytes that all compiled patterns take, with what their engines keep.

use std::sync::atomic::{AtomicUsize, Ordering};

static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// The bytes of one part of a pattern. They count until it is dropped.
#[derive(Debug, Default)]
pub struct HeldBytes(usize);

impl HeldBytes {
    /// Starts with `bytes` counted.
    pub fn new(bytes: usize) -> Self {
        let mut held = Self::default();
        held.set(bytes);
        held
    }

    /// Replaces the number of bytes. It rarely changes, and all threads share the sum.
    pub fn set(&mut self, bytes: usize) {
        if bytes == self.0 {
            return;
        }
        TOTAL.fetch_add(bytes, Ordering::Relaxed);
        TOTAL.fetch_sub(std::mem::replace(&mut self.0, bytes), Ordering::Relaxed);
    }

    /// The bytes of all parts of all patterns.
    pub fn total() -> usize {
        TOTAL.load(Ordering::Relaxed)
    }
}

impl Drop for HeldBytes {
    fn drop(&mut self) {
        self.set(0);
    }
}
