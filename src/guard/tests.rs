//! Tests of the guard without scripts.

use super::call_guard::check_now;
use super::total_memory::MAX_TOTAL;
use super::*;
use crate::diagnostic::{Code, Diagnostic};
use std::sync::Arc;
use std::time::Duration;

fn guard(limits: Limits) -> Arc<Guard> {
    Guard::new(limits, CancelFlag::default())
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
    assert_eq!(guard.verdict().map(|error| error.code), Some(Code::LIMIT));
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
    reserve_memory(0).expect("nothing is over its limit");
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
    let error = check().expect_err("9 MB are more than 8");
    assert_eq!(error.message, "the call used more than 8 MB of memory");
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
    assert!(reserve_memory(0).is_err(), "12 MB are more than 8");
    drop(held);
}

#[test]
fn waiting_is_not_counted() {
    let guard = guard(Limits { time: Duration::from_millis(100), ..Limits::default() });
    let _entered = guard.enter();
    let paused = guard.pause();
    std::thread::sleep(Duration::from_millis(150));
    drop(paused);
    assert_eq!(reserve_memory(0), Ok(()));
    std::thread::sleep(Duration::from_millis(120));
    assert_eq!(reserve_memory(0).expect_err("time is over").message, "the call took longer than 100 ms");
}

#[test]
fn what_stops_first_is_the_verdict() {
    let cancel = CancelFlag::default();
    let guard = Guard::new(Limits::default(), cancel.clone());
    guard.stop(Diagnostic::new(Code::CANCELLED, "suspended"));
    cancel.cancel();
    let _entered = guard.enter();
    assert_eq!(tick().expect_err("it was stopped").message, "suspended");
    assert_eq!(guard.verdict().map(|error| error.message), Some("suspended".to_owned()));
}

#[test]
fn an_allocation_is_asked_for_before_it_is_made() {
    let guard = guard(Limits::default());
    let _entered = guard.enter();
    assert_eq!(reserve_memory(1 << 20), Ok(()));
    assert!(reserve_memory(usize::MAX).is_err());
    assert!(check().is_err(), "once is always");
}

//= docs/spec.md#scripts
//= type=test
//# A script MUST stop when its call is cancelled or reaches its limit of steps, time, memory or depth.
#[test]
fn a_cancelled_call_ends_within_a_period_wherever_it_is() {
    for before in [0, 1, 1_000, 1_023, 1_024, 5_000] {
        let cancel = CancelFlag::default();
        let guard = Guard::new(Limits::default(), cancel.clone());
        let _entered = guard.enter();
        (0..before).for_each(|_| assert_eq!(tick(), Ok(())));
        cancel.cancel();
        assert!((0..1_024).any(|_| tick().is_err()), "after {before} ticks");
        assert_eq!(guard.verdict().map(|error| error.code), Some(Code::CANCELLED));
    }
}

//= docs/spec.md#scripts
//= type=test
//# Work that cannot be interrupted MUST be refused if it would take longer than 200 ms or than the call has
//# left.
#[test]
fn work_that_cannot_be_stopped_is_priced_before_it_begins() {
    assert_eq!(
        require_time("it", usize::MAX, 0),
        Ok(()),
        "without a guard there is only the longest that anybody waits"
    );
    let error = require_time("the reader", 3 << 20, 100).expect_err("300 ms are too long for any call");
    assert_eq!(error.message, "the reader accepts up to 1953 kB, got 3072 kB");
    let guard = guard(Limits { time: Duration::from_millis(100), ..Limits::default() });
    let _entered = guard.enter();
    assert_eq!(require_time("the reader", 1 << 10, 100), Ok(()));
    let error = require_time("the reader", 1_500_000, 100).expect_err("150 ms are longer than the call has");
    assert!(error.message.starts_with("the reader may take 150 ms here, and the call has "), "{}", error.message);
    assert_eq!(error.code, Code::LIMIT);
}

#[test]
fn work_is_counted_until_the_guard_is_asked() {
    let cancel = CancelFlag::default();
    let guard = Guard::new(Limits::default(), cancel.clone());
    let _entered = guard.enter();
    cancel.cancel();
    let asked = (1..).find(|_| spend(100).is_err()).expect("it ends");
    assert!(asked <= PIECE_BYTES / 100 + 1, "{asked} times 100 units");
    assert!(is_over(0), "once is always");
    assert!((0..10).collect_checked::<Vec<i32>>().is_err());
    assert_eq!(checked(0..10).count(), 1, "an error, and nothing after it");
    assert!(guard.ticks() < 100, "work is not a step of the script");
}

