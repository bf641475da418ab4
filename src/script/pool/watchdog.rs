//! Looks after the threads of a pool: answers in place of calls that do not end when they should, starts threads in place
//! of those that such calls hold, and of those that are busy while others wait.

use super::queue::Room;
use super::{Crew, Errand, start};
use crate::diagnostic::{Code, Diagnostic};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// Between two looks at the calls.
const LOOK: Duration = Duration::from_millis(50);
/// How long a call stands in the queue before a further thread is started for it.
const PATIENCE: Duration = Duration::from_millis(10);
/// How long the watchdog looks on after the last call: to wake it takes longer than most calls.
const LINGER: Duration = Duration::from_secs(5);
/// At least so many threads may be started in place of others, and as many as the machine has cores.
const SPARES: usize = 4;

/// What the watchdog knows.
pub struct Watchdog {
    errands: Mutex<BTreeMap<u64, Arc<Errand>>>,
    last: AtomicU64,
    /// A job waits while every thread is busy.
    pressed: AtomicBool,
    asleep: AtomicBool,
    wake: (Mutex<()>, Condvar),
    stuck: Mutex<Stuck>,
}

/// What is done when every thread is held.
#[derive(Default)]
struct Stuck {
    after: Option<(Duration, Box<dyn Fn() + Send>)>,
    since: Option<Instant>,
}

/// A call that holds a thread although it was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// What was called.
    pub name: String,
    /// For how long it has been at work.
    pub since: Duration,
}

impl Watchdog {
    pub(super) fn new() -> Self {
        Self {
            errands: Mutex::default(),
            last: AtomicU64::new(0),
            pressed: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            wake: (Mutex::default(), Condvar::new()),
            stuck: Mutex::default(),
        }
    }

    fn errands(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Errand>>> {
        self.errands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to look after a call.
    pub(super) fn begin(&self, errand: &Arc<Errand>) -> u64 {
        let number = self.last.fetch_add(1, Ordering::Relaxed);
        self.errands().insert(number, Arc::clone(errand));
        if self.asleep.load(Ordering::Acquire) {
            self.rouse();
        }
        number
    }

    /// The call has ended, whoever answered it.
    pub(super) fn end(&self, number: u64) {
        self.errands().remove(&number);
    }

    /// A job waits, and nobody is free.
    pub(super) fn press(&self) {
        if !self.pressed.swap(true, Ordering::AcqRel) {
            self.rouse();
        }
    }

    pub(super) fn rouse(&self) {
        let _held = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        self.wake.1.notify_one();
    }

    /// The calls that hold threads although they were answered, the oldest first.
    pub(super) fn held(&self, now: Instant) -> Vec<Held> {
        let errands = self.errands();
        let lost = errands.values().filter(|errand| errand.is_lost());
        lost.filter_map(|errand| Some((errand.name.clone(), errand.began()?)))
            .map(|(name, began)| Held { name, since: now.duration_since(began) })
            .collect()
    }

    pub(super) fn when_stuck(&self, after: Duration, act: Box<dyn Fn() + Send>) {
        self.stuck.lock().unwrap_or_else(PoisonError::into_inner).after = Some((after, act));
    }

    /// Waits for the next look.
    fn pause(&self, idle_since: Instant) {
        let held = self.wake.0.lock().unwrap_or_else(PoisonError::into_inner);
        let sleeps = self.errands().is_empty() && idle_since.elapsed() > LINGER;
        self.asleep.store(sleeps, Ordering::Release);
        let time = match self.pressed.load(Ordering::Acquire) {
            true => PATIENCE,
            // A call that came between the two lines above is looked after a little later.
            false if sleeps => Duration::from_secs(1),
            false => LOOK,
        };
        drop(self.wake.1.wait_timeout(held, time));
        self.asleep.store(false, Ordering::Release);
    }

    /// Answers what is overdue, and counts the threads that are lost by it.
    fn look(&self, crew: &Arc<Crew>, now: Instant) -> bool {
        let errands: Vec<(u64, Arc<Errand>)> =
            self.errands().iter().map(|(number, errand)| (*number, Arc::clone(errand))).collect();
        for (number, errand) in &errands {
            if let Some(fault) = errand.overdue(now)
                && errand.answer(fault)
                && errand.began().is_none()
            {
                self.end(*number);
            }
            if errand.lose() {
                tracing::error!("`{}` was answered in its place: its script thread cannot be stopped", errand.name);
                crew.lost.fetch_add(1, Ordering::AcqRel);
                if crew.may_start() {
                    start(crew);
                }
            }
        }
        if crew.is_held() {
            let fault = crew.held_fault(now);
            for (number, errand) in errands.iter().filter(|(_, errand)| errand.began().is_none()) {
                if errand.answer(fault.clone()) {
                    self.end(*number);
                }
            }
        }
        !errands.is_empty()
    }

    fn mind_the_stuck(&self, crew: &Crew, now: Instant) {
        let mut stuck = self.stuck.lock().unwrap_or_else(PoisonError::into_inner);
        stuck.since = crew.is_held().then(|| stuck.since.unwrap_or(now));
        if let (Some(since), Some((after, act))) = (stuck.since, &stuck.after)
            && now.duration_since(since) >= *after
        {
            act();
        }
    }
}

impl Crew {
    /// Threads that may work at a time, those included that are held.
    fn most(&self) -> usize {
        self.wanted + self.wanted.max(SPARES)
    }

    /// The same, and the threads beside them that are kept for those who have none.
    pub(super) fn room(&self) -> Room {
        Room { most: self.most(), spares: self.wanted.max(SPARES) }
    }

    pub(super) fn may_start(&self) -> bool {
        self.working.load(Ordering::Acquire) < self.most()
    }

    /// Whether every thread there may be is held by a call that was answered.
    pub(super) fn is_held(&self) -> bool {
        self.lost.load(Ordering::Acquire) >= self.most()
    }

    /// What is told to a call that no thread will ever take.
    pub(super) fn held_fault(&self, now: Instant) -> Box<Diagnostic> {
        let held = self.watchdog.held(now);
        let named: Vec<String> =
            held.iter().take(4).map(|held| format!("`{}` since {} s", held.name, held.since.as_secs())).collect();
        let more = if held.len() > 4 { ", …" } else { "" };
        let message =
            format!("every script thread is held by calls that cannot be stopped: {}{more}", named.join(", "));
        Diagnostic::new(Code::LIMIT, message).help("restart the server; `toolsd://status` lists the calls")
    }
}

/// Starts the thread that looks, which ends with its pool; `false` if the machine has none to give.
pub(super) fn watch(crew: &Arc<Crew>) -> bool {
    let crew = Arc::downgrade(crew);
    thread::Builder::new().name("watchdog".to_owned()).spawn(move || run(&crew)).is_ok()
}

fn run(crew: &Weak<Crew>) {
    let mut idle_since = Instant::now();
    while let Some(crew) = crew.upgrade() {
        if crew.queue().closed {
            return;
        }
        let now = Instant::now();
        if crew.watchdog.look(&crew, now) {
            idle_since = now;
        }
        crew.watchdog.mind_the_stuck(&crew, now);
        let lacks = crew.queue().lacks(now, PATIENCE, crew.room());
        //= docs/spec.md#calls
        //# A call that keeps a thread busy MUST NOT keep another from beginning, as long as there are threads to start.
        for _ in 0..lacks {
            if !start(&crew) {
                break;
            }
        }
        let is_pressed = crew.queue().len() > 0;
        crew.watchdog.pressed.store(is_pressed, Ordering::Release);
        crew.watchdog.pause(idle_since);
    }
}
