//! The threads that scripts run on, never those of the runtime: a fixed number. A thread that waits is replaced, and so is
//! one that a call holds which does not end. Calls wait in turn, so that none waits for all those of another client.

mod errand;
mod queue;
mod watchdog;

pub use errand::{Watched, sealable, settle, watch_over};
pub use queue::Party;
pub use watchdog::Held;

use super::STACK;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CancelFlag};
use errand::Errand;
use queue::{Job, Queue, WAITING, Whose};
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use watchdog::{ASIDE, Watchdog};

/// For so long a thread that has done a job looks for the next one before it sleeps: to be woken on an idle machine takes
/// longer than most calls.
const LOOKING: Duration = Duration::from_micros(50);

/// One thread per core, at least two. The queue has no end: back-pressure is the caller's.
pub struct Pool {
    crew: Arc<Crew>,
    threads: usize,
}

/// What the threads of a pool share.
struct Crew {
    queue: Mutex<Queue>,
    sight: Sight,
    /// A job has come, or no more will come.
    filled: Condvar,
    /// How many threads are to work at a time.
    wanted: usize,
    /// How many do not wait.
    working: AtomicUsize,
    /// How many are held by calls that were answered in their place.
    lost: AtomicUsize,
    /// How many are held by calls that others need not wait for.
    moved_aside: AtomicUsize,
    watchdog: Watchdog,
}

/// What can be seen of a queue without holding it.
#[derive(Default)]
struct Sight {
    /// How many jobs are in it.
    jobs: AtomicUsize,
    /// Whether a thread looks for them that need not be woken.
    looking: AtomicBool,
}

thread_local! {
    static CREW: RefCell<Option<Arc<Crew>>> = const { RefCell::new(None) };
    /// Whose call this thread works on.
    static WORKS_FOR: Cell<Option<Whose>> = const { Cell::new(None) };
}

impl Pool {
    /// Starts the threads. They end when the pool is dropped and the queue is empty.
    pub fn new() -> Self {
        Self::moving_aside(ASIDE)
    }

    /// The same, which moves so many calls aside at most.
    fn moving_aside(most: usize) -> Self {
        let wanted = thread::available_parallelism().map_or(2, |cores| cores.get().max(2));
        let (queue, filled) = (Mutex::default(), Condvar::new());
        let (sight, watchdog) = (Sight::default(), Watchdog::new(most));
        let [working, lost, moved_aside] = [const { AtomicUsize::new(0) }; 3];
        let crew = Arc::new(Crew { queue, sight, filled, wanted, working, lost, moved_aside, watchdog });
        let threads = (0..wanted).filter(|_| start(&crew)).count();
        if !watchdog::watch(&crew) {
            tracing::error!("no thread could be started: calls that do not end are not answered");
        }
        Self { crew, threads }
    }

    /// How many threads there are.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Runs `job` on a script thread and hands what it gives, or the fault that its panic stands for, to
    /// `done`, there.
    pub fn submit<T>(&self, job: impl FnOnce() -> T + Send + 'static, done: impl FnOnce(Result<T>) + Send + 'static) {
        //= docs/spec.md#protocol
        //# Calls MUST run concurrently.
        //= docs/spec.md#calls
        //# A panic MUST be contained in the call that caused it.
        let work = move || done(catch_unwind(AssertUnwindSafe(job)).map_err(|panic| fault_of_panic(&*panic)));
        // Where no thread could be started the job runs here.
        if self.threads == 0 {
            work();
        } else {
            self.crew.put(Whose::default(), Box::new(work));
        }
    }

