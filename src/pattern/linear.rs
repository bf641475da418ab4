//! Patterns without look-around: chooses the fastest engine that can be stopped in time.
//!
//! Short texts are searched by the engine of the `regex` crate, which cannot be interrupted; its work is at most the
//! size of the pattern times the bytes of the text. Longer texts are searched window by window if a window is known to
//! contain every match that begins in it. Otherwise they are searched by a lazy DFA, which gives up when it has to
//! build too many states, and then by a [`pike_vm`], which consults the guard.

use super::captures::Captures;
use super::{cost, pike_vm};
use crate::diagnostic::{Code, Diagnostic, Result};
use regex_automata::hybrid::{dfa, regex as hybrid};
use regex_automata::meta;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, MatchErrorKind, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind};
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

/// The product of pattern size and text bytes up to which a search is not interrupted: about 40 ms. The guard is
/// consulted afterwards.
const AT_ONCE: u64 = 4 * cost::PERIOD;
/// The maximum size of a compiled automaton in bytes.
const COMPILED: usize = 4 << 20;
/// The maximum size of the states that a lazy DFA keeps, in bytes.
const STATES: usize = 1 << 20;
/// How often a lazy DFA may clear its states before it must show that they pay off.
const CLEARED: usize = 3;
/// The number of caches kept in addition to the first, for patterns that several threads use at once.
const SPARE: usize = 3;

/// What a search must determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchGoal {
    /// Whether there is a match.
    Existence,
    /// Where the match is.
    Span,
    /// Where the match and its groups are.
    Groups,
}

/// The engines, in the order in which a search tries them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SearchStage {
    /// The engine of the `regex` crate.
    Meta,
    /// The lazy DFA.
    LazyDfa,
    /// The simulation that consults the guard.
    #[cfg_attr(not(test), allow(dead_code, reason = "searches reach it by falling through the other stages"))]
    PikeVm,
}

/// The progress of a sequence of searches over one text.
#[derive(Clone, Copy, Debug, Default)]
pub struct SearchProgress {
    /// The lazy DFA gave up on matches that begin before this byte.
    slow_before: usize,
}

/// A compiled pattern without look-around.
pub struct LinearEngine {
    hir: Hir,
    engine: meta::Regex,
    /// The number of parts of the pattern, with counted repeats expanded.
    size: u64,
    reach: Reach,
    /// The first engine to try. Tests try all of them.
    stage: SearchStage,
    /// [`AT_ONCE`]; smaller in tests, so that short texts have windows.
    at_once: u64,
    first: Mutex<Option<EngineCache>>,
    spare: Mutex<Vec<EngineCache>>,
    /// Compiled when a long text is searched for the first time.
    long: OnceLock<LongTextEngines>,
    long_spare: Mutex<Vec<hybrid::Cache>>,
}

/// The mutable memory of a search.
struct EngineCache {
    cache: meta::Cache,
    slots: Vec<Option<NonMaxUsize>>,
}

/// The engines for long texts.
struct LongTextEngines {
    /// `None` if the pattern is too large for a lazy DFA.
    lazy: Option<hybrid::Regex>,
    nfa: NFA,
}

impl LinearEngine {
    /// Compiles a pattern whose size was checked.
    ///
    /// # Errors
    /// The compiled form would be too large.
    pub fn new(hir: Hir, size: u64) -> Result<Self> {
        let config = meta::Config::new().nfa_size_limit(Some(COMPILED)).hybrid_cache_capacity(STATES);
        let engine =
            meta::Builder::new().configure(config).build_from_hir(&hir).map_err(|error| pattern_too_large(&error))?;
        let (first, spare, long_spare) = (Mutex::default(), Mutex::default(), Mutex::default());
        let reach = Reach::from_hir(&hir);
        let (stage, at_once, long) = (SearchStage::Meta, AT_ONCE, OnceLock::new());
        Ok(Self { hir, engine, size, reach, stage, at_once, first, spare, long, long_spare })
    }

    /// The same pattern, starting with this engine.
    #[cfg(test)]
    pub fn starting_at(self, stage: SearchStage) -> Self {
        Self { stage, ..self }
    }

    /// The same pattern, with windows of this many bytes.
    #[cfg(test)]
    pub fn with_step(self, bytes: u64) -> Self {
        Self { at_once: self.size * bytes, ..self }
    }

