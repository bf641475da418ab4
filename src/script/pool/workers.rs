//! The threads of a pool: what they share, how they take jobs, and how a waiting thread is replaced.

use super::pooled_call::{PooledCall, WatchedCalls};
use super::queue::{CallQueue, MAX_WAITING, PATIENCE, PoolJob, RowKey, ThreadLimits};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The stack size of a thread in bytes. 64 levels of script calls need far less. But a value that a script nests
/// without end is copied and dropped recursively, and what can be nested in ten seconds fits. Only the used part is
/// taken from the system.
pub const STACK_BYTES: usize = 64 << 20;

/// How long a thread that has finished a job looks for the next one before it sleeps. Waking a thread on an idle
/// machine takes longer than most calls.
const SPIN_TIME: Duration = Duration::from_micros(50);

/// The minimum number of threads that may be started to replace others. If the machine has more cores than this, as
/// many threads as cores may be started.
const MIN_SPARES: usize = 4;

/// The state that the threads of a pool share.
pub(super) struct PoolState {
    queue: Mutex<CallQueue>,
    hint: QueueHint,
    /// Signals that a job has arrived, or that no more will arrive.
    pub(super) filled: Condvar,
    /// The number of threads that should be working at the same time.
    pub(super) wanted: usize,
    /// The number of threads that are not waiting.
    pub(super) working: AtomicUsize,
    /// The number of threads held by calls that were answered on their behalf.
    pub(super) lost: AtomicUsize,
    /// The number of threads held by calls that were moved aside.
    pub(super) moved_aside: AtomicUsize,
    /// The maximum number of calls that can be moved aside.
    pub(super) max_aside: usize,
    pub(super) watched: WatchedCalls,
    pub(super) stuck: Mutex<StuckAction>,
}

/// The part of the queue's state that can be read without locking it.
#[derive(Default)]
struct QueueHint {
    /// The number of jobs in the queue.
    jobs: AtomicUsize,
    /// Whether a thread is looking for jobs and does not need to be woken.
    looking: AtomicBool,
}

thread_local! {
    pub(super) static POOL_STATE: RefCell<Option<Arc<PoolState>>> = const { RefCell::new(None) };
    /// The row of the call that this thread is running.
    static WORKS_ON: Cell<Option<RowKey>> = const { Cell::new(None) };
}

/// The action to run when every thread is held.
#[derive(Default)]
pub(super) struct StuckAction {
    pub(super) after: Option<(Duration, Box<dyn Fn() + Send>)>,
    pub(super) since: Option<Instant>,
}

impl PoolState {
    pub(super) fn new(wanted: usize, max_aside: usize) -> Self {
        let [working, lost, moved_aside] = [const { AtomicUsize::new(0) }; 3];
        Self {
            queue: Mutex::default(),
            hint: QueueHint::default(),
            filled: Condvar::new(),
            wanted,
            working,
            lost,
            moved_aside,
            max_aside,
            watched: WatchedCalls::new(),
            stuck: Mutex::default(),
        }
    }

    pub(super) fn set_stuck_action(&self, after: Duration, act: Box<dyn Fn() + Send>) {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner).after = Some((after, act));
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, CallQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn push(&self, key: RowKey, job: PoolJob) {
        let mut queue = self.queue();
        queue.push(key, job);
        self.hint.jobs.store(queue.len(), Ordering::Release);
        let found = self.hint.looking.load(Ordering::Acquire) && queue.len() == 1;
        let (waits, is_free) = (queue.idle > 0 && !found, queue.idle > 0 || found);
        drop(queue);
        if waits {
            self.filled.notify_one();
        }
        if !is_free {
            self.watched.press();
        }
    }

    /// Releases the row of a call when its thread is done with it.
    fn release_row(&self, key: RowKey, queue: &mut CallQueue) {
        queue.end(key);
        self.wake_for(queue);
    }

