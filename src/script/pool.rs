//! The threads that scripts run on: a fixed number, never those of the runtime.

use super::STACK;
use crate::diagnostic::{Code, Diagnostic};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

type Job = Box<dyn FnOnce() + Send>;

/// One thread per core, at least two. The queue has no end: back-pressure is the caller's.
pub struct Pool {
    queue: Sender<Job>,
    threads: usize,
}

impl Pool {
    /// Starts the threads. They end when the pool is dropped and the queue is empty.
    pub fn new() -> Self {
        let wanted = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let (queue, jobs) = channel();
        let jobs = Arc::new(Mutex::new(jobs));
        let threads = (0..wanted)
            .filter(|at| {
                let jobs = Arc::clone(&jobs);
                let named = thread::Builder::new().name(format!("script-{at}")).stack_size(STACK);
                named.spawn(move || work(&jobs)).is_ok()
            })
            .count();
        Self { queue, threads }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` on a script thread and hands what it gives, or the fault that its panic stands for, to
    /// `done`, there.
    pub fn submit<T>(
        &self,
        job: impl FnOnce() -> T + Send + 'static,
        done: impl FnOnce(Result<T, Box<Diagnostic>>) + Send + 'static,
    ) {
        //= docs/spec.md#calls
        //# A panic MUST be contained in the call that caused it.
        let work = move || done(catch_unwind(AssertUnwindSafe(job)).map_err(|panic| fault_of_panic(&*panic)));
        // It fails only if no thread could be started: then the job runs here.
        if self.threads == 0 {
            work();
        } else if let Err(job) = self.queue.send(Box::new(work)) {
            (job.0)();
        }
    }

    /// Runs `job` on a script thread and waits for it.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T, Box<Diagnostic>> {
        let (sender, receiver) = channel();
        self.submit(job, move |result| {
            // Nobody waits any more: there is nobody to tell.
            let _ = sender.send(result);
        });
        receiver.recv().unwrap_or_else(|_| Err(Diagnostic::new(Code::INTERNAL, "a script thread ended early")))
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

fn work(jobs: &Mutex<Receiver<Job>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // A panic of `done` is its owner's; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(job));
    }
}

fn fault_of_panic(panic: &(dyn std::any::Any + Send)) -> Box<Diagnostic> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!("toolsd made a mistake: {}", text.unwrap_or("a panic without words"));
    Diagnostic::new(Code::INTERNAL, message).help("please report it, with what was called")
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#calls
    //= type=test
    //# A panic MUST be contained in the call that caused it.
    #[test]
    fn a_panic_is_told_to_its_owner_and_the_threads_go_on() {
        let pool = Pool::new();
        assert!(pool.threads() >= 2);
        for _ in 0..pool.threads() * 2 {
            let fault = pool.run(|| -> u8 { panic!("on purpose") }).expect_err("it panicked");
            assert_eq!(fault.code, Code::INTERNAL);
            assert_eq!(fault.message, "toolsd made a mistake: on purpose");
        }
        assert_eq!(pool.run(|| 7), Ok(7));
    }
}
