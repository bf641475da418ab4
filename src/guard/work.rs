//! The work of native loops: counted in units, and estimated in advance where a library cannot be stopped.

use super::call_guard::{GuardCallSite, check_now, current};
use super::counters::COUNTERS;
use crate::diagnostic::{Code, Diagnostic, Result};
use std::time::Duration;

/// The units of work for a byte that is read or copied.
pub const BYTE: usize = 1;

/// The units of work for a list item or map entry that is read, copied or moved.
pub const ITEM: usize = 32;

/// The size in bytes of one piece of a long input, which is the work between two checks of the guard.
pub const PIECE_BYTES: usize = 64 << 10;

/// The longest time for work that cannot be stopped. A call must be answered 300 ms after its end.
const MAX_UNINTERRUPTIBLE: Duration = Duration::from_millis(200);

//= docs/spec.md#primitives
//# A primitive MUST check the limits of its call after a bounded amount of work, whatever its arguments are.
/// Counts `units` of work in a native loop, and consults the guard of the running call every 64 k units.
///
/// A unit is a byte that is read or copied; a list item counts as [`ITEM`] units. Every loop over an input must call
/// this function, at each iteration or every few iterations.
///
/// # Errors
/// The call was stopped: it used up its time, memory or steps, or it was cancelled.
#[inline]
#[cfg_attr(test, track_caller)]
pub fn spend(units: usize) -> Result<()> {
    spend_at(GuardCallSite::here(), units)
}

#[inline]
fn spend_at(place: GuardCallSite, units: usize) -> Result<()> {
    if is_due(place, units) { check_now() } else { Ok(()) }
}

/// Counts work like [`spend`], and returns whether the call is over, for loops that cannot fail, such as comparisons.
/// They can then end early with any result: the guard raises its error at the next step, so the result is never used.
#[inline]
#[cfg_attr(test, track_caller)]
pub fn is_over(units: usize) -> bool {
    is_due(GuardCallSite::here(), units) && check_now().is_err()
}

#[inline]
fn is_due(place: GuardCallSite, units: usize) -> bool {
    if place.is_away() {
        return false;
    }
    COUNTERS.with(|counters| {
        let left = counters.work.get().saturating_sub_unsigned(units);
        counters.work.set(left);
        left <= 0 || counters.is_full()
    })
}

//= docs/spec.md#scripts
//# Work that cannot be interrupted MUST be refused if it would take longer than 200 ms or than the call has
//# left.
/// Refuses work that cannot be stopped if it would take longer than the call has left, or longer than any call may
/// continue after its end. `nanoseconds` is the measured worst-case time per byte of the input.
///
/// # Errors
/// There is not enough time for `bytes`, or the call was stopped.
#[cfg_attr(test, track_caller)]
pub fn require_time(what: &str, bytes: usize, nanoseconds: u32) -> Result<()> {
    if GuardCallSite::here().is_away() {
        return Ok(());
    }
    check_now()?;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let needed = Duration::from_nanos(bytes.saturating_mul(nanoseconds.into()));
    if needed > MAX_UNINTERRUPTIBLE {
        let most = u64::try_from(MAX_UNINTERRUPTIBLE.as_nanos()).unwrap_or(u64::MAX) / u64::from(nanoseconds.max(1));
        let message = format!("{what} accepts up to {} kB, got {} kB", most >> 10, bytes >> 10);
        return Err(Diagnostic::new(Code::LIMIT, message).help("read it in parts"));
    }
    match current() {
        Some(guard) if needed > guard.time_left() => Err(guard.exceeded_time(what, needed)),
        _ => Ok(()),
    }
}

/// The time that the running call has left; [`Duration::MAX`] outside a call.
pub fn time_left() -> Duration {
    current().map_or(Duration::MAX, |guard| guard.time_left())
}

/// The iterator of [`checked`].
pub struct CheckedItems<I> {
    items: I,
    place: GuardCallSite,
    is_stopped: bool,
}

/// Iterates over `items` and counts the work. Once the call is stopped, it returns an error and then ends, so
/// collecting into a `Result` stops there.
#[cfg_attr(test, track_caller)]
pub fn checked<I: IntoIterator>(items: I) -> CheckedItems<I::IntoIter> {
    CheckedItems { items: items.into_iter(), place: GuardCallSite::here(), is_stopped: false }
}

impl<I: Iterator> Iterator for CheckedItems<I> {
    type Item = Result<I::Item>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_stopped {
            return None;
        }
        let item = self.items.next()?;
        match spend_at(self.place, ITEM) {
            Ok(()) => Some(Ok(item)),
            Err(error) => {
                self.is_stopped = true;
                Some(Err(error))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

/// Collects iterators and counts the work.
pub trait CheckedIterator: Iterator + Sized {
    /// Collects the items.
    ///
    /// # Errors
    /// The call was stopped meanwhile.
    #[cfg_attr(test, track_caller)]
    fn collect_checked<C: FromIterator<Self::Item>>(self) -> Result<C> {
        let mut stop = None;
        let items = checked(self).map_while(|item| item.map_err(|error| stop = Some(error)).ok());
        let collected = items.collect();
        stop.map_or(Ok(collected), Err)
    }
}

impl<I: Iterator> CheckedIterator for I {}

/// Splits a text into pieces of about [`PIECE_BYTES`] bytes that end at character boundaries, and consults the guard
/// before each piece.
#[cfg_attr(test, track_caller)]
pub fn pieces(text: &str) -> impl Iterator<Item = Result<&str>> {
    let (mut rest, place) = (text, GuardCallSite::here());
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES.min(rest.len())));
        rest = after;
        Some(spend_at(place, piece.len()).map(|()| piece))
    })
}
