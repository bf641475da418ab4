//! Regular expressions: compiled once in the process, stopped in time whatever they and their texts are.

mod linear;
mod looking;
mod machine;
mod measure;
mod meter;
mod reach;
mod sight;
mod store;
#[cfg(test)]
mod tests;

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use crate::value::{Map, Text, Value};
use linear::{Linear, Progress, Wanted};
use looking::Looking;
use measure::Measure;
use std::ops::{ControlFlow, Range};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use store::Tally;

/// After so many searches, and at each power of two before, it is counted what the engines keep.
const RECOUNT: u32 = 1_024;

/// A compiled regular expression, in the syntax of the `regex` crate; with look-around and back references if it
/// uses them.
pub struct Pattern {
    text: Box<str>,
    engine: Engine,
    names: Vec<Option<Text>>,
    /// The bytes that compiling it kept.
    compiled: usize,
    searches: AtomicU32,
    tally: Tally,
}

enum Engine {
    Linear(Box<Linear>),
    Looking(Looking),
}

/// A match: the bytes of each group, the whole being group 0. All ends are character boundaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    groups: Vec<Option<Range<usize>>>,
}

impl Found {
    /// The bytes of the whole match.
    pub fn span(&self) -> Range<usize> {
        self.group(0).unwrap_or_default()
    }

    /// The bytes of a group, if it took part.
    pub fn group(&self, number: usize) -> Option<Range<usize>> {
        self.groups.get(number).cloned().flatten()
    }
}

impl std::fmt::Debug for Pattern {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Pattern({:?})", self.text)
    }
}

impl Pattern {
    /// The compiled form of `pattern`, from the store of the process if it was compiled before.
    ///
    /// # Errors
    /// An invalid pattern is a fault `arguments` that names the character; one that is too large tells what is.
    pub fn of(pattern: &str) -> Result<Arc<Self>> {
        store::of(pattern)
    }

    fn compile(pattern: &str) -> Result<Self> {
        measure::of_text(pattern)?;
        let before = guard::allocated();
        let engine = Engine::of(pattern)?;
        let names = match &engine {
            Engine::Linear(linear) => linear.names().map(|name| name.map(Text::from)).collect(),
            Engine::Looking(looking) => looking.names().map(|name| name.map(Text::from)).collect(),
        };
        let compiled = usize::try_from(guard::allocated().wrapping_sub(before)).unwrap_or(0);
        let searches = AtomicU32::new(0);
        Ok(Self { text: pattern.into(), engine, names, compiled, searches, tally: Tally::default() })
    }

    /// The pattern as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether it needs look-around or back references, and so more than linear time.
    pub fn looks_around(&self) -> bool {
        matches!(self.engine, Engine::Looking(_))
    }

    /// Its parts, counted repeats written out: for a byte of text a search takes at most as many steps, up to a constant.
    pub fn size(&self) -> u64 {
        match &self.engine {
            Engine::Linear(linear) => linear.size(),
            Engine::Looking(looking) => looking.size(),
        }
    }

    /// The bytes that it takes, with what its engines keep for the next text.
    fn bytes(&self) -> usize {
        self.compiled
            + match &self.engine {
                Engine::Linear(linear) => linear.kept(),
                // What its parts keep cannot be asked: as much again as the parts themselves.
                Engine::Looking(_) => self.compiled,
            }
    }

    /// A search was made: now and then its engines keep more than before.
    fn searched(&self) {
        let searches = self.searches.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        if searches.is_power_of_two() || searches.is_multiple_of(RECOUNT) {
            store::recount(self);
        }
    }

    /// The names of its groups by number; group 0 has none.
    pub fn names(&self) -> &[Option<Text>] {
        &self.names
    }

