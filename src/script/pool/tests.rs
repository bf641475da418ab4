//! Tests of threads that panic, wait, are busy or cannot be stopped.

use super::workers::POOL_STATE;
use super::*;
use crate::guard::{self, Guard, Limits};
use crate::world::memory::MemoryWorld;
use crate::world::staged::StagedWorld;
use crate::world::staging::StagedWrites;
use crate::world::{Files, World};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender};

/// Long enough for a machine that is busy with other work.
const SOON: Duration = Duration::from_secs(60);

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

    /// Begins such a call for a certain caller.
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
        self.answers.recv_timeout(SOON).expect("it is answered")
    }
}

/// Waits until the condition holds.
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < SOON, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

//= docs/spec.md#calls
//= type=test
//# A call that does not end soon after its limit or its cancellation MUST be answered all the same.
#[test]
fn a_call_that_cannot_be_stopped_is_answered_and_its_thread_replaced() {
    let pool = Pool::new();
    let late: Vec<_> = (0..pool.threads()).map(|_| Stuck::begin(&pool, "late", 20)).collect();
    let taken_back = Stuck::begin(&pool, "taken back", 3_600_000);
    taken_back.cancel.cancel();
    for call in &late {
        let fault = call.answer().expect_err("it is beyond its time");
        assert_eq!((fault.code, fault.message.as_str()), (Code::LIMIT, "the call took longer than 20 ms"));
    }
    assert_eq!(taken_back.answer().expect_err("it was cancelled").code, Code::CANCELLED);
    until("all are held", || pool.hung_calls().len() == pool.threads() + 1);
    assert_eq!(pool.hung_calls()[0].name, "late");
    let spares = pool.state.wanted + pool.threads() + 1;
    let most = pool.state.wanted + pool.state.wanted.max(4);
    until("each has a spare", || pool.state.working.load(Ordering::Acquire) >= spares.min(most));
    for _ in 0..20 {
        assert_eq!(pool.run(|| 7), Ok(7), "others go on");
    }
    for call in &late {
        call.free.send(()).expect("it waits");
    }
    drop(taken_back);
    until("all are back", || pool.hung_calls().is_empty());
    until("none is one too many", || pool.state.working.load(Ordering::Acquire) <= pool.state.wanted + 1);
    assert_eq!(pool.state.lost.load(Ordering::Acquire), 0);
}

//= docs/spec.md#calls
//= type=test
//# Nothing that a call does after it was answered in its place MUST reach the disk, the graph, the memory of its pack or the client.
#[test]
fn what_a_call_does_after_its_answer_reaches_nobody() {
    let (pool, disk) = (Pool::new(), Arc::new(MemoryWorld::new()));
    let staged = Arc::new(StagedWorld::new(Arc::clone(&disk) as Arc<dyn World>, false));
    let (told, tells) = channel();
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
        told.send(outcomes).expect("someone waits");
    };
    pool.call("late".to_owned(), CallerId::default(), CancelFlag::default(), job, move |result| {
        drop(done.send(result))
    });
    is_ready.recv().expect("it begins");
    assert!(answers.recv_timeout(SOON).expect("it is answered").is_err());
    drop(free);
    assert_eq!(tells.recv().expect("it ends"), [true; 6]);
    assert!(answers.recv().is_err(), "what it gave went nowhere");
    assert!(disk.read("before.txt").is_ok() && disk.read("after.txt").is_err());
}

//= docs/spec.md#calls
//= type=test
//# When every thread that may be started is held, a new call MUST be told so at once.
#[test]
fn when_all_threads_are_held_calls_are_told_and_somebody_may_end_the_process() {
    let pool = Pool::new();
    let most = pool.threads() * 2 + 4_usize.saturating_sub(pool.threads());
    let calls: Vec<_> = (0..most).map(|_| Stuck::begin(&pool, "late", 20)).collect();
    let queued = Stuck::begin(&pool, "late", 3_600_000);
    for call in &calls {
        assert!(call.answer().is_err());
    }
    until("all are held", || pool.hung_calls().len() == most);
    let message = "every script thread is held by calls that cannot be stopped: `late` since ";
    let told = queued.answer().expect_err("no thread will ever take it");
    assert!(told.message.starts_with(message), "{told}");
    let refused = Stuck::begin(&pool, "next", 20).answers.try_recv().expect("it is told at once");
    let refused = refused.expect_err("no thread is left");
    assert!(refused.message.starts_with(message) && refused.message.ends_with(", …"), "{refused}");
    let (acted, acts) = channel();
    pool.when_stuck(Duration::from_millis(1), move || {
        let _ = acted.send(());
    });
    acts.recv_timeout(SOON).expect("it acts");
    drop(calls);
    until("all are back", || pool.hung_calls().is_empty());
    let next = Stuck::begin(&pool, "next", 3_600_000);
    next.free.send(()).expect("it waits");
    assert_eq!(next.answer(), Ok(7));
}

