//! Derived values that outlive their snapshot: found by what they were made of.

use crate::value::Value;
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a value was made of, as a hash of 128 bits.
pub(super) type Premise = u128;

/// The derived values of a store. They hold texts, numbers, spans and documents, but no node.
#[derive(Default)]
pub(super) struct Kept(Mutex<State>);

#[derive(Default)]
struct State {
    /// Grows by one with each build.
    generation: u64,
    values: FxHashMap<Premise, Entry>,
}

struct Entry {
    values: Arc<[Value]>,
    /// The last generation in which it was asked for.
    used: u64,
}

/// The values of a store, and what all of them depend on: scripts, entry and configuration.
#[derive(Clone)]
pub(super) struct Keeping {
    pub kept: Arc<Kept>,
    pub inputs: [u8; 32],
}

impl Kept {
    /// The values made of this.
    pub fn get(&self, premise: Premise) -> Option<Arc<[Value]>> {
        let mut state = self.lock();
        let generation = state.generation;
        let entry = state.values.get_mut(&premise)?;
        entry.used = generation;
        Some(Arc::clone(&entry.values))
    }

    pub fn put(&self, premise: Premise, values: &Arc<[Value]>) {
        let mut state = self.lock();
        let entry = Entry { values: Arc::clone(values), used: state.generation };
        state.values.insert(premise, entry);
    }

    /// A build ended, in whose graph so many values can be asked for. If there are more than twice as many, those
    /// go that were not asked for since the build before it.
    pub fn age(&self, live: usize) {
        let mut state = self.lock();
        if state.values.len() > 2 * live {
            let generation = state.generation;
            state.values.retain(|_, entry| entry.used >= generation);
        }
        state.generation += 1;
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        self.lock().values.clear();
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.lock().values.len()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
