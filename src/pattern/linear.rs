//! Patterns without look-around: the fastest engine that can be stopped in time.
//!
//! Short texts go to the engine of the `regex` crate, which cannot be asked in between: its work is at most the size of the
//! pattern times the bytes of the text. Of longer texts it gets one window after the other, if a window is known to hold
//! every match that begins in it. Else they go to a lazy DFA that gives up when it has to build too many states, and from
//! there to a [`machine`] that asks the guard.

use super::reach::Reach;
use super::{Found, machine, meter};
use crate::diagnostic::{Code, Diagnostic, Result};
use regex_automata::hybrid::{dfa, regex as hybrid};
use regex_automata::meta;
use regex_automata::nfa::thompson::{self, NFA, WhichCaptures};
use regex_automata::util::prefilter::Prefilter;
use regex_automata::util::primitives::NonMaxUsize;
use regex_automata::{Anchored, Input, MatchErrorKind, MatchKind};
use regex_syntax::hir::Hir;
use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError, TryLockError};

/// The size of a pattern times the bytes of a text up to which nothing is asked in between: some 40 ms, after which the
/// guard is asked in any case.
const AT_ONCE: u64 = 4 * meter::PERIOD;
/// Bytes of a compiled automaton.
const COMPILED: usize = 4 << 20;
/// Bytes of states that a lazy DFA keeps.
const STATES: usize = 1 << 20;
/// How often a lazy DFA may throw its states away before it has to prove that they are worth it.
const CLEARED: usize = 3;
/// Engines that wait for their next text beside the first: for texts that several threads search.
const SPARE: usize = 3;

/// What is asked of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Whether there is a match.
    Existence,
    /// Where it is.
    Span,
    /// Where it and its groups are.
    Groups,
}

/// Where a search begins: with a shorter text, and less to lose, it goes to the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// The engine of the `regex` crate.
    AtOnce,
    /// The lazy DFA.
    Lazily,
    /// The machine that asks the guard.
    #[cfg_attr(not(test), allow(dead_code, reason = "other searches come to it by themselves"))]
    Asking,
}

/// How far a sequence of searches over one text has come.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// The lazy DFA gave up on what begins before this byte.
    slow_before: usize,
}

/// A compiled pattern.
pub struct Linear {
    hir: Hir,
    engine: meta::Regex,
    /// The parts of the pattern, counted repeats written out.
    size: u64,
    reach: Reach,
    /// The first that it tries, whatever the text: tests try them all.
    way: Way,
    /// [`AT_ONCE`]: tests take less, so that short texts have windows.
    at_once: u64,
    first: Mutex<Option<Workplace>>,
    spare: Mutex<Vec<Workplace>>,
    /// For long texts, made when the first comes.
    long: OnceLock<Long>,
    long_spare: Mutex<Vec<hybrid::Cache>>,
}

/// What an engine needs to write on while it works.
struct Workplace {
    cache: meta::Cache,
    slots: Vec<Option<NonMaxUsize>>,
}

/// The engines for long texts.
struct Long {
    /// Nothing where the pattern is too large for one.
    lazy: Option<hybrid::Regex>,
    nfa: NFA,
}

impl Linear {
    /// Compiles a pattern whose measure was accepted.
    ///
    /// # Errors
    /// The compiled form would be too large.
    pub fn new(hir: Hir, size: u64) -> Result<Self> {
        let config = meta::Config::new().nfa_size_limit(Some(COMPILED)).hybrid_cache_capacity(STATES);
        let engine = meta::Builder::new().configure(config).build_from_hir(&hir).map_err(|error| too_large(&error))?;
        let (first, spare, long_spare) = (Mutex::default(), Mutex::default(), Mutex::default());
        let reach = Reach::of(&hir);
        let (way, at_once, long) = (Way::AtOnce, AT_ONCE, OnceLock::new());
        Ok(Self { hir, engine, size, reach, way, at_once, first, spare, long, long_spare })
    }

    /// The same pattern, that tries no way before this one.
    #[cfg(test)]
    pub fn beginning_with(self, way: Way) -> Self {
        Self { way, ..self }
    }

    /// The same pattern, that asks after so many bytes of a text.
    #[cfg(test)]
    pub fn by_steps_of(self, bytes: u64) -> Self {
        Self { at_once: self.size * bytes, ..self }
    }

