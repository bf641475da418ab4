//! Asks the guard after so many units of work: a unit is one step of a pattern's automaton, some 10 ns, at worst 100.

use crate::diagnostic::Result;
use crate::guard;
use std::cell::Cell;

/// Units between two looks at the guard: some 10 ms, at worst 100.
pub const PERIOD: u64 = 1 << 20;

thread_local! {
    static SPENT: Cell<u64> = const { Cell::new(0) };
}

/// Counts work that was done, or that is done next and cannot be interrupted. What is left over counts for the next search
/// of this thread: a thousand short searches are as long as a long one.
///
/// # Errors
/// What the guard has to say, each [`PERIOD`] units.
pub fn spend(units: u64) -> Result<()> {
    let spent = SPENT.get().saturating_add(units);
    if spent < PERIOD {
        SPENT.set(spent);
        return Ok(());
    }
    SPENT.set(0);
    guard::room(0)
}
