//! Patterns with look-around and back references. Their engine backtracks and may take exponential time, so it gives up
//! after some steps. In a long text it is asked for a match at each position, and the guard before each of these.

use super::captures::{Captures, each_match};
use super::cost::{self, PatternSize};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use fancy_regex::{Expr, RegexInput};
use std::ops::ControlFlow;

/// The maximum number of backtracking steps of a match.
const MAX_BACKTRACKING_STEPS: usize = 1_000_000;
/// The maximum product of pattern parts and the square of text bytes for which the engine searches by itself. A part
/// may read the whole text at each position, so that a longer search would not end with its call.
const MAX_WHOLE_TEXT_COST: u64 = 50_000_000;
/// The maximum size, in bytes, of a compiled part and of the states that it keeps.
const MAX_PART_BYTES: usize = 1 << 20;
/// The maximum number of instructions of a compiled pattern.
const MAX_INSTRUCTIONS: usize = 20_000;
/// A compiled pattern with look-around or back references.
pub struct LookAroundEngine {
    engine: fancy_regex::Regex,
    pub(super) size: u64,
}

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
        builder
            .backtrack_limit(MAX_BACKTRACKING_STEPS)
            .delegate_size_limit(MAX_PART_BYTES)
            .delegate_dfa_size_limit(MAX_PART_BYTES);
        builder.max_prog_size(MAX_INSTRUCTIONS).build().map(|engine| Ok(Self { engine, size }))
    }

    /// The names of its groups by number.
    pub fn names(&self) -> impl Iterator<Item = Option<&str>> {
        self.engine.capture_names()
    }

    /// Whether the text contains a match.
    pub fn is_match(&self, text: &str) -> Result<bool> {
        match self.measure_text(text)? {
            TextLength::Short => self.engine.is_match(text).map_err(|error| backtrack_limit_error(&error)),
            TextLength::Long => Ok(self.find_from(text, 0)?.is_some()),
        }
    }

    /// Calls `visit` with each match, from left to right, until it breaks.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Captures) -> Result<ControlFlow<()>>) -> Result<()> {
        if self.measure_text(text)? == TextLength::Short {
            for captures in self.engine.captures_iter(text) {
                let captures = captures.map_err(|error| backtrack_limit_error(&error))?;
                if visit(spans(&captures))?.is_break() {
                    break;
                }
            }
            return Ok(());
        }
        each_match(text, |at| self.find_from(text, at), visit)
    }

    /// The first match that begins at `from` or later, of a long text.
    fn find_from(&self, text: &str, from: usize) -> Result<Option<Captures>> {
        let mut at = from;
        while at <= text.len() {
            guard::check()?;
            let input = RegexInput::new(text).from_pos(at).anchored(true);
            let found = self.engine.captures_input(input).map_err(|error| backtrack_limit_error(&error))?;
            if let Some(found) = found {
                return Ok(Some(spans(&found)));
            }
            at = next_letter(text, at);
        }
        Ok(None)
    }

    /// Counts the steps of a search, and decides how the text is searched.
    fn measure_text(&self, text: &str) -> Result<TextLength> {
        let length = text.len() as u64 + 1;
        let steps = self.size.saturating_mul(length);
        cost::spend(steps)?;
        let is_short = steps.saturating_mul(length) <= MAX_WHOLE_TEXT_COST;
        Ok(if is_short { TextLength::Short } else { TextLength::Long })
    }
}

/// How long a text is for a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextLength {
    /// A search in it ends soon.
    Short,
    /// It is searched position by position.
    Long,
}

fn spans(captures: &fancy_regex::Captures<'_, str>) -> Captures {
    Captures { groups: captures.iter().map(|group| group.map(|group| group.range())).collect() }
}

/// Where the next character begins; at the end of the text, the position after it.
fn next_letter(text: &str, at: usize) -> usize {
    at + text[at..].chars().next().map_or(1, char::len_utf8)
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
