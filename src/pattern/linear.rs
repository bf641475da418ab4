//! Patterns without look-around, whose searches take linear time.
//!
//! The engine of the `regex` crate cannot be interrupted, but its work is at most the size of the pattern times the
//! bytes of the text. So it searches short texts, and some lines of long ones at a time if no match goes beyond a line.
//! Otherwise a long text is searched by [`PieceEngine`].

use super::captures::{Captures, each_match};
use super::cost;
use super::held_bytes::HeldBytes;
use super::pieces::{MAX_STATE_BYTES, PieceEngine, PieceMemory, PieceStop};
use crate::diagnostic::{Code, Diagnostic, Result};
use regex_automata::meta;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The product of pattern size and text bytes up to which a search is not interrupted: about 40 ms. The guard is
/// consulted before.
const MAX_STEP_COST: u64 = 4 * cost::PERIOD;
/// Like [`MAX_STEP_COST`], where the text cannot be searched in smaller parts: about 100 ms.
const MAX_WHOLE_TEXT_COST: u64 = 10 * cost::PERIOD;
/// The maximum size of a compiled automaton in bytes.
const MAX_COMPILED_BYTES: usize = 4 << 20;
/// The number of search memories that are kept, for patterns that several threads use at once.
const MAX_SPARE_CACHES: usize = 4;

/// The ends of the groups of a match, two for each. A search determines as many as there are: the span of the match, or
/// only whether there is one.
type Slots = [Option<NonMaxUsize>];

/// A compiled pattern without look-around.
pub struct LinearEngine {
    hir: Hir,
    engine: meta::Regex,
    /// The number of parts of the pattern, with counted repeats expanded.
    pub(super) size: u64,
    /// Whether each match is within a line.
    is_within_line: bool,
    /// The number of bytes that are searched at once.
    step: usize,
    spare: Mutex<Vec<SearchMemory>>,
    /// Compiled when it is needed for the first time; `None` if the pattern is too large for it.
    pieces: OnceLock<Option<PieceEngine>>,
}

/// The mutable memory of a search. It is moved before and after each search, and its parts are larger than most texts
/// that are searched, so they are boxed.
struct SearchMemory {
    cache: Box<meta::Cache>,
    pieces: Option<Box<PieceMemory>>,
    held: HeldBytes,
}

impl LinearEngine {
    /// Compiles a pattern whose size was checked.
    ///
    /// # Errors
    /// The compiled form would be too large.
    pub fn new(hir: Hir, size: u64) -> Result<Self> {
        let config =
            meta::Config::new().nfa_size_limit(Some(MAX_COMPILED_BYTES)).hybrid_cache_capacity(MAX_STATE_BYTES);
        let engine =
            meta::Builder::new().configure(config).build_from_hir(&hir).map_err(|error| pattern_too_large(&error))?;
        let is_within_line = !takes_line_feeds(&hir);
        let step = bytes_within(MAX_STEP_COST, size);
        Ok(Self { hir, engine, size, is_within_line, step, spare: Mutex::default(), pieces: OnceLock::new() })
    }

    /// The same pattern, searching `step` bytes at once.
    #[cfg(test)]
    pub fn with_step(self, step: usize) -> Self {
        Self { step, ..self }
    }