//= docs/spec.md#calls
//= type=test
//# A call that keeps a thread busy MUST NOT keep another from beginning, as long as there are threads to start.
#[test]
fn busy_threads_do_not_hold_up_others() {
    let pool = Pool::new();
    let busy: Vec<_> = (0..pool.threads()).map(|_| Stuck::begin(&pool, "busy", 3_600_000)).collect();
    for _ in 0..5 {
        let (done, answers) = channel();
        pool.call(
            "quick".to_owned(),
            CallerId::default(),
            CancelFlag::default(),
            || 7,
            move |result| drop(done.send(result)),
        );
        assert_eq!(answers.recv_timeout(SOON).expect("it is answered"), Ok(7));
    }
    for call in &busy {
        assert!(call.answers.try_recv().is_err(), "it is within its limits, and nobody answers for it");
        call.free.send(()).expect("it waits");
        assert_eq!(call.answer(), Ok(7));
    }
}

//= docs/spec.md#calls
//= type=test
//# Threads MUST be kept for a call whose tool, whose client or whose address has none at work.
#[test]
fn a_crowd_of_calls_does_not_hold_up_another_client_nor_another_tool() {
    let pool = Pool::new();
    let caller = |address: u64, client: u64| CallerId { address, client, connection: 0 };
    let most = pool.state.thread_limits().most;
    let (began, begins) = channel();
    let crowd: Vec<_> = (0..most + 40)
        .map(|_| {
            let began = began.clone();
            let (free, freed) = channel::<()>();
            let job = move || {
                let _ = began.send(());
                let _ = freed.recv();
            };
            pool.call("slow".to_owned(), caller(1, 1), CancelFlag::default(), job, |_| {});
            free
        })
        .collect();
    (0..most).for_each(|_| begins.recv_timeout(SOON).expect("as many begin as may"));
    for (address, client, name) in [(1, 2, "slow"), (1, 1, "quick"), (2, 1, "slow")] {
        for _ in 0..3 {
            let other = Stuck::called_by(caller(address, client), &pool, name, 3_600_000, || {});
            other.free.send(()).expect("it waits");
            assert_eq!(other.answer(), Ok(7), "{name} of {client} at {address}: none of the crowd has ended");
        }
    }
    assert!(begins.try_recv().is_err(), "no more of the crowd are at work than before");
    drop(crowd);
    (0..40).for_each(|_| begins.recv_timeout(SOON).expect("the others have their turn"));
    until("nothing is left", || pool.state.queue().is_at_rest());
    until("no thread is left", || pool.state.working.load(Ordering::Acquire) <= pool.state.wanted);
}

/// A crowd of calls that do not end, each from another caller, and those of them that have begun.
fn crowd(pool: &Pool, count: u64, caller: impl Fn(u64) -> CallerId) -> Vec<Stuck> {
    (0..count).map(|at| Stuck::called_by(caller(at), pool, "endless", 3_600_000, || {})).collect()
}

