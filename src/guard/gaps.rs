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

/// The work of a job.
#[derive(Clone, Copy)]
pub struct Worked {
    /// All of it.
    pub whole: Duration,
    /// The most between two looks at the guard, beginning and end included.
    pub longest: Duration,
}

/// Runs `job` and measures its work.
pub fn worked<T>(job: impl FnOnce() -> T) -> (T, Worked) {
    let began = used();
    LAST.set(began);
    LONGEST.set(Duration::ZERO);
    let given = job();
    looked();
    (given, Worked { whole: LAST.get().saturating_sub(began), longest: LONGEST.get() })
}
