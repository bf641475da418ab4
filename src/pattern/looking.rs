//! Patterns with look-around and back references: they step back, and may never end. The guard is asked whenever the
//! engine looks at the text.

use super::sight::is_line_by_line;
use super::{Found, Measure, meter};
use crate::diagnostic::{Code, Diagnostic, Result};
use fancy_regex::{Expr, Input};
use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// How many steps back a pattern may take for one match.
const STEPS: usize = 1_000_000;
/// The parts of such a pattern times the bytes of a text: so long a part without look-around may run, unasked, in one step.
const MOST: u64 = 20_000_000;
/// A window of a longer text is so many times smaller than what is searched at once: to look at a short text costs less.
const WINDOWS: u64 = 16;
/// Bytes of a compiled part, and of the states that it keeps.
const PART: usize = 1 << 20;
/// Instructions of a compiled pattern.
const INSTRUCTIONS: usize = 20_000;
/// How much less than the worst a step usually takes.
const USUAL: u64 = 256;

/// A compiled pattern.
pub struct Looking {
    engine: fancy_regex::Regex,
    size: u64,
    /// Whether long texts may be cut between their lines.
    is_line_by_line: bool,
    /// [`MOST`]: tests take less, so that short texts have windows.
    most: u64,
}

/// The text, which asks the guard when the engine looks at it.
struct Watched<'t> {
    text: &'t str,
    /// What a look costs.
    units: u64,
    looks: Cell<u64>,
}

/// What the guard said, on its way through the engine.
struct Stopped(Box<Diagnostic>);

impl Looking {
    /// Compiles a pattern.
    ///
    /// # Errors
    /// What the engine says, or that the pattern is too large.
    pub fn new(pattern: &str) -> std::result::Result<Result<Self>, fancy_regex::Error> {
        let tree = Expr::parse_tree(pattern)?;
        let size = match measure(&tree.expr).accepted() {
            Ok(size) => size,
            Err(refused) => return Ok(Err(refused)),
        };
        let mut builder = fancy_regex::RegexBuilder::new(pattern);
        builder.backtrack_limit(STEPS).delegate_size_limit(PART).delegate_dfa_size_limit(PART);
        let is_line_by_line = is_line_by_line(&tree.expr);
        builder.max_prog_size(INSTRUCTIONS).build().map(|engine| Ok(Self { engine, size, is_line_by_line, most: MOST }))
    }

    /// The same pattern, that searches no more than so many bytes at once.
    #[cfg(test)]
    pub fn by_steps_of(self, bytes: u64) -> Self {
        Self { most: self.size * bytes, ..self }
    }

    /// The parts of the pattern, counted repeats written out.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The names of its groups by number.
    pub fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.engine.capture_names()
    }

    /// Whether it occurs in the text.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        let mut from = 0;
        while let Some(window) = self.window(text, from)? {
            let watched = self.watch(&text[window.clone()]);
            if stoppable(|| self.engine.is_match(&watched))?.map_err(|error| gave_up(&error))? {
                return Ok(true);
            }
            from = window.end + 1;
        }
        Ok(false)
    }

    /// Hands over the matches from left to right until it is told to break.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Found) -> Result<ControlFlow<()>>) -> Result<()> {
        let mut from = 0;
        while let Some(window) = self.window(text, from)? {
            let watched = self.watch(&text[window.clone()]);
            let mut all = self.engine.captures_iter(&watched);
            while let Some(captures) = stoppable(|| all.next())? {
                let captures = captures.map_err(|error| gave_up(&error))?;
                let group = |group: Range<usize>| group.start + window.start..group.end + window.start;
                let groups = (0..captures.len()).map(|number| captures.get(number).map(group)).collect();
                if visit(Found { groups })?.is_break() {
                    return Ok(());
                }
            }
            from = window.end + 1;
        }
        Ok(())
    }

    /// What is searched next, from `from` on: all of a text that is short enough, else some whole lines of it, the last one
    /// without its line feed. Nothing once the text is over.
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
            return Err(too_long(&format!("the text has {} kB", text.len() >> 10), most));
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
            None => Err(too_long("the text has a longer line", most)),
        }
    }

    fn watch<'t>(&self, text: &'t str) -> Watched<'t> {
        let most = self.size.saturating_mul(text.len() as u64);
        Watched { text, units: 1 + most / USUAL, looks: Cell::new(0) }
    }
}

/// What is told of a text, or of one of its lines, that is too long.
fn too_long(what: &str, most: usize) -> Box<Diagnostic> {
    let most = match most >> 10 {
        0 => format!("{most} bytes"),
        kilo_bytes => format!("{kilo_bytes} kB"),
    };
    let message =
        format!("{what}; a pattern of this size with look-around or back references searches up to {most} at once");
    Diagnostic::new(Code::LIMIT, message).help(
        "a longer text is searched line by line if no part of the pattern takes a line feed (`[^x]`, `\\s` and `^` do, \
         `[^x\\n]`, `[ \\t]` and `(?m)^` do not); or write the pattern without look-around and back references",
    )
}

impl Watched<'_> {
    /// Leaves the engine if the guard says so: it has no other way out. No panic is told anywhere.
    fn look(&self) {
        let looks = self.looks.get() + 1;
        let units = looks.saturating_mul(self.units);
        if units < meter::PERIOD / 16 {
            self.looks.set(looks);
            return;
        }
        self.looks.set(0);
        if let Err(fault) = meter::spend(units) {
            resume_unwind(Box::new(Stopped(fault)));
        }
    }
}

impl Input for Watched<'_> {
    type Match<'t>
        = Range<usize>
    where
        Self: 't;

    fn len(&self) -> usize {
        self.look();
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.look();
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        self.look();
        Input::prev_codepoint_ix(self.text, at)
    }

    fn make_match(&self, start: usize, end: usize) -> Range<usize> {
        start..end
    }

    fn advance_position(&self, at: usize) -> usize {
        self.look();
        Input::advance_position(self.text, at)
    }
}

/// Runs the engine until the guard stops it.
fn stoppable<T>(run: impl FnOnce() -> T) -> Result<T> {
    catch_unwind(AssertUnwindSafe(run)).or_else(|panic| match panic.downcast::<Stopped>() {
        Ok(stopped) => Err(stopped.0),
        Err(panic) => resume_unwind(panic),
    })
}

/// The measure of a pattern with look-around. A subroutine counts where it stands, not where it is called: the number of
/// instructions is limited beside.
fn measure(expr: &Expr) -> Measure {
    match expr {
        Expr::Repeat { child, hi, lo, .. } => {
            let count = if *hi == usize::MAX { *lo } else { *hi };
            measure(child).times(Some(count as u64))
        }
        Expr::Literal { val, .. } => Measure::letters(val.len()),
        Expr::Delegate { .. } => Measure::class(),
        _ => expr.children_iter().fold(Measure::part(), |sum, child| sum.and(measure(child))),
    }
}

fn gave_up(error: &fancy_regex::Error) -> Box<Diagnostic> {
    let message = format!("the regular expression gave up: {error}");
    Diagnostic::new(Code::LIMIT, message).help("without look-around and back references a pattern always ends")
}