//= docs/spec.md#calls
//= type=test
//# A call of a connection that has none of the tool at work MUST NOT wait for the end of others: those that have been at work for long are moved aside.
#[test]
fn whoever_the_crowd_pretends_to_be_another_call_is_served() {
    let as_addresses = |at: u64| CallerId { address: at, client: at, connection: at };
    let as_clients = |at: u64| CallerId { address: 0, client: at, connection: at };
    let as_one = |at: u64| CallerId { address: 0, client: 0, connection: at };
    for caller in [as_addresses, as_clients, as_one] {
        let pool = Pool::new();
        let most = pool.state.thread_limits().widest() as u64;
        let crowd = crowd(&pool, most * 3, caller);
        for connection in 1_000..1_005 {
            let other = Stuck::called_by(CallerId { connection, ..caller(0) }, &pool, "endless", 3_600_000, || {});
            other.free.send(()).expect("it waits");
            assert_eq!(other.answer(), Ok(7), "none of the crowd has ended");
        }
        for call in &crowd {
            assert!(call.answers.try_recv().is_err(), "none of the crowd was ended");
            call.free.send(()).expect("it waits");
            assert_eq!(call.answer(), Ok(7));
        }
        until("nothing is left", || pool.state.queue().is_at_rest());
        until("no thread is left", || pool.state.working.load(Ordering::Acquire) <= pool.state.wanted);
        assert_eq!(pool.state.moved_aside.load(Ordering::Acquire), 0);
        assert_eq!(pool.state.lost.load(Ordering::Acquire), 0);
    }
}

//= docs/spec.md#calls
//= type=test
//# When too many calls are moved aside and another has waited for a second, one MUST be ended, and told so: of the address, there of the client, with the most at work, the one that came first.
//= docs/spec.md#calls
//= type=test
//# As many MUST be ended at a time as clients wait that have none at work.
#[test]
fn who_came_before_the_crowd_is_not_ended_for_it() {
    let pool = Pool::with_max_aside(8);
    let honest =
        Stuck::called_by(CallerId { address: 1_000, ..CallerId::default() }, &pool, "endless", 3_600_000, || {});
    until("it is at work", || pool.state.queue().at_work() == 1);
    let most = pool.state.thread_limits().widest() as u64;
    let crowd = crowd(&pool, most + 60, |at| CallerId { address: 1, client: at / 4, connection: at });
    until("no more may be moved aside", || pool.state.moved_aside.load(Ordering::Acquire) == 8);
    until("what is kept for others is taken too", || pool.state.queue().at_work() as u64 == most + 8);
    let others: Vec<_> = (2_000..2_003)
        .map(|address| {
            Stuck::called_by(CallerId { address, ..CallerId::default() }, &pool, "endless", 3_600_000, || {})
        })
        .collect();
    until("some are ended for those who wait", || {
        for call in &crowd {
            if call.cancel.is_cancelled() {
                let _ = call.free.send(());
            }
        }
        for other in &others {
            let _ = other.free.send(());
        }
        pool.state.watched.calls().values().all(|call| call.caller.address < 2_000)
    });
    for other in others {
        assert_eq!(other.answer(), Ok(7));
    }
    assert!(
        honest.answers.try_recv().is_err() && !honest.cancel.is_cancelled(),
        "it is of nobody who has many at work"
    );
    honest.free.send(()).expect("it waits");
    assert_eq!(honest.answer(), Ok(7));
}

#[test]
fn of_parties_that_have_one_each_the_first_one_is_ended() {
    let pool = Pool::with_max_aside(8);
    let most = pool.state.thread_limits().widest() as u64;
    let crowd = crowd(&pool, most + 8, |at| CallerId { address: at, client: 0, connection: at });
    let other =
        Stuck::called_by(CallerId { address: 1_000, ..CallerId::default() }, &pool, "endless", 3_600_000, || {});
    let fault = crowd[0].answer().expect_err("it came first");
    assert!(fault.message.starts_with("the call was ended: too many calls are running"), "{fault}");
    crowd[0].free.send(()).expect("it waits");
    other.free.send(()).expect("it waits");
    assert_eq!(other.answer(), Ok(7));
    let ended = crowd.iter().skip(1).filter(|call| call.answers.try_recv().is_ok()).count();
    assert!(ended < 8, "{ended} more were ended than were in the way");
}

