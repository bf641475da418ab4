//! Patterns with look-around and back references. Their engine backtracks and may take exponential time, so the guard
//! is consulted whenever the engine reads the text.

use super::captures::Captures;
use super::cost::{self, PatternSize};
use super::linear::takes_line_feeds;
use crate::diagnostic::{Code, Diagnostic, Result};
use fancy_regex::{Assertion, Expr, Input};
use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// The maximum number of backtracking steps of a match.
const STEPS: usize = 1_000_000;
/// The maximum product of pattern parts and text bytes. A part without look-around may run that long in one step,
/// without consulting the guard.
const MOST: u64 = 20_000_000;
/// The window of a long text is this many times smaller than what may be searched at once, because short texts are
/// cheaper to read.
const WINDOWS: u64 = 16;
/// The maximum size, in bytes, of a compiled part and of the states that it keeps.
const PART: usize = 1 << 20;
/// The maximum number of instructions of a compiled pattern.
const INSTRUCTIONS: usize = 20_000;
/// How many times faster than the worst case a step usually is.
const USUAL: u64 = 256;

/// A compiled pattern with look-around or back references.
pub struct LookAroundEngine {
    engine: fancy_regex::Regex,
    size: u64,
    /// Whether long texts can be searched line by line.
    is_line_by_line: bool,
    /// [`MOST`]; smaller in tests, so that short texts have windows.
    most: u64,
}

/// A text that consults the guard when the engine reads it.
struct GuardedText<'t> {
    text: &'t str,
    /// The cost of reading the text once.
    units: u64,
    looks: Cell<u64>,
}

/// The payload of the unwinding that leaves the engine: the fault that the guard raised.
struct StoppedByGuard(Box<Diagnostic>);

impl LookAroundEngine {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// The pattern is invalid (outer error) or too large (inner error).
    pub fn new(pattern: &str) -> std::result::Result<Result<Self>, fancy_regex::Error> {
        let tree = Expr::parse_tree(pattern)?;
        let size = match measure(&tree.expr).check_limits() {
            Ok(size) => size,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut builder = fancy_regex::RegexBuilder::new(pattern);
        builder.backtrack_limit(STEPS).delegate_size_limit(PART).delegate_dfa_size_limit(PART);
        let is_line_by_line = is_line_by_line(&tree.expr);
        builder.max_prog_size(INSTRUCTIONS).build().map(|engine| Ok(Self { engine, size, is_line_by_line, most: MOST }))
    }

    /// The same pattern, searching at most this many bytes at once.
    #[cfg(test)]
    pub fn with_step(self, bytes: u64) -> Self {
        Self { most: self.size * bytes, ..self }
    }

    /// The number of parts of the pattern, with counted repeats expanded.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The names of its groups by number.
    pub fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.engine.capture_names()
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        let mut from = 0;
        while let Some(window) = self.window(text, from)? {
            let watched = self.watch(&text[window.clone()]);
            if stoppable(|| self.engine.is_match(&watched))?.map_err(|error| backtrack_limit_error(&error))? {
                return Ok(true);
            }
            from = window.end + 1;
        }
        Ok(false)
    }

    /// Calls `visit` with each match, from left to right, until it breaks.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Captures) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut from = 0;
        while let Some(window) = self.window(text, from)? {
            let watched = self.watch(&text[window.clone()]);
            let mut all = self.engine.captures_iter(&watched);
            while let Some(captures) = stoppable(|| all.next())? {
                let captures = captures.map_err(|error| backtrack_limit_error(&error))?;
                let group = |group: Range<usize>| group.start + window.start..group.end + window.start;
                let groups = (0..captures.len()).map(|number| captures.get(number).map(group)).collect();
                if visit(Captures { groups })?.is_break() {
                    return Ok(());
                }
            }
            from = window.end + 1;
        }
        Ok(())
    }

    /// The next part to search, starting at `from`: the whole rest if it is short enough, otherwise some whole lines,
    /// without the last line feed. `None` at the end of the text.
    //= docs/spec.md#robustness
    //# A text that is too long for a pattern with look-around MUST be searched line by line where that finds the same, and refused else.
    fn window(&self, text: &str, from: usize) -> Result<Option<Range<usize>>> {
        if from > text.len() {
            return Ok(None);
        }
        let most = usize::try_from(self.most / self.size).unwrap_or(usize::MAX);
        if text.len() <= most {
            return Ok(Some(from..text.len()));
        }
        if !self.is_line_by_line {
            return Err(text_too_long(&format!("the text has {} kB", text.len() >> 10), most));
        }
        let step = usize::try_from(self.most / WINDOWS / self.size).unwrap_or(usize::MAX);
        let (near, far) = (text.len().min(from.saturating_add(step)), text.len().min(from.saturating_add(most)));
        if near == text.len() {
            return Ok(Some(from..near));
        }
        let bytes = text.as_bytes();
        let last = memchr::memrchr(b'\n', &bytes[from..near]).map(|at| from + at);
        let end = last.or_else(|| memchr::memchr(b'\n', &bytes[near..far]).map(|at| near + at));
        match end.or((far == text.len()).then_some(far)) {
            Some(end) => Ok(Some(from..end)),
            None => Err(text_too_long("the text has a longer line", most)),
        }
    }

    fn watch<'t>(&self, text: &'t str) -> GuardedText<'t> {
        let most = self.size.saturating_mul(text.len() as u64);
        GuardedText { text, units: 1 + most / USUAL, looks: Cell::new(0) }
    }
}

