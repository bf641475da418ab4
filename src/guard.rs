//! The limits of a running call: ticks, time, memory, cancellation. What it raises once it raises again.

#[cfg(test)]
pub mod gaps;
mod memory;
mod place;
mod share;
#[cfg(test)]
mod tests;
mod thread;
mod way;
mod work;

pub use memory::Counting;
pub use share::works_for;
pub use thread::{Entered, check, current, going, room, tick};
pub use way::{gave_way, may_give_way};
pub use work::{BYTE, Checked, ITEM, LOOK, Work, each, is_over, pieces, price, spend, time_left};

use crate::diagnostic::{Code, Diagnostic, Result};
use share::{Share, Together};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

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

impl Default for Limits {
    /// Those of a call whose pack says nothing: 10 s, 50 million ticks, 256 MB, 2,048 kB, 64 levels.
    fn default() -> Self {
        Self { time: Duration::from_secs(10), ticks: 50_000_000, memory: 256 << 20, output: 2_048 << 10, depth: 64 }
    }
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

/// Per thread: what it holds, and how far it is from the next look at its guard.
struct Local {
    /// Bytes allocated on this thread since it began.
    allocated: Cell<isize>,
    /// Bytes freed on this thread since it began.
    freed: Cell<isize>,
    /// [`Local::net`] when it was last added to the guard.
    counted: Cell<isize>,
    /// Bytes that the guard counts already, before they are allocated.
    promised: Cell<isize>,
    /// Above this [`Local::net`] the guard is asked at the next tick.
    ceiling: Cell<isize>,
    /// Above this `allocated` the guard is asked at the next tick: a step that copies much has taken long, though it
    /// holds nothing in the end.
    churn: Cell<isize>,
    /// Ticks until the guard is asked.
    countdown: Cell<i32>,
    /// How much of the countdown was no tick: a check of a native loop weighs more than it counts.
    unticked: Cell<i32>,
    /// Units of work left until the guard is asked.
    work: Cell<isize>,
    /// When the guard was last asked, by the coarse clock in milliseconds.
    looked_ms: Cell<i64>,
}

impl Local {
    /// Bytes allocated on this thread minus bytes freed on it, since it began.
    #[inline]
    fn net(&self) -> isize {
        self.allocated.get().wrapping_sub(self.freed.get())
    }

    /// Whether so much was allocated that the guard is to be asked.
    #[inline]
    fn is_full(&self) -> bool {
        self.net() > self.ceiling.get() || self.allocated.get() > self.churn.get()
    }
}

thread_local! {
    static LOCAL: Local = const {
        Local {
            allocated: Cell::new(0),
            freed: Cell::new(0),
            counted: Cell::new(0),
            promised: Cell::new(0),
            ceiling: Cell::new(isize::MAX),
            churn: Cell::new(isize::MAX),
            countdown: Cell::new(i32::MAX),
            unticked: Cell::new(0),
            work: Cell::new(isize::MAX),
            looked_ms: Cell::new(0),
        }
    };
}

/// The guard of one call, shared by all its threads. What stopped the call once stops it at every later step,
/// on every thread, whatever the script caught; [`Guard::verdict`] tells what that was.
pub struct Guard {
    limits: Limits,
    cancel: Cancel,
    started: Instant,
    paused_ns: AtomicU64,
    /// How many wait at the moment.
    pauses: AtomicU32,
    ticks: AtomicU64,
    memory: AtomicI64,
    /// Its part in what the calls of its address hold.
    share: Share,
    stopped: AtomicBool,
    stop: OnceLock<Box<Diagnostic>>,
    /// What it waits for at the moment.
    waiting: Mutex<Option<Awaited>>,
    gives_way: AtomicBool,
}

/// What a call waits for.
struct Awaited {
    /// Told if its time is over meanwhile.
    what: Option<String>,
    /// Ends what is waited for, from another thread.
    end: Box<dyn Fn() + Send>,
}

/// What a call waits for: nothing any more, when this is dropped.
pub struct Waiting(Option<Arc<Guard>>);

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(guard) = &self.0 {
            guard.waiting.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }
}

/// Notes what the running call waits for, such as a program, until the result is dropped: what is told of it if the time of
/// the call is over meanwhile, and how it is ended by whoever answers in place of the call.
pub fn waiting_for(what: Option<String>, end: impl Fn() + Send + 'static) -> Waiting {
    let guard = current();
    if let Some(guard) = &guard {
        *guard.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(Awaited { what, end: Box::new(end) });
    }
    Waiting(guard)
}

/// Bytes that all calls and builds may hold together: beyond, who holds more than its share is stopped.
const TOGETHER: usize = 2 << 30;

impl Drop for Guard {
    fn drop(&mut self) {
        self.share.add(self.memory.load(Ordering::Relaxed).saturating_neg());
    }
}