//= docs/spec.md#calls
//= type=test
//# The time of a call that shares the processors with more calls than are usual MUST pass more slowly for it.
#[test]
fn calls_that_share_the_processors_have_more_time() {
    let pool = Pool::new();
    let most = pool.state.thread_limits().widest() as u64;
    let (told, tells) = channel();
    let (free, freed) = channel::<()>();
    let freed = Arc::new(Mutex::new(freed));
    for at in 0..most * 2 {
        let (told, freed) = (told.clone(), Arc::clone(&freed));
        let job = move || {
            let guard = Guard::new(Limits::default(), CancelFlag::default());
            let _watched = watch_guard(&guard);
            let _ = told.send((Instant::now(), Arc::clone(&guard)));
            let _ = freed.lock().unwrap_or_else(PoisonError::into_inner).recv();
        };
        let caller = CallerId { address: at, ..CallerId::default() };
        pool.call("endless".to_owned(), caller, CancelFlag::default(), job, |_| {});
    }
    let guards: Vec<(Instant, Arc<Guard>)> =
        (0..most * 2).map(|_| tells.recv_timeout(SOON).expect("it begins")).collect();
    let slow = |(began, guard): &(Instant, Arc<Guard>)| guard.elapsed() + Duration::from_millis(100) < began.elapsed();
    until("time passes more slowly", || guards.iter().any(slow));
    assert!(guards.iter().any(|guard| !slow(guard)), "only for those that were moved aside");
    drop(free);
    until("nothing is left", || pool.state.queue().is_at_rest());
}

#[test]
fn a_call_that_is_cancelled_in_the_queue_is_answered_and_never_runs() {
    let pool = Pool::new();
    let most = pool.threads() * 2 + 4_usize.saturating_sub(pool.threads());
    let busy: Vec<_> = (0..most).map(|_| Stuck::begin(&pool, "busy", 3_600_000)).collect();
    let (ran, runs) = channel::<()>();
    let queued = Stuck::doing(&pool, "busy", 3_600_000, move || {
        let _ = ran.send(());
    });
    queued.cancel.cancel();
    assert_eq!(queued.answer().expect_err("it was cancelled").code, Code::CANCELLED);
    drop(queued);
    drop(busy);
    assert!(runs.recv_timeout(SOON).is_err_and(|error| error == std::sync::mpsc::RecvTimeoutError::Disconnected));
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
    assert_eq!(answers.recv_timeout(SOON).expect("it is answered"), Ok(Ok(7)));
}

#[test]
fn a_call_that_was_taken_back_is_stopped_before_its_next_effect() {
    let pool = Pool::new();
    let (told, tells) = channel();
    let call = Stuck::doing(&pool, "taken back", 3_600_000, move || {
        told.send(guard::check_stopped().is_err()).expect("someone waits")
    });
    call.cancel.cancel();
    assert_eq!(call.answer().expect_err("it was cancelled").code, Code::CANCELLED);
    call.free.send(()).expect("it waits");
    assert_eq!(tells.recv_timeout(SOON), Ok(true), "it is told at once, not at its next tick");
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
    assert_eq!(answers.recv_timeout(SOON).expect("it is answered"), Ok(Ok(())));
}

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
        assert_eq!(fault.message, "internal error in toolsd: on purpose");
    }
    assert_eq!(pool.run(|| 7), Ok(7));
}

//= docs/spec.md#questions
//= type=test
//# A call that waits for an answer MUST NOT keep other calls from running.
#[test]
fn threads_that_wait_are_replaced_and_leave_none_behind() {
    let pool = Arc::new(Pool::new());
    let (open, gate) = channel::<()>();
    let gate = Arc::new(Mutex::new(gate));
    let waiting: Vec<_> = (0..pool.threads() * 4)
        .map(|_| {
            let (done, ended) = channel();
            let gate = Arc::clone(&gate);
            let wait = move || block_in_place(|| gate.lock().unwrap_or_else(PoisonError::into_inner).recv().is_err());
            pool.submit(wait, move |result| drop(done.send(result)));
            ended
        })
        .collect();
    assert_eq!(pool.run(|| 7), Ok(7), "every thread waits, and yet this runs");
    drop(open);
    for ended in waiting {
        assert_eq!(ended.recv().expect("it ended"), Ok(Ok(true)));
    }
    let counts = pool.run(|| {
        let state = POOL_STATE.with(|state| state.borrow().clone()).expect("a thread of the pool");
        (state.queue().is_waited_in(), state.wanted)
    });
    assert_eq!(counts, Ok((false, pool.threads())));
}
