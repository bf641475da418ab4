//! Work of native loops: counted in units, and priced before it begins where a library cannot be stopped within.

use super::place::Place;
use super::thread::{ask, current};
use super::{Guard, LOCAL};
use crate::diagnostic::{Code, Diagnostic, Result};
use std::time::Duration;

/// What a byte weighs that is looked at or copied.
pub const BYTE: usize = 1;

/// What an item of a list or an entry of a map weighs that is looked at, copied or moved.
pub const ITEM: usize = 32;

/// The bytes of one piece, where a long input is worked through in pieces: as much as is done between two looks.
pub const LOOK: usize = 64 << 10;

/// What cannot be stopped once it has begun takes at most so long: a call must be answered 300 ms after its end.
const UNSTOPPABLE: Duration = Duration::from_millis(200);

//= docs/spec.md#scripts
//# A primitive MUST ask the guard of its call at least once for each 64 kB of work.
/// Counts `units` of work of a native loop, and raises what the running call's guard has to say once 64 k of them were
/// counted.
///
/// A unit is a byte that is looked at or copied, [`ITEM`] are an item of a list. To be called in every loop over an
/// input, each turn or each so many turns.
///
/// # Errors
/// The call was stopped: its time, its memory or its steps are used up, or it was cancelled.
#[inline]
#[cfg_attr(test, track_caller)]
pub fn spend(units: usize) -> Result<()> {
    spend_at(Place::here(), units)
}

#[inline]
fn spend_at(place: Place, units: usize) -> Result<()> {
    if is_due(place, units) { ask() } else { Ok(()) }
}

/// Counts work as [`spend`] does, and tells whether the call is over: for loops that have no way to fail, such as
/// comparisons. They end early then with any result at all: the guard raises at the next step what ended the call, and
/// nobody sees what they gave.
#[inline]
#[cfg_attr(test, track_caller)]
pub fn is_over(units: usize) -> bool {
    is_due(Place::here(), units) && ask().is_err()
}

#[inline]
fn is_due(place: Place, units: usize) -> bool {
    if place.is_away() {
        return false;
    }
    LOCAL.with(|local| {
        let left = local.work.get().saturating_sub_unsigned(units);
        local.work.set(left);
        left <= 0 || local.is_full()
    })
}

//= docs/spec.md#scripts
//# Work that cannot be stopped once it has begun MUST be refused where it would take longer than the call has left, or 200 ms.
/// Refuses work that cannot be stopped in between, before it begins: if it would take longer than the call has left, or
/// longer than any call may go on after its end. `nanoseconds` is what a byte of the input takes at worst, measured.
///
/// # Errors
/// There is not enough time for `bytes`; or the call was stopped.
#[cfg_attr(test, track_caller)]
pub fn price(what: &str, bytes: usize, nanoseconds: u32) -> Result<()> {
    if Place::here().is_away() {
        return Ok(());
    }
    ask()?;
    let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
    let needed = Duration::from_nanos(bytes.saturating_mul(nanoseconds.into()));
    if needed > UNSTOPPABLE {
        let most = u64::try_from(UNSTOPPABLE.as_nanos()).unwrap_or(u64::MAX) / u64::from(nanoseconds.max(1));
        let message = format!("{what} reads up to {} kB, got {} kB", most >> 10, bytes >> 10);
        return Err(Diagnostic::new(Code::LIMIT, message).help("read it in parts"));
    }
    match current() {
        Some(guard) if needed > guard.left() => Err(guard.short_of_time(what, needed)),
        _ => Ok(()),
    }
}

/// The time that the running call has left; without a call there is no end.
pub fn time_left() -> Duration {
    current().map_or(Duration::MAX, |guard| guard.left())
}

impl Guard {
    fn left(&self) -> Duration {
        self.limits().time.saturating_sub(self.elapsed())
    }

    fn short_of_time(&self, what: &str, needed: Duration) -> Box<Diagnostic> {
        let (needed, left) = (needed.as_millis(), self.left().as_millis());
        self.exceeded(format!("{what} may take {needed} ms here, and the call has {left} ms left"), "time_ms")
    }
}

/// The items of an iterator, each with what the guard has to say: see [`each`].
pub struct Checked<I> {
    items: I,
    place: Place,
    is_stopped: bool,
}

/// The items of `items`, counted as work: a fault, and nothing after it, once the call is stopped. Collecting it into a
/// `Result` ends there.
#[cfg_attr(test, track_caller)]
pub fn each<I: IntoIterator>(items: I) -> Checked<I::IntoIter> {
    Checked { items: items.into_iter(), place: Place::here(), is_stopped: false }
}

impl<I: Iterator> Iterator for Checked<I> {
    type Item = Result<I::Item>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.is_stopped {
            return None;
        }
        let item = self.items.next()?;
        match spend_at(self.place, ITEM) {
            Ok(()) => Some(Ok(item)),
            Err(fault) => {
                self.is_stopped = true;
                Some(Err(fault))
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.items.size_hint()
    }
}

/// Iterators, counted as work.
pub trait Work: Iterator + Sized {
    /// The items as a `Result` of a collection.
    ///
    /// # Errors
    /// The call was stopped in between.
    #[cfg_attr(test, track_caller)]
    fn collect_checked<C: FromIterator<Self::Item>>(self) -> Result<C> {
        let mut stop = None;
        let items = each(self).map_while(|item| item.map_err(|fault| stop = Some(fault)).ok());
        let collected = items.collect();
        stop.map_or(Ok(collected), Err)
    }
}

impl<I: Iterator> Work for I {}

/// A text in pieces of some [`LOOK`] bytes that end between characters, the guard being asked before each.
#[cfg_attr(test, track_caller)]
pub fn pieces(text: &str) -> impl Iterator<Item = Result<&str>> {
    let (mut rest, place) = (text, Place::here());
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(LOOK.min(rest.len())));
        rest = after;
        Some(spend_at(place, piece.len()).map(|()| piece))
    })
}
