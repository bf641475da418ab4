//! How far a match may reach from where it begins: what a window of a long text must hold.

use regex_syntax::hir::{Class, Hir, HirKind};

/// Longer matches make windows that are mostly looked at twice.
const SHORT: usize = 4_096;

/// How far a match may reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// At most so many bytes.
    Bytes(usize),
    /// To the end of its line at most: it never takes a line feed.
    Line,
    /// Nobody knows.
    Far,
}

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Where it ends: every match that begins before `next` ends before this.
    pub end: usize,
    /// Where the next one begins.
    pub next: usize,
}

impl Reach {
    /// The reach of a pattern.
    pub fn of(hir: &Hir) -> Self {
        match hir.properties().maximum_len() {
            Some(most) if most <= SHORT => Self::Bytes(most),
            _ if !takes_line_feeds(hir) => Self::Line,
            _ => Self::Far,
        }
    }

    /// The window of a text that begins at `from` and has some `step` bytes; nothing if it would be much longer.
    pub fn window(self, text: &str, from: usize, step: usize) -> Option<Window> {
        let next = text.ceil_char_boundary(from.saturating_add(step).min(text.len()));
        match self {
            Self::Bytes(most) if most <= step => {
                let end = text.ceil_char_boundary(next.saturating_add(most).min(text.len()));
                Some(Window { end, next })
            }
            Self::Line => {
                let longest = next.saturating_add(step).min(text.len());
                let line = memchr::memchr(b'\n', &text.as_bytes()[next..longest]);
                let end = line.map(|line| next + line + 1).or((longest == text.len()).then_some(longest))?;
                Some(Window { end, next: end })
            }
            Self::Bytes(_) | Self::Far => None,
        }
    }
}

/// Whether a match may hold a line feed.
pub(super) fn takes_line_feeds(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => false,
        HirKind::Literal(literal) => literal.0.contains(&b'\n'),
        HirKind::Class(Class::Unicode(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'\n'))
        }
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'\n'))
        }
        HirKind::Repetition(repetition) => takes_line_feeds(&repetition.sub),
        HirKind::Capture(capture) => takes_line_feeds(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(takes_line_feeds),
    }
}
