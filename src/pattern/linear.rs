//! Patterns without look-around, whose searches take linear time: at most the size of the pattern times the bytes of the
//! text. A text of any length is searched in one go, and the guard is consulted after each match.

use super::captures::{Captures, each_match};
use super::cost;
use super::held_bytes::HeldBytes;
use crate::diagnostic::{Code, Diagnostic, Result};
use regex_automata::Input;
use regex_automata::meta;
use regex_automata::util::primitives::NonMaxUsize;
use regex_syntax::hir::Hir;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// The maximum size of a compiled automaton in bytes.
const MAX_COMPILED_BYTES: usize = 4 << 20;
/// The maximum size of the states that a lazy DFA keeps, in bytes. It is exceeded if a few states are larger.
const MAX_STATE_BYTES: usize = 1 << 20;
/// The number of search memories that are kept, for patterns that several threads use at once.
const MAX_SPARE_CACHES: usize = 4;

/// The ends of the groups of a match, two for each. A search determines as many as there are: the span of the match, or
/// only whether there is one.
type Slots = [Option<NonMaxUsize>];

/// A compiled pattern without look-around.
pub struct LinearEngine {
    engine: meta::Regex,
    /// The number of parts of the pattern, with counted repeats expanded.
    pub(super) size: u64,
    spare: Mutex<Vec<SearchMemory>>,
}

/// The mutable memory of a search. It is moved before and after each search, and larger than most texts that are
/// searched, so it is boxed.
struct SearchMemory {
    cache: Box<meta::Cache>,
    held: HeldBytes,
}

impl LinearEngine {
    /// Compiles a pattern whose size was checked.
    ///
    /// # Errors
    /// The compiled form would be too large.
    pub fn new(hir: &Hir, size: u64) -> Result<Self> {
        let config =
            meta::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES)).hybrid_cache_capacity(MAX_STATE_BYTES);
        let engine =
            meta::Builder::new().configure(config).build_from_hir(hir).map_err(|error| pattern_too_large(&error))?;
        Ok(Self { engine, size, spare: Mutex::default() })
    }

    /// The names of its groups by number.
    pub fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.engine.group_info().pattern_names(regex_automata::PatternID::ZERO)
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        let input = Input::new(text).earliest(true);
        let found = self.with_memory(|memory| self.engine.search_half_with(&mut memory.cache, &input));
        self.spend(found.map_or(text.len(), |found| found.offset()))?;
        Ok(found.is_some())
    }

    /// Calls `visit` with each match, from left to right and without overlaps, until it breaks.
    pub fn each(&self, text: &str, visit: impl FnMut(Captures) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut slots = vec![None; self.engine.group_info().slot_len()];
        self.with_memory(|memory| each_match(text, |at| self.find(text, at, &mut slots, memory), visit))
    }

    fn with_memory<T>(&self, search: impl FnOnce(&mut SearchMemory) -> T) -> T {
        let lock = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let mut memory = kept.unwrap_or_else(|| SearchMemory {
            cache: Box::new(self.engine.create_cache()),
            held: HeldBytes::default(),
        });
        let answer = search(&mut memory);
        let mut spare = lock();
        if spare.len() < MAX_SPARE_CACHES {
            memory.held.set(memory.cache.memory_usage());
            spare.push(memory);
        }
        answer
    }

    /// The first match that begins at `at` or later.
    ///
    /// # Errors
    /// The running call was stopped.
    fn find(&self, text: &str, at: usize, slots: &mut Slots, memory: &mut SearchMemory) -> Result<Option<Captures>> {
        let input = Input::new(text).range(at..);
        let is_found = self.engine.search_slots_with(&mut memory.cache, &input, slots).is_some();
        let group = |ends: &Slots| Some(ends[0]?.get()..ends[1]?.get());
        let found = is_found.then(|| Captures { groups: slots.chunks_exact(2).map(group).collect() });
        self.spend(found.as_ref().map_or(text.len(), |found| found.span().end) - at)?;
        Ok(found)
    }

    //= docs/spec.md#primitives
    //# A search with a regular expression MAY run to its next match before it checks them.
    /// Counts the steps of a search that read this many bytes.
    fn spend(&self, bytes: usize) -> Result<()> {
        cost::spend(self.size.saturating_mul(bytes as u64 + 1))
    }
}

fn pattern_too_large(error: &meta::BuildError) -> Box<Diagnostic> {
    let message = match error.size_limit() {
        Some(most) => format!("the pattern is too large: its compiled form exceeds {} MB", most >> 20),
        None => format!("the pattern cannot be compiled: {error}"),
    };
    Diagnostic::new(Code::ARGUMENTS, message)
        .help("use smaller repeat counts, or search for fewer alternatives at a time")
}
