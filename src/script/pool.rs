//! The script threads, which are separate from the threads of the async runtime. A thread that waits is replaced, and
//! so is a thread that is held by a call which does not end. Connections take turns, so that none waits for all calls
//! of another one.

mod queue;
pub(super) mod pooled_call;
mod workers;
mod watchdog;

pub use pooled_call::{CallerId, WatchedGuard, commit_call, compose_call, register_seal, watch_guard};
pub use workers::{HungCall, STACK_BYTES, block_in_place};

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::CancelFlag;
use pooled_call::PooledCall;
use queue::ThreadLimits;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use watchdog::start_watchdog;
use workers::PoolState;

/// A pool whose threads are started when calls need them. The queue is unbounded; back-pressure is up to the caller.
pub struct Pool(Arc<PoolState>);

impl Pool {
    /// Creates a pool. Its threads end when it is dropped and the queue is empty.
    pub fn new() -> Self {
        let cores = thread::available_parallelism().map_or(2, NonZero::get);
        let state = Arc::new(PoolState::new(ThreadLimits::for_cores(cores)));
        if !start_watchdog(&state) {
            tracing::error!("the watchdog thread could not be started: calls that do not end are not answered");
        }
        Self(state)
    }

    /// Runs the call `name` on a script thread when it is the caller's turn, and then calls `done` there with its
    /// result, or with the error of its panic. If the call is cancelled or exceeds its limits and does not end, the
    /// watchdog calls `done` with the error that stopped it. The later result of the call is dropped.
    ///
    //= docs/spec.md#calls
    //# A call MUST end within 300 ms after its limit or its cancellation, whatever its script does.
    pub fn call<T>(
        &self,
        name: String,
        caller: CallerId,
        cancel: CancelFlag,
        job: impl FnOnce() -> T + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let state = Arc::clone(&self.0);
        //= docs/spec.md#calls
        //# When no thread is available, a new call MUST fail at once, and `toolsd://status` MUST list the
        //# calls that occupy the threads.
        if state.is_exhausted() {
            return done(Err(state.exhausted_error()));
        }
        let done = Arc::new(Mutex::new(Some(done)));
        let taken = move |done: &Mutex<Option<_>>| done.lock().unwrap_or_else(PoisonError::into_inner).take();
        let instead = Arc::clone(&done);
        let answer = move |error| {
            if let Some(done) = taken(&instead) {
                done(Err(error));
            }
        };
        let call = PooledCall::new(name, caller, cancel, Box::new(answer));
        let own = Arc::clone(&call);
        //= docs/spec.md#calls
        //# A running call MUST NOT delay the start of another call while threads are available.
        let work = move || {
            let _ending = EndingCall(&state, &own);
            own.run(|| {
                //= docs/spec.md#calls
                //# A panic MUST affect only the call that caused it.
                let ended = catch_unwind(AssertUnwindSafe(job)).map_err(|panic| panic_error(&*panic));
                if own.take_answer()
                    && let Some(done) = taken(&done)
                {
                    done(ended);
                }
            });
        };
        self.0.push(call, Box::new(work));
    }

    /// The calls that hold threads although they were already answered, oldest first.
    pub fn hung_calls(&self) -> Vec<HungCall> {
        self.0.hung_calls()
    }

    /// Whether every thread is held by a call that was already answered.
    pub fn is_exhausted(&self) -> bool {
        self.0.is_exhausted()
    }

    /// Registers `act` to run when every thread has been held for the time `after`.
    pub fn when_stuck(&self, after: Duration, act: impl Fn() + Send + 'static) {
        self.0.stuck.lock().unwrap_or_else(PoisonError::into_inner).after = Some((after, Box::new(act)));
    }

    /// Runs `job` on a script thread and waits for it.
    #[cfg(test)]
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, receiver) = std::sync::mpsc::channel();
        self.call("a job".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
            drop(sender.send(result));
        });
        receiver.recv().expect("every call is answered")
    }
}

/// Removes a call from the pool when it ends, however it does.
struct EndingCall<'a>(&'a PoolState, &'a PooledCall);

impl Drop for EndingCall<'_> {
    fn drop(&mut self) {
        self.0.end_call(self.1);
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.queue().is_closed = true;
        self.0.filled.notify_all();
        self.0.watch.notify_all();
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

fn panic_error(panic: &(dyn std::any::Any + Send)) -> Box<Diagnostic> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!("internal error in toolsd: {}", text.unwrap_or("a panic without a message"));
    Diagnostic::new(Code::INTERNAL, message).help("please report it, and include what was called")
}

#[cfg(test)]
mod tests;
