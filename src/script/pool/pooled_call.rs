//! A call in the pool: who answers it, what limits it, and whether its effects still count.

use super::queue::{CallerId, PATIENCE};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{CancelFlag, Guard};
use crate::world::staging::WriteSeal;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after its limit or its cancellation a call may still answer by itself.
const ANSWER_GRACE: Duration = Duration::from_millis(200);
/// How long the thread of an already answered call may continue before it counts as lost.
const END_GRACE: Duration = Duration::from_millis(100);
/// How often the watchdog checks the calls.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);
/// How long the watchdog keeps checking after the last call. Waking it takes longer than most calls.
const LINGER: Duration = Duration::from_secs(5);

/// Answers a stopped call on its behalf.
type SubstituteAnswer = Box<dyn FnOnce(Box<Diagnostic>) + Send>;

thread_local! {
    static CURRENT: RefCell<Option<Arc<PooledCall>>> = const { RefCell::new(None) };
}

/// A call in the pool.
pub struct PooledCall {
    /// The name of what was called.
    pub name: String,
    /// The caller.
    pub(super) caller: CallerId,
    cancel: CancelFlag,
    /// The number of its threads that are waiting for something.
    pub waits: AtomicUsize,
    state: Mutex<CallState>,
}

struct CallState {
    phase: CallPhase,
    answer: Option<SubstituteAnswer>,
    /// When a thread started to run it.
    began: Option<Instant>,
    cancelled: Option<Instant>,
    /// The guards that limit it. The last one is in force: that of `on_error` or of a build takes precedence over its
    /// own.
    guards: Vec<Arc<Guard>>,
    /// The seals that keep its writes from the disk.
    seals: Vec<Arc<WriteSeal>>,
    answered: Option<Instant>,
    is_lost: bool,
    /// Whether it was moved aside: it has kept its thread for a long time, and an additional thread may work.
    is_long: bool,
    /// Whether no thread is running it any more.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CallPhase {
    /// It is running.
    Open,
    /// It ended successfully, and its writes are on their way to the disk. Nothing else may answer it any more.
    Settled,
    /// It was answered on its behalf.
    Answered,
}

/// Keeps a guard as a limit of the call until it is dropped.
pub struct WatchedGuard(Option<(Arc<PooledCall>, Arc<Guard>)>);

impl Drop for WatchedGuard {
    fn drop(&mut self) {
        if let Some((call, own)) = &self.0 {
            call.state().guards.retain(|guard| !Arc::ptr_eq(guard, own));
        }
    }
}

impl PooledCall {
    pub(super) fn new(name: String, caller: CallerId, cancel: CancelFlag, answer: SubstituteAnswer) -> Arc<Self> {
        let (answer, guards, seals) = (Some(answer), Vec::new(), Vec::new());
        let state = CallState {
            phase: CallPhase::Open,
            answer,
            began: None,
            cancelled: None,
            guards,
            seals,
            answered: None,
            is_lost: false,
            is_long: false,
            is_over: false,
        };
        Arc::new(Self { name, caller, cancel, waits: AtomicUsize::new(0), state: Mutex::new(state) })
    }

