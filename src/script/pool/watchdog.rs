//! The watchdog of a pool. It answers calls that do not end when they should, and starts threads to replace those that
//! such calls hold, and those that are busy while other calls wait.

use super::pooled_call::PooledCall;
use super::queue::CallState;
use super::workers::PoolState;
use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

/// How often the calls are checked.
const CALL_CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// How often it is checked whether a queued call needs another thread.
const QUEUE_CHECK_INTERVAL: Duration = Duration::from_millis(10);
/// How long the watchdog keeps checking after the last call. Waking it takes longer than most calls.
const WATCHDOG_IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Answers the overdue calls, and marks those whose threads are held in this way. Returns whether there are any calls.
fn answer_overdue(state: &PoolState, now: Instant) -> bool {
    let calls: Vec<(Arc<PooledCall>, CallState)> =
        state.queue().calls().map(|(call, place)| (Arc::clone(call), place)).collect();
    for (call, place) in &calls {
        if let Some(error) = call.overdue_error(now, *place == CallState::Waiting) {
            call.answer(error);
        }
        if *place == CallState::Running && call.does_not_end() && state.queue().hold(call.number) {
            tracing::error!("`{}` was answered on its behalf: its script thread cannot be stopped", call.name);
        }
    }
    if state.is_exhausted() {
        let error = state.exhausted_error();
        for (call, _) in calls.iter().filter(|(_, place)| *place == CallState::Queued) {
            call.answer(error.clone());
        }
    }
    !calls.is_empty()
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

/// Starts the thread of the watchdog, which ends with its pool; `false` if the system cannot start one.
pub(super) fn start_watchdog(state: &Arc<PoolState>) -> bool {
    let state = Arc::downgrade(state);
    thread::Builder::new().name("watchdog".to_owned()).spawn(move || run(&state)).is_ok()
}

fn run(state: &Weak<PoolState>) {
    let (mut idle_since, mut looked) = (Instant::now(), None);
    while let Some(state) = state.upgrade() {
        let now = Instant::now();
        if looked.is_none_or(|looked| now.duration_since(looked) >= CALL_CHECK_INTERVAL) {
            looked = Some(now);
            if answer_overdue(&state, now) {
                idle_since = now;
            }
            act_if_stuck(&state, now);
        }
        state.serve(state.queue());
        let mut queue = state.queue();
        if queue.is_closed {
            return;
        }
        let time = if queue.has_queued() { QUEUE_CHECK_INTERVAL } else { CALL_CHECK_INTERVAL };
        queue.is_unwatched = queue.is_empty() && idle_since.elapsed() > WATCHDOG_IDLE_TIMEOUT;
        if queue.is_unwatched {
            drop(state.watch.wait(queue));
        } else {
            drop(state.watch.wait_timeout(queue, time));
        }
    }
}
