//! Searches a long text with the lazy DFA of `regex-automata`, and consults the guard between pieces of the text. The
//! crate's own search functions cannot be interrupted, so the DFA is moved over the bytes here.

use super::cost;
use super::held_bytes::HeldBytes;
use crate::diagnostic::Diagnostic;
use regex_automata::hybrid::LazyStateID;
use regex_automata::hybrid::dfa::{Cache, Config, DFA};
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::{Anchored, Input, MatchKind, Span};
use regex_syntax::hir::Hir;
use std::ops::Range;

/// The maximum size of the states that a lazy DFA keeps, in bytes. It is exceeded if a few states are larger.
pub const MAX_STATE_BYTES: usize = 1 << 20;

/// The lazy DFAs of a pattern.
pub struct PieceEngine {
    /// Finds the end of a match.
    forward: DFA,
    /// Finds the start of a match from its end.
    backward: DFA,
    /// Finds the next position where a match may begin.
    prefilter: Option<Prefilter>,
    /// The bytes of a piece.
    piece: usize,
    /// What its automata take.
    _held: HeldBytes,
    /// The number of parts of the pattern.
    size: u64,
}

/// The states that a search has built.
pub struct PieceMemory {
    forward: Cache,
    backward: Cache,
}

/// Why a search ended without an answer.
pub enum PieceStop {
    /// The running call was stopped.
    Stopped(Box<Diagnostic>),
    /// The pattern has a Unicode word boundary, and the text a character that is not ASCII. A DFA cannot combine them.
    NotAscii,
}

impl PieceEngine {
    /// Compiles a pattern that another engine has accepted; `None` if it is too large for this one.
    pub fn new(hir: &Hir, size: u64, most: usize) -> Option<Self> {
        let dfa = |is_reverse: bool, kind| {
            let config = thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(most));
            let nfa: NFA = thompson::Compiler::new().configure(config.reverse(is_reverse)).build_from_hir(hir).ok()?;
            let config = Config::new().match_kind(kind).cache_capacity(MAX_STATE_BYTES).skip_cache_capacity_check(true);
            DFA::builder().configure(config.unicode_word_boundary(true)).build_from_nfa(nfa).ok()
        };
        let (forward, backward) = (dfa(false, MatchKind::LeftmostFirst)?, dfa(true, MatchKind::All)?);
        let prefilter = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir).filter(Prefilter::is_fast);
        let piece = usize::try_from(cost::PERIOD / size).unwrap_or(1).clamp(1, 64 << 10);
        let bytes = |dfa: &DFA| dfa.memory_usage() + dfa.get_nfa().memory_usage();
        let held = HeldBytes::new(bytes(&forward) + bytes(&backward));
        Some(Self { forward, backward, prefilter, size, piece, _held: held })
    }

    /// The memory for searches.
    pub fn memory(&self) -> PieceMemory {
        PieceMemory { forward: self.forward.create_cache(), backward: self.backward.create_cache() }
    }

    /// The first match that begins at `from` or later. If `is_existence_enough`, its start and the full length are not
    /// determined.
    pub fn find(
        &self,
        memory: &mut PieceMemory,
        text: &str,
        mut from: usize,
        is_existence_enough: bool,
    ) -> Result<Option<Range<usize>>, PieceStop> {
        loop {
            if let Some(prefilter) = &self.prefilter {
                let Some(next) = prefilter.find(text.as_bytes(), Span::from(from..text.len())) else {
                    return Ok(None);
                };
                from = next.start;
            }
            let Some(end) = self.match_end(&mut memory.forward, text, from, is_existence_enough)? else {
                return Ok(None);
            };
            // An empty match within a character is not a match.
            if !text.is_char_boundary(end) {
                from = text.ceil_char_boundary(end);
                continue;
            }
            let start =
                if is_existence_enough { end } else { self.match_start(&mut memory.backward, text, from..end)? };
            return Ok(Some(start..end));
        }
    }

    fn match_end(
        &self,
        cache: &mut Cache,
        text: &str,
        from: usize,
        is_first_enough: bool,
    ) -> Result<Option<usize>, PieceStop> {
        let bytes = text.as_bytes();
        let start = self
            .forward
            .start_state_forward(cache, &Input::new(text).range(from..))
            .map_err(|_| PieceStop::NotAscii)?;
        let steps = (from..bytes.len()).map(|at| (at, Some(bytes[at]))).chain([(bytes.len(), None)]);
        self.walk(&self.forward, cache, start, steps, is_first_enough)
    }

    fn match_start(&self, cache: &mut Cache, text: &str, range: Range<usize>) -> Result<usize, PieceStop> {
        let bytes = text.as_bytes();
        let input = Input::new(text).range(range.clone()).anchored(Anchored::Yes);
        let start = self.backward.start_state_reverse(cache, &input).map_err(|_| PieceStop::NotAscii)?;
        let before = range.start.checked_sub(1).map(|at| bytes[at]);
        let steps = range.clone().rev().map(|at| (at + 1, Some(bytes[at]))).chain([(range.start, before)]);
        Ok(self.walk(&self.backward, cache, start, steps, false)?.unwrap_or(range.end))
    }

    /// Moves the DFA over bytes; `None` is the end of the text. Returns the last position where it was in a match,
    /// which it reports one byte later.
    fn walk(
        &self,
        dfa: &DFA,
        cache: &mut Cache,
        mut state: LazyStateID,
        steps: impl Iterator<Item = (usize, Option<u8>)>,
        is_first_enough: bool,
    ) -> Result<Option<usize>, PieceStop> {
        let mut last = None;
        let mut left = 0;
        for (at, byte) in steps {
            if left == 0 {
                left = self.piece;
                cost::spend(self.size.saturating_mul(left as u64)).map_err(PieceStop::Stopped)?;
            }
            left -= 1;
            // The cache may be cleared without limit, so there is always a next state.
            state = match byte {
                Some(byte) => dfa.next_state(cache, state, byte),
                None => dfa.next_eoi_state(cache, state),
            }
            .map_err(|_| PieceStop::NotAscii)?;
            if state.is_match() {
                last = Some(at);
                if is_first_enough {
                    return Ok(last);
                }
            } else if state.is_dead() {
                return Ok(last);
            } else if state.is_quit() {
                return Err(PieceStop::NotAscii);
            }
        }
        Ok(last)
    }
}

impl PieceMemory {
    /// The number of bytes that it takes.
    pub fn bytes(&self) -> usize {
        self.forward.memory_usage() + self.backward.memory_usage()
    }
}
