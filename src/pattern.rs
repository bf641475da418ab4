//! Regular expressions. Each is compiled once per process and cached. Every search consults the guard within a bounded
//! number of steps, whatever the pattern and the text.

mod captures;
mod cost;
mod linear;
mod look_around;
mod pike_vm;
#[cfg(test)]
mod tests;

pub use captures::Captures;

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Map, Text, Value};
use cost::PatternSize;
use linear::{LinearEngine, SearchGoal, SearchProgress};
use look_around::LookAroundEngine;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

/// The maximum number of bytes that all cached patterns may take, including the caches of their engines.
const MOST: usize = 8 << 20;
/// The number of patterns that each thread finds without a lock. Its references are weak.
const NEAR: usize = 64;
/// Patterns with a longer text are only found in the shared cache.
const NEAR_TEXT: usize = 256;
/// The number of bytes that a cache entry takes in addition to its pattern.
const ENTRY: usize = 256;

static CACHE: LazyLock<PatternCache> = LazyLock::new(|| PatternCache::new(MOST));

thread_local! {
    static NEARBY: RefCell<FxHashMap<Box<str>, Weak<Pattern>>> = RefCell::default();
}

/// The size of a pattern is measured again after this many searches, and before that at each power of two.
const RECOUNT: u32 = 1_024;

/// A compiled regular expression, in the syntax of the `regex` crate, plus look-around and back references if it uses
/// them.
pub struct Pattern {
    text: Box<str>,
    engine: Engine,
    names: Vec<Option<Text>>,
    /// The number of bytes that were allocated to compile it.
    compiled: usize,
    searches: AtomicU32,
    usage: CacheUsage,
}

enum Engine {
    Linear(Box<LinearEngine>),
    LookAround(LookAroundEngine),
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Pattern({:?})", self.text)
    }
}

impl Pattern {
    /// Compiles `pattern`, or takes it from the cache of the process.
    ///
    /// # Errors
    /// The code is `arguments`. The pattern is invalid (the message names the character), or it is too large (the
    /// message says which limit it exceeds).
    pub fn compile_cached(pattern: &str) -> Result<Arc<Self>> {
        compile_cached(pattern)
    }

    fn compile(pattern: &str) -> Result<Self> {
        cost::check_length(pattern)?;
        let before = guard::allocated();
        let engine = Engine::compile(pattern)?;
        let names = match &engine {
            Engine::Linear(linear) => linear.names().map(|name| name.map(Text::from)).collect(),
            Engine::LookAround(look_around) => look_around.names().map(|name| name.map(Text::from)).collect(),
        };
        let compiled = usize::try_from(guard::allocated().wrapping_sub(before)).unwrap_or(0);
        let searches = AtomicU32::new(0);
        Ok(Self { text: pattern.into(), engine, names, compiled, searches, usage: CacheUsage::default() })
    }

    /// The pattern as written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it needs look-around or back references, and therefore possibly more than linear time.
    pub fn looks_around(&self) -> bool {
        matches!(self.engine, Engine::LookAround(_))
    }

    /// The number of its parts, with counted repeats expanded. A search takes at most this many steps per byte of text,
    /// up to a constant factor.
    pub fn size(&self) -> u64 {
        match &self.engine {
            Engine::Linear(linear) => linear.size(),
            Engine::LookAround(look_around) => look_around.size(),
        }
    }

    /// The number of bytes that it takes, including the caches of its engines.
    fn bytes(&self) -> usize {
        self.compiled
            + match &self.engine {
                Engine::Linear(linear) => linear.kept_bytes(),
                // The caches of its parts cannot be measured. They are estimated at the size of the parts themselves.
                Engine::LookAround(_) => self.compiled,
            }
    }

    /// Counts a search. From time to time it also measures the pattern again, because the caches of its engines grow.
    fn searched(&self) {
        let searches = self.searches.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if searches.is_power_of_two() || searches.is_multiple_of(RECOUNT) {
            CACHE.recount(self);
        }
    }

    /// The names of its groups by number. Group 0 has none.
    pub fn names(&self) -> &[Option<Text>] {
        &self.names
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        let answer = match &self.engine {
            Engine::Linear(linear) => {
                linear.find(text, 0, SearchGoal::Existence, &mut SearchProgress::default()).map(|found| found.is_some())
            }
            Engine::LookAround(look_around) => look_around.is_match(text),
        };
        self.searched();
        answer
    }

