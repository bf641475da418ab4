//! Text lookups for a column of a fragment: trigram sketches to find parts, and an inverted index to find tokens. They
//! are built on first use and kept with the fragment, so that an edit only rebuilds the lookups of one file.

use crate::diagnostic::Result;
use crate::guard;
use crate::letters;
use crate::value::{Text, Value};
use rustc_hash::FxHashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// The number of bits of a sketch. Each bit has a row of bits, one for each row of the table.
const SKETCH_BITS: usize = 2048;
/// The width, in bits, of the number of such a bit.
const BIT_WIDTH: u32 = SKETCH_BITS.trailing_zeros();
/// The number of bytes of a trigram. A trigram is hashed to one bit.
const TRIGRAM_BYTES: usize = 3;

/// The lookups of one table by column. The ids of its nodes have the column number [`ID_COLUMN`].
#[derive(Default)]
pub(super) struct ColumnLookups {
    sketches: Mutex<FxHashMap<u16, Arc<TrigramSketch>>>,
    tokens: Mutex<FxHashMap<u16, Arc<TokenRows>>>,
}

/// The column number that stands for the ids.
pub(super) const ID_COLUMN: u16 = u16::MAX;

/// A Bloom filter over trigrams: for each bit, the rows whose lower-case text has a trigram with that hash. It finds
/// the rows that may contain a part.
pub(super) struct TrigramSketch {
    /// The number of words per row of bits; each word covers 64 table rows.
    width: usize,
    bits: Box<[u64]>,
}

/// The rows that have each token, in ascending order.
pub(super) type TokenRows = FxHashMap<Text, Vec<u32>>;

impl ColumnLookups {
    /// The sketch of a column. `make` supplies the values if the sketch does not exist yet.
    pub fn sketch<'a, V: Iterator<Item = (usize, ColumnText<'a>)>>(
        &self,
        column: u16,
        rows: usize,
        make: impl FnOnce() -> V,
    ) -> Arc<TrigramSketch> {
        get_or_insert(&self.sketches, column, || TrigramSketch::new(rows, make()))
    }

    /// The token rows of a column. `make` supplies the values if they do not exist yet.
    pub fn tokens<'a, V: Iterator<Item = (usize, ColumnText<'a>)>>(
        &self,
        column: u16,
        make: impl FnOnce() -> V,
    ) -> Arc<TokenRows> {
        get_or_insert(&self.tokens, column, || token_rows(make()))
    }
}

/// One value of a column.
#[derive(Clone, Copy)]
pub(super) enum ColumnText<'a> {
    Text(&'a str),
    /// Neither a text nor `()`.
    Other,
}

impl<'a> ColumnText<'a> {
    pub fn from_value(value: &'a Value) -> Option<Self> {
        match value {
            Value::Null => None,
            value => Some(value.as_text().map_or(Self::Other, Self::Text)),
        }
    }
}

fn get_or_insert<T>(of: &Mutex<FxHashMap<u16, Arc<T>>>, column: u16, make: impl FnOnce() -> T) -> Arc<T> {
    let lock = || of.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().get(&column) {
        return Arc::clone(known);
    }
    let made = Arc::new(make());
    Arc::clone(lock().entry(column).or_insert(made))
}

fn trigram_bit(letters: &[u8]) -> usize {
    let number = letters.iter().fold(0_u32, |number, letter| (number << 8) | u32::from(*letter));
    (number.wrapping_mul(0x9E37_79B1) >> (u32::BITS - BIT_WIDTH)) as usize
}

impl TrigramSketch {
    fn new<'a>(rows: usize, values: impl Iterator<Item = (usize, ColumnText<'a>)>) -> Self {
        let width = rows.div_ceil(64);
        let mut bits = vec![0_u64; SKETCH_BITS * width].into_boxed_slice();
        let mut letters = Vec::new();
        for (row, value) in values {
            let (word, mask) = (row / 64, 1_u64 << (row % 64));
            match value {
                ColumnText::Other => (0..SKETCH_BITS).for_each(|bit| bits[bit * width + word] |= mask),
                ColumnText::Text(text) => {
                    letters.clear();
                    match text.is_ascii() {
                        true => letters.extend(text.bytes().map(|letter| letter.to_ascii_lowercase())),
                        false => letters.extend(text.to_lowercase().bytes()),
                    }
                    for next in letters.windows(TRIGRAM_BYTES) {
                        bits[trigram_bit(next) * width + word] |= mask;
                    }
                }
            }
        }
        Self { width, bits }
    }

    /// Passes the rows that may contain `part` to `found`, in ascending order. `part` must be in lower case and
    /// [`is_searchable`].
    pub fn rows(&self, part: &str, mut found: impl FnMut(usize)) {
        let numbers: Vec<usize> = part.as_bytes().windows(TRIGRAM_BYTES).map(trigram_bit).collect();
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
pub(super) fn is_searchable(part: &str) -> bool {
    part.len() >= TRIGRAM_BYTES
}

fn token_rows<'a>(values: impl Iterator<Item = (usize, ColumnText<'a>)>) -> TokenRows {
    let mut found = TokenRows::default();
    for (row, value) in values {
        let (ColumnText::Text(text), Ok(row)) = (value, u32::try_from(row)) else { continue };
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

/// The tokens of a text, in lower case and in order.
///
/// # Errors
/// The running call was stopped.
pub fn lowercase_tokens(text: &str) -> Result<Vec<Text>> {
    let lower = letters::to_lower(text)?;
    let mut found = Vec::new();
    for part in lower.split(is_separator) {
        guard::spend(PART_COST + part.len())?;
        let token = part.trim_matches('-');
        if !token.is_empty() {
            found.push(Text::from(token));
        }
    }
    Ok(found)
}

/// The units of work for a part between separators, even an empty one.
const PART_COST: usize = 4;

/// Whether a character separates tokens.
fn is_separator(letter: char) -> bool {
    !(letter.is_alphanumeric() || letter == '_' || letter == '-')
}

/// The tokens of a text: runs of letters, digits, `_` and `-`, without `-` at their ends.
pub(super) fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let parts = text.split(is_separator);
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
            let values = texts.iter().enumerate().map(|(row, text)| (row, ColumnText::Text(text)));
            let sketch = TrigramSketch::new(texts.len(), values);
            if is_searchable(&part) {
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
