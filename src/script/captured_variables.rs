//! Holds captured variables for a while, because rhai drops a chain of them recursively, which could exhaust the stack.
//!
//! Each closure that captures a variable shares its cell, and a cell may hold another such closure, so a chain of any
//! length is cheap to make. Therefore a random part of the cells of a run is held until the run ends. A drop never goes
//! further than the next held cell: some hundred cells at most among millions. At the end, all held cells are emptied
//! one by one while the others are still held. This also breaks cycles of cells.

use rhai::Dynamic;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// One in this many uses of a captured variable is held.
const USES_PER_HOLD: u64 = 8;

/// Whether this use of a captured variable is to be held.
#[inline]
pub(super) fn should_hold() -> bool {
    fastrand::u64(..USES_PER_HOLD) == 0
}

/// The cells that one run holds, each once, by the address of its value, which is stable while it is held.
#[derive(Default)]
pub(super) struct CapturedVariables(Mutex<FxHashMap<usize, Dynamic>>);

impl CapturedVariables {
    /// Holds a shared value. A value that is currently locked is skipped.
    pub(super) fn hold(&self, shared: &Dynamic) {
        let Some(at) = shared.read_lock::<Dynamic>().map(|value| std::ptr::from_ref::<Dynamic>(&value).addr()) else {
            return;
        };
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(at).or_insert_with(|| shared.clone());
    }

    /// Empties all held cells. No function of the run may be called afterwards.
    pub(super) fn empty(&self) {
        let mut held = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        for cell in held.values_mut() {
            let content = cell.write_lock::<Dynamic>().map(|mut value| std::mem::take(&mut *value));
            drop(content);
        }
    }
}

/// The captured variables of a run. They are emptied when the run ends, even by a panic.
pub(super) struct CapturedVariablesGuard(pub(super) Arc<CapturedVariables>);

impl Drop for CapturedVariablesGuard {
    fn drop(&mut self) {
        self.0.empty();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn about_one_in_eight_is_chosen() {
        let chosen = (0..80_000).filter(|_| should_hold()).count();
        assert!((8_000..12_000).contains(&chosen), "{chosen}");
    }

    #[test]
    fn a_cell_is_held_once_and_emptied() {
        let cells = CapturedVariables::default();
        let shared = Dynamic::from(7_i64).into_shared();
        cells.hold(&shared);
        cells.hold(&shared.clone());
        cells.hold(&Dynamic::from(7_i64).into_shared());
        assert_eq!(cells.0.lock().map(|held| held.len()).ok(), Some(2));
        cells.empty();
        assert!(shared.flatten().is_unit());
    }
}
