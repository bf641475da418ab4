//! A call on its way through the pool, as the watchdog sees it: who answers it, and whether what it does still counts.

use super::Party;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{CancelFlag, Guard};
use crate::world::staged::Seal;
use std::cell::RefCell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after its limit, or its cancellation, a call may answer by itself.
const GRACE: Duration = Duration::from_millis(200);
/// How long after it was answered in its place its thread may work on before it counts as lost.
const ENDING: Duration = Duration::from_millis(100);

/// Tells whoever waits for a call that it was stopped.
type Answer = Box<dyn FnOnce(Box<Diagnostic>) + Send>;

thread_local! {
    static CURRENT: RefCell<Option<Arc<Errand>>> = const { RefCell::new(None) };
}

/// A call on its way.
pub struct Errand {
    /// What was called.
    pub name: String,
    /// Who calls.
    pub(super) party: Party,
    cancel: CancelFlag,
    /// How many of its threads wait for something: 1 while it waits.
    pub waits: AtomicUsize,
    state: Mutex<State>,
}

struct State {
    phase: Phase,
    answer: Option<Answer>,
    /// When a thread took it.
    began: Option<Instant>,
    cancelled: Option<Instant>,
    /// What limits it now: that of `on_error`, or of a build, in place of its own.
    guards: Vec<Arc<Guard>>,
    /// What keeps its writes from the disk.
    seals: Vec<Arc<Seal>>,
    answered: Option<Instant>,
    is_lost: bool,
    /// Another thread may work beside its own, which it keeps for longer than others like to wait.
    is_long: bool,
    /// Its thread works on it no longer.
    is_over: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// It is at work.
    Open,
    /// It ended well, and its writes are on their way to the disk: nobody else answers any more.
    Settled,
    /// It was answered in its place.
    Answered,
}

/// A guard that limits the call while this lives.
pub struct Watched(Option<(Arc<Errand>, Arc<Guard>)>);

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some((errand, own)) = &self.0 {
            errand.state().guards.retain(|guard| !Arc::ptr_eq(guard, own));
        }
    }
}

