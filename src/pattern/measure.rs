//! How large a pattern is when its counted repeats are written out, found before anything is compiled.

use crate::diagnostic::{Code, Diagnostic, Result};
use regex_syntax::ast::{Ast, RepetitionKind, RepetitionRange};

/// Bytes that the text of a pattern may have.
const LONGEST: usize = 64 << 10;
/// Character classes that a pattern may write: each may stand for hundreds of ranges, and none of them is shared.
const CLASSES: u64 = 2_000;
/// How often a pattern may repeat a part by counts, nested counts multiplied: the limit of Go and of RE2.
const REPEATS: u64 = 1_000;

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// The parts of the pattern, counted repeats written out: for a byte of text an engine takes at most as many steps, up
    /// to a constant.
    pub size: u64,
    /// Character classes, as often as they are written.
    classes: u64,
    /// How often the most repeated part is repeated.
    repeats: u64,
}

/// Refuses a text that is too long to be read as a pattern.
pub fn of_text(pattern: &str) -> Result<()> {
    if pattern.len() <= LONGEST {
        return Ok(());
    }
    let message = format!("the pattern has {} kB; a pattern has at most {} kB", pattern.len() >> 10, LONGEST >> 10);
    Err(Diagnostic::new(Code::ARGUMENTS, message).help("search for fewer things at a time"))
}

impl Measure {
    /// The measure of a pattern without look-around.
    pub fn of(ast: &Ast) -> Self {
        match ast {
            Ast::Empty(_) | Ast::Flags(_) | Ast::Literal(_) | Ast::Dot(_) | Ast::Assertion(_) => Self::part(),
            Ast::ClassUnicode(_) | Ast::ClassPerl(_) | Ast::ClassBracketed(_) => Self::class(),
            Ast::Group(group) => Self::of(&group.ast).and(Self::part()),
            Ast::Repetition(repetition) => Self::of(&repetition.ast).times(count_of(&repetition.op.kind)),
            Ast::Alternation(alternation) => {
                alternation.asts.iter().fold(Self::part(), |sum, one| sum.and(Self::of(one)))
            }
            Ast::Concat(concat) => concat.asts.iter().fold(Self::default(), |sum, one| sum.and(Self::of(one))),
        }
    }

    /// One part that is no class.
    pub fn part() -> Self {
        Self { size: 1, classes: 0, repeats: 1 }
    }

    /// Letters, so many bytes.
    pub fn letters(bytes: usize) -> Self {
        Self { size: bytes as u64, ..Self::part() }
    }

    /// One class: its code points take several bytes.
    pub fn class() -> Self {
        Self { size: 2, classes: 1, repeats: 1 }
    }

    /// Both, one beside the other.
    pub fn and(self, other: Self) -> Self {
        Self {
            size: self.size.saturating_add(other.size),
            classes: self.classes.saturating_add(other.classes),
            repeats: self.repeats.max(other.repeats),
        }
    }

    /// Repeated so often; nothing where no number is written.
    pub fn times(self, count: Option<u64>) -> Self {
        let size = self.size.saturating_add(1);
        let count = count.unwrap_or(1).max(1);
        Self { size: size.saturating_mul(count), classes: self.classes, repeats: self.repeats.saturating_mul(count) }
    }

    /// The size, unless the pattern is one that no engine should be made for.
    ///
    //= docs/spec.md#robustness
    //# A pattern that repeats a part more than a thousand times, nested counts multiplied, MUST be refused before it is compiled.
    pub fn accepted(self) -> Result<u64> {
        if self.repeats > REPEATS {
            let message = format!(
                "the pattern repeats a part {} times; at most {REPEATS}, nested counts multiplied",
                self.repeats
            );
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help("write the counts smaller, or use `*` or `+`"));
        }
        if self.classes > CLASSES {
            let message = format!("the pattern has {} character classes; at most {CLASSES}", self.classes);
            return Err(Diagnostic::new(Code::ARGUMENTS, message).help("search for fewer things at a time"));
        }
        Ok(self.size.max(1))
    }
}

/// The larger count of a repetition, if it has one.
fn count_of(kind: &RepetitionKind) -> Option<u64> {
    match kind {
        RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => None,
        RepetitionKind::Range(
            RepetitionRange::Exactly(count) | RepetitionRange::AtLeast(count) | RepetitionRange::Bounded(_, count),
        ) => Some(u64::from(*count)),
    }
}
