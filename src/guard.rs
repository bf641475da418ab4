//! The limits of a running call: ticks, time, memory, cancellation. A guard that stopped a call raises the same fault
//! at every later check.

mod call_guard;
mod counters;
#[cfg(test)]
pub mod gaps;
mod memory_share;
#[cfg(test)]
mod tests;
mod work;

pub use call_guard::{
    CancelFlag, EnteredGuard, Guard, Limits, Paused, WaitNote, check, current, gave_way, going, may_give_way, room,
    tick, waiting_for,
};
pub use counters::{CountingAllocator, allocated};
pub use memory_share::works_for;
pub use work::{BYTE, CheckedItems, CheckedIterator, ITEM, LOOK, each, is_over, pieces, price, spend, time_left};