    /// Runs the call `name` of a party on a script thread, when its turn has come, and hands what it gives to `done`: there, or, if the call is cancelled or
    /// beyond its limits and does not end, what stopped it, from the watchdog. What it gives later goes nowhere.
    ///
    //= docs/spec.md#calls
    //# A call that does not end soon after its limit or its cancellation MUST be answered all the same.
    pub fn call<T>(
        &self,
        name: String,
        party: Party,
        cancel: CancelFlag,
        job: impl FnOnce() -> T + Send + 'static,
        done: impl FnOnce(Result<T>) + Send + 'static,
    ) {
        let crew = Arc::clone(&self.crew);
        //= docs/spec.md#calls
        //# When every thread that may be started is held, a new call MUST be told so at once.
        if crew.is_held() {
            return done(Err(crew.held_fault(Instant::now())));
        }
        let done = Arc::new(Mutex::new(Some(done)));
        let taken = move |done: &Mutex<Option<_>>| done.lock().unwrap_or_else(PoisonError::into_inner).take();
        let instead = Arc::clone(&done);
        let answer = move |fault| {
            if let Some(done) = taken(&instead) {
                done(Err(fault));
            }
        };
        let whose = Whose::new(party, &name);
        let errand = Errand::new(name, party, cancel, Box::new(answer));
        let number = crew.watchdog.begin(&errand);
        let work = move || {
            let ending = Arc::clone(&errand);
            errand.run(move || {
                let ended = catch_unwind(AssertUnwindSafe(job)).map_err(|panic| fault_of_panic(&*panic));
                if ending.take_answer()
                    && let Some(done) = taken(&done)
                {
                    done(ended);
                }
            });
            crew.ended(number, &errand);
        };
        if self.threads == 0 {
            work();
        } else {
            self.crew.put(whose, Box::new(work));
        }
    }

    /// The calls that hold threads although they were answered, the oldest first.
    pub fn held(&self) -> Vec<Held> {
        self.crew.watchdog.held(Instant::now())
    }

    /// Has `act` run when every thread has been held for so long.
    pub fn when_stuck(&self, after: Duration, act: impl Fn() + Send + 'static) {
        self.crew.watchdog.when_stuck(after, Box::new(act));
    }

    /// Runs `job` on a script thread and waits for it.
    pub fn run<T: Send + 'static>(&self, job: impl FnOnce() -> T + Send + 'static) -> Result<T> {
        let (sender, receiver) = channel();
        self.submit(job, move |result| {
            // Nobody waits any more: there is nobody to tell.
            let _ = sender.send(result);
        });
        receiver.recv().unwrap_or_else(|_| Err(Diagnostic::new(Code::INTERNAL, "a script thread ended early")))
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.crew.queue().closed = true;
        self.crew.filled.notify_all();
        self.crew.watchdog.rouse();
    }
}

