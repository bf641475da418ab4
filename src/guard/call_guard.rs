//! The guard of a call, and the checks by which a running thread consults it: at each tick of a script, and in native
//! loops.

use super::counters::{COUNTERS, ThreadCounters};
#[cfg(test)]
use super::gaps;
use super::total_memory::{MAX_TOTAL, TotalMemoryEntry};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::platform::coarse_ms;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The limits of a call or of a graph build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Wall time.
    pub time: Duration,
    /// Steps of scripts.
    pub ticks: u64,
    /// Bytes that the call allocated and has not yet freed.
    pub memory: usize,
    /// The size of the result in bytes.
    pub output: usize,
    /// The nesting depth of function calls.
    pub depth: usize,
}

impl Default for Limits {
    /// The limits of a call whose pack sets none: 10 s, 50 million ticks, 256 MB of memory, 2,048 kB of output, 64
    /// levels.
    fn default() -> Self {
        Self { time: Duration::from_secs(10), ticks: 50_000_000, memory: 256 << 20, output: 2_048 << 10, depth: 64 }
    }
}

/// A shared flag by which a call is cancelled from outside.
#[derive(Clone, Debug, Default)]
pub struct CancelFlag(Arc<AtomicBool>);

impl CancelFlag {
    /// Cancels the call, which ends at its next check.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the call was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The guard of one call, shared by all its threads. An error that stopped the call stops it again at every later step
/// on every thread, whatever the script catches. [`Guard::verdict`] returns that error.
pub struct Guard {
    limits: Limits,
    cancel: CancelFlag,
    started: Instant,
    paused_ns: AtomicU64,
    /// The number of threads that are currently waiting.
    pauses: AtomicU32,
    ticks: AtomicU64,
    memory: TotalMemoryEntry,
    stopped: AtomicBool,
    stop: OnceLock<Box<Diagnostic>>,
    /// What the call is currently waiting for. It is reported if the time runs out meanwhile.
    waiting: Mutex<Option<Awaited>>,
}

/// A note about what a call is waiting for. Dropping it removes the note.
pub struct WaitNote(Option<Arc<Guard>>);

impl Drop for WaitNote {
    fn drop(&mut self) {
        if let Some(guard) = &self.0 {
            guard.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

/// What a call is waiting for.
struct Awaited {
    /// The text that is reported if the time of the call runs out meanwhile.
    what: Option<String>,
    /// Ends the wait from another thread.
    end: Box<dyn Fn() + Send>,
}

/// Notes what the running call is waiting for, such as a program, until the returned note is dropped. `what` is
/// reported if the time of the call runs out meanwhile. The watchdog calls `end` to end the wait when it answers on
/// behalf of the call.
pub fn note_wait(what: Option<String>, end: impl Fn() + Send + 'static) -> WaitNote {
    let guard = current();
    if let Some(guard) = &guard {
        *guard.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(Awaited { what, end: Box::new(end) });
    }
    WaitNote(guard)
}

/// A pause of the clock of a call. Dropping it ends the pause.
pub struct Paused<'a> {
    guard: &'a Guard,
    since: Instant,
}

impl Drop for Paused<'_> {
    fn drop(&mut self) {
        let waited = u64::try_from(self.since.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.guard.paused_ns.fetch_add(waited, Ordering::Relaxed);
        self.guard.pauses.fetch_sub(1, Ordering::Release);
    }
}

impl Guard {
    /// Creates a guard whose time starts now.
    pub fn new(limits: Limits, cancel: CancelFlag) -> Arc<Self> {
        Arc::new(Self {
            limits,
            cancel,
            started: Instant::now(),
            paused_ns: AtomicU64::new(0),
            pauses: AtomicU32::new(0),
            ticks: AtomicU64::new(0),
            memory: TotalMemoryEntry::new(limits.memory),
            stopped: AtomicBool::new(false),
            stop: OnceLock::new(),
            waiting: Mutex::new(None),
        })
    }

    /// Makes it the guard of this thread until the result is dropped, which restores the previous guard.
    pub fn enter(self: &Arc<Self>) -> EnteredGuard {
        enter(self)
    }

    /// The limits of the call.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The error that stopped the call, if any. It is the outcome of the call, whatever the script returned.
    pub fn verdict(&self) -> Option<Box<Diagnostic>> {
        self.stop.get().cloned()
    }

    /// Stops the call with `fault` at its next check, unless it was already stopped. Returns the error that stopped it.
    pub fn stop(&self, error: Box<Diagnostic>) -> Box<Diagnostic> {
        let stop = self.stop.get_or_init(|| error).clone();
        self.stopped.store(true, Ordering::Release);
        // This thread checks at its very next step, and the others within one period.
        COUNTERS.with(|counters| counters.ceiling.set(isize::MIN));
        stop
    }

    /// Pauses the clock of the call until the result is dropped, while the call waits for an answer or for a build.
    pub fn pause(&self) -> Paused<'_> {
        self.pauses.fetch_add(1, Ordering::Release);
        Paused { guard: self, since: Instant::now() }
    }

    /// Whether the clock of the call is paused.
    pub fn is_paused(&self) -> bool {
        self.pauses.load(Ordering::Acquire) > 0
    }

    /// The time used so far, excluding pauses.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_nanos(self.paused_ns.load(Ordering::Relaxed)))
    }