    /// The number of parts of the pattern, with counted repeats expanded.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The names of its groups by number.
    pub fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.engine.group_info().pattern_names(regex_automata::PatternID::ZERO)
    }

    /// The first match that begins at `at` or later.
    ///
    /// # Errors
    /// The running call was stopped.
    //= docs/spec.md#robustness
    //# A search for a pattern MUST ask the guard within a bounded number of steps, whatever the pattern and the text.
    pub fn find(
        &self,
        text: &str,
        at: usize,
        wanted: SearchGoal,
        progress: &mut SearchProgress,
    ) -> Result<Option<Captures>> {
        if self.stage == SearchStage::Meta {
            let step = usize::try_from(self.at_once / self.size).unwrap_or(usize::MAX);
            if text.len() - at < step {
                return self.search_metered(text, at..text.len(), wanted);
            }
            if let Some(answer) = self.search_windows(text, at, step, wanted)? {
                return Ok(answer);
            }
        }
        if at >= progress.slow_before && self.stage <= SearchStage::LazyDfa {
            match self.search_lazily(text, at, wanted, progress)? {
                LazyOutcome::None => return Ok(None),
                LazyOutcome::Match(_) if wanted == SearchGoal::Existence => return Ok(Some(Captures::default())),
                LazyOutcome::Match(span) if wanted == SearchGoal::Span => {
                    return Ok(Some(Captures { groups: vec![Some(span)] }));
                }
                LazyOutcome::Match(span) => return self.groups_of(text, span).map(Some),
                LazyOutcome::GaveUp => {}
            }
        }
        let width = match wanted {
            SearchGoal::Existence => 0,
            SearchGoal::Span => 2,
            SearchGoal::Groups => self.engine.group_info().slot_len(),
        };
        let slots = pike_vm::search(&self.long().nfa, text, at..text.len(), false, width)?;
        Ok(slots.map(|slots| captures_from_slots(slots.chunks_exact(2).map(|pair| pair[0].zip(pair[1])))))
    }

    /// Searches with the engine of the `regex` crate, and counts the steps.
    fn search_metered(&self, text: &str, range: Range<usize>, wanted: SearchGoal) -> Result<Option<Captures>> {
        cost::spend(self.size.saturating_mul(range.len() as u64 + 1))?;
        Ok(self.search_at_once(Input::new(text).range(range), wanted))
    }

    /// Like `search_metered`, in windows of about `step` bytes; `None` if a window may not contain the matches that
    /// begin in it.
    fn search_windows(
        &self,
        text: &str,
        at: usize,
        step: usize,
        wanted: SearchGoal,
    ) -> Result<Option<Option<Captures>>> {
        let mut from = at;
        while let Some(window) = self.reach.window(text, from, step) {
            let found = self.search_metered(text, from..window.end, wanted)?;
            // A match that begins after the window's own part may be cut off. The next window contains it completely.
            let holds = |found: &Captures| wanted == SearchGoal::Existence || found.span().start < window.next;
            if window.end == text.len() || found.as_ref().is_some_and(holds) {
                return Ok(Some(found));
            }
            from = window.next;
        }
        Ok(None)
    }

    /// The groups of a match whose span is known.
    fn groups_of(&self, text: &str, span: Range<usize>) -> Result<Captures> {
        let most = self.size.saturating_mul(span.len() as u64 + 1);
        let found = if most <= self.at_once && self.stage <= SearchStage::LazyDfa {
            cost::spend(most)?;
            self.search_at_once(Input::new(text).range(span.clone()).anchored(Anchored::Yes), SearchGoal::Groups)
        } else {
            let width = self.engine.group_info().slot_len();
            let slots = pike_vm::search(&self.long().nfa, text, span.clone(), true, width)?;
            slots.map(|slots| captures_from_slots(slots.chunks_exact(2).map(|pair| pair[0].zip(pair[1]))))
        };
        Ok(found.unwrap_or_else(|| Captures { groups: vec![Some(span)] }))
    }

    /// Searches with the engine of the `regex` crate.
    fn search_at_once(&self, input: Input<'_>, wanted: SearchGoal) -> Option<Captures> {
        match self.first.try_lock() {
            Ok(mut first) => self.search_in(first.get_or_insert_with(|| self.new_cache()), &input, wanted),
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => {
                let taken = lock(&self.spare).pop();
                let mut place = taken.unwrap_or_else(|| self.new_cache());
                let found = self.search_in(&mut place, &input, wanted);
                let mut spare = lock(&self.spare);
                if spare.len() < SPARE {
                    spare.push(place);
                }
                found
            }
        }
    }

    fn new_cache(&self) -> EngineCache {
        let slots = vec![None; self.engine.group_info().slot_len()];
        EngineCache { cache: self.engine.create_cache(), slots }
    }

    fn search_in(&self, place: &mut EngineCache, input: &Input<'_>, wanted: SearchGoal) -> Option<Captures> {
        let EngineCache { cache, slots } = place;
        match wanted {
            SearchGoal::Existence => {
                self.engine.search_half_with(cache, &input.clone().earliest(true)).map(|_| Captures::default())
            }
            SearchGoal::Span => {
                self.engine.search_with(cache, input).map(|found| Captures { groups: vec![Some(found.range())] })
            }
            SearchGoal::Groups => {
                slots.fill(None);
                self.engine.search_slots_with(cache, input, slots)?;
                Some(captures_from_slots(slots.chunks_exact(2).map(|pair| Some((pair[0]?.get(), pair[1]?.get())))))
            }
        }
    }

    /// Searches with the lazy DFA until it gives up.
    fn search_lazily(
        &self,
        text: &str,
        at: usize,
        wanted: SearchGoal,
        progress: &mut SearchProgress,
    ) -> Result<LazyOutcome> {
        let Some(lazy) = &self.long().lazy else {
            progress.slow_before = usize::MAX;
            return Ok(LazyOutcome::GaveUp);
        };
        let taken = lock(&self.long_spare).pop();
        let mut cache = taken.unwrap_or_else(|| lazy.create_cache());
        let before = LazyDfaUsage::measure(&cache);
        let input = Input::new(text).range(at..).earliest(wanted == SearchGoal::Existence);
        let answer = lazy.try_search(&mut cache, &input);
        let built = LazyDfaUsage::measure(&cache).since(&before);
        let mut spare = lock(&self.long_spare);
        if spare.len() < SPARE {
            spare.push(cache);
        }
        drop(spare);
        // The DFA may have scanned the rest of the text, whatever it found. A step between existing states takes a
        // fraction of a step that builds a state.
        cost::spend(((text.len() - at) as u64 / 8).saturating_add(built.saturating_mul(self.size)))?;
        Ok(match answer.map_err(|error| error.kind().clone()) {
            Ok(None) => LazyOutcome::None,
            Ok(Some(found)) => LazyOutcome::Match(found.range()),
            Err(MatchErrorKind::Quit { offset, .. }) => {
                progress.slow_before = offset + 1;
                LazyOutcome::GaveUp
            }
            Err(_) => {
                progress.slow_before = usize::MAX;
                LazyOutcome::GaveUp
            }
        })
    }

    fn long(&self) -> &LongTextEngines {
        self.long.get_or_init(|| LongTextEngines::new(&self.hir, self.size))
    }

    /// The number of bytes of its caches and of the engines for long texts.
    pub fn kept_bytes(&self) -> usize {
        let first = self.first.try_lock().ok().and_then(|first| first.as_ref().map(EngineCache::bytes)).unwrap_or(0);
        let spare: usize = lock(&self.spare).iter().map(EngineCache::bytes).sum();
        let long: usize = lock(&self.long_spare).iter().map(hybrid::Cache::memory_usage).sum();
        let compiled = self.long.get().map_or(0, LongTextEngines::bytes);
        first + spare + long + compiled
    }
}

