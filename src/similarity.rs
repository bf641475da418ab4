//! Similarity of texts: the edit distance between two texts, and the candidates nearest to a text.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};

/// A value greater than any distance.
const UNREACHABLE_DISTANCE: usize = usize::MAX / 2;

/// The maximum length of a compared text in bytes. Names are shorter, and the time grows with the product of both
/// lengths.
pub const MAX_COMPARED_BYTES: usize = 4 << 10;

/// The units of work to compare two characters.
const CELL_COST: usize = 2;

/// The optimal string alignment distance: insert, delete, replace, or swap neighbors, where no position is edited
/// twice. `None` if it is greater than `most`. The time is proportional to length × `most`.
///
/// # Errors
/// The running call was stopped.
pub fn distance(left: &[char], right: &[char], most: usize) -> Result<Option<usize>> {
    if left.len().abs_diff(right.len()) > most {
        return Ok(None);
    }
    let columns = right.len();
    let mut older = vec![UNREACHABLE_DISTANCE; columns + 1];
    let mut old: Vec<usize> =
        (0..=columns).map(|column| if column <= most { column } else { UNREACHABLE_DISTANCE }).collect();
    let mut row = vec![UNREACHABLE_DISTANCE; columns + 1];
    let mut old_least = 0;
    for line in 1..=left.len() {
        let from = line.saturating_sub(most).max(1);
        let to = columns.min(line.saturating_add(most));
        guard::spend((to + 1).saturating_sub(from) * CELL_COST)?;
        row[from - 1] = if from == 1 && line <= most { line } else { UNREACHABLE_DISTANCE };
        let mut least = row[from - 1];
        for column in from..=to {
            let differs = usize::from(left[line - 1] != right[column - 1]);
            let mut edits = (old[column - 1] + differs).min(old[column] + 1).min(row[column - 1] + 1);
            if line > 1 && column > 1 && left[line - 1] == right[column - 2] && left[line - 2] == right[column - 1] {
                edits = edits.min(older[column - 2] + 1);
            }
            row[column] = edits.min(UNREACHABLE_DISTANCE);
            least = least.min(edits);
        }
        if let Some(beyond) = row.get_mut(to + 1) {
            *beyond = UNREACHABLE_DISTANCE;
        }
        if least.min(old_least) > most {
            return Ok(None);
        }
        old_least = least;
        std::mem::swap(&mut older, &mut old);
        std::mem::swap(&mut old, &mut row);
    }
    Ok((old[columns] <= most).then_some(old[columns]))
}

/// The indexes of the `limit` candidates most similar to `text`: nearest first, and earlier candidates first among
/// equals.
///
/// Case is ignored. A candidate is included only if the distance is at most a third of the longer text, or if one text
/// begins with the other and both have at least three characters.
///
/// # Errors
/// A text is longer than [`MAX_COMPARED_BYTES`]; the running call was stopped.
pub fn nearest(text: &str, candidates: &[&str], limit: usize) -> Result<Vec<usize>> {
    refuse_long(text)?;
    let text = lower_case(text);
    let mut near: Vec<(usize, usize)> = Vec::new();
    let mut bound = UNREACHABLE_DISTANCE;
    for (place, candidate) in candidates.iter().enumerate() {
        refuse_long(candidate)?;
        guard::spend(ITEM + candidate.len() * CELL_COST)?;
        let Some(edits) = edits_if_similar(&text, &lower_case(candidate), bound)? else { continue };
        // The list is kept sorted. A later candidate is only inserted if it is nearer than the last one.
        let at = near.partition_point(|(known, _)| *known <= edits);
        near.insert(at, (edits, place));
        near.truncate(limit);
        if near.len() < limit {
            continue;
        }
        match near.last() {
            Some((worst, _)) if *worst > 0 => bound = worst - 1,
            _ => break,
        }
    }
    Ok(near.into_iter().map(|(_, place)| place).collect())
}

fn refuse_long(text: &str) -> Result<()> {
    if text.len() <= MAX_COMPARED_BYTES {
        return Ok(());
    }
    let (bytes, most) = (text.len().div_ceil(1 << 10), MAX_COMPARED_BYTES >> 10);
    let message = format!("the text has {bytes} kB; `closest_match` accepts up to {most} kB");
    Err(Diagnostic::new(Code::LIMIT, message).help("compare names or titles, not whole texts"))
}

fn lower_case(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn edits_if_similar(text: &[char], candidate: &[char], bound: usize) -> Result<Option<usize>> {
    let shortest = text.len().min(candidate.len());
    if shortest >= 3 && text[..shortest] == candidate[..shortest] {
        let edits = text.len().abs_diff(candidate.len());
        return Ok((edits <= bound).then_some(edits));
    }
    let most = bound.min(text.len().max(candidate.len()) / 3);
    if least_edits(text, candidate) > most {
        return Ok(None);
    }
    distance(text, candidate, most)
}

/// A lower bound of the distance: one edit adds at most one surplus and one missing character to the counts.
fn least_edits(text: &[char], candidate: &[char]) -> usize {
    const GROUPS: usize = 64;
    let mut counts = [0_i32; GROUPS];
    text.iter().for_each(|letter| counts[*letter as usize % GROUPS] += 1);
    candidate.iter().for_each(|letter| counts[*letter as usize % GROUPS] -= 1);
    let (more, less) = counts.iter().fold((0, 0), |(more, less), count| match count {
        0.. => (more + count.unsigned_abs() as usize, less),
        _ => (more, less + count.unsigned_abs() as usize),
    });
    more.max(less)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_nearest_come_first() {
        let names = ["effect", "efect", "script", "effects"];
        assert_eq!(nearest("efect", &names, 3), Ok(vec![1, 0, 3]));
        assert_eq!(nearest("Effect", &names, 1), Ok(vec![0]));
        assert_eq!(nearest("zebra", &names, 3), Ok(vec![]));
        assert_eq!(nearest("scr", &names, 1), Ok(vec![2]));
    }

    proptest! {
        #[test]
        fn it_agrees_with_the_plain_algorithm(a in "[abc]{0,9}", b in "[abc]{0,9}", most in 0_usize..10) {
            let plain = strsim::osa_distance(&a, &b);
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(distance(&chars(&a), &chars(&b), most), Ok((plain <= most).then_some(plain)));
            prop_assert!(least_edits(&chars(&a), &chars(&b)) <= plain);
        }
    }
}
