//! The result of a match: the bytes of the whole match and of its groups.

use std::ops::Range;

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
