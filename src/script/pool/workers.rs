//! The threads of a pool: what they share, how they take jobs, and how a waiting thread is replaced.

use super::pooled_call::PooledCall;
use super::queue::{CallQueue, CallState, MAX_WAITING, PoolJob, ThreadLimits};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The stack size of a thread in bytes. 64 levels of script calls need far less. But a value that a script nests
/// without end is copied and dropped recursively, and what can be nested in ten seconds fits. Only the used part is
/// taken from the system.
pub const STACK_BYTES: usize = 64 << 20;

/// The state that the threads of a pool share.
pub(super) struct PoolState {
    queue: Mutex<CallQueue>,
    /// Signals that a job may begin, or that no more will arrive.
    pub(super) filled: Condvar,
    /// Wakes the watchdog.
    pub(super) watch: Condvar,
    pub(super) stuck: Mutex<StuckAction>,
}

/// The action to run when every thread is held.
#[derive(Default)]
pub(super) struct StuckAction {
    pub(super) after: Option<(Duration, Box<dyn Fn() + Send>)>,
    pub(super) since: Option<Instant>,
}

/// A call that holds a thread although it was already answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HungCall {
    /// The name of what was called.
    pub name: String,
    /// How long it has been running.
    pub elapsed: Duration,
}

thread_local! {
    static POOL_STATE: RefCell<Option<Arc<PoolState>>> = const { RefCell::new(None) };
}

impl PoolState {
    pub(super) fn new(limits: ThreadLimits) -> Self {
        Self {
            queue: Mutex::new(CallQueue::new(limits)),
            filled: Condvar::new(),
            watch: Condvar::new(),
            stuck: Mutex::default(),
        }
    }

    pub(super) fn queue(&self) -> MutexGuard<'_, CallQueue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues the job of a call.
    pub(super) fn push(self: &Arc<Self>, call: Arc<PooledCall>, job: PoolJob) {
        let mut queue = self.queue();
        queue.push(call, job);
        if std::mem::take(&mut queue.is_unwatched) {
            self.watch.notify_one();
        }
        self.serve(queue);
    }

    /// Wakes or starts a thread for a queued call, if one may begin.
    pub(super) fn serve(self: &Arc<Self>, mut queue: MutexGuard<'_, CallQueue>) {
        if !queue.may_begin() {
            return;
        }
        if queue.idle > 0 {
            drop(queue);
            self.filled.notify_one();
        } else if queue.needs_thread() {
            // If the system cannot start one now, the watchdog tries again.
            self.start_thread(&mut queue);
        }
    }

    /// Starts a thread, if the system can.
    fn start_thread(self: &Arc<Self>, queue: &mut CallQueue) {
        let own = Arc::clone(self);
        let builder = thread::Builder::new().name("script".to_owned()).stack_size(STACK_BYTES);
        let is_started = builder.spawn(move || work(&own)).is_ok();
        queue.threads += usize::from(is_started);
    }

    /// Must be called when a call has ended.
    pub(super) fn end_call(&self, call: &PooledCall) {
        let mut queue = self.queue();
        if queue.remove(call.number) == Some(CallState::Held) {
            tracing::warn!("`{}` has ended: its script thread is free again", call.name);
        }
    }

    /// Waits for the next job; `None` if this thread is no longer needed.
    fn take(&self) -> Option<PoolJob> {
        let mut queue = self.queue();
        loop {
            if let Some(job) = queue.take() {
                return Some(job);
            }
            if queue.has_surplus_thread() || queue.is_closed && !queue.has_queued() {
                queue.threads -= 1;
                if queue.is_closed {
                    self.filled.notify_one();
                }
                return None;
            }
            queue.idle += 1;
            queue = self.filled.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }

    /// The calls that hold threads although they were already answered, oldest first.
    pub(super) fn hung_calls(&self) -> Vec<HungCall> {
        let queue = self.queue();
        let held = queue.calls().filter(|(_, place)| *place == CallState::Held);
        held.filter_map(|(call, _)| Some(HungCall { name: call.name.clone(), elapsed: call.began()?.elapsed() }))
            .collect()
    }

    /// Whether every thread that can exist is held by a call that was already answered.
    pub(super) fn is_exhausted(&self) -> bool {
        let queue = self.queue();
        queue.count(CallState::Held, None) >= queue.limits.all
    }

    /// The error of a call that no thread will ever run.
    pub(super) fn exhausted_error(&self) -> Box<Diagnostic> {
        let held = self.hung_calls();
        let named: Vec<String> =
            held.iter().take(4).map(|held| format!("`{}` since {} s", held.name, held.elapsed.as_secs())).collect();
        let more = if held.len() > 4 { ", …" } else { "" };
        let message =
            format!("every script thread is held by calls that cannot be stopped: {}{more}", named.join(", "));
        Diagnostic::new(Code::LIMIT, message).help("restart the server; `toolsd://status` lists the calls")
    }
}

/// Runs `job`, which waits for something. Meanwhile another thread works in place of this one. On a thread that belongs
/// to no pool, `job` is simply run.
///
/// # Errors
/// Too many threads are already waiting.
pub fn block_in_place<T>(job: impl FnOnce() -> T) -> Result<T> {
    let (state, call) = (POOL_STATE.with(|state| state.borrow().clone()), PooledCall::current());
    let (Some(state), Some(call)) = (state, call) else { return Ok(job()) };
    let mut queue = state.queue();
    // One that waits already is replaced already.
    if !queue.is_running(call.number) {
        drop(queue);
        return Ok(job());
    }
    if !queue.leave(&call) {
        let error = Diagnostic::new(Code::LIMIT, "too many calls are waiting, of this connection or in total");
        let help = format!(
            "answer the open questions, or call again later: at most {MAX_WAITING} calls can wait, {} of one connection",
            MAX_WAITING / 2
        );
        return Err(error.help(help));
    }
    //= docs/spec.md#calls
    //# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
    state.serve(queue);
    let _waiting = WaitingCall { state: &state, call: &call };
    Ok(job())
}

/// While it exists, the thread of the call is waiting and does not count as working.
struct WaitingCall<'a> {
    state: &'a PoolState,
    call: &'a PooledCall,
}

impl Drop for WaitingCall<'_> {
    fn drop(&mut self) {
        self.state.queue().put(self.call.number, CallState::Running);
    }
}

fn work(state: &Arc<PoolState>) {
    POOL_STATE.with(|own| own.replace(Some(Arc::clone(state))));
    while let Some(job) = state.take() {
        // A panic of `done` was already reported to its owner, so the thread continues.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}