    /// The call of this thread.
    pub(super) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Option::clone)
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs it on this thread, unless it was answered while it was in the queue.
    pub(super) fn run(self: &Arc<Self>, job: impl FnOnce()) {
        {
            let mut state = self.state();
            if state.phase == CallPhase::Answered {
                return;
            }
            state.began = Some(Instant::now());
        }
        let before = CURRENT.replace(Some(Arc::clone(self)));
        job();
        CURRENT.set(before);
    }

    /// Claims the right to answer. The call must do so before it answers by itself; `false` if it was already answered.
    pub(super) fn take_answer(&self) -> bool {
        self.state().answer.take().is_some()
    }

    /// The fault with which the call is to be answered if it is overdue. Its guard has asked it to stop before.
    pub(super) fn overdue_fault(&self, now: Instant) -> Option<Box<Diagnostic>> {
        let mut state = self.state();
        if state.phase != CallPhase::Open || state.answer.is_none() {
            return None;
        }
        if self.cancel.is_cancelled() {
            let since = *state.cancelled.get_or_insert(now);
            let verdict = || state.guards.iter().find_map(|guard| guard.verdict());
            return (now.duration_since(since) >= ANSWER_GRACE)
                .then(|| verdict().unwrap_or_else(|| Diagnostic::new(Code::CANCELLED, "the call was cancelled")));
        }
        let guard = state.guards.last().filter(|guard| !guard.is_paused())?;
        let time = guard.limits().time;
        (guard.elapsed() > time + ANSWER_GRACE && !self.is_waiting())
            .then(|| guard.exceeded(format!("the call took longer than {} ms", time.as_millis()), "time_ms"))
    }

    fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Acquire) > 0
    }

    /// Answers the call on its behalf, once nothing that it does can have an effect any more. Returns `false` if the
    /// call is just committing, or was already answered.
    ///
    //= docs/spec.md#calls
    //# Nothing that a call does after it was answered in its place MUST reach the disk, the graph, the memory of its pack or the client.
    pub(super) fn answer(&self, fault: Box<Diagnostic>) -> bool {
        let mut state = self.state();
        if state.phase != CallPhase::Open || !state.seals.iter().all(|seal| seal.set()) {
            return false;
        }
        let Some(answer) = state.answer.take() else { return false };
        state.phase = CallPhase::Answered;
        state.answered = Some(Instant::now());
        for guard in &state.guards {
            guard.stop(fault.clone());
            // A program that it started would continue to write.
            guard.end_awaited();
        }
        drop(state);
        answer(fault);
        true
    }

    /// Moves it aside if it has been running for `time`. Returns whether it was moved.
    pub(super) fn move_aside(&self, now: Instant, time: Duration) -> bool {
        let mut state = self.state();
        let works = state.began.is_some_and(|began| now.saturating_duration_since(began) >= time);
        let moves = works && !state.is_over && !state.is_lost && !state.is_long && !self.is_waiting();
        if moves {
            state.is_long = true;
            state.guards.iter().for_each(|guard| guard.lower_priority());
        }
        moves
    }

    /// Whether it was moved aside.
    pub(super) fn is_aside(&self) -> bool {
        self.state().is_long
    }

    /// Moves it back when its thread begins to wait. Returns whether it had been moved aside.
    pub(super) fn is_aside_no_longer(&self) -> bool {
        std::mem::take(&mut self.state().is_long)
    }

    /// Marks it as over when its thread is done with it. Returns whether it had been moved aside.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state();
        state.is_over = true;
        std::mem::take(&mut state.is_long)
    }

    /// If it was moved aside, excludes `time` from the time that counts towards its limit.
    pub(super) fn forgive_time(&self, time: Duration) {
        let state = self.state();
        if state.is_long && !self.is_waiting() {
            state.guards.iter().filter(|guard| !guard.is_paused()).for_each(|guard| guard.exclude_time(time));
        }
    }

    /// Whether a thread is running it, and nothing has ended it.
    pub(super) fn is_at_work(&self) -> bool {
        let state = self.state();
        let works = state.began.is_some() && !state.is_over && !self.is_waiting();
        works && state.phase != CallPhase::Answered && !self.cancel.is_cancelled()
    }

    /// Whether it was moved aside and told to end, so that its place will soon be free.
    pub(super) fn is_making_room(&self) -> bool {
        let state = self.state();
        let is_told = state.phase == CallPhase::Answered || self.cancel.is_cancelled();
        state.is_long && is_told && !state.is_lost
    }

    /// Ends it, because it was moved aside and other calls need its place. Returns `false` if it was not moved aside or
    /// is already ending.
    pub(super) fn make_room(&self, fault: Box<Diagnostic>) -> bool {
        let state = self.state();
        let ends = state.is_long && state.phase == CallPhase::Open && !self.cancel.is_cancelled();
        if ends {
            for guard in &state.guards {
                guard.stop(fault.clone());
            }
            // If it does not end, it is answered on its behalf.
            self.cancel.cancel();
        }
        ends
    }

    /// Marks its thread as lost if the thread continues although the call was answered. Returns whether it was marked
    /// just now.
    pub(super) fn mark_if_lost(&self) -> bool {
        let mut state = self.state();
        let is_ending = state.answered.is_none_or(|answered| answered.elapsed() < END_GRACE);
        let is_lost = !is_ending && state.began.is_some() && !state.is_lost && !self.is_waiting();
        state.is_lost |= is_lost;
        is_lost
    }

    /// Whether its thread was lost.
    pub(super) fn is_lost(&self) -> bool {
        self.state().is_lost
    }

    /// When a thread started to run it.
    pub(super) fn began(&self) -> Option<Instant> {
        self.state().began
    }
}

