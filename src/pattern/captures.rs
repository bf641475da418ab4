//! The result of a match: the bytes of the whole match and of its groups.

use crate::diagnostic::Result;
use std::ops::{ControlFlow, Range};

/// A match: the bytes of each group, where group 0 is the whole match. All ends are character boundaries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    pub(super) groups: Vec<Option<Range<usize>>>,
}

impl Captures {
    /// The bytes of the whole match.
    pub fn span(&self) -> Range<usize> {
        self.group(0).unwrap_or_default()
    }

    /// The bytes of a group, if it took part in the match.
    pub fn group(&self, number: usize) -> Option<Range<usize>> {
        self.groups.get(number).cloned().flatten()
    }
}

/// Calls `visit` with each match that `find` finds from some byte on, from left to right and without overlaps, until it
/// breaks.
pub(super) fn each_match(
    text: &str,
    mut find: impl FnMut(usize) -> Result<Option<Captures>>,
    mut visit: impl FnMut(Captures) -> Result<ControlFlow<()>>,
) -> Result<()> {
    let (mut at, mut last) = (0, None);
    while let Some(found) = find(at)? {
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
