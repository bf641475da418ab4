//! Tests of the guard without scripts.

use super::*;

fn guard(limits: Limits) -> Arc<Guard> {
    Guard::new(limits, Cancel::default())
}

#[test]
fn nothing_is_raised_without_a_guard() {
    assert!(current().is_none());
    (0..5_000).for_each(|_| assert_eq!(check(), Ok(())));
}

#[test]
fn ticks_are_counted_and_a_stop_is_raised_again() {
    let guard = guard(Limits { ticks: 10_000, ..Limits::default() });
    let entered = guard.enter();
    let stopped_at = (0..100_000).find(|_| tick().is_err()).expect("it stops");
    assert!((10_000..12_000).contains(&stopped_at), "{stopped_at}");
    assert!(tick().is_err() && check().is_err() && tick().is_err(), "once is always");
    assert_eq!(guard.verdict().map(|fault| fault.code), Some(Code::LIMIT));
    drop(entered);
    assert_eq!(tick(), Ok(()));
}

#[test]
fn a_check_weighs_more_than_it_counts() {
    let guard = guard(Limits { ticks: 1_000, ..Limits::default() });
    let _entered = guard.enter();
    (0..10_000).for_each(|_| assert_eq!(check(), Ok(())));
    assert!(guard.ticks() < 100, "{}", guard.ticks());
}

#[test]
fn guards_nest_and_the_inner_one_pays_for_itself() {
    let outer = guard(Limits::default());
    let inner = guard(Limits { memory: 64 << 20, ..Limits::default() });
    let _outer = outer.enter();
    let kept = {
        let _inner = inner.enter();
        vec![1_u8; 32 << 20]
    };
    assert!(Arc::ptr_eq(&current().expect("the outer one is back"), &outer));
    room(0).expect("nothing is over its limit");
    assert!(inner.memory() >= 32 << 20, "{}", inner.memory());
    assert!(outer.memory() < 1 << 20, "{}", outer.memory());
    drop(kept);
}

#[test]
fn memory_that_was_given_back_does_not_count() {
    let guard = guard(Limits { memory: 8 << 20, ..Limits::default() });
    let _entered = guard.enter();
    for _ in 0..100 {
        drop(std::hint::black_box(vec![1_u8; 1 << 20]));
        assert_eq!(check(), Ok(()));
    }
    let held = std::hint::black_box(vec![1_u8; 9 << 20]);
    let fault = check().expect_err("9 MB are more than 8");
    assert_eq!(fault.message, "the call used more than 8 MB of memory");
    drop(held);
    assert!(check().is_err(), "once is always");
}

#[test]
fn threads_of_a_call_add_up() {
    let guard = guard(Limits { memory: 8 << 20, ..Limits::default() });
    let held: Vec<Vec<u8>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    let _entered = guard.enter();
                    std::hint::black_box(vec![1_u8; 3 << 20])
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let _entered = guard.enter();
    assert!(room(0).is_err(), "12 MB are more than 8");
    drop(held);
}

#[test]
fn waiting_is_not_counted() {
    let guard = guard(Limits { time: Duration::from_millis(100), ..Limits::default() });
    let _entered = guard.enter();
    let paused = guard.pause();
    std::thread::sleep(Duration::from_millis(150));
    drop(paused);
    assert_eq!(room(0), Ok(()));
    std::thread::sleep(Duration::from_millis(120));
    assert_eq!(room(0).expect_err("time is over").message, "the call took longer than 100 ms");
}

#[test]
fn what_stops_first_is_the_verdict() {
    let cancel = Cancel::default();
    let guard = Guard::new(Limits::default(), cancel.clone());
    guard.stop(Diagnostic::new(Code::CANCELLED, "suspended"));
    cancel.cancel();
    let _entered = guard.enter();
    assert_eq!(tick().expect_err("it was stopped").message, "suspended");
    assert_eq!(guard.verdict().map(|fault| fault.message), Some("suspended".to_owned()));
}

#[test]
fn an_allocation_is_asked_for_before_it_is_made() {
    let guard = guard(Limits::default());
    let _entered = guard.enter();
    assert_eq!(room(1 << 20), Ok(()));
    assert!(room(usize::MAX).is_err());
    assert!(check().is_err(), "once is always");
}

//= docs/spec.md#scripts
//= type=test
//# A cancelled script MUST end within a thousand and twenty-four ticks.
#[test]
fn a_cancelled_call_ends_within_a_period_wherever_it_is() {
    for before in [0, 1, 1_000, 1_023, 1_024, 5_000] {
        let cancel = Cancel::default();
        let guard = Guard::new(Limits::default(), cancel.clone());
        let _entered = guard.enter();
        (0..before).for_each(|_| assert_eq!(tick(), Ok(())));
        cancel.cancel();
        assert!((0..1_024).any(|_| tick().is_err()), "after {before} ticks");
        assert_eq!(guard.verdict().map(|fault| fault.code), Some(Code::CANCELLED));
    }
}
