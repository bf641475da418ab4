//! Places in the text of a script: where a position of the syntax tree is, and edits, with the way back to the text
//! before them.

use crate::source::Source;
use rhai::Position;
use std::ops::Range;

/// A part of a text and what comes in its place.
pub(super) type Edit = (Range<usize>, String);

/// The offset of a position; the end of the text if the position is unknown.
pub(super) fn offset_of(source: &Source, position: Position) -> usize {
    source.offset(position.line().unwrap_or(usize::MAX), position.position().unwrap_or(1))
}

/// A part of a text with the edits in it, which are sorted. Of edits that overlap, the first one counts.
pub(super) fn edited(text: &str, range: Range<usize>, edits: &[Edit]) -> String {
    let mut edited = String::new();
    let mut at = range.start;
    for (place, new) in edits.iter().filter(|(place, _)| place.start >= range.start && place.end <= range.end) {
        if place.start >= at {
            edited.push_str(&text[at..place.start]);
            edited.push_str(new);
            at = place.end;
        }
    }
    edited.push_str(&text[at..range.end]);
    edited
}

/// Where an offset of the whole edited text was before the edits, which are sorted and do not overlap. What is new was
/// where its edit begins.
pub(super) fn offset_before(edits: &[Edit], offset: usize) -> usize {
    let (mut added, mut removed) = (0, 0);
    for (place, new) in edits {
        let start = place.start + added - removed;
        if offset < start {
            break;
        }
        if offset < start + new.len() {
            return place.start;
        }
        added += new.len();
        removed += place.len();
    }
    offset + removed - added
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_of_an_edited_text_leads_back() {
        let edits = [(1..2, "[b][0]".to_owned()), (3..3, "++".to_owned()), (4..6, String::new())];
        assert_eq!(edited("abcdefg", 0..7, &edits), "a[b][0]c++dg");
        let before: Vec<usize> = (0..=12).map(|offset| offset_before(&edits, offset)).collect();
        assert_eq!(before, [0, 1, 1, 1, 1, 1, 1, 2, 3, 3, 3, 6, 7]);
    }
}