    /// The ticks counted so far.
    pub fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// The bytes held, as far as they have been counted.
    pub fn memory(&self) -> usize {
        self.memory.bytes()
    }

    /// Adds the ticks and bytes of a thread, and then checks all limits.
    pub(super) fn record_usage(&self, ticks: u64, bytes: isize) -> Result<()> {
        let ticks = self.ticks.fetch_add(ticks, Ordering::Relaxed).saturating_add(ticks);
        self.memory.add(bytes as i64);
        self.check_limits(ticks)
    }

    fn check_limits(&self, ticks: u64) -> Result<()> {
        //= docs/spec.md#scripts
        //# A script that is stopped MUST NOT continue by catching the error.
        if self.stopped.load(Ordering::Acquire)
            && let Some(stop) = self.verdict()
        {
            return Err(stop);
        }
        //= docs/spec.md#scripts
        //# A script MUST stop when its call is cancelled or reaches its limit of steps, time, memory or
        //# depth.
        let limits = &self.limits;
        if self.cancel.is_cancelled() {
            Err(self.stop(Diagnostic::new(Code::CANCELLED, "the call was cancelled")))
        } else if ticks > limits.ticks {
            Err(self.exceeded(format!("the script took more than {} steps", limits.ticks), "steps"))
        } else if self.memory() > limits.memory {
            Err(self.exceeded_memory())
        } else if self.memory.must_end() {
            Err(self.stop(self.largest_memory()))
        } else if self.elapsed() > limits.time {
            Err(self.exceeded(format!("the call took longer than {} ms", limits.time.as_millis()), "time_ms"))
        } else {
            Ok(())
        }
    }

    /// The error for the call that holds the most while all calls hold too much.
    fn largest_memory(&self) -> Box<Diagnostic> {
        let (total, own) = (MAX_TOTAL.max(self.limits.memory) >> 20, self.memory() >> 20);
        let message =
            format!("all calls together used more than {total} MB of memory, and this one used the most: {own} MB");
        Diagnostic::new(Code::LIMIT, message).help("call again when fewer calls are running")
    }

    fn exceeded_memory(&self) -> Box<Diagnostic> {
        let mega_bytes = self.limits.memory >> 20;
        self.exceeded(format!("the call used more than {mega_bytes} MB of memory"), "memory_mb")
    }

    /// Ends what the call is currently waiting for. It must be called before anything else answers in place of the
    /// call.
    pub fn end_awaited(&self) {
        if let Some(awaited) = &*self.waiting.lock().unwrap_or_else(PoisonError::into_inner) {
            (awaited.end)();
        }
    }

    /// Stops the call because it exceeded a limit. `key` is the name of the limit in `[pack.limits]`.
    pub fn exceeded(&self, mut message: String, key: &str) -> Box<Diagnostic> {
        let awaited = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(Awaited { what: Some(what), .. }), "time_ms") = (&*awaited, key) {
            message = format!("{message}: {what}");
        }
        drop(awaited);
        let help = format!("do less in one call, use more primitives, or raise `{key}` in `[pack.limits]`");
        self.stop(Diagnostic::new(Code::LIMIT, message).author_help(help))
    }

