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

/// The calls of one connection.
#[derive(Default)]
struct ConnectionRow {
    jobs: VecDeque<(u64, PoolJob)>,
    running: usize,
    waiting: usize,
}

/// All calls of a pool, and its threads.
pub(super) struct CallQueue {
    pub(super) limits: ThreadLimits,
    calls: BTreeMap<u64, (Arc<PooledCall>, CallState)>,
    rows: HashMap<CallerId, ConnectionRow>,
    /// The connections with queued calls, in the order in which they are served.
    turns: VecDeque<CallerId>,
    running: usize,
    waiting: usize,
    pub(super) held: usize,
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
            calls: BTreeMap::new(),
            rows: HashMap::new(),
            turns: VecDeque::new(),
            running: 0,
            waiting: 0,
            held: 0,
            began: Instant::now(),
            threads: 0,
            idle: 0,
            is_unwatched: false,
            is_closed: false,
        }
    }

    /// The calls, oldest first.
    pub(super) fn calls(&self) -> impl Iterator<Item = (&Arc<PooledCall>, CallState)> {
        self.calls.values().map(|(call, place)| (call, *place))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.calls.is_empty()
    }

    pub(super) fn has_queued(&self) -> bool {
        !self.turns.is_empty()
    }

    pub(super) fn push(&mut self, call: Arc<PooledCall>, job: PoolJob) {
        let (number, caller) = (call.number, call.caller);
        self.calls.insert(number, (call, CallState::Queued));
        let row = self.rows.entry(caller).or_default();
        if row.jobs.is_empty() {
            self.turns.push_back(caller);
        }
        row.jobs.push_back((number, job));
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
        let may_begin = |caller| self.rows.get(caller).is_some_and(|row| row.running < self.limits.connection);
        let has_room = self.running + self.held < self.limits.all;
        if has_room { self.turns.iter().position(may_begin) } else { None }
    }

    //= docs/spec.md#calls
    //# The calls of one connection MUST NOT occupy all threads, and connections with queued calls MUST be
    //# served in turn.
    /// Takes the next job, if one may begin now.
    pub(super) fn take(&mut self) -> Option<PoolJob> {
        let caller = self.turns.remove(self.next_turn()?)?;
        let row = self.rows.get_mut(&caller)?;
        let (number, job) = row.jobs.pop_front()?;
        if !row.jobs.is_empty() {
            self.turns.push_back(caller);
        }
        self.began = Instant::now();
        self.put(number, CallState::Running);
        Some(job)
    }

    /// The number of threads that run no call. Those that were just started are among them.
    fn free(&self) -> usize {
        self.threads.saturating_sub(self.running + self.waiting + self.held)
    }

    //= docs/spec.md#calls
    //# A running call MUST NOT delay the start of another call while threads are available.
    /// Whether to start another thread: a call may begin, no thread is free for it, and the running calls are too few
    /// or take too long.
    pub(super) fn needs_thread(&self) -> bool {
        let is_stalled = || self.running < self.limits.ready || self.began.elapsed() >= THREAD_START_DELAY;
        self.free() == 0 && is_stalled() && self.may_begin()
    }

    /// Whether a thread that found no job is one too many.
    pub(super) fn has_surplus_thread(&self) -> bool {
        self.free() > self.limits.ready
    }

    /// Moves a call to another state.
    pub(super) fn put(&mut self, number: u64, place: CallState) {
        let Some((call, current)) = self.calls.get_mut(&number) else { return };
        let (caller, before) = (call.caller, std::mem::replace(current, place));
        self.count(caller, before, -1);
        self.count(caller, place, 1);
    }

    fn count(&mut self, caller: CallerId, place: CallState, change: isize) {
        let add = |count: &mut usize| *count = count.saturating_add_signed(change);
        match place {
            CallState::Queued => {}
            CallState::Running => {
                add(&mut self.running);
                add(&mut self.rows.entry(caller).or_default().running);
            }
            CallState::Waiting => {
                add(&mut self.waiting);
                add(&mut self.rows.entry(caller).or_default().waiting);
            }
            CallState::Held => add(&mut self.held),
        }
    }

    /// A call begins to wait for something. Returns `false` if too many calls are waiting.
    pub(super) fn leave(&mut self, call: &PooledCall) -> bool {
        //= docs/spec.md#calls
        //# The calls of one connection MUST NOT occupy all threads, and connections with queued calls MUST be
        //# served in turn.
        let own = self.rows.get(&call.caller).map_or(0, |row| row.waiting);
        let has_room = self.waiting < MAX_WAITING && own < MAX_WAITING / 2;
        if has_room {
            self.put(call.number, CallState::Waiting);
        }
        has_room
    }

    /// Marks the thread of a running call as held. Returns `false` if the call is not running any more.
    pub(super) fn hold(&mut self, number: u64) -> bool {
        let is_running = self.calls.get(&number).is_some_and(|(_, place)| *place == CallState::Running);
        if is_running {
            self.put(number, CallState::Held);
        }
        is_running
    }

    /// Removes a call that is over. Returns where it was.
    pub(super) fn remove(&mut self, number: u64) -> Option<CallState> {
        let (call, place) = self.calls.remove(&number)?;
        self.count(call.caller, place, -1);
        let row = self.rows.get(&call.caller);
        if row.is_some_and(|row| row.jobs.is_empty() && row.running + row.waiting == 0) {
            self.rows.remove(&call.caller);
        }
        Some(place)
    }
}