    /// The first match.
    pub fn first(&self, text: &str) -> Result<Option<Captures>> {
        let mut first = None;
        self.each(text, |found| {
            first = Some(found);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// Calls `visit` with each match, from left to right and without overlaps, until it breaks.
    ///
    /// # Errors
    /// The errors of `visit`; the running call was stopped.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Captures) -> Result<ControlFlow<()>>) -> Result<()> {
        let pass = |found: Captures| {
            guard::check()?;
            visit(found)
        };
        let ended = match &self.engine {
            Engine::Linear(linear) => self.each_linear(linear, text, pass),
            Engine::LookAround(look_around) => look_around.each(text, pass),
        };
        self.searched();
        ended
    }

    fn each_linear(
        &self,
        linear: &LinearEngine,
        text: &str,
        mut visit: impl FnMut(Captures) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let wanted = if self.names.len() > 1 { SearchGoal::Groups } else { SearchGoal::Span };
        let (mut progress, mut at, mut last) = (SearchProgress::default(), 0, None);
        while let Some(found) = linear.find(text, at, wanted, &mut progress)? {
            let Range { start, end } = found.span();
            // An empty match directly after the previous match is skipped.
            if start == end && last == Some(end) {
                if end == text.len() {
                    break;
                }
                at = text.ceil_char_boundary(end + 1);
                continue;
            }
            (at, last) = (end, Some(end));
            if visit(found)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The groups of a match as a map: by number as text (`"0"` is the whole match), and by name. A group that took no
    /// part in the match is `()`.
    pub fn groups(&self, text: &str, found: &Captures) -> Map {
        let mut groups = Map::new();
        for (number, name) in self.names.iter().enumerate() {
            let value = Value::from(found.group(number).map(|span| Value::from(&text[span])));
            if let Some(name) = name {
                groups.insert(Arc::clone(name), value.clone());
            }
            groups.insert(Text::from(number.to_string()), value);
        }
        groups
    }
}

impl Engine {
    fn compile(pattern: &str) -> Result<Self> {
        let refused = match Self::linear(pattern) {
            Ok(linear) => return linear,
            Err(refused) => refused,
        };
        match LookAroundEngine::new(pattern) {
            Ok(look_around) => look_around.map(Self::LookAround),
            // Look-around consumes no character, so repeating it has no effect. The engine refuses such repeats, which
            // are valid elsewhere.
            Err(fancy_regex::Error::ParseError(byte, fancy_regex::ParseError::TargetNotRepeatable)) => {
                let fault = invalid(
                    "a repeat of something that matches no character (look-around, `^`)",
                    Some((pattern, byte)),
                );
                Err(refused.unwrap_or_else(|| {
                    fault.help(
                        "instead of a count or `+`, write it once, which means the same; with `*` or `?`, leave it out",
                    )
                }))
            }
            Err(fancy_regex::Error::ParseError(byte, error)) => {
                Err(refused.unwrap_or_else(|| invalid(&error.to_string(), Some((pattern, byte)))))
            }
            Err(other) => Err(refused.unwrap_or_else(|| invalid(&other.to_string(), None))),
        }
    }

    /// Compiles a pattern for the linear engine.
    ///
    /// # Errors
    /// What is wrong with the pattern; `None` if its only problem is look-around or back references.
    fn linear(pattern: &str) -> std::result::Result<Result<Self>, Option<Box<Diagnostic>>> {
        use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
        let place = |span: &regex_syntax::ast::Span| Some((pattern, span.start.offset));
        let ast = regex_syntax::ast::parse::Parser::new().parse(pattern).map_err(|error| match error.kind() {
            UnsupportedBackreference | UnsupportedLookAround => None,
            kind => Some(invalid(&kind.to_string(), place(error.span()))),
        })?;
        let size = match PatternSize::from_ast(&ast).check_limits() {
            Ok(size) => size,
            Err(refused) => return Ok(Err(refused)),
        };
        let hir = regex_syntax::hir::translate::Translator::new().translate(pattern, &ast);
        let hir = hir.map_err(|error| Some(invalid(&error.kind().to_string(), place(error.span()))))?;
        Ok(LinearEngine::new(hir, size).map(|linear| Self::Linear(Box::new(linear))))
    }
}

fn invalid(what: &str, place: Option<(&str, usize)>) -> Box<Diagnostic> {
    let at = place.map_or_else(String::new, |(pattern, byte)| {
        let before = pattern.floor_char_boundary(byte.min(pattern.len()));
        format!(" at character {} of `{pattern}`", pattern[..before].chars().count() + 1)
    });
    Diagnostic::new(Code::ARGUMENTS, format!("invalid regular expression: {}{at}", what.trim_end_matches('.')))
        .help("`escape_regex` makes a pattern that matches a text literally")
}

/// The compiled patterns of the process, shared by all threads and limited in bytes. The least recently used ones are
/// evicted first.
struct PatternCache {
    most: usize,
    entries: Mutex<CacheEntries>,
    /// The number of patterns that were inserted so far.
    clock: AtomicU64,
}

#[derive(Default)]
struct CacheEntries {
    by_text: FxHashMap<Box<str>, Arc<Pattern>>,
    /// The bytes of all patterns, as last measured.
    bytes: usize,
}

/// What the cache knows about a pattern.
#[derive(Default)]
struct CacheUsage {
    /// The clock of the cache when the pattern was last requested.
    used: AtomicU64,
    /// The number of bytes that the cache counts for it.
    bytes: AtomicUsize,
}

/// Looks up a pattern in the cache of the thread, then in that of the process, and compiles it if necessary.
///
/// # Errors
/// The pattern is invalid or too large.
fn compile_cached(pattern: &str) -> Result<Arc<Pattern>> {
    let near = NEARBY.with_borrow(|nearby| nearby.get(pattern).and_then(Weak::upgrade));
    if let Some(known) = near {
        CACHE.touch(&known);
        return Ok(known);
    }
    let known = CACHE.get(pattern)?;
    if pattern.len() <= NEAR_TEXT {
        NEARBY.with_borrow_mut(|nearby| {
            if nearby.len() >= NEAR {
                nearby.clear();
            }
            nearby.insert(pattern.into(), Arc::downgrade(&known));
        });
    }
    Ok(known)
}

/// The bytes that all patterns of the process take.
#[cfg(test)]
fn bytes() -> usize {
    CACHE.lock().bytes
}

impl PatternCache {
    fn new(most: usize) -> Self {
        Self { most, entries: Mutex::default(), clock: AtomicU64::new(0) }
    }

    fn lock(&self) -> MutexGuard<'_, CacheEntries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn touch(&self, pattern: &Pattern) {
        pattern.usage.used.store(self.clock.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    fn get(&self, text: &str) -> Result<Arc<Pattern>> {
        if let Some(known) = self.lock().by_text.get(text) {
            self.touch(known);
            return Ok(Arc::clone(known));
        }
        // Compiled outside the lock, so that other threads need not wait for it.
        let fresh = Arc::new(Pattern::compile(text)?);
        let mut entries = self.lock();
        if let Some(known) = entries.by_text.get(text) {
            return Ok(Arc::clone(known));
        }
        self.clock.fetch_add(1, Ordering::Relaxed);
        self.touch(&fresh);
        let bytes = fresh.bytes() + ENTRY + 2 * text.len();
        fresh.usage.bytes.store(bytes, Ordering::Relaxed);
        entries.bytes += bytes;
        entries.by_text.insert(text.into(), Arc::clone(&fresh));
        self.make_room(&mut entries);
        Ok(fresh)
    }

    fn recount(&self, pattern: &Pattern) {
        let mut entries = self.lock();
        let is_here = entries.by_text.get(pattern.text()).is_some_and(|known| std::ptr::eq(&**known, pattern));
        if is_here {
            let bytes = pattern.bytes() + ENTRY + 2 * pattern.text().len();
            let before = pattern.usage.bytes.swap(bytes, Ordering::Relaxed);
            entries.bytes = entries.bytes.saturating_sub(before) + bytes;
            self.make_room(&mut entries);
        }
    }

    /// Evicts the least recently used patterns. It evicts more than necessary, so that not every new pattern needs an
    /// eviction.
    ///
    //= docs/spec.md#robustness
    //# The compiled patterns of the process MUST NOT take more than 8 MB, with what their engines keep.
    fn make_room(&self, entries: &mut CacheEntries) {
        if entries.bytes <= self.most {
            return;
        }
        let used = |pattern: &Arc<Pattern>| pattern.usage.used.load(Ordering::Relaxed);
        let mut oldest: Vec<(u64, Box<str>)> =
            entries.by_text.iter().map(|(text, pattern)| (used(pattern), text.clone())).collect();
        oldest.sort_unstable();
        for (_, text) in oldest {
            if entries.bytes <= self.most / 8 * 7 {
                break;
            }
            if let Some(gone) = entries.by_text.remove(&text) {
                entries.bytes = entries.bytes.saturating_sub(gone.usage.bytes.load(Ordering::Relaxed));
            }
        }
    }
}
