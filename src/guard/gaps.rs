//! For tests: the longest work that a thread did between two looks at its guard.
//!
//! Work is measured as time of the processor that this thread used, so that what other threads do in between does not
//! count.

use rustix::time::{ClockId, clock_gettime};
use std::cell::Cell;
use std::time::Duration;

thread_local! {
    static LAST: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    static LONGEST: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

fn used() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let (seconds, nanoseconds) = (u64::try_from(time.tv_sec), u32::try_from(time.tv_nsec));
    Duration::new(seconds.unwrap_or(0), nanoseconds.unwrap_or(0))
}

/// The guard was asked.
pub(super) fn looked() {
    let now = used();
    let gap = now.saturating_sub(LAST.replace(now));
    LONGEST.set(LONGEST.get().max(gap));
}

/// Runs `job`; the longest work between two looks at the guard, its beginning and its end included.
pub fn longest<T>(job: impl FnOnce() -> T) -> (T, Duration) {
    LAST.set(used());
    LONGEST.set(Duration::ZERO);
    let given = job();
    looked();
    (given, LONGEST.get())
}
