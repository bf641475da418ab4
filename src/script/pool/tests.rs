//! Tests of threads that panic, wait, are busy or cannot be stopped.

use super::queue::{CallState, MAX_WAITING};
use super::*;
use crate::guard::{self, Guard, Limits};
use crate::world::memory::MemoryWorld;
use crate::world::staged::StagedWorld;
use crate::world::staging::StagedWrites;
use crate::world::{Files, World};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Instant;

/// Long enough for a machine that is busy with other work.
const TEST_TIMEOUT: Duration = Duration::from_secs(60);

/// A call that never consults its guard until it is released.
struct Stuck {
    free: Sender<()>,
    cancel: CancelFlag,
    answers: Receiver<Result<u8>>,
}

impl Stuck {
    /// Begins a call with a time limit of `ms`.
    fn begin(pool: &Pool, name: &str, ms: u64) -> Self {
        Self::doing(pool, name, ms, || {})
    }

    /// Begins a call that does something when it is released.
    fn doing(pool: &Pool, name: &str, ms: u64, then: impl FnOnce() + Send + 'static) -> Self {
        Self::called_by(CallerId::default(), pool, name, ms, then)
    }

    /// Begins such a call of a certain connection.
    fn called_by(caller: CallerId, pool: &Pool, name: &str, ms: u64, then: impl FnOnce() + Send + 'static) -> Self {
        let ((free, freed), (done, answers)) = (channel(), channel());
        let cancel = CancelFlag::default();
        let own = cancel.clone();
        let job = move || {
            let guard = Guard::new(Limits { time: Duration::from_millis(ms), ..Limits::default() }, own);
            let (_watched, _entered) = (watch_guard(&guard), guard.enter());
            let _ = freed.recv();
            then();
            7
        };
        pool.call(name.to_owned(), caller, cancel.clone(), job, move |result| drop(done.send(result)));
        Self { free, cancel, answers }
    }

    fn answer(&self) -> Result<u8> {
        self.answers.recv_timeout(TEST_TIMEOUT).expect("it is answered")
    }
}

/// Waits until the condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < TEST_TIMEOUT, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

fn limits(pool: &Pool) -> ThreadLimits {
    pool.0.queue().limits
}

/// How many calls are running.
fn running(pool: &Pool) -> usize {
    pool.0.queue().calls().filter(|(_, place)| *place == CallState::Running).count()
}

/// Waits until there is no call, and no thread that is not needed.
fn until_at_rest(pool: &Pool) {
    until("nothing is left", || pool.0.queue().is_empty());
    let ready = limits(pool).ready;
    until("no thread is one too many", || pool.0.queue().threads <= ready);
}

//= docs/spec.md#calls
//= type=test
//# A call MUST end within 300 ms after its limit or its cancellation, whatever its script does.
#[test]
fn a_call_that_cannot_be_stopped_is_answered_and_its_thread_replaced() {
    let pool = Pool::new();
    let most = limits(&pool).connection;
    let late: Vec<_> = (1..most).map(|_| Stuck::begin(&pool, "late", 20)).collect();
    let taken_back = Stuck::begin(&pool, "taken back", 3_600_000);
    taken_back.cancel.cancel();
    for call in &late {
        let error = call.answer().expect_err("it is beyond its time");
        assert_eq!((error.code, error.message.as_str()), (Code::LIMIT, "the call took longer than 20 ms"));
    }
    assert_eq!(taken_back.answer().expect_err("it was cancelled").code, Code::CANCELLED);
    until("all are held", || pool.hung_calls().len() == most);
    assert_eq!(pool.hung_calls()[0].name, "late");
    for _ in 0..20 {
        assert_eq!(pool.run(|| 7), Ok(7), "others of the connection continue");
    }
    for call in &late {
        call.free.send(()).expect("it waits");
    }
    drop(taken_back);
    until("all are back", || pool.hung_calls().is_empty());
    // A thread that was replaced ends when it has nothing to do.
    (0..4).for_each(|_| assert_eq!(pool.run(|| 7), Ok(7)));
    until_at_rest(&pool);
    assert_eq!(pool.0.queue().count(queue::CallState::Held, None), 0);
}

