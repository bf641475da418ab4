//! Places that differ from a quote by one byte, in linear time.

use crate::diagnostic::Result;
use crate::guard::{self, CheckedIterator};
use memchr::memmem;
use std::ops::Range;

/// So many places of one half are looked at one by one; with more of them the whole text is.
const PLACES: usize = 32;

/// The work at one place of the text.
const STEP: usize = 4;

/// The first part of `hay` that becomes `needle` when one byte is inserted, removed or replaced; the longest
/// among those that begin there. The parts are not empty.
///
/// One edit leaves one half of the needle as it is, so only what lies around a half is looked at.
///
/// # Errors
/// The running call was stopped.
pub(super) fn locate(hay: &[u8], needle: &[u8]) -> Result<Option<Range<usize>>> {
    let windows = windows(hay, needle).unwrap_or_else(|| std::iter::once(0..hay.len()).collect());
    for window in windows {
        if let Some(part) = locate_within(&hay[window.clone()], needle)? {
            return Ok(Some(window.start + part.start..window.start + part.end));
        }
    }
    Ok(None)
}

/// The parts of `hay` that hold every place, in order and apart from each other; nothing if they would be too many.
fn windows(hay: &[u8], needle: &[u8]) -> Option<Vec<Range<usize>>> {
    let (size, half) = (needle.len(), needle.len() / 2);
    let mut windows = Vec::new();
    for (part, before) in [(&needle[..half], 0), (&needle[half..], half + 1)] {
        let finder = memmem::Finder::new(part);
        let mut from = 0;
        while let Some(found) = hay.get(from..).and_then(|rest| finder.find(rest)) {
            let at = from + found;
            let start = at.saturating_sub(before);
            windows.push(start..(at + size + 1).min(hay.len()));
            if windows.len() > PLACES {
                return None;
            }
            from = at + 1;
        }
    }
    windows.sort_by_key(|window| window.start);
    let mut apart: Vec<Range<usize>> = Vec::with_capacity(windows.len());
    for window in windows {
        match apart.last_mut().filter(|last| window.start <= last.end) {
            Some(last) => last.end = last.end.max(window.end),
            None => apart.push(window),
        }
    }
    Some(apart)
}

/// The same as [`locate`], by looking at every place: the part from `start` to `end` is one if what it shares
/// with the needle from its beginning and what it shares from its end leave at most one byte of either.
fn locate_within(hay: &[u8], needle: &[u8]) -> Result<Option<Range<usize>>> {
    let heads = shared(hay.iter(), needle.iter(), hay.len())?;
    let tails = shared(hay.iter().rev(), needle.iter().rev(), hay.len())?;
    let size = needle.len();
    let fits = |start: usize, length: usize, least: usize| {
        let end = start + length;
        length > 0 && end <= hay.len() && heads[start] + tails[hay.len() - end] >= least
    };
    let ways = [(size + 1, size), (size, size.saturating_sub(1)), (size.saturating_sub(1), size.saturating_sub(1))];
    for start in 0..hay.len() {
        guard::spend(STEP)?;
        if let Some((length, _)) = ways.into_iter().find(|(length, least)| fits(start, *length, *least)) {
            return Ok(Some(start..start + length));
        }
    }
    Ok(None)
}

/// For every place of `hay` and its end, how many bytes the needle shares with what follows: the Z algorithm.
fn shared<'a>(
    hay: impl Iterator<Item = &'a u8>,
    needle: impl Iterator<Item = &'a u8>,
    length: usize,
) -> Result<Vec<usize>> {
    let mut text: Vec<u8> = needle.copied().collect_checked()?;
    let size = text.len();
    guard::reserve_memory((length + size).saturating_mul(size_of::<usize>()))?;
    text.append(&mut hay.copied().collect_checked()?);
    let mut shares = vec![0; text.len() + 1];
    let (mut left, mut right) = (0, 0);
    for at in 1..text.len() {
        guard::spend(STEP)?;
        let mut share = if at < right { shares[at - left].min(right - at) } else { 0 };
        while at + share < text.len() && text[at + share] == text[share] {
            share += 1;
        }
        if at + share > right {
            (left, right) = (at, at + share);
        }
        shares[at] = share;
    }
    shares.drain(..size);
    shares.iter_mut().for_each(|share| *share = (*share).min(size));
    debug_assert_eq!(shares.len(), length + 1, "one for every place and one for the end");
    Ok(shares)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn slow(hay: &[u8], needle: &[u8]) -> Option<Range<usize>> {
        let size = needle.len();
        let text = |bytes: &[u8]| bytes.iter().map(|byte| char::from(*byte)).collect::<String>();
        (0..hay.len()).find_map(|start| {
            let lengths = [size + 1, size, size.saturating_sub(1)].into_iter().filter(|length| *length > 0);
            lengths.map(|length| start..start + length).find(|range| {
                hay.get(range.clone()).is_some_and(|part| strsim::levenshtein(&text(part), &text(needle)) <= 1)
            })
        })
    }

    proptest! {
        #[test]
        fn it_finds_what_a_full_comparison_finds(hay in "[abc]{0,30}", needle in "[abc]{1,8}") {
            let (hay, needle) = (hay.as_bytes(), needle.as_bytes());
            prop_assume!(memmem::find(hay, needle).is_none());
            prop_assert_eq!(locate(hay, needle), Ok(slow(hay, needle)));
        }
    }
}
