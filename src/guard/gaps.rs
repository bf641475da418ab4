//! For tests: measures the longest work that a thread does between two checks of its guard.
//!
//! Work is measured as the processor time of this thread, so that other threads do not affect the result.

use crate::platform::thread_time;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::panic::Location;
use std::time::Duration;

/// The file, line and column of a call site of the guard.
pub type CallSiteLocation = (&'static str, u32, u32);

/// A disabled call site is enabled again after this time without a check, which the test then detects.
const REENABLE_TIMEOUT: Duration = Duration::from_secs(1);

/// How many times a disabled call site is passed between two readings of the clock.
const PASSES_PER_CLOCK_READING: u32 = 256;

thread_local! {
    static LAST: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static MAX_GAP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static AWAY: Cell<Option<CallSiteLocation>> = const { Cell::new(None) };
    static PASSED: Cell<u32> = const { Cell::new(0) };
    static IS_NOTING: Cell<bool> = const { Cell::new(false) };
    static NOTED: RefCell<BTreeSet<CallSiteLocation>> = const { RefCell::new(BTreeSet::new()) };
}

/// Records that the guard was consulted.
pub(super) fn looked() {
    let now = thread_time();
    let gap = now.saturating_sub(LAST.replace(now));
    MAX_GAP.set(MAX_GAP.get().max(gap));
}

/// The measured work of a job.
#[derive(Clone, Copy)]
pub struct Worked {
    /// The total work.
    pub whole: Duration,
    /// The longest work between two checks of the guard; the start and the end count as checks.
    pub longest: Duration,
}

/// Runs `job` and measures its work.
pub fn worked<T>(job: impl FnOnce() -> T) -> (T, Worked) {
    let began = thread_time();
    LAST.set(began);
    MAX_GAP.set(Duration::ZERO);
    let given = job();
    looked();
    (given, Worked { whole: LAST.get().saturating_sub(began), longest: MAX_GAP.get() })
}

/// Whether the call site is disabled.
pub(super) fn is_away(at: &Location<'static>) -> bool {
    let own = || (at.file(), at.line(), at.column());
    if IS_NOTING.get() {
        NOTED.with_borrow_mut(|noted| noted.insert(own()));
    }
    if AWAY.get().is_none_or(|away| away != own()) {
        return false;
    }
    let passed = PASSED.get().wrapping_add(1);
    PASSED.set(passed);
    let is_enough =
        passed.is_multiple_of(PASSES_PER_CLOCK_READING) && thread_time().saturating_sub(LAST.get()) > REENABLE_TIMEOUT;
    if is_enough {
        // Otherwise the job would not end.
        looked();
        AWAY.set(None);
    }
    !is_enough
}

/// Runs `job` with the call site at `place` disabled.
pub fn with_site_disabled<T>(place: CallSiteLocation, job: impl FnOnce() -> T) -> T {
    AWAY.set(Some(place));
    let given = job();
    AWAY.set(None);
    given
}

/// Runs `job` and returns the call sites of the guard that it passes on this thread.
pub fn places<T>(job: impl FnOnce() -> T) -> (T, BTreeSet<CallSiteLocation>) {
    IS_NOTING.set(true);
    let given = job();
    IS_NOTING.set(false);
    (given, NOTED.take())
}
