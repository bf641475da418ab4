//! The cost of a pattern: its size with counted repeats expanded, measured before it is compiled; and the steps of its
//! automaton in units of the guard.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange};

/// The maximum length of a pattern's text in bytes.
const MAX_PATTERN_BYTES: usize = 64 << 10;
/// The maximum number of character classes in a pattern. Each may expand to hundreds of ranges, and they share nothing.
const MAX_CLASSES: u64 = 2_000;
/// The maximum number of times that a pattern may repeat a part, with nested counts multiplied: the limit of Go and of
/// RE2.
const MAX_REPEATS: u64 = 1_000;

/// The size of a pattern.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PatternSize {
    /// The number of parts, with counted repeats expanded. An engine takes at most this many steps per byte of text, up
    /// to a constant factor.
    pub size: u64,
    /// The number of character classes as written.
    classes: u64,
    /// The number of repeats of the most repeated part.
    repeats: u64,
}

/// Refuses a text that is too long for a pattern.
pub fn check_length(pattern: &str) -> Result<()> {
    if pattern.len() <= MAX_PATTERN_BYTES {
        return Ok(());
    }
    let message =
        format!("the pattern has {} kB; at most {} kB are allowed", pattern.len() >> 10, MAX_PATTERN_BYTES >> 10);
    Err(Diagnostic::new(Code::ARGUMENTS, message).help("search for fewer alternatives at a time"))
}

impl PatternSize {
    /// Measures a pattern without look-around.
    pub fn from_ast(ast: &Ast) -> Self {
        match ast {
            Ast::Empty(_) | Ast::Flags(_) | Ast::Literal(_) | Ast::Dot(_) | Ast::Assertion(_) => Self::part(),
            Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => Self::class(),
            Ast::Group(group) => Self::from_ast(&group.ast).and(Self::part()),
            Ast::Repetition(repetition) => Self::from_ast(&repetition.ast).times(repeat_count(&repetition.op.kind)),
            Ast::Alternation(alternation) => {
                alternation.asts.iter().fold(Self::part(), |sum, one| sum.and(Self::from_ast(one)))
            }
            Ast::Concat(concat) => concat.asts.iter().fold(Self::default(), |sum, one| sum.and(Self::from_ast(one))),
        }
    }

    /// A part that is not a character class.
    pub fn part() -> Self {
        Self { size: 1, classes: 0, repeats: 1 }
    }

    /// A literal of this many bytes.
    pub fn letters(bytes: usize) -> Self {
        Self { size: bytes as u64, ..Self::part() }
    }

    /// A character class. Its code points take several bytes.
    pub fn class() -> Self {
        Self { size: 2, classes: 1, repeats: 1 }
    }

    /// The size of both in sequence.
    pub fn and(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            classes: self.classes.saturating_add(other.classes),
            repeats: self.repeats.max(other.repeats),
        }
    }

    /// The size when repeated `count` times; `None` for a repetition without an upper count.
    pub fn times(self, count: Option<u64>) -> Self {
        let size = self.size.saturating_add(1);
        let count = count.unwrap_or(1).max(1);
        Self { size: size.saturating_mul(count), classes: self.classes, repeats: self.repeats.saturating_mul(count) }
    }

    /// The number of parts, at least 1.
    ///
    /// # Errors
    /// The pattern has too many repeats or character classes to be compiled.
    ///
    //= docs/spec.md#primitives
    //# A pattern that is too complex MUST be refused before the search.
    pub fn check_limits(self) -> Result<u64> {
        if self.repeats > MAX_REPEATS {
            let message = format!(
                "the pattern repeats a part {} times; at most {MAX_REPEATS} are allowed, with nested counts multiplied",
                self.repeats
            );
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help("use smaller counts, or `*` or `+`"));
        }
        if self.classes > MAX_CLASSES {
            let message =
                format!("the pattern has {} character classes; at most {MAX_CLASSES} are allowed", self.classes);
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help("search for fewer alternatives at a time"));
        }
        Ok(self.size.max(1))
    }
}

fn repeat_count(kind: &RepetitionKind) -> Option<u64> {
    match kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => None,
        RepetitionKind::Range(
            RepetitionRange::Exactly(count) | RepetitionRange::AtLeast(count) | RepetitionRange::Bounded(_, count),
        ) => Some(u64::from(*count)),
    }
}

/// The number of steps that count as one unit of the guard, which is a copied byte. A step takes about 10 ns, at worst
/// 100 ns, and short searches are counted by their worst case.
const STEPS: u64 = 16;

/// Counts steps that were taken, or that will be taken without interruption. A thousand short searches count as much as
/// a long one.
///
/// # Errors
/// The running call was stopped.
#[cfg_attr(test, track_caller)]
pub fn spend(steps: u64) -> Result<()> {
    guard::spend(usize::try_from(steps.div_ceil(STEPS)).unwrap_or(usize::MAX))
}