#[test]
fn a_call_that_ignores_everything_is_answered_in_time() {
    let pool = Pool::new();
    let limit = Duration::from_millis(100);
    // The longest of several would measure how busy the machine is.
    let took = (0..5).map(|_| {
        let (done, answers) = channel();
        let job = move || {
            let guard = Guard::new(Limits { time: limit, ..Limits::default() }, CancelFlag::default());
            let _watched = watch_guard(&guard);
            thread::sleep(Duration::from_millis(900));
        };
        let began = Instant::now();
        pool.call("deaf".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
            drop(done.send((result, began.elapsed())));
        });
        let (result, took) = answers.recv_timeout(TEST_TIMEOUT).expect("it is answered");
        assert_eq!(result.expect_err("it is late").code, Code::LIMIT);
        took
    });
    let took = took.min().expect("there are five");
    assert!(took >= limit && took <= limit + Duration::from_millis(300), "{took:?}");
}

//= docs/spec.md#calls
//= type=test
//# A call that still runs after it was answered MUST NOT affect the disk, the graph, the memory of its pack
//# or the client.
#[test]
fn effects_after_the_answer_reach_no_client() {
    let (pool, disk) = (Pool::new(), Arc::new(MemoryWorld::new()));
    let staged = Arc::new(StagedWorld::new(Arc::clone(&disk) as Arc<dyn World>, false));
    let (reported, tells) = channel();
    let ((ready, is_ready), own) = (channel(), Arc::clone(&staged));
    let ((free, freed), (done, answers)) = (channel::<()>(), channel());
    let job = move || {
        let guard = Guard::new(Limits { time: Duration::from_millis(20), ..Limits::default() }, CancelFlag::default());
        let (_watched, _entered) = (watch_guard(&guard), guard.enter());
        own.write("before.txt", b"a").expect("it is staged");
        own.flush().expect("it is not overdue yet");
        register_seal(own.seal());
        ready.send(()).expect("someone waits");
        let _ = freed.recv();
        let first = guard::check_stopped().is_err();
        let again = Guard::new(Limits::default(), CancelFlag::default());
        let _again = watch_guard(&again);
        let _ = own.write("after.txt", b"a");
        let another = StagedWorld::new(Arc::new(MemoryWorld::new()), false);
        register_seal(another.seal());
        let outcomes = [
            first,
            another.flush().is_err(),
            again.verdict().is_some(),
            own.flush().is_err(),
            commit_call(|| Ok(())).is_err(),
            commit_call(|| StagedWorld::new(Arc::new(MemoryWorld::new()), false).flush()).is_err(),
        ];
        reported.send(outcomes).expect("someone waits");
    };
    pool.call("late".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
        drop(done.send(result))
    });
    is_ready.recv().expect("it begins");
    assert!(answers.recv_timeout(TEST_TIMEOUT).expect("it is answered").is_err());
    drop(free);
    assert_eq!(tells.recv().expect("it ends"), [true; 6]);
    assert!(answers.recv().is_err(), "what it gave went nowhere");
    assert!(disk.read("before.txt").is_ok() && disk.read("after.txt").is_err());
}

//= docs/spec.md#calls
//= type=test
//# When no thread is available, a new call MUST fail at once, and `toolsd://status` MUST list the calls that
//# occupy the threads.
#[test]
fn calls_are_answered_when_all_threads_are_held() {
    let pool = Pool::new();
    let most = limits(&pool).all;
    let calls: Vec<_> = (0..most).map(|_| Stuck::begin(&pool, "late", 20)).collect();
    let queued = Stuck::begin(&pool, "late", 3_600_000);
    for call in &calls {
        assert!(call.answer().is_err());
    }
    until("all are held", || pool.hung_calls().len() == most);
    let message = "every script thread is held by calls that cannot be stopped: `late` since ";
    let reported = queued.answer().expect_err("no thread will ever take it");
    assert!(reported.message.starts_with(message), "{reported}");
    let refused = Stuck::begin(&pool, "next", 20).answers.try_recv().expect("it is refused at once");
    let refused = refused.expect_err("no thread is left");
    assert!(refused.message.starts_with(message) && refused.message.ends_with(", …"), "{refused}");
    let (acted, acts) = channel();
    pool.when_stuck(Duration::from_millis(1), move || {
        let _ = acted.send(());
    });
    acts.recv_timeout(TEST_TIMEOUT).expect("it acts");
    drop(calls);
    until("all are back", || pool.hung_calls().is_empty());
    let next = Stuck::begin(&pool, "next", 3_600_000);
    next.free.send(()).expect("it waits");
    assert_eq!(next.answer(), Ok(7));
}

