//! Regular expressions. Each is compiled once per process and cached. A pattern is limited in size, and the texts that it
//! searches are not; the guard is consulted after each match.

mod captures;
mod cost;
mod held_bytes;
mod linear;
mod look_around;
#[cfg(test)]
mod tests;

pub use captures::Captures;

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Map, Text, Value};
use cost::PatternSize;
use held_bytes::HeldBytes;
use linear::LinearEngine;
use look_around::LookAroundEngine;
use rustc_hash::FxHashMap;
use std::ops::ControlFlow;
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

/// The maximum number of bytes that all patterns may take, including the memory of their engines.
const MAX_HELD_BYTES: usize = 8 << 20;
/// The number of bytes that a cache entry takes in addition to its pattern.
const ENTRY_BYTES: usize = 256;

/// The compiled patterns of the process, by their text.
static CACHE: LazyLock<RwLock<FxHashMap<Box<str>, Arc<Pattern>>>> = LazyLock::new(RwLock::default);

/// A compiled regular expression, in the syntax of the `regex` crate, plus look-around and back references if it uses
/// them.
pub struct Pattern {
    text: Box<str>,
    engine: Engine,
    names: Vec<Option<Text>>,
    /// What it takes without the memory of its searches, which its engine counts.
    _compiled: HeldBytes,
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
        if let Some(known) = CACHE.read().unwrap_or_else(PoisonError::into_inner).get(pattern) {
            return Ok(Arc::clone(known));
        }
        // Compiled outside the lock, so that other threads need not wait for it.
        let fresh = Arc::new(Self::compile(pattern)?);
        make_room();
        let mut cache = CACHE.write().unwrap_or_else(PoisonError::into_inner);
        Ok(Arc::clone(cache.entry(pattern.into()).or_insert(fresh)))
    }

    fn compile(pattern: &str) -> Result<Self> {
        cost::check_length(pattern)?;
        let before = guard::allocated();
        let engine = Engine::compile(pattern)?;
        let names = match &engine {
            Engine::Linear(linear) => linear.names().map(|name| name.map(Text::from)).collect(),
            Engine::LookAround(look_around) => look_around.names().map(|name| name.map(Text::from)).collect(),
        };
        let mut compiled = usize::try_from(guard::allocated().wrapping_sub(before)).unwrap_or(0);
        if matches!(engine, Engine::LookAround(_)) {
            // The memory of its searches cannot be measured. It is estimated at the size of the pattern itself.
            compiled *= 2;
        }
        let held = HeldBytes::new(compiled + ENTRY_BYTES + 2 * pattern.len());
        Ok(Self { text: pattern.into(), engine, names, _compiled: held })
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
            Engine::Linear(linear) => linear.size,
            Engine::LookAround(look_around) => look_around.size,
        }
    }

    /// The names of its groups by number. Group 0 has none.
    pub fn names(&self) -> &[Option<Text>] {
        &self.names
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        let answer = match &self.engine {
            Engine::Linear(linear) => linear.is_match(text),
            Engine::LookAround(look_around) => look_around.is_match(text),
        };
        make_room();
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
            Engine::Linear(linear) => linear.each(text, pass),
            Engine::LookAround(look_around) => look_around.each(text, pass),
        };
        make_room();
        ended
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
                let diagnostic = invalid(
                    "a repeat of something that matches no character (look-around, `^`)",
                    Some((pattern, byte)),
                );
                Err(refused.unwrap_or_else(|| {
                    diagnostic.help(
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
        Ok(LinearEngine::new(&hir, size).map(|linear| Self::Linear(Box::new(linear))))
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

/// Forgets all patterns if they take too much. Those in use stay until they are dropped.
fn make_room() {
    if HeldBytes::total() > MAX_HELD_BYTES {
        // Dropped outside the lock.
        let _all = std::mem::take(&mut *CACHE.write().unwrap_or_else(PoisonError::into_inner));
    }
}