impl Errand {
    pub(super) fn new(name: String, party: Party, cancel: CancelFlag, answer: Answer) -> Arc<Self> {
        let (answer, guards, seals) = (Some(answer), Vec::new(), Vec::new());
        let state = State {
            phase: Phase::Open,
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
        Arc::new(Self { name, party, cancel, waits: AtomicUsize::new(0), state: Mutex::new(state) })
    }

    /// The call of this thread.
    pub(super) fn current() -> Option<Arc<Self>> {
        CURRENT.with_borrow(Option::clone)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs it on this thread, unless it was answered while it stood in the queue.
    pub(super) fn run(self: &Arc<Self>, job: impl FnOnce()) {
        {
            let mut state = self.state();
            if state.phase == Phase::Answered {
                return;
            }
            state.began = Some(Instant::now());
        }
        let before = CURRENT.replace(Some(Arc::clone(self)));
        job();
        CURRENT.set(before);
    }

    /// Who answers by itself takes this first: nothing if somebody else has answered.
    pub(super) fn take_answer(&self) -> bool {
        self.state().answer.take().is_some()
    }

    /// What the call is to be told, if it is overdue. It was asked to stop before: its guard knows.
    pub(super) fn overdue(&self, now: Instant) -> Option<Box<Diagnostic>> {
        let mut state = self.state();
        if state.phase != Phase::Open || state.answer.is_none() {
            return None;
        }
        if self.cancel.is_cancelled() {
            let since = *state.cancelled.get_or_insert(now);
            let verdict = || state.guards.iter().find_map(|guard| guard.verdict());
            return (now.duration_since(since) >= GRACE)
                .then(|| verdict().unwrap_or_else(|| Diagnostic::new(Code::CANCELLED, "the call was cancelled")));
        }
        let guard = state.guards.last().filter(|guard| !guard.is_paused())?;
        let time = guard.limits().time;
        (guard.elapsed() > time + GRACE && !self.is_waiting())
            .then(|| guard.exceeded(format!("the call took longer than {} ms", time.as_millis()), "time_ms"))
    }

    fn is_waiting(&self) -> bool {
        self.waits.load(Ordering::Acquire) > 0
    }

    /// Answers in place of the call, once nothing that it does can reach anyone; `false` if it is just writing, or has
    /// answered.
    ///
    //= docs/spec.md#calls
    //# Nothing that a call does after it was answered in its place MUST reach the disk, the graph, the memory of its pack or the client.
    pub(super) fn answer(&self, fault: Box<Diagnostic>) -> bool {
        let mut state = self.state();
        if state.phase != Phase::Open || !state.seals.iter().all(|seal| seal.set()) {
            return false;
        }
        let Some(answer) = state.answer.take() else { return false };
        state.phase = Phase::Answered;
        state.answered = Some(Instant::now());
        for guard in &state.guards {
            guard.stop(fault.clone());
            // A program that it started would go on writing.
            guard.end_awaited();
        }
        drop(state);
        answer(fault);
        true
    }

    /// Moves it aside, if it has been at work for so long; whether it was.
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

    /// Its thread waits; whether it had been moved aside.
    pub(super) fn is_aside_no_longer(&self) -> bool {
        std::mem::take(&mut self.state().is_long)
    }

    /// Its thread works on it no longer; whether it had been moved aside.
    pub(super) fn end(&self) -> bool {
        let mut state = self.state();
        state.is_over = true;
        std::mem::take(&mut state.is_long)
    }

    /// This part of the time that has passed since the last look is not its own, if it was moved aside.
    pub(super) fn forgive(&self, time: Duration) {
        let state = self.state();
        if state.is_long && !self.is_waiting() {
            state.guards.iter().filter(|guard| !guard.is_paused()).for_each(|guard| guard.exclude_time(time));
        }
    }

    /// Whether a thread works on it, and nothing has ended it.
    pub(super) fn is_at_work(&self) -> bool {
        let state = self.state();
        let works = state.began.is_some() && !state.is_over && !self.is_waiting();
        works && state.phase != Phase::Answered && !self.cancel.is_cancelled()
    }

    /// Whether it was moved aside, was told to end, and its place will soon be free.
    pub(super) fn is_making_room(&self) -> bool {
        let state = self.state();
        let is_told = state.phase == Phase::Answered || self.cancel.is_cancelled();
        state.is_long && is_told && !state.is_lost
    }

    /// Ends it, because it was moved aside and others need its place; `false` if it is not, or ends already.
    pub(super) fn make_room(&self, fault: Box<Diagnostic>) -> bool {
        let state = self.state();
        let ends = state.is_long && state.phase == Phase::Open && !self.cancel.is_cancelled();
        if ends {
            for guard in &state.guards {
                guard.stop(fault.clone());
            }
            // Where it does not end, it is answered in its place.
            self.cancel.cancel();
        }
        ends
    }

    /// Whether its thread has just become lost: it was answered, and its thread works on.
    pub(super) fn lose(&self) -> bool {
        let mut state = self.state();
        let is_ending = state.answered.is_none_or(|answered| answered.elapsed() < ENDING);
        let is_lost = !is_ending && state.began.is_some() && !state.is_lost && !self.is_waiting();
        state.is_lost |= is_lost;
        is_lost
    }

    /// Whether its thread was lost.
    pub(super) fn is_lost(&self) -> bool {
        self.state().is_lost
    }

    /// Since when a thread works on it.
    pub(super) fn began(&self) -> Option<Instant> {
        self.state().began
    }
}

/// Tells the watchdog what limits the call of this thread from now on, until the result is dropped.
pub fn watch_over(guard: &Arc<Guard>) -> Watched {
    Watched(Errand::current().map(|errand| {
        let mut state = errand.state();
        if state.phase == Phase::Answered {
            guard.stop(Diagnostic::new(Code::CANCELLED, "the call was answered in its place"));
        }
        if state.is_long {
            guard.lower_priority();
        }
        state.guards.push(Arc::clone(guard));
        drop(state);
        (errand, Arc::clone(guard))
    }))
}

/// Tells the watchdog what keeps the writes of this thread's call from the disk.
pub fn sealable(seal: Arc<Seal>) {
    if let Some(errand) = Errand::current() {
        let mut state = errand.state();
        if state.phase != Phase::Answered || seal.set() {
            state.seals.push(seal);
        }
    }
}

/// Runs what lets the changes of this thread's call count. While it runs, and afterwards if it ends well, nobody answers
/// in place of the call; before, somebody may have.
///
/// # Errors
/// What `work` says, or that the call was answered.
pub fn settle<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    let Some(errand) = Errand::current() else { return work() };
    {
        let mut state = errand.state();
        if state.phase == Phase::Answered {
            return Err(Diagnostic::new(Code::CANCELLED, "the call was answered in its place"));
        }
        state.phase = Phase::Settled;
    }
    let ended = work();
    if ended.is_err() {
        errand.state().phase = Phase::Open;
    }
    ended
}