    /// The parts of the pattern, counted repeats written out.
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
    /// What the guard has to say.
    //= docs/spec.md#robustness
    //# A search for a pattern MUST ask the guard within a bounded number of steps, whatever the pattern and the text.
    pub fn find(&self, text: &str, at: usize, wanted: Wanted, progress: &mut Progress) -> Result<Option<Found>> {
        if self.way == Way::AtOnce {
            let step = usize::try_from(self.at_once / self.size).unwrap_or(usize::MAX);
            if text.len() - at < step {
                return self.metered(text, at..text.len(), wanted);
            }
            if let Some(answer) = self.by_windows(text, at, step, wanted)? {
                return Ok(answer);
            }
        }
        if at >= progress.slow_before && self.way <= Way::Lazily {
            match self.lazily(text, at, wanted, progress)? {
                Lazy::None => return Ok(None),
                Lazy::Match(_) if wanted == Wanted::Existence => return Ok(Some(Found::default())),
                Lazy::Match(span) if wanted == Wanted::Span => return Ok(Some(Found { groups: vec![Some(span)] })),
                Lazy::Match(span) => return self.groups_of(text, span).map(Some),
                Lazy::GaveUp => {}
            }
        }
        let width = match wanted {
            Wanted::Existence => 0,
            Wanted::Span => 2,
            Wanted::Groups => self.engine.group_info().slot_len(),
        };
        let slots = machine::search(&self.long().nfa, text, at..text.len(), false, width)?;
        Ok(slots.map(|slots| of_slots(slots.chunks_exact(2).map(|pair| pair[0].zip(pair[1])))))
    }

    /// The engine of the `regex` crate, and what it costs.
    fn metered(&self, text: &str, range: Range<usize>, wanted: Wanted) -> Result<Option<Found>> {
        meter::spend(self.size.saturating_mul(range.len() as u64 + 1))?;
        Ok(self.at_once(Input::new(text).range(range), wanted))
    }

    /// The same, over windows of some `step` bytes; nothing where a window may not hold what begins in it.
    fn by_windows(&self, text: &str, at: usize, step: usize, wanted: Wanted) -> Result<Option<Option<Found>>> {
        let mut from = at;
        while let Some(window) = self.reach.window(text, from, step) {
            let found = self.metered(text, from..window.end, wanted)?;
            // What begins behind the window's own part may be cut off: the next window has the whole of it.
            let holds = |found: &Found| wanted == Wanted::Existence || found.span().start < window.next;
            if window.end == text.len() || found.as_ref().is_some_and(holds) {
                return Ok(Some(found));
            }
            from = window.next;
        }
        Ok(None)
    }

    /// The groups of a match that is known.
    fn groups_of(&self, text: &str, span: Range<usize>) -> Result<Found> {
        let most = self.size.saturating_mul(span.len() as u64 + 1);
        let found = if most <= self.at_once && self.way <= Way::Lazily {
            meter::spend(most)?;
            self.at_once(Input::new(text).range(span.clone()).anchored(Anchored::Yes), Wanted::Groups)
        } else {
            let width = self.engine.group_info().slot_len();
            let slots = machine::search(&self.long().nfa, text, span.clone(), true, width)?;
            slots.map(|slots| of_slots(slots.chunks_exact(2).map(|pair| pair[0].zip(pair[1]))))
        };
        Ok(found.unwrap_or_else(|| Found { groups: vec![Some(span)] }))
    }

    /// The engine of the `regex` crate.
    fn at_once(&self, input: Input<'_>, wanted: Wanted) -> Option<Found> {
        match self.first.try_lock() {
            Ok(mut first) => self.work(first.get_or_insert_with(|| self.workplace()), &input, wanted),
            Err(TryLockError::Poisoned(_) | TryLockError::WouldBlock) => {
                let taken = lock(&self.spare).pop();
                let mut place = taken.unwrap_or_else(|| self.workplace());
                let found = self.work(&mut place, &input, wanted);
                let mut spare = lock(&self.spare);
                if spare.len() < SPARE {
                    spare.push(place);
                }
                found
            }
        }
    }

    fn workplace(&self) -> Workplace {
        let slots = vec![None; self.engine.group_info().slot_len()];
        Workplace { cache: self.engine.create_cache(), slots }
    }

