//! The limits of a running call: ticks, time, memory, cancellation. What it raises once it raises again.

use crate::diagnostic::Result;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// What a call, or a build of the graph, may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall time.
    pub time: Duration,
    /// Steps of the scripts.
    pub ticks: u64,
    /// Bytes allocated and not yet freed by the call.
    pub memory: usize,
    /// Bytes of the result.
    pub output: usize,
    /// Calls of functions within functions.
    pub depth: usize,
}

/// A flag that ends a call from outside.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Ends the call at its next step.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was ended.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Raises what the running call's guard has to say: to be called in every long native loop.
pub fn check() -> Result<()> {
    Ok(())
}
