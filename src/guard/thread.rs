//! The guard of the running thread: entered, ticked, asked.

use super::place::Place;
use super::{Guard, LOCAL, Local, way};
use crate::diagnostic::Result;
use std::cell::RefCell;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::Ordering;

//= docs/spec.md#scripts
//# A cancelled script MUST end within a thousand and twenty-four ticks.
/// Ticks between two looks at the guard: some 100 µs of a script.
const PERIOD: i32 = 1_024;

/// How many ticks a check of a native loop weighs: its turns are longer than a script's step.
const CHECK: i32 = 32;

/// How much a thread may allocate before the guard is asked out of turn.
const STRIDE: isize = 4 << 20;

/// Steps of a script between two looks at the clock: a power of two.
const BETWEEN_CLOCKS: i32 = 4;

/// Milliseconds after which the guard is asked, whatever was counted since.
const LATE_MS: i64 = 20;

/// How much a thread may allocate, freed again or not, before the guard is asked out of turn.
const CHURN: isize = 8 << 20;

/// How many units of work a native loop does between two looks at the guard: some milliseconds at most.
const WORK: isize = 64 << 10;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Guard>>> = const { RefCell::new(None) };
}

/// While it lives its guard is the thread's.
pub struct Entered {
    previous: Option<Arc<Guard>>,
    /// It belongs to the thread that entered.
    stay: PhantomData<*const ()>,
}

pub(super) fn enter(guard: &Arc<Guard>) -> Entered {
    Entered { previous: swap(Some(Arc::clone(guard))), stay: PhantomData }
}

impl Drop for Entered {
    fn drop(&mut self) {
        swap(self.previous.take());
    }
}

/// Puts another guard in place. What the one before had not been told yet it is told now.
fn swap(guard: Option<Arc<Guard>>) -> Option<Arc<Guard>> {
    let previous = CURRENT.with(|current| current.borrow().clone());
    if let Some(previous) = &previous {
        let (ticks, bytes) = take_counts();
        // What it has to say it says at the next step taken under it.
        let _ = previous.account(ticks, bytes);
    }
    CURRENT.with(|current| current.replace(guard.clone()));
    take_counts();
    arm(guard.as_deref());
    previous
}

/// Ticks and bytes since they were last taken.
fn take_counts() -> (u64, isize) {
    LOCAL.with(|local| {
        let net = local.net();
        let bytes = net.wrapping_sub(local.counted.replace(net)).wrapping_sub(local.promised.replace(0));
        let spent = PERIOD.saturating_sub(local.countdown.replace(PERIOD)).saturating_sub(local.unticked.replace(0));
        (u64::try_from(spent).unwrap_or(0), bytes)
    })
}

/// Sets when the guard is asked next: after so many ticks, or above so many bytes.
fn arm(guard: Option<&Guard>) {
    LOCAL.with(|local| {
        let Some(guard) = guard else {
            local.countdown.set(i32::MAX);
            local.ceiling.set(isize::MAX);
            local.churn.set(isize::MAX);
            local.work.set(isize::MAX);
            return;
        };
        local.countdown.set(PERIOD);
        local.churn.set(local.allocated.get().saturating_add(CHURN));
        local.work.set(WORK);
        local.looked_ms.set(coarse_ms());
        if guard.stopped.load(Ordering::Acquire) {
            local.ceiling.set(isize::MIN);
        } else {
            let left = guard.limits.memory.saturating_sub(guard.memory());
            let stride = isize::try_from(left).map_or(STRIDE, |left| left.min(STRIDE));
            local.ceiling.set(local.net().saturating_add(stride));
        }
    });
}

//= docs/spec.md#scripts
//# A loop of a script over slow operations MUST ask the guard within 20 ms and four steps.
/// One step of a script. Raises what the running call's guard has to say.
///
/// A step may be one of the engine's own operations on a long text, which nothing can weigh: so the clock is read each few
/// steps, too.
#[inline]
pub fn tick() -> Result<()> {
    let due = LOCAL.with(|local| {
        let left = local.countdown.get().saturating_sub(1);
        local.countdown.set(left);
        left <= 0 || local.is_full() || left & (BETWEEN_CLOCKS - 1) == 0 && is_late(local)
    });
    if due { ask() } else { Ok(()) }
}

fn is_late(local: &Local) -> bool {
    local.countdown.get() <= PERIOD && coarse_ms().wrapping_sub(local.looked_ms.get()) > LATE_MS
}

/// Milliseconds of a clock that costs some nanoseconds to read, and steps every few milliseconds.
#[cfg(target_os = "linux")]
fn coarse_ms() -> i64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::MonotonicCoarse);
    time.tv_sec.wrapping_mul(1_000).wrapping_add(time.tv_nsec / 1_000_000)
}

#[cfg(not(target_os = "linux"))]
fn coarse_ms() -> i64 {
    static BEGAN: std::sync::OnceLock<std::time::Instant> = std::sync::OnceLock::new();
    let passed = BEGAN.get_or_init(std::time::Instant::now).elapsed().as_millis();
    i64::try_from(passed).unwrap_or(i64::MAX)
}

/// Raises what the running call's guard has to say: to be called in every long native loop.
#[inline]
#[cfg_attr(test, track_caller)]
pub fn check() -> Result<()> {
    if Place::here().is_away() {
        return Ok(());
    }
    let due = LOCAL.with(|local| {
        local.unticked.set(local.unticked.get().saturating_add(CHECK));
        let left = local.countdown.get().saturating_sub(CHECK);
        local.countdown.set(left);
        left <= 0 || local.is_full()
    });
    if due { ask() } else { Ok(()) }
}

#[cold]
pub(super) fn ask() -> Result<()> {
    #[cfg(test)]
    super::gaps::looked();
    let guard = current();
    if guard.as_ref().is_some_and(|guard| guard.gives_way.load(Ordering::Relaxed)) {
        way::give();
    }
    let (ticks, bytes) = take_counts();
    let answer = guard.as_ref().map_or(Ok(()), |guard| guard.account(ticks, bytes));
    arm(guard.as_deref());
    answer
}

/// The guard of this thread.
pub fn current() -> Option<Arc<Guard>> {
    CURRENT.with(|current| current.borrow().clone())
}

//= docs/spec.md#calls
//# What a call takes at once MUST count for what all calls hold before it is taken.
/// Whether the call may allocate `bytes` at once: to be asked before an allocation whose size a script chose. They count
/// from now on, so that calls which ask at the same moment know of each other.
pub fn room(bytes: usize) -> Result<()> {
    let Some(guard) = current() else { return Ok(()) };
    ask()?;
    if guard.memory().saturating_add(bytes) > guard.limits.memory {
        return Err(guard.over_memory());
    }
    let promised = isize::try_from(bytes).unwrap_or(isize::MAX);
    LOCAL.with(|local| local.promised.set(promised));
    guard.account(0, promised)
}

/// Raises what stopped the running call, if something did: to be asked before what has an effect, at once and not at the
/// next tick.
pub fn going() -> Result<()> {
    CURRENT.with(|current| match current.borrow().as_deref() {
        Some(guard) if guard.stopped.load(Ordering::Acquire) => guard.verdict().map_or(Ok(()), Err),
        _ => Ok(()),
    })
}