/// The outcome of a search with the lazy DFA.
enum LazyOutcome {
    None,
    Match(Range<usize>),
    GaveUp,
}

/// The number of states that a lazy DFA has built, measured by its memory.
struct LazyDfaUsage {
    cleared: usize,
    bytes: usize,
}

impl LazyDfaUsage {
    fn measure(cache: &hybrid::Cache) -> Self {
        let (forward, reverse) = cache.as_parts();
        Self { cleared: forward.clear_count() + reverse.clear_count(), bytes: cache.memory_usage() }
    }

    /// The estimated work since `before`, in steps. A state takes about 256 bytes and the work of ten steps.
    fn since(&self, before: &Self) -> u64 {
        let cleared = self.cleared.saturating_sub(before.cleared) * STATES;
        ((self.bytes + cleared).saturating_sub(before.bytes) / 256 * 10) as u64
    }
}

impl EngineCache {
    fn bytes(&self) -> usize {
        self.cache.memory_usage() + self.slots.len() * size_of::<Option<NonMaxUsize>>()
    }
}

impl LongTextEngines {
    fn new(hir: &Hir, size: u64) -> Self {
        let compile = |config: thompson::Config| thompson::Compiler::new().configure(config).build_from_hir(hir).ok();
        // The pattern was compiled before, so it compiles again. If it ever did not, nothing would match.
        let nfa = compile(thompson::Config::new()).unwrap_or_else(NFA::never_match);
        let plain = thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(COMPILED));
        let (forward, backward) = (compile(plain.clone()), compile(plain.reverse(true)));
        let lazy = forward.zip(backward).and_then(|(forward, backward)| {
            let worth = usize::try_from(size).unwrap_or(usize::MAX).saturating_mul(100);
            let config = dfa::Config::new()
                .cache_capacity(STATES)
                .minimum_cache_clear_count(Some(CLEARED))
                .minimum_bytes_per_state(Some(worth))
                .unicode_word_boundary(true);
            let ahead = Prefilter::from_hir_prefix(MatchKind::LeftmostFirst, hir).filter(Prefilter::is_fast);
            let build = |config: dfa::Config, nfa: NFA| dfa::DFA::builder().configure(config).build_from_nfa(nfa).ok();
            let forward = build(config.clone().prefilter(ahead), forward)?;
            let backward = build(config.prefilter(None).match_kind(MatchKind::All), backward)?;
            Some(hybrid::Builder::new().build_from_dfas(forward, backward))
        });
        Self { lazy, nfa }
    }

    fn bytes(&self) -> usize {
        let of = |dfa: &dfa::DFA| dfa.memory_usage() + dfa.get_nfa().memory_usage();
        let lazy = self.lazy.as_ref().map_or(0, |lazy| of(lazy.forward()) + of(lazy.reverse()));
        self.nfa.memory_usage() + lazy
    }
}