impl Crew {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, whose: Whose, job: Job) {
        let mut queue = self.queue();
        queue.put(whose, job);
        self.sight.jobs.store(queue.len(), Ordering::Release);
        let found = self.sight.looking.load(Ordering::Acquire) && queue.len() == 1;
        let (waits, is_free) = (queue.idle > 0 && !found, queue.idle > 0 || found);
        drop(queue);
        if waits {
            self.filled.notify_one();
        }
        if !is_free {
            self.watchdog.press();
        }
    }

    /// A thread works no longer on a call of these.
    fn free(&self, whose: Whose, queue: &mut Queue) {
        queue.end(whose);
        self.wake_for(queue);
    }

    /// Wakes those for whom there may be something to do now: a job that was not to begin before, or their end.
    fn wake_for(&self, queue: &Queue) {
        if queue.idle > 0 && queue.closed {
            self.filled.notify_all();
        } else if queue.idle > 0 && queue.len() > 0 {
            self.filled.notify_one();
        }
    }

    /// A call has ended; if its thread was counted as lost it is back.
    fn ended(&self, number: u64, errand: &Errand) {
        self.watchdog.end(number);
        let was_aside = errand.end();
        if was_aside {
            self.moved_aside.fetch_sub(1, Ordering::AcqRel);
        }
        if errand.is_lost() {
            if !was_aside {
                self.lost.fetch_sub(1, Ordering::AcqRel);
            }
            tracing::warn!("`{}` has ended: its script thread is free again", errand.name);
        }
    }

    /// How many threads are to work now: those that are held do not.
    fn needed(&self) -> usize {
        self.wanted + self.lost.load(Ordering::Acquire) + self.moved_aside.load(Ordering::Acquire)
    }

    /// The next job, and whose it is; waits for it. Nothing once the pool is gone and all is done.
    fn take(&self) -> Option<(Whose, Job)> {
        let mut queue = self.queue();
        loop {
            if let Some(taken) = queue.take(self.room()) {
                self.sight.jobs.store(queue.len(), Ordering::Release);
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
}

impl Sight {
    /// Looks for a job for a while, unless another thread does already. Whoever has something else to do goes first.
    fn look(&self) {
        if self.looking.swap(true, Ordering::AcqRel) {
            return;
        }
        let began = Instant::now();
        while self.jobs.load(Ordering::Acquire) == 0 && began.elapsed() < LOOKING {
            thread::yield_now();
        }
        self.looking.store(false, Ordering::Release);
    }
}

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

/// Waits in `job`: while it lasts another thread works in place of this one. On a thread of no pool it is just run.
///
/// # Errors
/// Too many threads wait already.
pub fn aside<T>(job: impl FnOnce() -> T) -> Result<T> {
    let Some(crew) = CREW.with(|crew| crew.borrow().clone()) else { return Ok(job()) };
    let _away = Away::leave(&crew)?;
    Ok(job())
}

/// While it lives its thread does not count as working.
struct Away<'a> {
    crew: &'a Crew,
    errand: Option<Arc<Errand>>,
    /// Whose call it is; nothing for one that waits already.
    whose: Option<Whose>,
}

impl<'a> Away<'a> {
    fn leave(crew: &'a Arc<Crew>) -> Result<Self> {
        let whose = WORKS_FOR.take();
        if let Some(own) = whose {
            let mut queue = crew.queue();
            if !queue.leave(own) {
                WORKS_FOR.set(whose);
                let fault = Diagnostic::new(Code::LIMIT, "too many calls wait at a time, of this client or of all");
                return Err(fault.help(format!("answer what is asked, or call again later: {WAITING} may wait")));
            }
            crew.wake_for(&queue);
        }
        //= docs/spec.md#questions
        //# A call that waits for an answer MUST NOT keep other calls from running.
        let left = crew.working.fetch_sub(1, Ordering::AcqRel) - 1;
        if left < crew.needed() {
            start(crew);
        }
        let errand = Errand::current();
        if let Some(errand) = &errand {
            errand.waits.fetch_add(1, Ordering::AcqRel);
            if errand.is_aside_no_longer() {
                crew.moved_aside.fetch_sub(1, Ordering::AcqRel);
            }
        }
        Ok(Self { crew, errand, whose })
    }
}

impl Drop for Away<'_> {
    fn drop(&mut self) {
        self.crew.working.fetch_add(1, Ordering::AcqRel);
        if let Some(own) = self.whose {
            self.crew.queue().come_back(own);
            WORKS_FOR.set(self.whose);
        }
        if let Some(errand) = &self.errand {
            errand.waits.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// Starts a thread of the crew; `false` if the machine has none to give.
fn start(crew: &Arc<Crew>) -> bool {
    crew.working.fetch_add(1, Ordering::AcqRel);
    let own = Arc::clone(crew);
    let started = thread::Builder::new().name("script".to_owned()).stack_size(STACK).spawn(move || work(&own)).is_ok();
    if !started {
        crew.working.fetch_sub(1, Ordering::AcqRel);
    }
    started
}

fn work(crew: &Arc<Crew>) {
    CREW.with(|own| own.replace(Some(Arc::clone(crew))));
    guard::allow_lower_priority();
    while let Some((whose, job)) = crew.take() {
        WORKS_FOR.set(Some(whose));
        guard::set_thread_address(Some(whose.party().place));
        // A panic of `done` is its owner's; the thread goes on.
        let _ = catch_unwind(AssertUnwindSafe(job));
        WORKS_FOR.set(None);
        guard::set_thread_address(None);
        crew.free(whose, &mut crew.queue());
        if guard::has_lower_priority() {
            // The next call is not to be served by what this one left of it.
            if crew.working.fetch_sub(1, Ordering::AcqRel) <= crew.needed() {
                start(crew);
            }
            return;
        }
        // A thread that was replaced while it waited is one too many now.
        let surplus = crew.working.fetch_update(Ordering::AcqRel, Ordering::Acquire, |working| {
            (working > crew.needed()).then(|| working - 1)
        });
        if surplus.is_ok() {
            return;
        }
        crew.sight.look();
    }
}

fn fault_of_panic(panic: &(dyn std::any::Any + Send)) -> Box<Diagnostic> {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let message = format!("toolsd made a mistake: {}", text.unwrap_or("a panic without words"));
    Diagnostic::new(Code::INTERNAL, message).help("please report it, with what was called")
}

#[cfg(test)]
mod tests;