//= docs/spec.md#calls
//= type=test
//# A running call MUST NOT delay the start of another call while threads are available.
#[test]
fn busy_threads_do_not_hold_up_others() {
    let pool = Pool::new();
    let busy: Vec<_> = (1..limits(&pool).connection).map(|_| Stuck::begin(&pool, "busy", 3_600_000)).collect();
    for _ in 0..5 {
        assert_eq!(pool.run(|| 7), Ok(7));
    }
    for call in &busy {
        assert!(call.answers.try_recv().is_err(), "it is within its limits, so the watchdog does not answer for it");
        call.free.send(()).expect("it waits");
        assert_eq!(call.answer(), Ok(7));
    }
    until_at_rest(&pool);
}

//= docs/spec.md#calls
//= type=test
//# The calls of one connection MUST NOT occupy all threads, and connections with queued calls MUST be served
//# in turn.
#[test]
fn a_flood_of_one_connection_does_not_hold_up_another() {
    let pool = Pool::new();
    let most = limits(&pool).connection;
    let flood: Vec<_> = (0..most * 5).map(|_| Stuck::begin(&pool, "endless", 3_600_000)).collect();
    until("as many begin as may", || running(&pool) == most);
    for caller in 1..4 {
        for _ in 0..3 {
            let other = Stuck::called_by(CallerId(caller), &pool, "endless", 3_600_000, || {});
            other.free.send(()).expect("it waits");
            assert_eq!(other.answer(), Ok(7), "none of the flood has ended");
        }
    }
    until("no more of the flood are running than before", || running(&pool) == most);
    for call in &flood {
        call.free.send(()).expect("it waits");
        assert_eq!(call.answer(), Ok(7), "the others have their turn");
    }
    until_at_rest(&pool);
}

#[test]
fn where_all_threads_are_taken_another_connection_waits_for_one_call() {
    let pool = Pool::new();
    let ThreadLimits { connection, all, .. } = limits(&pool);
    let floods: Vec<Vec<Stuck>> = (1..=4)
        .map(|caller| {
            let begin = |_| Stuck::called_by(CallerId(caller), &pool, "endless", 3_600_000, || {});
            (0..connection * 3).map(begin).collect()
        })
        .collect();
    until("every thread is taken", || running(&pool) == all);
    let other = Stuck::begin(&pool, "endless", 3_600_000);
    other.free.send(()).expect("it waits");
    thread::sleep(Duration::from_millis(50));
    assert!(other.answers.try_recv().is_err(), "a void test: there is a thread for it");
    // The floods came first, and each has one turn at most.
    for call in floods[0].iter().take(floods.len() + 1) {
        call.free.send(()).expect("it waits");
        assert_eq!(call.answer(), Ok(7));
    }
    assert_eq!(other.answer(), Ok(7), "it has its turn");
    floods.into_iter().flatten().for_each(|call| drop(call.free));
    until_at_rest(&pool);
}

#[test]
fn a_call_that_is_cancelled_in_the_queue_is_answered_and_never_runs() {
    let pool = Pool::new();
    let busy: Vec<_> = (0..limits(&pool).connection).map(|_| Stuck::begin(&pool, "busy", 3_600_000)).collect();
    let (ran, runs) = channel::<()>();
    let queued = Stuck::doing(&pool, "busy", 3_600_000, move || {
        let _ = ran.send(());
    });
    queued.cancel.cancel();
    assert_eq!(queued.answer().expect_err("it was cancelled").code, Code::CANCELLED);
    drop(queued);
    drop(busy);
    assert!(
        runs.recv_timeout(TEST_TIMEOUT).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected)
    );
}

