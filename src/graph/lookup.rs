//! What finds texts without a look at each of them: made of one column of a fragment when it is first asked for, and
//! kept with the fragment, so that an edit costs what one file costs.

use crate::diagnostic::Result;
use crate::guard;
use crate::letters;
use crate::value::{Text, Value};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Bits of a sketch, a row of them each.
const BITS: usize = 2048;
/// How many bits number them.
const NUMBER: u32 = BITS.trailing_zeros();
/// Letters that lie next to each other, and stand for one bit.
const NEXT: usize = 3;

/// The lookups of one table, by column; the ids of its nodes have the number [`IDS`].
#[derive(Default)]
pub(super) struct Lookups {
    sketches: Mutex<FxHashMap<u16, Arc<Sketch>>>,
    tokens: Mutex<FxHashMap<u16, Arc<Tokens>>>,
}

/// The column that stands for the ids.
pub(super) const IDS: u16 = u16::MAX;

/// Which rows may have a text as a part: for each bit the rows of which three letters in a row, in lower case, have it
/// for their hash.
pub(super) struct Sketch {
    /// Words of 64 rows.
    width: usize,
    bits: Box<[u64]>,
}

/// Which rows have a token, ascending.
pub(super) type Tokens = FxHashMap<Text, Vec<u32>>;

impl Lookups {
    /// The sketch of a column; `make` gives its values.
    pub fn sketch<'a, V: Iterator<Item = (usize, Column<'a>)>>(
        &self,
        column: u16,
        rows: usize,
        make: impl FnOnce() -> V,
    ) -> Arc<Sketch> {
        kept(&self.sketches, column, || Sketch::new(rows, make()))
    }

    /// The tokens of a column; `make` gives its values.
    pub fn tokens<'a, V: Iterator<Item = (usize, Column<'a>)>>(
        &self,
        column: u16,
        make: impl FnOnce() -> V,
    ) -> Arc<Tokens> {
        kept(&self.tokens, column, || tokens_of(make()))
    }
}

/// One value of a column.
#[derive(Clone, Copy)]
pub(super) enum Column<'a> {
    Text(&'a str),
    /// Neither a text nor `()`.
    Other,
}

impl<'a> Column<'a> {
    pub fn of(value: &'a Value) -> Option<Self> {
        match value {
            Value::Null => None,
            value => Some(value.as_text().map_or(Self::Other, Self::Text)),
        }
    }
}

fn kept<T>(of: &Mutex<FxHashMap<u16, Arc<T>>>, column: u16, make: impl FnOnce() -> T) -> Arc<T> {
    let lock = || of.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().get(&column) {
        return Arc::clone(known);
    }
    let made = Arc::new(make());
    Arc::clone(lock().entry(column).or_insert(made))
}

fn bit(letters: &[u8]) -> usize {
    let number = letters.iter().fold(0_u32, |number, letter| (number << 8) | u32::from(*letter));
    (number.wrapping_mul(0x9E37_79B1) >> (u32::BITS - NUMBER)) as usize
}

impl Sketch {
    fn new<'a>(rows: usize, values: impl Iterator<Item = (usize, Column<'a>)>) -> Self {
        let width = rows.div_ceil(64);
        let mut bits = vec![0_u64; BITS * width].into_boxed_slice();
        let mut letters = Vec::new();
        for (row, value) in values {
            let (word, mask) = (row / 64, 1_u64 << (row % 64));
            match value {
                Column::Other => (0..BITS).for_each(|bit| bits[bit * width + word] |= mask),
                Column::Text(text) => {
                    letters.clear();
                    match text.is_ascii() {
                        true => letters.extend(text.bytes().map(|letter| letter.to_ascii_lowercase())),
                        false => letters.extend(text.to_lowercase().bytes()),
                    }
                    for next in letters.windows(NEXT) {
                        bits[bit(next) * width + word] |= mask;
                    }
                }
            }
        }
        Self { width, bits }
    }

    /// Hands over the rows that may have `part` in them, ascending. `part` is in lower case, and [`is_looked_up`].
    pub fn rows(&self, part: &str, mut found: impl FnMut(usize)) {
        let numbers: Vec<usize> = part.as_bytes().windows(NEXT).map(bit).collect();
        for word in 0..self.width {
            let mut left = numbers.iter().fold(u64::MAX, |left, bit| left & self.bits[bit * self.width + word]);
            while left != 0 {
                found(word * 64 + left.trailing_zeros() as usize);
                left &= left - 1;
            }
        }
    }
}

/// Whether a part is long enough to be looked up.
pub(super) fn is_looked_up(part: &str) -> bool {
    part.len() >= NEXT
}

fn tokens_of<'a>(values: impl Iterator<Item = (usize, Column<'a>)>) -> Tokens {
    let mut found = Tokens::default();
    for (row, value) in values {
        let (Column::Text(text), Ok(row)) = (value, u32::try_from(row)) else { continue };
        let lower = text.to_lowercase();
        for token in tokens(&lower) {
            match found.get_mut(token) {
                Some(rows) if rows.last() == Some(&row) => {}
                Some(rows) => rows.push(row),
                None => _ = found.insert(token.into(), vec![row]),
            }
        }
    }
    found
}

/// The tokens of a text in lower case, in their order.
///
/// # Errors
/// The running call was stopped.
pub fn tokens_in(text: &str) -> Result<Vec<Text>> {
    let lower = letters::to_lower(text)?;
    let mut found = Vec::new();
    for part in lower.split(is_between) {
        guard::spend(PART + part.len())?;
        let token = part.trim_matches('-');
        if !token.is_empty() {
            found.push(Text::from(token));
        }
    }
    Ok(found)
}

/// The work of a part of a text that is looked at, and may be none.
const PART: usize = 4;

/// Whether a letter is no part of a token.
fn is_between(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter == '_' || letter == '-')
}

/// The tokens of a text: runs of letters, digits, `_` and `-`, without the `-` at their ends.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(is_between);
    parts.map(|part| part.trim_matches('-')).filter(|part| !part.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn tokens_are_runs_without_hyphens_at_their_ends() {
        let found: Vec<&str> = tokens("a pot-lid, --x- - brew_1/é").collect();
        assert_eq!(found, ["a", "pot-lid", "x", "brew_1", "é"]);
    }

    proptest! {
        #[test]
        fn a_sketch_leaves_out_no_row_that_has_the_part(texts in prop::collection::vec("[abcÄé ]{0,12}", 0..150), part in "[abcäé ]{1,5}") {
            let values = texts.iter().enumerate().map(|(row, text)| (row, Column::Text(text)));
            let sketch = Sketch::new(texts.len(), values);
            if is_looked_up(&part) {
                let mut rows = Vec::new();
                sketch.rows(&part, |row| rows.push(row));
                for (row, text) in texts.iter().enumerate() {
                    prop_assert!(!text.to_lowercase().contains(&part) || rows.contains(&row));
                }
                prop_assert!(rows.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(rows.iter().all(|row| *row < texts.len()));
            }
        }
    }
}