    pub(super) fn time_left(&self) -> Duration {
        self.limits().time.saturating_sub(self.elapsed())
    }

    pub(super) fn exceeded_time(&self, what: &str, needed: Duration) -> Box<Diagnostic> {
        let (needed, left) = (needed.as_millis(), self.time_left().as_millis());
        self.exceeded(format!("{what} may take {needed} ms here, and the call has {left} ms left"), "time_ms")
    }
}

/// The number of ticks between two checks of the guard: about 100 µs of a script.
const PERIOD: i32 = 1_024;

/// The number of ticks that a check in a native loop counts as. An iteration takes longer than a script step.
const CHECK: i32 = 32;

/// The number of additional bytes that a thread may hold before the guard is consulted early.
const MAX_UNCHECKED_GROWTH_BYTES: isize = 4 << 20;

/// The number of script steps between two readings of the clock: a power of two.
const STEPS_PER_CLOCK_READING: i32 = 4;

/// The number of milliseconds after which the guard is consulted in any case.
const MAX_CHECK_INTERVAL_MS: i64 = 20;

/// The number of bytes that a thread may allocate, even if it frees them, before the guard is consulted early.
const MAX_UNCHECKED_ALLOCATION_BYTES: isize = 8 << 20;

/// The units of work in native loops between two checks of the guard: at most a few milliseconds.
const MAX_UNCHECKED_WORK: isize = 64 << 10;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Guard>>> = const { RefCell::new(None) };
}

/// Keeps a guard as the thread's guard until it is dropped.
pub struct EnteredGuard {
    previous: Option<Arc<Guard>>,
    /// Prevents the value from leaving the thread that entered.
    stay: PhantomData<*const ()>,
}

fn enter(guard: &Arc<Guard>) -> EnteredGuard {
    EnteredGuard { previous: swap(Some(Arc::clone(guard))), stay: PhantomData }
}

impl Drop for EnteredGuard {
    fn drop(&mut self) {
        swap(self.previous.take());
    }
}

/// Replaces the guard of the thread. First, the counts so far are added to the previous guard.
fn swap(guard: Option<Arc<Guard>>) -> Option<Arc<Guard>> {
    let previous = CURRENT.with(|current| current.borrow().clone());
    if let Some(previous) = &previous {
        let (ticks, bytes) = take_counts();
        // An error of the previous guard is raised at the next step under that guard.
        let _ = previous.record_usage(ticks, bytes);
    }
    CURRENT.with(|current| current.replace(guard.clone()));
    take_counts();
    arm(guard.as_deref());
    previous
}

/// Takes the ticks and bytes that were counted since the previous call.
fn take_counts() -> (u64, isize) {
    COUNTERS.with(|counters| {
        let net = counters.net();
        let bytes = net.wrapping_sub(counters.counted.replace(net)).wrapping_sub(counters.promised.replace(0));
        let spent =
            PERIOD.saturating_sub(counters.countdown.replace(PERIOD)).saturating_sub(counters.unticked.replace(0));
        (u64::try_from(spent).unwrap_or(0), bytes)
    })
}

/// Sets the counters at which the guard is consulted next.
fn arm(guard: Option<&Guard>) {
    COUNTERS.with(|counters| {
        let Some(guard) = guard else {
            counters.countdown.set(i32::MAX);
            counters.ceiling.set(isize::MAX);
            counters.churn.set(isize::MAX);
            counters.work.set(isize::MAX);
            return;
        };
        counters.countdown.set(PERIOD);
        counters.churn.set(counters.allocated.get().saturating_add(MAX_UNCHECKED_ALLOCATION_BYTES));
        counters.work.set(MAX_UNCHECKED_WORK);
        counters.looked_ms.set(coarse_ms());
        if guard.stopped.load(Ordering::Acquire) {
            counters.ceiling.set(isize::MIN);
        } else {
            let left = guard.limits.memory.saturating_sub(guard.memory());
            let stride =
                isize::try_from(left).map_or(MAX_UNCHECKED_GROWTH_BYTES, |left| left.min(MAX_UNCHECKED_GROWTH_BYTES));
            counters.ceiling.set(counters.net().saturating_add(stride));
        }
    });
}

