//! Looks after the threads of a pool: answers in place of calls that do not end when they should, starts threads in place
//! of those that such calls hold, and of those that are busy while others wait.

use super::queue::Room;
use super::{Crew, Errand, Party, start};
use crate::diagnostic::{Code, Diagnostic};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
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
/// A call that has been at work for so long is moved aside when others wait: another thread works beside its own.
const SLICE: Duration = Duration::from_millis(20);
/// At most so many calls are moved aside.
pub(super) const ASIDE: usize = 512;
/// When so many are, and others have waited for so long, some of those are ended who have most at work.
const ENOUGH: Duration = Duration::from_secs(1);
/// At least so many threads may be started in place of others, and as many as the machine has cores.
const SPARES: usize = 4;

/// What the watchdog knows.
pub struct Watchdog {
    errands: Mutex<BTreeMap<u64, Arc<Errand>>>,
    last: AtomicU64,
    /// A job waits while every thread is busy.
    pressed: AtomicBool,
    asleep: AtomicBool,
    /// At most so many calls are moved aside.
    most_aside: usize,
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
    pub(super) fn new(most_aside: usize) -> Self {
        Self {
            errands: Mutex::default(),
            last: AtomicU64::new(0),
            pressed: AtomicBool::new(false),
            asleep: AtomicBool::new(false),
            most_aside,
            wake: (Mutex::default(), Condvar::new()),
            stuck: Mutex::default(),
        }
    }

    pub(super) fn errands(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Errand>>> {
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
                // One that was moved aside gave way, and may just not have had the processor: another thread works in its
                // place already.
                if !errand.is_aside() {
                    crew.lost.fetch_add(1, Ordering::AcqRel);
                    if crew.may_start() {
                        start(crew);
                    }
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

    //= docs/spec.md#calls
    //# A call of a connection that has none of the tool at work MUST NOT wait for the end of others: those that have been at work for long are moved aside.
    /// Moves those aside that have been at work longest, one for each call that they hold up.
    fn move_aside(&self, crew: &Crew, now: Instant) {
        let held_up = crew.queue().held_up(now, PATIENCE, crew.room());
        if held_up == 0 {
            return;
        }
        let errands: Vec<Arc<Errand>> = self.errands().values().cloned().collect();
        let room = self.most_aside.saturating_sub(crew.moved_aside.load(Ordering::Acquire));
        let mut moved = 0;
        for errand in errands.iter() {
            if moved == held_up.min(room) {
                break;
            }
            // Counted before it can end.
            crew.moved_aside.fetch_add(1, Ordering::AcqRel);
            match errand.move_aside(now, SLICE) {
                true => moved += 1,
                false => drop(crew.moved_aside.fetch_sub(1, Ordering::AcqRel)),
            }
        }
        if room == 0 {
            end_some(crew, &errands, now);
        }
    }

    //= docs/spec.md#calls
    //# The time of a call that shares the processors with more calls than are usual MUST pass more slowly for it.
    /// Calls that were moved aside share the processors with more than there are threads otherwise: their time passes as slowly
    /// as if they waited for one of those.
    fn forgive(&self, crew: &Crew, passed: Duration) {
        if crew.moved_aside.load(Ordering::Acquire) == 0 {
            return;
        }
        let (at_work, usual) = (crew.queue().at_work(), crew.usual());
        if at_work > usual {
            let forgiven = passed.mul_f64(1.0 - usual as f64 / at_work as f64);
            self.errands().values().for_each(|errand| errand.forgive(forgiven));
        }
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

//= docs/spec.md#calls
//# When too many calls are moved aside and another has waited for a second, one MUST be ended, and told so: of the address, there of the client, with the most at work, the one that came first.
//= docs/spec.md#calls
//# As many MUST be ended at a time as clients wait that have none at work.
/// Ends some of those that were moved aside, one for each client that has none at work, those included that end already.
fn end_some(crew: &Crew, errands: &[Arc<Errand>], now: Instant) {
    let (held_up, strangers) = {
        let (queue, room) = (crew.queue(), crew.room());
        (queue.held_up(now, ENOUGH, room), queue.strangers_held_up(now, ENOUGH, room))
    };
    if held_up == 0 {
        return;
    }
    let mut at_work: HashMap<(u64, Option<u64>), usize> = HashMap::new();
    let both = |party: Party| [(party.place, None), (party.place, Some(party.client))];
    for errand in errands.iter().filter(|errand| errand.is_at_work()) {
        both(errand.party).into_iter().for_each(|who| *at_work.entry(who).or_default() += 1);
    }
    let ending = errands.iter().filter(|errand| errand.is_making_room()).count();
    let mut left: Vec<&Arc<Errand>> =
        errands.iter().filter(|errand| errand.is_at_work() && errand.is_aside()).collect();
    let message =
        "the call was ended: too many calls are at work, others wait, and nobody has more at work than its client";
    let fault = Diagnostic::new(Code::LIMIT, message).help("call again when fewer calls are at work");
    let mut wanted = strangers.max(1).saturating_sub(ending);
    while wanted > 0 {
        let most = |at: &usize| (both(left[*at].party).map(|who| at_work.get(&who).copied()), Reverse(*at));
        let Some(at) = (0..left.len()).max_by_key(most) else { return };
        let errand = left.remove(at);
        if errand.make_room(fault.clone()) {
            wanted -= 1;
            both(errand.party).into_iter().for_each(|who| *at_work.entry(who).or_default() -= 1);
        }
    }
}

impl Crew {
    /// Threads that may work at a time, those included that are held.
    fn most(&self) -> usize {
        self.wanted + self.wanted.max(SPARES)
    }

    /// The same beside those that were moved aside, and the threads that are kept for those who have none.
    pub(super) fn room(&self) -> Room {
        Room { most: self.most() + self.moved_aside.load(Ordering::Acquire), spares: self.wanted.max(SPARES) }
    }

    /// Calls that may be at work where none is moved aside.
    fn usual(&self) -> usize {
        Room { most: self.most(), spares: self.wanted.max(SPARES) }.whole()
    }

    //= docs/spec.md#calls
    //# A call that keeps a thread busy MUST NOT keep another from beginning, as long as there are threads to start.
    /// Has a thread take each call that could begin and waits. A thread that sleeps is not told when there is room for it by
    /// the passing of time alone.
    fn let_begin(self: &Arc<Self>, now: Instant) {
        let queue = self.queue();
        let (calls, idle) = (queue.could_begin(now, PATIENCE, self.room()), queue.idle);
        drop(queue);
        (0..calls.min(idle)).for_each(|_| self.filled.notify_one());
        for _ in idle..calls {
            if !start(self) {
                break;
            }
        }
    }

    pub(super) fn may_start(&self) -> bool {
        self.working.load(Ordering::Acquire) < self.room().most
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
    let mut looked = idle_since;
    while let Some(crew) = crew.upgrade() {
        if crew.queue().closed {
            return;
        }
        let now = Instant::now();
        if crew.watchdog.look(&crew, now) {
            idle_since = now;
        }
        crew.watchdog.mind_the_stuck(&crew, now);
        crew.watchdog.forgive(&crew, now.duration_since(looked));
        looked = now;
        crew.watchdog.move_aside(&crew, now);
        crew.let_begin(now);
        let is_pressed = crew.queue().len() > 0;
        crew.watchdog.pressed.store(is_pressed, Ordering::Release);
        crew.watchdog.pause(idle_since);
    }
}
