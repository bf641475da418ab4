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
    CancelFlag, EnteredGuard, Guard, Limits, Paused, WaitNote, allow_lower_priority, check, check_stopped, current,
    has_lower_priority, note_wait, reserve_memory, tick,
};
pub use counters::{CountingAllocator, allocated};
pub use memory_share::set_thread_address;
pub use work::{
    BYTE, CheckedItems, CheckedIterator, ITEM, PIECE_BYTES, checked, is_over, pieces, require_time, spend, time_left,
};
