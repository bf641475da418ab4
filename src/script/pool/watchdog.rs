//! The watchdog of a pool. It answers calls that do not end when they should, and starts threads to replace those that
//! such calls hold, and those that are busy while other calls wait.

use super::pooled_call::PooledCall;
use super::queue::{CallerId, PATIENCE};
use super::workers::{PoolState, start_thread};
use crate::diagnostic::{Code, Diagnostic};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How long a call may run before it is moved aside if others wait. Another thread then works beside its own.
const SLICE: Duration = Duration::from_millis(20);
/// How long a call waits, when no more calls can be moved aside, before others are ended to make room.
const MAKE_ROOM_AFTER: Duration = Duration::from_secs(1);

/// Answers the overdue calls, and counts the threads that are lost in this way. Returns whether there are any calls.
fn answer_overdue(state: &Arc<PoolState>, now: Instant) -> bool {
    let calls: Vec<(u64, Arc<PooledCall>)> =
        state.watched.calls().iter().map(|(number, call)| (*number, Arc::clone(call))).collect();
    for (number, call) in &calls {
        if let Some(fault) = call.overdue_fault(now)
            && call.answer(fault)
            && call.began().is_none()
        {
            state.watched.remove(*number);
        }
        if call.mark_if_lost() {
            tracing::error!("`{}` was answered on its behalf: its script thread cannot be stopped", call.name);
            // A call that was moved aside gave up its place, and may just not have received processor time. Another
            // thread already works in its place.
            if !call.is_aside() {
                state.lost.fetch_add(1, Ordering::AcqRel);
                if state.may_start_thread() {
                    start_thread(state);
                }
            }
        }
    }
    if state.is_exhausted() {
        let fault = state.exhausted_fault(now);
        for (number, call) in calls.iter().filter(|(_, call)| call.began().is_none()) {
            if call.answer(fault.clone()) {
                state.watched.remove(*number);
            }
        }
    }
    !calls.is_empty()
}

//= docs/spec.md#calls
//# A call of a connection that has none of the tool at work MUST NOT wait for the end of others: those that have been at work for long are moved aside.
/// Moves the longest-running calls aside, one for each call that is held up.
fn move_long_calls_aside(state: &PoolState, now: Instant) {
    let held_up = state.queue().held_up(now, PATIENCE, state.thread_limits());
    if held_up == 0 {
        return;
    }
    let calls: Vec<Arc<PooledCall>> = state.watched.calls().values().cloned().collect();
    let room = state.max_aside.saturating_sub(state.moved_aside.load(Ordering::Acquire));
    let mut moved = 0;
    for call in calls.iter() {
        if moved == held_up.min(room) {
            break;
        }
        // Counted before the call can end.
        state.moved_aside.fetch_add(1, Ordering::AcqRel);
        match call.move_aside(now, SLICE) {
            true => moved += 1,
            false => drop(state.moved_aside.fetch_sub(1, Ordering::AcqRel)),
        }
    }
    if room == 0 {
        end_calls_aside(state, &calls, now);
    }
}

//= docs/spec.md#calls
//# The time of a call that shares the processors with more calls than are usual MUST pass more slowly for it.
/// Calls that were moved aside share the processors with more threads than usual. Their time passes as slowly as if
/// they were waiting for one of the usual threads.
fn forgive_shared_time(state: &PoolState, passed: Duration) {
    if state.moved_aside.load(Ordering::Acquire) == 0 {
        return;
    }
    let (at_work, usual) = (state.queue().at_work(), state.usual_limit());
    if at_work > usual {
        let forgiven = passed.mul_f64(1.0 - usual as f64 / at_work as f64);
        state.watched.calls().values().for_each(|call| call.forgive_time(forgiven));
    }
}

/// Runs the registered action if every thread has been held for long enough.
fn act_if_stuck(state: &PoolState, now: Instant) {
    let mut stuck = state.stuck.lock().unwrap_or_else(PoisonError::into_inner);
    stuck.since = state.is_exhausted().then(|| stuck.since.unwrap_or(now));
    if let (Some(since), Some((after, act))) = (stuck.since, &stuck.after)
        && now.duration_since(since) >= *after
    {
        act();
    }
}

//= docs/spec.md#calls
//# When too many calls are moved aside and another has waited for a second, one MUST be ended, and told so: of the address, there of the client, with the most at work, the one that came first.
//= docs/spec.md#calls
//# As many MUST be ended at a time as clients wait that have none at work.
/// Ends some of the calls that were moved aside: one for each client that waits and has no running call, counting those
/// that are already ending.
fn end_calls_aside(state: &PoolState, calls: &[Arc<PooledCall>], now: Instant) {
    let (held_up, strangers) = {
        let (queue, thread_limits) = (state.queue(), state.thread_limits());
        (
            queue.held_up(now, MAKE_ROOM_AFTER, thread_limits),
            queue.strangers_held_up(now, MAKE_ROOM_AFTER, thread_limits),
        )
    };
    if held_up == 0 {
        return;
    }
    let mut at_work: HashMap<(u64, Option<u64>), usize> = HashMap::new();
    let both = |caller: CallerId| [(caller.address, None), (caller.address, Some(caller.client))];
    for call in calls.iter().filter(|call| call.is_at_work()) {
        both(call.caller).into_iter().for_each(|who| *at_work.entry(who).or_default() += 1);
    }
    let ending = calls.iter().filter(|call| call.is_making_room()).count();
    let mut left: Vec<&Arc<PooledCall>> = calls.iter().filter(|call| call.is_at_work() && call.is_aside()).collect();
    let message = "the call was ended: too many calls are running, others wait, and no client has more running calls than this one";
    let fault = Diagnostic::new(Code::LIMIT, message).help("call again when fewer calls are running");
    let mut wanted = strangers.max(1).saturating_sub(ending);
    while wanted > 0 {
        let most = |at: &usize| (both(left[*at].caller).map(|who| at_work.get(&who).copied()), Reverse(*at));
        let Some(at) = (0..left.len()).max_by_key(most) else { return };
        let call = left.remove(at);
        if call.make_room(fault.clone()) {
            wanted -= 1;
            both(call.caller).into_iter().for_each(|who| *at_work.entry(who).or_default() -= 1);
        }
    }
}

/// Starts the thread of the watchdog, which ends with its pool; `false` if the system cannot start one.
pub(super) fn start_watchdog(state: &Arc<PoolState>) -> bool {
    let state = Arc::downgrade(state);
    thread::Builder::new().name("watchdog".to_owned()).spawn(move || run(&state)).is_ok()
}

fn run(state: &Weak<PoolState>) {
    let mut idle_since = Instant::now();
    let mut looked = idle_since;
    while let Some(state) = state.upgrade() {
        if state.queue().closed {
            return;
        }
        let now = Instant::now();
        if answer_overdue(&state, now) {
            idle_since = now;
        }
        act_if_stuck(&state, now);
        forgive_shared_time(&state, now.duration_since(looked));
        looked = now;
        move_long_calls_aside(&state, now);
        state.start_waiting_calls(now);
        let is_pressed = state.queue().len() > 0;
        state.watched.set_pressed(is_pressed);
        state.watched.pause(idle_since);
    }
}