    /// Wakes threads that may have something to do now: a job that could not begin before, or their own end.
    fn wake_for(&self, queue: &CallQueue) {
        if queue.idle > 0 && queue.closed {
            self.filled.notify_all();
        } else if queue.idle > 0 && queue.len() > 0 {
            self.filled.notify_one();
        }
    }

    /// Must be called when a call has ended. A thread that was counted as lost is available again.
    pub(super) fn end_call(&self, number: u64, call: &PooledCall) {
        self.watched.remove(number);
        let was_aside = call.end();
        if was_aside {
            self.moved_aside.fetch_sub(1, Ordering::AcqRel);
        }
        if call.is_lost() {
            if !was_aside {
                self.lost.fetch_sub(1, Ordering::AcqRel);
            }
            tracing::warn!("`{}` has ended: its script thread is free again", call.name);
        }
    }

    /// The number of threads that should be working now, excluding those that are held.
    fn needed(&self) -> usize {
        self.wanted + self.lost.load(Ordering::Acquire) + self.moved_aside.load(Ordering::Acquire)
    }

    /// Waits for the next job and returns it with its row; `None` once the pool is dropped and all jobs are done.
    fn take(&self) -> Option<(RowKey, PoolJob)> {
        let mut queue = self.queue();
        loop {
            if let Some(taken) = queue.take(self.thread_limits()) {
                self.hint.jobs.store(queue.len(), Ordering::Release);
                return Some(taken);
            }
            if queue.closed && queue.len() == 0 {
                return None;
            }
            queue.idle += 1;
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }

    /// The maximum number of threads that may work at the same time, including those that are held.
    fn max_threads(&self) -> usize {
        self.wanted + self.wanted.max(MIN_SPARES)
    }

    /// The limits including the calls that were moved aside, and the threads reserved for callers that have no running
    /// call.
    pub(super) fn thread_limits(&self) -> ThreadLimits {
        ThreadLimits {
            most: self.max_threads() + self.moved_aside.load(Ordering::Acquire),
            spares: self.wanted.max(MIN_SPARES),
        }
    }

    /// The maximum number of running calls when none is moved aside.
    pub(super) fn usual_limit(&self) -> usize {
        ThreadLimits { most: self.max_threads(), spares: self.wanted.max(MIN_SPARES) }.widest()
    }

    //= docs/spec.md#calls
    //# A call that keeps a thread busy MUST NOT keep another from beginning, as long as there are threads to start.
    /// Wakes or starts a thread for each waiting call that could begin. A sleeping thread does not notice that a call
    /// may begin because time has passed.
    pub(super) fn start_waiting_calls(self: &Arc<Self>, now: Instant) {
        let queue = self.queue();
        let (calls, idle) = (queue.could_begin(now, PATIENCE, self.thread_limits()), queue.idle);
        drop(queue);
        (0..calls.min(idle)).for_each(|_| self.filled.notify_one());
        for _ in idle..calls {
            if !start_thread(self) {
                break;
            }
        }
    }

    pub(super) fn may_start_thread(&self) -> bool {
        self.working.load(Ordering::Acquire) < self.thread_limits().most
    }

    /// Whether every thread that can exist is held by a call that was already answered.
    pub(super) fn is_exhausted(&self) -> bool {
        self.lost.load(Ordering::Acquire) >= self.max_threads()
    }

    /// The fault of a call that no thread will ever run.
    pub(super) fn exhausted_fault(&self, now: Instant) -> Box<Diagnostic> {
        let held = self.watched.hung_calls(now);
        let named: Vec<String> =
            held.iter().take(4).map(|held| format!("`{}` since {} s", held.name, held.elapsed.as_secs())).collect();
        let more = if held.len() > 4 { ", …" } else { "" };
        let message =
            format!("every script thread is held by calls that cannot be stopped: {}{more}", named.join(", "));
        Diagnostic::new(Code::LIMIT, message).help("restart the server; `toolsd://status` lists the calls")
    }
}

impl QueueHint {
    /// Looks for a job for a while without sleeping, unless another thread already does so. Yields to other work.
    fn spin(&self) {
        if self.looking.swap(true, Ordering::AcqRel) {
            return;
        }
        let began = Instant::now();
        while self.jobs.load(Ordering::Acquire) == 0 && began.elapsed() < SPIN_TIME {
            thread::yield_now();
        }
        self.looking.store(false, Ordering::Release);
    }
}

/// Runs `job`, which waits for something. Meanwhile another thread works in place of this one. On a thread that belongs
/// to no pool, `job` is simply run.
///
/// # Errors
/// Too many threads are already waiting.
pub fn block_in_place<T>(job: impl FnOnce() -> T) -> Result<T> {
    let Some(state) = POOL_STATE.with(|state| state.borrow().clone()) else { return Ok(job()) };
    let _away = WaitingThread::leave(&state)?;
    Ok(job())
}

/// While it exists, its thread is waiting and does not count as working.
struct WaitingThread<'a> {
    state: &'a PoolState,
    call: Option<Arc<PooledCall>>,
    /// The row of its call; `None` if the thread was already waiting.
    key: Option<RowKey>,
}