/// The calls that the watchdog monitors, and the means to wake it.
pub(super) struct WatchedCalls {
    calls: Mutex<BTreeMap<u64, Arc<PooledCall>>>,
    last: AtomicU64,
    /// Whether a job is waiting while every thread is busy.
    pressed: AtomicBool,
    asleep: AtomicBool,
    wake: (Mutex<()>, Condvar),
}

/// A call that holds a thread although it was already answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HungCall {
    /// The name of what was called.
    pub name: String,
    /// How long it has been running.
    pub elapsed: Duration,
}

impl WatchedCalls {
    pub(super) fn new() -> Self {
        Self {
            calls: Mutex::default(),
            last: AtomicU64::new(0),
            pressed: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            wake: (Mutex::default(), Condvar::new()),
        }
    }

    pub(super) fn calls(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<PooledCall>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts to monitor a call. Returns its number.
    pub(super) fn insert(&self, call: &Arc<PooledCall>) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.calls().insert(number, Arc::clone(call));
        if self.asleep.load(Ordering::Acquire) {
            self.wake();
        }
        number
    }

    /// Stops monitoring a call, whoever answered it.
    pub(super) fn remove(&self, number: u64) {
        self.calls().remove(&number);
    }

    /// Notes that a job is waiting and no thread is free.
    pub(super) fn press(&self) {
        if !self.pressed.swap(true, Ordering::AcqRel) {
            self.wake();
        }
    }

    /// Sets whether a job is waiting while every thread is busy.
    pub(super) fn set_pressed(&self, is_pressed: bool) {
        self.pressed.store(is_pressed, Ordering::Release);
    }

    /// Wakes the watchdog.
    pub(super) fn wake(&self) {
        let _held = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.wake.1.notify_one();
    }

    /// The calls that hold threads although they were already answered, oldest first.
    pub(super) fn hung_calls(&self, now: Instant) -> Vec<HungCall> {
        let calls = self.calls();
        let lost = calls.values().filter(|call| call.is_lost());
        lost.filter_map(|call| Some((call.name.clone(), call.began()?)))
            .map(|(name, began)| HungCall { name, elapsed: now.duration_since(began) })
            .collect()
    }

    /// Waits until the calls have to be checked again.
    pub(super) fn pause(&self, idle_since: Instant) {
        let held = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sleeps = self.calls().is_empty() && idle_since.elapsed() > LINGER;
        self.asleep.store(sleeps, Ordering::Release);
        let time = match self.pressed.load(Ordering::Acquire) {
            true => PATIENCE,
            // A call that arrives between the two lines above is checked a little later.
            false if sleeps => Duration::from_secs(1),
            false => LOOK_INTERVAL,
        };
        drop(self.wake.1.wait_timeout(held, time));
        self.asleep.store(false, Ordering::Release);
    }
}

/// Makes the watchdog check `guard` for the call of this thread, until the result is dropped.
pub fn watch_guard(guard: &Arc<Guard>) -> WatchedGuard {
    WatchedGuard(PooledCall::current().map(|call| {
        let mut state = call.state();
        if state.phase == CallPhase::Answered {
            guard.stop(Diagnostic::new(Code::CANCELLED, "the call was already answered"));
        }
        if state.is_long {
            guard.lower_priority();
        }
        state.guards.push(Arc::clone(guard));
        drop(state);
        (call, Arc::clone(guard))
    }))
}

/// Registers a seal that keeps the writes of this thread's call from the disk once the call was answered on its behalf.
pub fn register_seal(seal: Arc<WriteSeal>) {
    if let Some(call) = PooledCall::current() {
        let mut state = call.state();
        if state.phase != CallPhase::Answered || seal.set() {
            state.seals.push(seal);
        }
    }
}

/// Runs `work`, which makes the changes of this thread's call take effect. While it runs, and after it succeeds,
/// nothing else can answer the call.
///
/// # Errors
/// The fault of `work`, or a fault that the call was already answered.
pub fn commit_call<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(call) = PooledCall::current() else { return work() };
    {
        let mut state = call.state();
        if state.phase == CallPhase::Answered {
            return Err(Diagnostic::new(Code::CANCELLED, "the call was already answered"));
        }
        state.phase = CallPhase::Settled;
    }
    let ended = work();
    if ended.is_err() {
        call.state().phase = CallPhase::Open;
    }
    ended
}