    fn work(&self, place: &mut Workplace, input: &Input<'_>, wanted: Wanted) -> Option<Found> {
        let Workplace { cache, slots } = place;
        match wanted {
            Wanted::Existence => {
                self.engine.search_half_with(cache, &input.clone().earliest(true)).map(|_| Found::default())
            }
            Wanted::Span => {
                self.engine.search_with(cache, input).map(|found| Found { groups: vec![Some(found.range())] })
            }
            Wanted::Groups => {
                slots.fill(None);
                self.engine.search_slots_with(cache, input, slots)?;
                Some(of_slots(slots.chunks_exact(2).map(|pair| Some((pair[0]?.get(), pair[1]?.get())))))
            }
        }
    }

    /// The lazy DFA, until it gives up.
    fn lazily(&self, text: &str, at: usize, wanted: Wanted, progress: &mut Progress) -> Result<Lazy> {
        let Some(lazy) = &self.long().lazy else {
            progress.slow_before = usize::MAX;
            return Ok(Lazy::GaveUp);
        };
        let taken = lock(&self.long_spare).pop();
        let mut cache = taken.unwrap_or_else(|| lazy.create_cache());
        let before = Effort::of(&cache);
        let input = Input::new(text).range(at..).earliest(wanted == Wanted::Existence);
        let answer = lazy.try_search(&mut cache, &input);
        let built = Effort::of(&cache).since(&before);
        let mut spare = lock(&self.long_spare);
        if spare.len() < SPARE {
            spare.push(cache);
        }
        drop(spare);
        // It may have looked at all that is left, whatever it found. A step between states that are there takes a fraction of
        // one that builds a state.
        meter::spend(((text.len() - at) as u64 / 8).saturating_add(built.saturating_mul(self.size)))?;
        Ok(match answer.map_err(|error| error.kind().clone()) {
            Ok(None) => Lazy::None,
            Ok(Some(found)) => Lazy::Match(found.range()),
            Err(MatchErrorKind::Quit { offset, .. }) => {
                progress.slow_before = offset + 1;
                Lazy::GaveUp
            }
            Err(_) => {
                progress.slow_before = usize::MAX;
                Lazy::GaveUp
            }
        })
    }

    fn long(&self) -> &Long {
        self.long.get_or_init(|| Long::new(&self.hir, self.size))
    }

    /// The bytes that its engines keep for the next text.
    pub fn kept(&self) -> usize {
        let first = self.first.try_lock().ok().and_then(|first| first.as_ref().map(Workplace::bytes)).unwrap_or(0);
        let spare: usize = lock(&self.spare).iter().map(Workplace::bytes).sum();
        let long: usize = lock(&self.long_spare).iter().map(hybrid::Cache::memory_usage).sum();
        let compiled = self.long.get().map_or(0, Long::bytes);
        first + spare + long + compiled
    }
}

/// What the lazy DFA found.
enum Lazy {
    None,
    Match(Range<usize>),
    GaveUp,
}

/// How much a lazy DFA has built.
struct Effort {
    cleared: usize,
    bytes: usize,
}

impl Effort {
    fn of(cache: &hybrid::Cache) -> Self {
        let (forward, reverse) = cache.as_parts();
        Self { cleared: forward.clear_count() + reverse.clear_count(), bytes: cache.memory_usage() }
    }

    /// States built since, estimated: one takes some 256 bytes, and as much work as ten steps.
    fn since(&self, before: &Self) -> u64 {
        let cleared = self.cleared.saturating_sub(before.cleared) * STATES;
        ((self.bytes + cleared).saturating_sub(before.bytes) / 256 * 10) as u64
    }
}

impl Workplace {
    fn bytes(&self) -> usize {
        self.cache.memory_usage() + self.slots.len() * size_of::<Option<NonMaxUsize>>()
    }
}

impl Long {
    fn new(hir: &Hir, size: u64) -> Self {
        let compile = |config: thompson::Config| thompson::Compiler::new().configure(config).build_from_hir(hir).ok();
        // It was compiled before, so it can be again; should it not, nothing matches.
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

fn of_slots(groups: impl Iterator<Item = Option<(usize, usize)>>) -> Found {
    Found { groups: groups.map(|ends| ends.map(|(start, end)| start..end)).collect() }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn too_large(error: &meta::BuildError) -> Box<Diagnostic> {
    let message = match error.size_limit() {
        Some(most) => format!("the pattern is too large: compiled it has more than {} MB", most >> 20),
        None => format!("the pattern cannot be compiled: {error}"),
    };
    Diagnostic::new(Code::ARGUMENTS, message)
        .help("write the counts of its repeats smaller, or search for fewer things at a time")
}
