//! How like two texts are, and which of many are nearest to one.

use crate::diagnostic::Result;
use crate::guard;

/// A distance that no text reaches.
const FAR: usize = usize::MAX / 2;

/// The number of edits that turn one text into the other (insert, delete, replace, swap of neighbours; no place is
/// edited twice), or nothing if there are more than `most`. Takes time in proportion to length × `most`.
pub fn distance(left: &[char], right: &[char], most: usize) -> Option<usize> {
    if left.len().abs_diff(right.len()) > most {
        return None;
    }
    let columns = right.len();
    let mut older = vec![FAR; columns + 1];
    let mut old: Vec<usize> = (0..=columns).map(|column| if column <= most { column } else { FAR }).collect();
    let mut row = vec![FAR; columns + 1];
    let mut old_least = 0;
    for line in 1..=left.len() {
        let from = line.saturating_sub(most).max(1);
        let to = columns.min(line + most);
        row[from - 1] = if from == 1 && line <= most { line } else { FAR };
        let mut least = row[from - 1];
        for column in from..=to {
            let differs = usize::from(left[line - 1] != right[column - 1]);
            let mut edits = (old[column - 1] + differs).min(old[column] + 1).min(row[column - 1] + 1);
            if line > 1 && column > 1 && left[line - 1] == right[column - 2] && left[line - 2] == right[column - 1] {
                edits = edits.min(older[column - 2] + 1);
            }
            row[column] = edits.min(FAR);
            least = least.min(edits);
        }
        if let Some(beyond) = row.get_mut(to + 1) {
            *beyond = FAR;
        }
        if least.min(old_least) > most {
            return None;
        }
        old_least = least;
        std::mem::swap(&mut older, &mut old);
        std::mem::swap(&mut old, &mut row);
    }
    (old[columns] <= most).then_some(old[columns])
}

/// The places of the `limit` candidates that are most like `text`, nearest first, earlier first where equal.
///
/// Only those count that are near enough to be meant, upper and lower case being equal: at most a third of the
/// longer text has to be edited, or one of them begins with the other and neither is shorter than three characters.
pub fn nearest(text: &str, candidates: &[&str], limit: usize) -> Result<Vec<usize>> {
    let text = folded(text);
    let mut near: Vec<(usize, usize)> = Vec::new();
    let mut bound = FAR;
    for (place, candidate) in candidates.iter().enumerate() {
        if place % 64 == 0 {
            guard::check()?;
        }
        let Some(edits) = meant(&text, &folded(candidate), bound) else { continue };
        // Kept sorted; a later one must be nearer than the last of them to get in.
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

fn folded(text: &str) -> Vec<char> {
    text.chars().flat_map(char::to_lowercase).collect()
}

fn meant(text: &[char], candidate: &[char], bound: usize) -> Option<usize> {
    let shortest = text.len().min(candidate.len());
    if shortest >= 3 && text[..shortest] == candidate[..shortest] {
        let edits = text.len().abs_diff(candidate.len());
        return (edits <= bound).then_some(edits);
    }
    distance(text, candidate, bound.min(text.len().max(candidate.len()) / 3))
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
            prop_assert_eq!(distance(&chars(&a), &chars(&b), most), (plain <= most).then_some(plain));
        }
    }
}