    /// Whether it occurs in the text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        let answer = match &self.engine {
            Engine::Linear(linear) => {
                linear.find(text, 0, Wanted::Existence, &mut Progress::default()).map(|found| found.is_some())
            }
            Engine::Looking(looking) => looking.is_match(text),
        };
        self.searched();
        answer
    }

    /// The first match.
    pub fn first(&self, text: &str) -> Result<Option<Found>> {
        let mut first = None;
        self.each(text, |found| {
            first = Some(found);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(first)
    }

    /// Hands over the matches from left to right, none overlapping, until it is told to break.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Found) -> Result<ControlFlow<()>>) -> Result<()> {
        let pass = |found: Found| {
            guard::check()?;
            visit(found)
        };
        let ended = match &self.engine {
            Engine::Linear(linear) => self.each_linear(linear, text, pass),
            Engine::Looking(looking) => looking.each(text, pass),
        };
        self.searched();
        ended
    }

    fn each_linear(
        &self,
        linear: &Linear,
        text: &str,
        mut visit: impl FnMut(Found) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let wanted = if self.names.len() > 1 { Wanted::Groups } else { Wanted::Span };
        let (mut progress, mut at, mut last) = (Progress::default(), 0, None);
        while let Some(found) = linear.find(text, at, wanted, &mut progress)? {
            let Range { start, end } = found.span();
            // An empty match right behind the one before is none.
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

    /// The groups of a match as a map: by number as text (`"0"` is the whole), and by name. A group that took no part
    /// is `()`.
    pub fn groups(&self, text: &str, found: &Found) -> Map {
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
    fn of(pattern: &str) -> Result<Self> {
        let refused = match Self::linear(pattern) {
            Ok(linear) => return linear,
            Err(refused) => refused,
        };
        match Looking::new(pattern) {
            Ok(looking) => looking.map(Self::Looking),
            // Look-around matches no letter, so a count of it says nothing: the engine refuses what is valid elsewhere.
            Err(fancy_regex::Error::ParseError(byte, fancy_regex::ParseError::TargetNotRepeatable)) => {
                let fault = invalid("a repeat of what matches no letter (look-around, `^`)", Some((pattern, byte)));
                Err(refused.unwrap_or_else(|| {
                    fault.help("with a count or `+` write it once, which means the same; with `*` or `?` leave it out")
                }))
            }
            Err(fancy_regex::Error::ParseError(byte, error)) => {
                Err(refused.unwrap_or_else(|| invalid(&error.to_string(), Some((pattern, byte)))))
            }
            Err(other) => Err(refused.unwrap_or_else(|| invalid(&other.to_string(), None))),
        }
    }

    /// The engine for patterns without look-around; else what is wrong with the pattern, unless it only asks for what that
    /// engine does not have.
    fn linear(pattern: &str) -> std::result::Result<Result<Self>, Option<Box<Diagnostic>>> {
        use regex_syntax::ast::ErrorKind::{UnsupportedBackreference, UnsupportedLookAround};
        let place = |span: &regex_syntax::ast::Span| Some((pattern, span.start.offset));
        let ast = regex_syntax::ast::parse::Parser::new().parse(pattern).map_err(|error| match error.kind() {
            UnsupportedBackreference | UnsupportedLookAround => None,
            kind => Some(invalid(&kind.to_string(), place(error.span()))),
        })?;
        let size = match Measure::of(&ast).accepted() {
            Ok(size) => size,
            Err(refused) => return Ok(Err(refused)),
        };
        let hir = regex_syntax::hir::translate::Translator::new().translate(pattern, &ast);
        let hir = hir.map_err(|error| Some(invalid(&error.kind().to_string(), place(error.span()))))?;
        Ok(Linear::new(hir, size).map(|linear| Self::Linear(Box::new(linear))))
    }
}

fn invalid(what: &str, place: Option<(&str, usize)>) -> Box<Diagnostic> {
    let at = place.map_or_else(String::new, |(pattern, byte)| {
        let before = pattern.floor_char_boundary(byte.min(pattern.len()));
        format!(" at character {} of `{pattern}`", pattern[..before].chars().count() + 1)
    });
    Diagnostic::new(Code::ARGUMENTS, format!("invalid regular expression: {}{at}", what.trim_end_matches('.')))
        .help("`escape_regex` makes a pattern that means the text itself")
}