/// Time that does not count: it ends when this is dropped.
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
    /// A guard whose time begins now. What it counts is held by the address whose call this thread works on.
    pub fn new(limits: Limits, cancel: Cancel) -> Arc<Self> {
        Self::counted(limits, cancel, Share::of_this_thread())
    }

    /// The same for what is done for all, whoever caused it.
    pub fn for_all(limits: Limits, cancel: Cancel) -> Arc<Self> {
        Self::counted(limits, cancel, Share::of(None))
    }

    fn counted(limits: Limits, cancel: Cancel, share: Share) -> Arc<Self> {
        Arc::new(Self {
            limits,
            cancel,
            started: Instant::now(),
            paused_ns: AtomicU64::new(0),
            pauses: AtomicU32::new(0),
            ticks: AtomicU64::new(0),
            memory: AtomicI64::new(0),
            share,
            stopped: AtomicBool::new(false),
            stop: OnceLock::new(),
            waiting: Mutex::new(None),
            gives_way: AtomicBool::new(false),
        })
    }

    /// Makes it the guard of this thread until the result is dropped; then the one before is back.
    pub fn enter(self: &Arc<Self>) -> Entered {
        thread::enter(self)
    }

    /// What it may use.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// What ended the call, if something did: the outcome, whatever the script returned.
    pub fn verdict(&self) -> Option<Box<Diagnostic>> {
        self.stop.get().cloned()
    }

    /// Ends the call with `fault` at its next step, unless it was ended before; gives what ended it.
    pub fn stop(&self, fault: Box<Diagnostic>) -> Box<Diagnostic> {
        let stop = self.stop.get_or_init(|| fault).clone();
        self.stopped.store(true, Ordering::Release);
        // This thread asks at its very next step; the others within a period.
        LOCAL.with(|local| local.ceiling.set(isize::MIN));
        stop
    }

    /// Time until the result is dropped is not the script's: waiting for an answer, for a build.
    pub fn pause(&self) -> Paused<'_> {
        self.pauses.fetch_add(1, Ordering::Release);
        Paused { guard: self, since: Instant::now() }
    }

    /// So much time is not the script's, though it ran: it shared the processor with more calls than there should be.
    pub fn forgive(&self, time: Duration) {
        self.paused_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// From its next look at this guard on, the thread of the call gives way to others.
    pub fn give_way(&self) {
        self.gives_way.store(true, Ordering::Relaxed);
    }

    /// Whether the call waits at the moment, so that its time does not count.
    pub fn is_paused(&self) -> bool {
        self.pauses.load(Ordering::Acquire) > 0
    }

    /// The time used so far, waiting excluded.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed().saturating_sub(Duration::from_nanos(self.paused_ns.load(Ordering::Relaxed)))
    }

    /// The steps taken so far, as far as they were counted.
    pub fn ticks(&self) -> u64 {
        self.ticks.load(Ordering::Relaxed)
    }

    /// The bytes held so far, as far as they were counted.
    pub fn memory(&self) -> usize {
        usize::try_from(self.memory.load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Adds what a thread used, and raises what is to be raised.
    fn account(&self, ticks: u64, bytes: isize) -> Result<()> {
        let ticks = self.ticks.fetch_add(ticks, Ordering::Relaxed).saturating_add(ticks);
        let bytes = bytes as i64;
        let memory = self.memory.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        let together = self.share.add(bytes);
        self.judge(ticks, memory)?;
        self.judge_together(memory, together)
    }

    fn judge(&self, ticks: u64, memory: i64) -> Result<()> {
        //= docs/spec.md#scripts
        //# A script that is stopped MUST NOT be able to go on by catching the fault.
        if self.stopped.load(Ordering::Acquire)
            && let Some(stop) = self.verdict()
        {
            return Err(stop);
        }
        //= docs/spec.md#scripts
        //# A script MUST end when it has used up its ticks, its time, its memory or its depth.
        let limits = &self.limits;
        if self.cancel.is_cancelled() {
            Err(self.stop(Diagnostic::new(Code::CANCELLED, "the call was cancelled")))
        } else if ticks > limits.ticks {
            Err(self.exceeded(format!("the script took more than {} steps", limits.ticks), "ticks"))
        } else if usize::try_from(memory).unwrap_or(0) > limits.memory {
            Err(self.over_memory())
        } else if self.elapsed() > limits.time {
            Err(self.exceeded(format!("the call took longer than {} ms", limits.time.as_millis()), "time_ms"))
        } else {
            Ok(())
        }
    }

    //= docs/spec.md#calls
    //# While all calls together hold too much memory, one that holds more than its share MUST be stopped: addresses have equal shares, and the calls of an address equal shares of its own.
    fn judge_together(&self, memory: i64, together: Together) -> Result<()> {
        let most = TOGETHER.max(self.limits.memory);
        let Some(share) = together.share(most).filter(|share| usize::try_from(memory).unwrap_or(0) > *share) else {
            return Ok(());
        };
        let message = format!(
            "all calls together hold more than {} MB of memory, and this one holds more than its share of {} MB",
            most >> 20,
            share >> 20
        );
        Err(self.stop(Diagnostic::new(Code::LIMIT, message).help("call again when fewer calls are at work")))
    }

    fn over_memory(&self) -> Box<Diagnostic> {
        let mega_bytes = self.limits.memory >> 20;
        self.exceeded(format!("the call used more than {mega_bytes} MB of memory"), "memory_mb")
    }

    /// Ends what the call waits for at the moment: to be called before somebody answers in its place.
    pub fn end_awaited(&self) {
        if let Some(awaited) = &*self.waiting.lock().unwrap_or_else(PoisonError::into_inner) {
            (awaited.end)();
        }
    }

    /// Ends the call because a limit was passed. `key` is its name in `[pack.limits]`.
    pub fn exceeded(&self, mut message: String, key: &str) -> Box<Diagnostic> {
        let awaited = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(Awaited { what: Some(what), .. }), "time_ms") = (&*awaited, key) {
            message = format!("{message}: {what}");
        }
        drop(awaited);
        let help = format!("do less in one call, leave more to primitives, or raise `{key}` in `[pack.limits]`");
        self.stop(Diagnostic::new(Code::LIMIT, message).help(help))
    }
}

/// The bytes that this thread has allocated minus those that it has freed: the difference of two readings is what the work
/// between them keeps.
pub fn allocated() -> isize {
    LOCAL.with(|local| local.net())
}
