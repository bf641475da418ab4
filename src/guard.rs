//! The limits of a running call: ticks, time, memory and cancellation. Once a guard has stopped a call, every later
//! check raises the same error.

mod call_guard;
mod counters;
#[cfg(test)]
pub mod gaps;
#[cfg(test)]
mod tests;
mod total_memory;
mod work;

pub use call_guard::{
    CancelFlag, EnteredGuard, Guard, Limits, Paused, WaitNote, check, check_stopped, current, note_wait,
    reserve_memory, tick,
};
pub use counters::{CountingAllocator, allocated};
pub use work::{
    BYTE, CheckedItems, CheckedIterator, ITEM, PIECE_BYTES, checked, is_over, pieces, require_time, spend, time_left,
};
