//! What the steps of a pattern's automaton weigh on the scale of the guard.

use crate::diagnostic::Result;
use crate::guard::{self, PIECE_BYTES};

/// So many steps weigh as much as a byte that is copied: a step takes some 10 ns, at worst 100, and short searches are
/// priced by the worst that they may take.
const STEPS: u64 = 16;

/// Steps between two looks at the guard: some 10 ms, at worst 100.
pub const PERIOD: u64 = STEPS * PIECE_BYTES as u64;

/// Counts steps that were taken, or that are taken next and cannot be interrupted: a thousand short searches weigh as
/// much as a long one.
///
/// # Errors
/// What the guard has to say.
#[cfg_attr(test, track_caller)]
pub fn spend(steps: u64) -> Result<()> {
    guard::spend(usize::try_from(steps.div_ceil(STEPS)).unwrap_or(usize::MAX))
}