/// Counts one script step, and consults the guard when it is due.
///
/// A step may be one of the engine's own operations on a long text, whose work is not counted. Therefore the clock is
/// also read every few steps.
///
/// # Errors
/// The running call was stopped.
#[inline]
pub fn tick() -> Result<()> {
    let due = COUNTERS.with(|counters| {
        let left = counters.countdown.get().saturating_sub(1);
        counters.countdown.set(left);
        left <= 0 || counters.is_full() || left & (STEPS_PER_CLOCK_READING - 1) == 0 && is_late(counters)
    });
    if due { check_now() } else { Ok(()) }
}

fn is_late(counters: &ThreadCounters) -> bool {
    counters.countdown.get() <= PERIOD && coarse_ms().wrapping_sub(counters.looked_ms.get()) > MAX_CHECK_INTERVAL_MS
}

/// Consults the guard of the running call when it is due. Every long native loop must call it.
///
/// # Errors
/// The running call was stopped.
#[inline]
#[cfg_attr(test, track_caller)]
pub fn check() -> Result<()> {
    if GuardCallSite::here().is_away() {
        return Ok(());
    }
    let due = COUNTERS.with(|counters| {
        counters.unticked.set(counters.unticked.get().saturating_add(CHECK));
        let left = counters.countdown.get().saturating_sub(CHECK);
        counters.countdown.set(left);
        left <= 0 || counters.is_full()
    });
    if due { check_now() } else { Ok(()) }
}

#[cold]
pub(super) fn check_now() -> Result<()> {
    #[cfg(test)]
    gaps::looked();
    let guard = current();
    let (ticks, bytes) = take_counts();
    // A step of the engine that joins texts is not asked before it allocates, and a text that grows doubles its room.
    let text = COUNTERS.with(|counters| counters.text.take()).saturating_mul(2);
    let answer = guard.as_ref().map_or(Ok(()), |guard| {
        guard.record_usage(ticks, bytes)?;
        let is_full = guard.memory().saturating_add(text) > guard.limits.memory;
        if is_full { Err(guard.exceeded_memory()) } else { Ok(()) }
    });
    arm(guard.as_deref());
    answer
}

/// The guard of this thread, if it is running a call.
pub fn current() -> Option<Arc<Guard>> {
    CURRENT.with(|current| current.borrow().clone())
}

//= docs/spec.md#calls
//# When all calls together use too much memory, the largest one MUST be stopped with an error that reports it.
/// Reserves `bytes` for an allocation whose size a script determined. They count from now on, so that calls that
/// reserve at the same moment see each other's bytes.
///
/// # Errors
/// The call would exceed its memory, or it was stopped.
pub fn reserve_memory(bytes: usize) -> Result<()> {
    let Some(guard) = current() else { return Ok(()) };
    check_now()?;
    if guard.memory().saturating_add(bytes) > guard.limits.memory {
        return Err(guard.exceeded_memory());
    }
    let promised = isize::try_from(bytes).unwrap_or(isize::MAX);
    COUNTERS.with(|counters| counters.promised.set(promised));
    guard.record_usage(0, promised)
}

/// Raises the error that stopped the running call immediately, instead of at the next tick. It must be called before an
/// effect.
///
/// # Errors
/// The running call was stopped.
pub fn check_stopped() -> Result<()> {
    CURRENT.with(|current| match current.borrow().as_deref() {
        Some(guard) if guard.stopped.load(Ordering::Acquire) => guard.verdict().map_or(Ok(()), Err),
        _ => Ok(()),
    })
}

/// The location in the source that consults the guard. It is only known in tests, which disable one such location after
/// another and check that its absence is noticed.
#[derive(Clone, Copy)]
pub struct GuardCallSite(#[cfg(test)] &'static std::panic::Location<'static>);

impl GuardCallSite {
    /// The call site of the caller's caller; the caller has `track_caller` in tests.
    #[inline]
    #[cfg_attr(test, track_caller)]
    pub fn here() -> Self {
        Self(
            #[cfg(test)]
            std::panic::Location::caller(),
        )
    }

    /// Whether a test disabled this call site.
    #[inline]
    #[allow(clippy::unused_self, reason = "tests use it")]
    pub fn is_away(self) -> bool {
        #[cfg(test)]
        return gaps::is_away(self.0);
        #[cfg(not(test))]
        false
    }
}