fn captures_from_slots(groups: impl Iterator<Item = Option<(usize, usize)>>) -> Captures {
    Captures { groups: groups.map(|ends| ends.map(|(start, end)| start..end)).collect() }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn pattern_too_large(error: &meta::BuildError) -> Box<Diagnostic> {
    let message = match error.size_limit() {
        Some(most) => format!("the pattern is too large: its compiled form exceeds {} MB", most >> 20),
        None => format!("the pattern cannot be compiled: {error}"),
    };
    Diagnostic::new(Code::ARGUMENTS, message)
        .help("use smaller repeat counts, or search for fewer alternatives at a time")
}

/// With longer matches, most of a window would be searched twice.
const SHORT: usize = 4_096;

/// How far a match can extend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// At most this many bytes.
    Bytes(usize),
    /// At most to the end of its line, because it never contains a line feed.
    Line,
    /// Unbounded.
    Far,
}

/// A part of a text that is searched without interruption.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchWindow {
    /// Its end. Every match that begins before `next` ends before it.
    pub end: usize,
    /// The start of the next window.
    pub next: usize,
}

impl Reach {
    /// The reach of the matches of a pattern.
    pub fn from_hir(hir: &Hir) -> Self {
        match hir.properties().maximum_len() {
            Some(most) if most <= SHORT => Self::Bytes(most),
            _ if !takes_line_feeds(hir) => Self::Line,
            _ => Self::Far,
        }
    }

    /// The window of about `step` bytes that begins at `from`; `None` if it would have to be much longer.
    pub fn window(self, text: &str, from: usize, step: usize) -> Option<SearchWindow> {
        let next = text.ceil_char_boundary(from.saturating_add(step).min(text.len()));
        match self {
            Self::Bytes(most) if most <= step => {
                let end = text.ceil_char_boundary(next.saturating_add(most).min(text.len()));
                Some(SearchWindow { end, next })
            }
            Self::Line => {
                let longest = next.saturating_add(step).min(text.len());
                let line = memchr::memchr(b'\n', &text.as_bytes()[next..longest]);
                let end = line.map(|line| next + line + 1).or((longest == text.len()).then_some(longest))?;
                Some(SearchWindow { end, next: end })
            }
            Self::Bytes(_) | Self::Far => None,
        }
    }
}

/// Whether a match may contain a line feed.
pub(super) fn takes_line_feeds(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Repetition(repetition) => takes_line_feeds(&repetition.sub),
        HirKind::Capture(capture) => takes_line_feeds(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(takes_line_feeds),
    }
}
