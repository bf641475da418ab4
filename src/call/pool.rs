//! The script threads: a fixed number of them, apart from the runtime's, so that an endless script freezes nothing else.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Bytes of stack of one thread: 64 calls within calls, each through closures and natives, in a debug build.
const STACK: usize = 64 << 20;

type Job = Box<dyn FnOnce() + Send>;

/// Threads that run jobs in the order they came. Dropping it lets the threads end once the queue is empty.
pub struct Pool {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    wake: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Pool {
    /// One thread per core, two at least.
    pub fn new() -> Self {
        let threads = std::thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let shared = Arc::new(Shared::default());
        for number in 0..threads {
            let shared = Arc::clone(&shared);
            let builder = std::thread::Builder::new().name(format!("script-{number}")).stack_size(STACK);
            if let Err(fault) = builder.spawn(move || shared.work()) {
                tracing::error!("a script thread cannot be started: {fault}");
            }
        }
        Self { shared }
    }

    /// Runs a job on the next free thread. It must catch its own panics.
    pub fn submit(&self, job: impl FnOnce() + Send + 'static) {
        self.shared.lock().jobs.push_back(Box::new(job));
        self.shared.wake.notify_one();
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            job();
        }
    }

    fn next(&self) -> Option<Job> {
        let mut queue = self.lock();
        loop {
            match queue.jobs.pop_front() {
                Some(job) => return Some(job),
                None if queue.closed => return None,
                None => queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    #[test]
    fn every_job_runs_also_when_the_pool_is_dropped_at_once() {
        let (send, receive) = mpsc::channel();
        let pool = Pool::new();
        for number in 0..100 {
            let send = send.clone();
            pool.submit(move || send.send(number).unwrap_or_default());
        }
        drop((pool, send));
        let mut numbers: Vec<i32> = receive.iter().collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }
}
