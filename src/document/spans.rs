//! Sets of byte ranges of one text, such as the parts that quotes cover.

use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::value::{Json, Kind, Object, Value, no_field};
use std::ops::Range;

/// Byte ranges: sorted, non-empty, neither overlapping nor adjacent. They do not know their text; the caller ensures
/// that two sets belong to the same text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spans(Vec<Range<usize>>);

impl Spans {
    /// The set of all bytes in `ranges`, which may be in any order.
    pub fn new(ranges: impl IntoIterator<Item = Range<usize>>) -> Self {
        let mut ranges: Vec<Range<usize>> = ranges.into_iter().filter(|range| range.start < range.end).collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Self(merged)
    }

    /// Both values, if both are spans. Spends the guard for an operation on them.
    pub fn pair<'a>(first: &'a Value, second: &'a Value) -> Result<Option<(&'a Self, &'a Self)>> {
        let Some((first, second)) = first.as_object::<Self>().zip(second.as_object::<Self>()) else { return Ok(None) };
        guard::spend((first.0.len() + second.0.len()) * ITEM)?;
        Ok(Some((first, second)))
    }

    /// The ranges in ascending order.
    pub fn ranges(&self) -> &[Range<usize>] {
        &self.0
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes that are in at least one of the sets.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::union_of([self, other])
    }

    /// The bytes that are in at least one of these sets.
    pub fn union_of<'a>(sets: impl IntoIterator<Item = &'a Self>) -> Self {
        Self::new(sets.into_iter().flat_map(|set| set.0.iter().cloned()))
    }

    /// The bytes that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut both = Vec::new();
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let (start, end) = (a.start.max(b.start), a.end.min(b.end));
            if start < end {
                both.push(start..end);
            }
            if a.end <= b.end {
                left.next();
            } else {
                right.next();
            }
        }
        Self(both)
    }

    /// Whether a byte is in both sets. Looks up each range of the smaller set in the larger one.
    pub fn overlaps(&self, other: &Self) -> bool {
        let (few, many) = if self.0.len() <= other.0.len() { (self, other) } else { (other, self) };
        few.0.iter().any(|range| {
            let next = many.0.partition_point(|other| other.end <= range.start);
            many.0.get(next).is_some_and(|other| other.start < range.end)
        })
    }

    /// The bytes that are in this set and not in the other.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Self {
        let mut rest = Vec::with_capacity(self.0.len());
        let mut cuts = other.0.iter().peekable();
        for range in &self.0 {
            let mut start = range.start;
            while let Some(cut) = cuts.peek() {
                if cut.start >= range.end {
                    break;
                }
                if cut.start > start {
                    rest.push(start..cut.start);
                }
                start = start.max(cut.end);
                if cut.end > range.end {
                    break;
                }
                cuts.next();
            }
            if start < range.end {
                rest.push(start..range.end);
            }
        }
        Self(rest)
    }

    /// The number of characters of `text` within the set that are not white space. Ranges beyond the text count as
    /// empty.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn non_whitespace_len(&self, text: &str) -> Result<usize> {
        self.0
            .iter()
            .map(|range| {
                let start = text.ceil_char_boundary(range.start.min(text.len()));
                let end = text.floor_char_boundary(range.end.min(text.len())).max(start);
                guard::spend(ITEM)?;
                guard::pieces(&text[start..end])
                    .map(|piece| Ok(piece?.chars().filter(|letter| !letter.is_whitespace()).count()))
                    .sum::<Result<usize>>()
            })
            .sum()
    }
}

impl Object for Spans {
    fn kind(&self) -> Kind {
        Kind::Spans
    }

    /// There are no fields. The help names the verbs that query the covered text.
    fn field(&self, name: &str) -> Result<Value> {
        Err(no_field(Kind::Spans, name, &[]).help("use `is_empty`, `non_whitespace_len` or `intersection`"))
    }

    /// The list of `[from, to]` in bytes, `to` exclusive.
    fn to_json(&self) -> Json {
        Json::Array(self.0.iter().map(|range| serde_json::json!([range.start, range.end])).collect())
    }

    /// The number of separate ranges.
    fn length(&self) -> Option<usize> {
        Some(self.0.len())
    }

    /// A single range as a set of its own.
    fn item(&self, index: usize) -> Option<Value> {
        self.0.get(index).map(|range| Value::handle(Self(vec![range.clone()])))
    }

    fn equals(&self, other: &dyn Object) -> bool {
        other.downcast::<Self>().is_some_and(|other| self == other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn bytes(spans: &Spans) -> BTreeSet<usize> {
        spans.ranges().iter().cloned().flatten().collect()
    }

    fn any_spans() -> impl Strategy<Value = Spans> {
        prop::collection::vec((0..40_usize, 0..9_usize), 0..9)
            .prop_map(|ranges| Spans::new(ranges.into_iter().map(|(start, length)| start..start + length)))
    }

    proptest! {
        #[test]
        fn the_algebra_is_that_of_sets(a in any_spans(), b in any_spans()) {
            prop_assert_eq!(bytes(&a.union(&b)), &bytes(&a) | &bytes(&b));
            prop_assert_eq!(bytes(&a.intersection(&b)), &bytes(&a) & &bytes(&b));
            prop_assert_eq!(a.overlaps(&b), !bytes(&a).is_disjoint(&bytes(&b)));
            prop_assert_eq!(Spans::union_of([&a, &b, &a]), a.union(&b));
            prop_assert_eq!(bytes(&a.difference(&b)), &bytes(&a) - &bytes(&b));
            let difference = a.difference(&b);
            prop_assert_eq!(&Spans::new(difference.ranges().iter().cloned()), &difference);
        }
    }

    #[test]
    fn ink_counts_characters_and_no_white_space() {
        assert_eq!(Spans::new([0..5, 6..99]).non_whitespace_len("é a b c"), Ok(3));
        assert_eq!(Spans::new([1..2, 0..0]).non_whitespace_len("é"), Ok(0));
        assert_eq!(Spans::default().non_whitespace_len("abc"), Ok(0));
    }
}
