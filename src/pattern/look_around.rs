//! Patterns with look-around and back references. Their engine backtracks and may take exponential time, so it gives up
//! after some steps. The guard is consulted before each search for a match; a call whose search takes longer is answered
//! by the watchdog.

use super::captures::Captures;
use super::cost::{self, PatternSize};
use crate::diagnostic::{Code, Diagnostic, Result};
use fancy_regex::Expr;
use std::ops::ControlFlow;

/// The maximum number of backtracking steps of a match.
const STEPS: usize = 1_000_000;
/// The maximum product of pattern parts and text bytes. A part without look-around may run that long in one step.
const MOST: u64 = 20_000_000;
/// The maximum size, in bytes, of a compiled part and of the states that it keeps.
const PART: usize = 1 << 20;
/// The maximum number of instructions of a compiled pattern.
const INSTRUCTIONS: usize = 20_000;
/// A compiled pattern with look-around or back references.
pub struct LookAroundEngine {
    engine: fancy_regex::Regex,
    size: u64,
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
        builder.backtrack_limit(STEPS).delegate_size_limit(PART).delegate_dfa_size_limit(PART);
        builder.max_prog_size(INSTRUCTIONS).build().map(|engine| Ok(Self { engine, size }))
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
        self.check_text(text)?;
        self.engine.is_match(text).map_err(|error| backtrack_limit_error(&error))
    }

    /// Calls `visit` with each match, from left to right, until it breaks.
    pub fn each(&self, text: &str, mut visit: impl FnMut(Captures) -> Result<ControlFlow<()>>) -> Result<()> {
        self.check_text(text)?;
        for captures in self.engine.captures_iter(text) {
            let captures = captures.map_err(|error| backtrack_limit_error(&error))?;
            let groups = captures.iter().map(|group| group.map(|group| group.range())).collect();
            if visit(Captures { groups })?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Refuses a text that is too long for the pattern, and counts the steps of a search.
    //= docs/spec.md#robustness
    //# A text that is too long for a pattern with look-around MUST be refused.
    fn check_text(&self, text: &str) -> Result<()> {
        let steps = self.size.saturating_mul(text.len() as u64 + 1);
        cost::spend(steps)?;
        if steps <= MOST {
            return Ok(());
        }
        let message = format!(
            "the text has {} kB; this pattern, with look-around or back references, takes up to {} kB",
            text.len() >> 10,
            (MOST / self.size) >> 10
        );
        Err(Diagnostic::new(Code::LIMIT, message)
            .help("search its parts, such as `split_lines(text)`, or write the pattern without look-around and back references"))
    }
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