impl<'a> WaitingThread<'a> {
    fn leave(state: &'a Arc<PoolState>) -> Result<Self> {
        let key = WORKS_ON.take();
        if let Some(own) = key {
            let mut queue = state.queue();
            if !queue.leave(own) {
                WORKS_ON.set(key);
                let fault = Diagnostic::new(Code::LIMIT, "too many calls are waiting, of this client or in total");
                return Err(fault.help(format!(
                    "answer the open questions, or call again later: at most {MAX_WAITING} calls can wait"
                )));
            }
            state.wake_for(&queue);
        }
        //= docs/spec.md#questions
        //# A call that waits for an answer MUST NOT keep other calls from running.
        let left = state.working.fetch_sub(1, Ordering::AcqRel) - 1;
        if left < state.needed() {
            start_thread(state);
        }
        let call = PooledCall::current();
        if let Some(call) = &call {
            call.waits.fetch_add(1, Ordering::AcqRel);
            if call.is_aside_no_longer() {
                state.moved_aside.fetch_sub(1, Ordering::AcqRel);
            }
        }
        Ok(Self { state, call, key })
    }
}

impl Drop for WaitingThread<'_> {
    fn drop(&mut self) {
        self.state.working.fetch_add(1, Ordering::AcqRel);
        if let Some(own) = self.key {
            self.state.queue().come_back(own);
            WORKS_ON.set(self.key);
        }
        if let Some(call) = &self.call {
            call.waits.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Starts a thread of the pool; `false` if the system cannot start one.
pub(super) fn start_thread(state: &Arc<PoolState>) -> bool {
    state.working.fetch_add(1, Ordering::AcqRel);
    let own = Arc::clone(state);
    let started =
        thread::Builder::new().name("script".to_owned()).stack_size(STACK_BYTES).spawn(move || work(&own)).is_ok();
    if !started {
        state.working.fetch_sub(1, Ordering::AcqRel);
    }
    started
}

fn work(state: &Arc<PoolState>) {
    POOL_STATE.with(|own| own.replace(Some(Arc::clone(state))));
    guard::allow_lower_priority();
    while let Some((key, job)) = state.take() {
        WORKS_ON.set(Some(key));
        guard::set_thread_address(Some(key.caller().address));
        // A panic of `done` was already reported to its owner, so the thread continues.
        let _ = catch_unwind(AssertUnwindSafe(job));
        WORKS_ON.set(None);
        guard::set_thread_address(None);
        state.release_row(key, &mut state.queue());
        if guard::has_lower_priority() {
            // The priority of this thread was lowered for its call, so it must not run the next one.
            if state.working.fetch_sub(1, Ordering::AcqRel) <= state.needed() {
                start_thread(state);
            }
            return;
        }
        // A thread that was replaced while it waited is now surplus.
        let surplus = state.working.fetch_update(Ordering::AcqRel, Ordering::Acquire, |working| {
            (working > state.needed()).then(|| working - 1)
        });
        if surplus.is_ok() {
            return;
        }
        state.hint.spin();
    }
}