#[test]
fn pieces_of_a_text_are_the_text() {
    let text = "aé".repeat(PIECE_BYTES);
    let all: String = pieces(&text).map(|piece| piece.expect("nothing stops it")).collect();
    assert!(all == text && pieces(&text).count() == 3);
    assert_eq!(pieces("").count(), 0);
}

#[test]
fn what_is_allocated_and_freed_again_is_work_too() {
    let cancel = CancelFlag::default();
    let guard = Guard::new(Limits::default(), cancel.clone());
    let _entered = guard.enter();
    assert_eq!(tick(), Ok(()));
    cancel.cancel();
    let stopped = (0..).position(|_| {
        drop(std::hint::black_box(vec![1_u8; 1 << 20]));
        tick().is_err()
    });
    assert!(stopped.is_some_and(|turns| turns <= 9), "{stopped:?} times a megabyte");
}

#[test]
fn slow_steps_ask_the_clock() {
    let cancel = CancelFlag::default();
    let guard = Guard::new(Limits::default(), cancel.clone());
    let _entered = guard.enter();
    assert_eq!(tick(), Ok(()));
    cancel.cancel();
    let steps = (1..1_000).find(|_| {
        std::thread::sleep(Duration::from_millis(10));
        tick().is_err()
    });
    assert!(steps.is_some_and(|steps| steps <= 12), "{steps:?} steps of 10 ms");
}

//= docs/spec.md#calls
//= type=test
//# When all calls together use too much memory, the largest one MUST be stopped with an error that reports it.
#[test]
fn the_largest_call_is_stopped_when_all_hold_too_much() {
    // Far more than the calls of other tests hold, so that none of them is the largest.
    let guard = |memory: usize| Guard::new(Limits { memory, ..Limits::default() }, CancelFlag::default());
    let half = MAX_TOTAL as isize / 2;
    let (small, large, larger) = (guard(MAX_TOTAL), guard(MAX_TOTAL), guard(MAX_TOTAL));
    assert_eq!(small.record_usage(0, half / 2), Ok(()));
    assert_eq!(larger.record_usage(0, half + 1), Ok(()));
    assert_eq!(large.record_usage(0, half), Ok(()), "it holds less than another");
    let error = larger.record_usage(0, 0).expect_err("it holds the most");
    assert_eq!(
        error.message,
        "all calls together used more than 2048 MB of memory, and this one used the most: 1024 MB"
    );
    assert_eq!((small.record_usage(0, 0), large.record_usage(0, 0)), (Ok(()), Ok(())), "what ends is not counted");
    drop((small, large));
    let alone = guard(MAX_TOTAL * 2);
    assert_eq!(alone.record_usage(0, half * 3), Ok(()), "a call may use what its own limit allows");
    drop(alone);
    let next = guard(MAX_TOTAL);
    assert_eq!(next.record_usage(0, half * 3 / 2), Ok(()), "what is over holds nothing");
}

#[test]
fn what_was_asked_for_counts_until_it_is_there() {
    let guard = Guard::new(Limits { memory: 64 << 20, ..Limits::default() }, CancelFlag::default());
    let _entered = guard.enter();
    let before = guard.memory();
    super::reserve_memory(16 << 20).unwrap();
    assert!(guard.memory() >= before + (16 << 20), "{}", guard.memory());
    let text = vec![1_u8; 16 << 20];
    check_now().unwrap();
    let held = guard.memory();
    assert!((before + (16 << 20)..before + (17 << 20)).contains(&held), "{held}");
    drop(text);
    check_now().unwrap();
    assert!(guard.memory() < before + (1 << 20), "{}", guard.memory());
    // A reservation that was never allocated is released as well.
    super::reserve_memory(32 << 20).unwrap();
    check_now().unwrap();
    assert!(guard.memory() < before + (1 << 20), "{}", guard.memory());
    assert!(super::reserve_memory(65 << 20).unwrap_err().message.contains("more than 64 MB"));
}