/// The fault for a text, or a line of a text, that is too long.
fn text_too_long(what: &str, most: usize) -> Box<Diagnostic> {
    let most = match most >> 10 {
        0 => format!("{most} bytes"),
        kilo_bytes => format!("{kilo_bytes} kB"),
    };
    let message =
        format!("{what}; a pattern of this size with look-around or back references can search at most {most} at once");
    Diagnostic::new(Code::LIMIT, message).help(
        "a longer text is searched line by line if no part of the pattern matches a line feed (`[^x]`, `\\s` and `^` do, \
         `[^x\\n]`, `[ \\t]` and `(?m)^` do not); or write the pattern without look-around and back references",
    )
}

impl GuardedText<'_> {
    /// Unwinds out of the engine if the guard stops the call, because there is no other way out. No panic message is
    /// printed.
    fn ask_guard(&self) {
        let looks = self.looks.get() + 1;
        let units = looks.saturating_mul(self.units);
        if units < cost::PERIOD / 16 {
            self.looks.set(looks);
            return;
        }
        self.looks.set(0);
        if let Err(fault) = cost::spend(units) {
            resume_unwind(Box::new(StoppedByGuard(fault)));
        }
    }
}

impl Input for GuardedText<'_> {
    type Match<'t>
        = Range<usize>
    where
        Self: 't;

    fn len(&self) -> usize {
        self.ask_guard();
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.ask_guard();
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        self.ask_guard();
        Input::prev_codepoint_ix(self.text, at)
    }

    fn make_match(&self, start: usize, end: usize) -> Range<usize> {
        start..end
    }

    fn advance_position(&self, at: usize) -> usize {
        self.ask_guard();
        Input::advance_position(self.text, at)
    }
}

/// Runs the engine until it ends or the guard stops it.
fn stoppable<T>(run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).or_else(|panic| match panic.downcast::<StoppedByGuard>() {
        Ok(stopped) => Err(stopped.0),
        Err(panic) => resume_unwind(panic),
    })
}

/// Measures a pattern with look-around. A subroutine is counted where it is defined, not where it is called; the number
/// of instructions is limited separately.
fn measure(expr: &Expr) -> PatternSize {
    match expr {
        Expr::Repeat { child, hi, lo, .. } => {
            let count = if *hi == usize::MAX { *lo } else { *hi };
            measure(child).times(Some(count as u64))
        }
        Expr::Literal { val, .. } => PatternSize::letters(val.len()),
        Expr::Delegate { .. } => PatternSize::class(),
        _ => expr.children_iter().fold(PatternSize::part(), |sum, child| sum.and(measure(child))),
    }
}

fn backtrack_limit_error(error: &fancy_regex::Error) -> Box<Diagnostic> {
    let message = format!("the regular expression gave up: {error}");
    Diagnostic::new(Code::LIMIT, message).help("a pattern without look-around and back references always ends")
}

/// Whether every part of the pattern, including look-around, stays within one line and does not depend on where the
/// text begins or ends. If so, a line-by-line search finds the same as a search of the whole text.
fn is_line_by_line(expr: &Expr) -> bool {
    let own = match expr {
        Expr::Any { newline, .. } => !newline,
        Expr::Literal { val, .. } => !val.contains('\n'),
        Expr::Delegate { inner, .. } => is_class_within_lines(inner),
        Expr::Assertion(assertion) => is_same_at_line_ends(*assertion),
        Expr::Empty
        | Expr::Concat(_)
        | Expr::Alt(_)
        | Expr::Group(_)
        | Expr::LookAround(..)
        | Expr::Repeat { .. }
        | Expr::Backref { .. }
        | Expr::AtomicGroup(_)
        | Expr::KeepOut => true,
        // Rare or new parts may depend on anything.
        _ => false,
    };
    own && expr.children_iter().all(is_line_by_line)
}

fn is_class_within_lines(class: &str) -> bool {
    let read = regex_syntax::Parser::new().parse(class);
    read.is_ok_and(|hir| hir.properties().look_set().is_empty() && !takes_line_feeds(&hir))
}

/// Whether an assertion holds at a line feed exactly as it does at the end of the text.
fn is_same_at_line_ends(assertion: Assertion) -> bool {
    use Assertion::*;
    match assertion {
        StartLine { crlf } | EndLine { crlf } => !crlf,
        LeftWordBoundary
        | LeftWordHalfBoundary
        | RightWordBoundary
        | RightWordHalfBoundary
        | WordBoundary
        | NotWordBoundary => true,
        StartText | EndText | EndTextIgnoreTrailingNewlines { .. } | StartLineOniguruma { .. } => false,
    }
}