    /// The names of its groups by number.
    pub fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.engine.group_info().pattern_names(regex_automata::PatternID::ZERO)
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        self.with_memory(|memory| self.find(text, 0, &mut [], memory).map(|found| found.is_some()))
    }

    /// Calls `visit` with each match, from left to right and without overlaps, until it breaks.
    pub fn each(&self, text: &str, visit: impl FnMut(Captures) -> Result<ControlFlow<()>>) -> Result<()> {
        let slots = self.engine.group_info().slot_len();
        let mut slots = vec![None; slots];
        self.with_memory(|memory| each_match(text, |at| self.find(text, at, &mut slots, memory), visit))
    }

    fn with_memory<T>(&self, search: impl FnOnce(&mut SearchMemory) -> T) -> T {
        let lock = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = lock().pop();
        let mut memory = kept.unwrap_or_else(|| SearchMemory {
            cache: Box::new(self.engine.create_cache()),
            pieces: None,
            held: HeldBytes::default(),
        });
        let answer = search(&mut memory);
        let mut spare = lock();
        if spare.len() < MAX_SPARE_CACHES {
            memory.held.set(memory.cache.memory_usage() + memory.pieces.as_ref().map_or(0, |pieces| pieces.bytes()));
            spare.push(memory);
        }
        answer
    }

    /// The first match that begins at `at` or later.
    ///
    /// # Errors
    /// The running call was stopped, or the text is too long for the pattern.
    //= docs/spec.md#primitives
    //# A primitive MUST check the limits of its call after a bounded amount of work, whatever its arguments
    //# are.
    fn find(&self, text: &str, at: usize, slots: &mut Slots, memory: &mut SearchMemory) -> Result<Option<Captures>> {
        let mut from = at;
        while let Some(end) = self.lines_end(text, from) {
            let found = self.search_at_once(text, from..end, Anchored::No, slots, memory)?;
            // A match that begins where the lines end may be longer.
            let is_whole = |found: &Captures| slots.is_empty() || found.span().start < end;
            if end == text.len() || found.as_ref().is_some_and(is_whole) {
                return Ok(found);
            }
            from = end;
        }
        let span = match self.find_in_pieces(text, from, slots.is_empty(), memory) {
            Ok(span) => span,
            Err(PieceStop::Stopped(error)) => return Err(error),
            Err(PieceStop::NotAscii) => {
                self.refuse_longer("the text", text.len() - from)?;
                return self.search_at_once(text, from..text.len(), Anchored::No, slots, memory);
            }
        };
        match span {
            Some(span) if slots.len() > 2 => {
                self.refuse_longer("a match with groups", span.len())?;
                self.search_at_once(text, span, Anchored::Yes, slots, memory)
            }
            span => Ok(span.map(|span| Captures { groups: vec![Some(span)] })),
        }
    }

    /// The end of what is searched at once from `from` on: the rest of the text if it is short enough, otherwise some
    /// whole lines. `None` if a match, or a line, may be longer.
    fn lines_end(&self, text: &str, from: usize) -> Option<usize> {
        let rest = &text.as_bytes()[from..];
        if rest.len() < self.step {
            return Some(text.len());
        }
        let line = memchr::memrchr(b'\n', &rest[..self.step]).filter(|_| self.is_within_line)?;
        Some(from + line + 1)
    }

    fn find_in_pieces(
        &self,
        text: &str,
        from: usize,
        is_existence_enough: bool,
        memory: &mut SearchMemory,
    ) -> std::result::Result<Option<Range<usize>>, PieceStop> {
        let engine = self.pieces.get_or_init(|| PieceEngine::new(&self.hir, self.size, MAX_COMPILED_BYTES));
        let Some(engine) = engine else { return Err(PieceStop::NotAscii) };
        let states = memory.pieces.get_or_insert_with(|| Box::new(engine.memory()));
        engine.find(states, text, from, is_existence_enough)
    }

    /// Searches with the engine of the `regex` crate, and counts the steps.
    fn search_at_once(
        &self,
        text: &str,
        range: Range<usize>,
        anchored: Anchored,
        slots: &mut Slots,
        memory: &mut SearchMemory,
    ) -> Result<Option<Captures>> {
        cost::spend(self.size.saturating_mul(range.len() as u64 + 1))?;
        let input = Input::new(text).range(range).anchored(anchored);
        let found = match slots.is_empty() {
            true => self.engine.search_half_with(&mut memory.cache, &input.earliest(true)).is_some(),
            false => self.engine.search_slots_with(&mut memory.cache, &input, slots).is_some(),
        };
        let group = |ends: &Slots| Some(ends[0]?.get()..ends[1]?.get());
        Ok(found.then(|| Captures { groups: slots.chunks_exact(2).map(group).collect() }))
    }

    fn refuse_longer(&self, what: &str, bytes: usize) -> Result<()> {
        cost::spend(cost::PERIOD)?;
        let most = bytes_within(MAX_WHOLE_TEXT_COST, self.size);
        if bytes <= most {
            return Ok(());
        }
        let message = format!("{what} has {} kB; this pattern takes up to {} kB", bytes >> 10, most >> 10);
        Err(Diagnostic::new(Code::LIMIT, message).help(
            "any text can be searched with a pattern that has neither groups nor `\\b` (`(?:…)` is not a group, and \
             `(?-u:\\b)` is the `\\b` of ASCII), or that matches no line feed (`[^x]` and `\\s` do, `[^x\\n]` and `[ \\t]` do not)",
        ))
    }
}

/// Whether a match may contain a line feed.
fn takes_line_feeds(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        // A pattern for texts has few of these.
        HirKind::Class(Class::Bytes(_)) => true,
        HirKind::Repetition(repetition) => takes_line_feeds(&repetition.sub),
        HirKind::Capture(capture) => takes_line_feeds(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(takes_line_feeds),
    }
}

/// The number of bytes that a pattern of this size searches in `steps` steps.
fn bytes_within(steps: u64, size: u64) -> usize {
    usize::try_from(steps / size).unwrap_or(usize::MAX).max(1)
}

fn pattern_too_large(error: &meta::BuildError) -> Box<Diagnostic> {
    let message = match error.size_limit() {
        Some(most) => format!("the pattern is too large: its compiled form exceeds {} MB", most >> 20),
        None => format!("the pattern cannot be compiled: {error}"),
    };
    Diagnostic::new(Code::ARGUMENTS, message)
        .help("use smaller repeat counts, or search for fewer alternatives at a time")
}
