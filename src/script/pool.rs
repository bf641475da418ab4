//! The script threads, which are separate from the threads of the async runtime. Their number is fixed. A thread that
//! waits is replaced, and so is a thread that is held by a call which does not end. Callers take turns, so that none
//! waits for all calls of another one.

mod queue;
mod pooled_call;
mod workers;
mod watchdog;

pub use pooled_call::{HungCall, WatchedGuard, commit_call, register_seal, watch_guard};
pub use queue::CallerId;
pub use workers::{STACK_BYTES, block_in_place};

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::CancelFlag;
use pooled_call::PooledCall;
use queue::RowKey;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use watchdog::start_watchdog;
use workers::{PoolState, start_thread};

/// The maximum number of calls that can be moved aside.
const MAX_ASIDE: usize = 512;

/// A pool with one thread per core, but at least two. The queue is unbounded; back-pressure is up to the caller.
pub struct Pool {
    state: Arc<PoolState>,
    threads: usize,
}

impl Pool {
    /// Starts the threads. They end when the pool is dropped and the queue is empty.
    pub fn new() -> Self {
        Self::with_max_aside(MAX_ASIDE)
    }

    /// Like [`Self::new`], with another maximum number of calls that can be moved aside.
    fn with_max_aside(max_aside: usize) -> Self {
        let wanted = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let state = Arc::new(PoolState::new(wanted, max_aside));
        let threads = (0..wanted).filter(|_| start_thread(&state)).count();
        if !start_watchdog(&state) {
            tracing::error!("the watchdog thread could not be started: calls that do not end are not answered");
        }
        Self { state, threads }
    }

    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` on a script thread, and then calls `done` there with its result, or with the fault of its panic.
    pub fn submit<T>(&self, job: impl FnOnce() -> T + Send + 'static, done: impl FnOnce(Result<T>) + Send + 'static) {
        //= docs/spec.md#protocol
        //# Calls MUST run concurrently.
        //= docs/spec.md#calls
        //# A panic MUST be contained in the call that caused it.
        let work = move || done(catch_unwind(AssertUnwindSafe(job)).map_err(|panic| fault_of_panic(&*panic)));
        // If no thread could be started, the job runs here.
        if self.threads == 0 {
            work();
        } else {
            self.state.push(RowKey::default(), Box::new(work));
        }
    }

    /// Runs the call `name` on a script thread when it is the caller's turn, and then calls `done` there with its
    /// result. If the call is cancelled or exceeds its limits and does not end, the watchdog calls `done` with the
    /// fault that stopped it. The later result of the call is dropped.
    ///
    //= docs/spec.md#calls
    //# A call that does not end soon after its limit or its cancellation MUST be answered all the same.
    pub fn call<T>(
        &self,
        name: String,
        caller: CallerId,
        cancel: CancelFlag,
        job: impl FnOnce() -> T + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let state = Arc::clone(&self.state);
        //= docs/spec.md#calls
        //# When every thread that may be started is held, a new call MUST be told so at once.
        if state.is_exhausted() {
            return done(Err(state.exhausted_fault(Instant::now())));
        }
        let done = Arc::new(Mutex::new(Some(done)));
        let taken = move |done: &Mutex<Option<_>>| done.lock().unwrap_or_else(PoisonError::into_inner).take();
        let instead = Arc::clone(&done);
        let answer = move |fault| {
            if let Some(done) = taken(&instead) {
                done(Err(fault));
            }
        };
        let key = RowKey::new(caller, &name);
        let call = PooledCall::new(name, caller, cancel, Box::new(answer));
        let number = state.watched.insert(&call);
        let work = move || {
            let ending = Arc::clone(&call);
            call.run(move || {
                let ended = catch_unwind(AssertUnwindSafe(job)).map_err(|panic| fault_of_panic(&*panic));
                if ending.take_answer()
                    && let Some(done) = taken(&done)
                {
                    done(ended);
                }
            });
            state.end_call(number, &call);
        };
        if self.threads == 0 {
            work();
        } else {
            self.state.push(key, Box::new(work));
        }
    }

    /// The calls that hold threads although they were already answered, oldest first.
    pub fn hung_calls(&self) -> Vec<HungCall> {
        self.state.watched.hung_calls(Instant::now())
    }

    /// Registers `act` to run when every thread has been held for the time `after`.
    pub fn when_stuck(&self, after: Duration, act: impl Fn() + Send + 'static) {
        self.state.set_stuck_action(after, Box::new(act));
    }

    /// Runs `job` on a script thread and waits for it.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, receiver) = channel();
        self.submit(job, move |result| {
            // If no one is waiting any more, the result is dropped.
            let _ = sender.send(result);
        });
        receiver.recv().unwrap_or_else(|_| Err(Diagnostic::new(Code::INTERNAL, "a script thread ended early")))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.state.queue().closed = true;
        self.state.filled.notify_all();
        self.state.watched.wake();
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

fn fault_of_panic(panic: &(dyn std::any::Any + Send)) -> Box<Diagnostic> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!("internal error in toolsd: {}", text.unwrap_or("a panic without a message"));
    Diagnostic::new(Code::INTERNAL, message).help("please report it, and include what was called")
}

#[cfg(test)]
mod tests;