#[test]
fn a_call_that_is_writing_answers_by_itself() {
    let pool = Pool::new();
    let (done, answers) = channel();
    let job = || {
        let guard = Guard::new(Limits { time: Duration::from_millis(1), ..Limits::default() }, CancelFlag::default());
        let _watched = watch_guard(&guard);
        commit_call(|| {
            thread::sleep(Duration::from_millis(800));
            Ok(7)
        })
    };
    pool.call("writing".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
        drop(done.send(result))
    });
    assert_eq!(answers.recv_timeout(TEST_TIMEOUT).expect("it is answered"), Ok(Ok(7)));
}

#[test]
fn a_call_that_was_taken_back_is_stopped_before_its_next_effect() {
    let pool = Pool::new();
    let (reported, tells) = channel();
    let call = Stuck::doing(&pool, "taken back", 3_600_000, move || {
        reported.send(guard::check_stopped().is_err()).expect("someone waits")
    });
    call.cancel.cancel();
    assert_eq!(call.answer().expect_err("it was cancelled").code, Code::CANCELLED);
    call.free.send(()).expect("it waits");
    assert_eq!(tells.recv_timeout(TEST_TIMEOUT), Ok(true), "it is notified at once, not at its next tick");
}

#[test]
fn a_call_that_waits_for_something_is_not_answered_in_its_place() {
    let pool = Pool::new();
    let (done, answers) = channel();
    let job = || {
        let guard = Guard::new(Limits { time: Duration::from_millis(1), ..Limits::default() }, CancelFlag::default());
        let _watched = watch_guard(&guard);
        block_in_place(|| thread::sleep(Duration::from_millis(800)))
    };
    pool.call("waiting".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
        drop(done.send(result))
    });
    assert_eq!(answers.recv_timeout(TEST_TIMEOUT).expect("it is answered"), Ok(Ok(())));
}

//= docs/spec.md#calls
//= type=test
//# A panic MUST affect only the call that caused it.
#[test]
fn panics_are_reported_and_threads_continue() {
    let pool = Pool::new();
    for _ in 0..8 {
        let error = pool.run(|| -> u8 { panic!("on purpose") }).expect_err("it panicked");
        assert_eq!(error.code, Code::INTERNAL);
        assert_eq!(error.message, "internal error in toolsd: on purpose");
    }
    assert_eq!(pool.run(|| 7), Ok(7));
}

//= docs/spec.md#calls
//= type=test
//# A call that waits for an answer, a lock or a program MUST NOT delay other calls.
#[test]
fn threads_that_wait_are_replaced_and_leave_none_behind() {
    let pool = Arc::new(Pool::new());
    let (open, gate) = channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    let wait = |caller| {
        let (done, ended) = channel();
        let gate = Arc::clone(&gate);
        let wait = move || block_in_place(|| gate.lock().unwrap_or_else(PoisonError::into_inner).recv().is_err());
        pool.call("wait".to_owned(), caller, CancelFlag::default(), wait, move |result| drop(done.send(result)));
        ended
    };
    let waiting: Vec<_> = (0..MAX_WAITING / 2).map(|_| wait(CallerId::default())).collect();
    let count = || pool.0.queue().calls().filter(|(_, place)| *place == CallState::Waiting).count();
    until("all of them wait", || count() == MAX_WAITING / 2);
    let refused = wait(CallerId::default()).recv_timeout(TEST_TIMEOUT).expect("it is answered").expect("no panic");
    let message = refused.expect_err("the connection has too many").message;
    assert_eq!(message, "too many calls are waiting, of this connection or in total");
    let other = wait(CallerId(1));
    until("another connection has room", || count() == MAX_WAITING / 2 + 1);
    assert_eq!(pool.run(|| 7), Ok(7), "all of these wait, and yet this runs");
    drop(open);
    for ended in waiting.into_iter().chain([other]) {
        assert_eq!(ended.recv().expect("it ended"), Ok(Ok(true)));
    }
    until_at_rest(&pool);
}
