//! The queue of a pool: which call runs next, and how many run, wait or are held.

use super::pooled_call::{CallerId, PooledCall};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(super) type PoolJob = Box<dyn FnOnce() + Send>;

/// The maximum number of calls that can wait for something at the same time. One connection may have half of them.
pub(super) const MAX_WAITING: usize = 256;
/// How long no call begins, although one is queued, before another thread is started.
const THREAD_START_DELAY: Duration = Duration::from_millis(10);

/// How many threads may run calls at the same time.
#[derive(Clone, Copy, Debug)]
pub(super) struct ThreadLimits {
    /// So many threads are kept ready. More are started only while no call begins.
    pub ready: usize,
    /// For the calls of one connection.
    pub connection: usize,
    /// For all calls, including those that hold a thread although they were answered.
    pub all: usize,
}

impl ThreadLimits {
    /// The limits for a machine with so many cores.
    pub(super) fn for_cores(cores: usize) -> Self {
        let connection = cores.max(8);
        Self { ready: cores.max(2), connection, all: connection * 4 }
    }
}

/// Where a call is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallState {
    /// It waits for a thread.
    Queued,
    /// A thread runs it.
    Running,
    /// Its thread waits for something, and does not count.
    Waiting,
    /// It was answered, and its thread does not end.
    Held,
}

/// All calls of a pool, and its threads.
pub(super) struct CallQueue {
    pub(super) limits: ThreadLimits,
    /// The calls that have begun. They are few, so their states are counted when a number is needed.
    begun: BTreeMap<u64, (Arc<PooledCall>, CallState)>,
    /// The calls that wait for a thread, by connection.
    queued: HashMap<CallerId, VecDeque<(Arc<PooledCall>, PoolJob)>>,
    /// The connections with queued calls, in the order in which they are served.
    turns: VecDeque<CallerId>,
    /// When a call last began.
    began: Instant,
    /// The number of threads that exist.
    pub(super) threads: usize,
    /// The number of threads that sleep until there is a job.
    pub(super) idle: usize,
    /// Whether the watchdog sleeps until there is a call.
    pub(super) is_unwatched: bool,
    pub(super) is_closed: bool,
}

impl CallQueue {
    pub(super) fn new(limits: ThreadLimits) -> Self {
        Self {
            limits,
            begun: BTreeMap::new(),
            queued: HashMap::new(),
            turns: VecDeque::new(),
            began: Instant::now(),
            threads: 0,
            idle: 0,
            is_unwatched: false,
            is_closed: false,
        }
    }

    /// All calls: those that have begun, oldest first, then those that are queued.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Arc<PooledCall>, CallState)> {
        let queued = self.queued.values().flatten().map(|(call, _)| (call, CallState::Queued));
        self.begun.values().map(|(call, state)| (call, *state)).chain(queued)
    }

    /// How many of the calls that have begun are in this state: of one connection, or of all.
    pub(super) fn count(&self, state: CallState, of: Option<CallerId>) -> usize {
        let fits = |(call, own): &&(Arc<PooledCall>, CallState)| *own == state && of.is_none_or(|of| call.caller == of);
        self.begun.values().filter(fits).count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.queued.is_empty()
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.turns.is_empty()
    }

    pub(super) fn push(&mut self, call: Arc<PooledCall>, job: PoolJob) {
        let caller = call.caller;
        let jobs = self.queued.entry(caller).or_default();
        if jobs.is_empty() {
            self.turns.push_back(caller);
        }
        jobs.push_back((call, job));
    }

    /// Whether a queued call may begin now.
    pub(super) fn may_begin(&self) -> bool {
        self.next_turn().is_some()
    }

    //= docs/spec.md#calls
    //# The calls of one connection MUST NOT occupy all threads, and connections with queued calls MUST be
    //# served in turn.
    /// The position in `turns` of the connection whose call may begin now.
    fn next_turn(&self) -> Option<usize> {
        let may_begin = |caller: &CallerId| self.count(CallState::Running, Some(*caller)) < self.limits.connection;
        let has_room = self.count(CallState::Running, None) + self.count(CallState::Held, None) < self.limits.all;
        if has_room { self.turns.iter().position(may_begin) } else { None }
    }

    /// Takes the next job, if one may begin now.
    pub(super) fn take(&mut self) -> Option<PoolJob> {
        let caller = self.turns.remove(self.next_turn()?)?;
        let jobs = self.queued.get_mut(&caller)?;
        let (call, job) = jobs.pop_front()?;
        if jobs.is_empty() {
            self.queued.remove(&caller);
        } else {
            self.turns.push_back(caller);
        }
        self.began = Instant::now();
        self.begun.insert(call.number, (call, CallState::Running));
        Some(job)
    }

    /// The number of threads that run no call. Those that were just started are among them.
    fn free(&self) -> usize {
        self.threads.saturating_sub(self.begun.len())
    }

    //= docs/spec.md#calls
    //# A running call MUST NOT delay the start of another call while threads are available.
    /// Whether to start another thread: a call may begin, no thread is free for it, and the running calls are too few
    /// or take too long.
    pub(super) fn needs_thread(&self) -> bool {
        let is_stalled =
            || self.count(CallState::Running, None) < self.limits.ready || self.began.elapsed() >= THREAD_START_DELAY;
        self.free() == 0 && is_stalled() && self.may_begin()
    }

    /// Whether a thread that found no job is one too many.
    pub(super) fn has_surplus_thread(&self) -> bool {
        self.free() > self.limits.ready
    }

    /// Moves a call that has begun to another state.
    pub(super) fn put(&mut self, number: u64, state: CallState) {
        if let Some((_, own)) = self.begun.get_mut(&number) {
            *own = state;
        }
    }

    /// Whether the thread of a call runs it: it has begun, and neither waits for something nor is held.
    pub(super) fn is_running(&self, number: u64) -> bool {
        self.begun.get(&number).is_some_and(|(_, state)| *state == CallState::Running)
    }

    /// A call begins to wait for something. Returns `false` if too many calls are waiting.
    pub(super) fn leave(&mut self, call: &PooledCall) -> bool {
        let waiting = |of| self.count(CallState::Waiting, of);
        let has_room = waiting(None) < MAX_WAITING && waiting(Some(call.caller)) < MAX_WAITING / 2;
        if has_room {
            self.put(call.number, CallState::Waiting);
        }
        has_room
    }

    /// Marks the thread of a running call as held. Returns `false` if the call is not running any more.
    pub(super) fn hold(&mut self, number: u64) -> bool {
        let is_running = self.is_running(number);
        if is_running {
            self.put(number, CallState::Held);
        }
        is_running
    }

    /// Removes a call that is over. Returns its state.
    pub(super) fn remove(&mut self, number: u64) -> Option<CallState> {
        self.begun.remove(&number).map(|(_, state)| state)
    }
}
