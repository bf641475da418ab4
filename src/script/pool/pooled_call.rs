//! A call in the pool: who answers it, what limits it, and whether its effects still count.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{CancelFlag, Guard};
use crate::world::staging::WriteSeal;
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after its limit or its cancellation a call may still answer by itself.
const ANSWER_GRACE_PERIOD: Duration = Duration::from_millis(200);
/// How long the thread of an already answered call may continue before it counts as held.
const END_GRACE_PERIOD: Duration = Duration::from_millis(100);
/// The number of the last call.
static LAST: AtomicU64 = AtomicU64::new(0);

/// The connection that calls: one on standard streams; over HTTP a session, or a TCP connection if there is no session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallerId(pub u64);

/// Answers a stopped call on its behalf.
type SubstituteAnswer = Box<dyn FnOnce(Box<Diagnostic>) + Send>;

thread_local! {
    static CURRENT: RefCell<Option<Arc<PooledCall>>> = const { RefCell::new(None) };
}

pub struct PooledCall {
    pub(super) number: u64,
    /// The name of what was called.
    pub(super) name: String,
    pub(super) caller: CallerId,
    cancel: CancelFlag,
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
    /// Whether it consists of several calls, each of which commits by itself.
    is_composed: bool,
    /// The seals that keep its writes from the disk.
    seals: Vec<Arc<WriteSeal>>,
    answered: Option<Instant>,
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
        let (began, cancelled, answered) = (None, None, None);
        let phase = CallPhase::Open;
        let state = CallState { phase, answer, began, cancelled, guards, is_composed: false, seals, answered };
        let number = LAST.fetch_add(1, Ordering::Relaxed);
        Arc::new(Self { number, name, caller, cancel, state: Mutex::new(state) })
    }

    /// The call of this thread.
    pub(in crate::script) fn current() -> Option<Arc<Self>> {
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
        let _entered = enter_call(Some(Arc::clone(self)));
        job();
    }

    /// Claims the right to answer. The call must do so before it answers by itself; `false` if it was already answered.
    pub(super) fn take_answer(&self) -> bool {
        self.state().answer.take().is_some()
    }

    //= docs/spec.md#calls
    //# A call MUST end within 300 ms after its limit or its cancellation, whatever its script does.
    /// The error with which the call is to be answered if it is overdue. Its guard has asked it to stop before. The time
    /// of a call whose thread waits for something does not count.
    pub(super) fn overdue_error(&self, now: Instant, is_waiting: bool) -> Option<Box<Diagnostic>> {
        let mut state = self.state();
        if state.phase != CallPhase::Open || state.answer.is_none() {
            return None;
        }
        if self.cancel.is_cancelled() {
            let since = *state.cancelled.get_or_insert(now);
            let verdict = || state.guards.iter().find_map(|guard| guard.verdict());
            return (now.duration_since(since) >= ANSWER_GRACE_PERIOD)
                .then(|| verdict().unwrap_or_else(|| Diagnostic::new(Code::CANCELLED, "the call was cancelled")));
        }
        let guard = state.guards.last().filter(|guard| !guard.is_paused())?;
        let time = guard.limits().time;
        (guard.elapsed() > time + ANSWER_GRACE_PERIOD && !is_waiting)
            .then(|| guard.exceeded(format!("the call took longer than {} ms", time.as_millis()), "time_ms"))
    }

    /// Answers the call on its behalf, once nothing that it does can have an effect any more. Returns `false` if the
    /// call is just committing, or was already answered.
    ///
    //= docs/spec.md#calls
    //# A call that still runs after it was answered MUST NOT affect the disk, the graph, the memory of its
    //# pack or the client.
    pub(super) fn answer(&self, error: Box<Diagnostic>) -> bool {
        let mut state = self.state();
        if state.phase != CallPhase::Open || !state.seals.iter().all(|seal| seal.set()) {
            return false;
        }
        let Some(answer) = state.answer.take() else { return false };
        state.phase = CallPhase::Answered;
        state.answered = Some(Instant::now());
        for guard in &state.guards {
            guard.stop(error.clone());
            // A program that it started would continue to write.
            guard.end_awaited();
        }
        drop(state);
        answer(error);
        true
    }

    /// Whether its thread continues although the call was answered.
    pub(super) fn does_not_end(&self) -> bool {
        self.state().answered.is_some_and(|answered| answered.elapsed() >= END_GRACE_PERIOD)
    }

    /// When a thread started to run it.
    pub(super) fn began(&self) -> Option<Instant> {
        self.state().began
    }
}

/// Makes the watchdog check `guard` for the call of this thread, until the result is dropped.
pub fn watch_guard(guard: &Arc<Guard>) -> WatchedGuard {
    WatchedGuard(PooledCall::current().map(|call| {
        let mut state = call.state();
        if state.phase == CallPhase::Answered {
            guard.stop(Diagnostic::new(Code::CANCELLED, "the call was already answered"));
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
/// The error of `work`, or an error that the call was already answered.
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
    let mut state = call.state();
    if ended.is_err() || state.is_composed {
        state.phase = CallPhase::Open;
    }
    drop(state);
    ended
}

/// Declares that the call of this thread consists of several calls, each of which commits by itself: after each of them
/// the call may still be answered on its behalf.
pub fn compose_call() {
    if let Some(call) = PooledCall::current() {
        call.state().is_composed = true;
    }
}

/// Makes `call` the one of this thread until the result is dropped.
pub(in crate::script) fn enter_call(call: Option<Arc<PooledCall>>) -> EnteredCall {
    EnteredCall(CURRENT.replace(call))
}

/// Keeps a call as that of the thread until it is dropped, which restores the previous one.
pub(in crate::script) struct EnteredCall(Option<Arc<PooledCall>>);

impl Drop for EnteredCall {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
