//! Sorting by fields: where these say nothing, in the order of insertion.

use super::{NONE, Nodes};
use crate::diagnostic::Result;
use crate::guard::{self, ITEM};
use crate::order::{self, By, SortKey};
use crate::value::Value;
use std::borrow::Cow;
use std::cmp::Ordering;

/// The keys of all nodes for one thing to sort by.
enum Column<'a> {
    /// Made into numbers that stand in the order asked for.
    Numbers(Vec<i64>),
    Values(&'a SortKey, Vec<Cow<'a, Value>>),
}

impl Column<'_> {
    fn compare(&self, left: usize, right: usize) -> Ordering {
        match self {
            Self::Numbers(numbers) => numbers[left].cmp(&numbers[right]),
            Self::Values(key, values) => key.compare(&values[left], &values[right]),
        }
    }
}

impl Nodes {
    /// The nodes in this order; where it says nothing, in the order of insertion. So it is total.
    pub fn sort(&self, keys: &[SortKey]) -> Result<Self> {
        let (sorted, lasts) = self.remembered_order(keys, || self.sorted(keys))?;
        Ok(if lasts { self.with_lasting(sorted) } else { self.with_shared(sorted) })
    }

    fn sorted(&self, keys: &[SortKey]) -> Result<Vec<u32>> {
        if let [key] = keys
            && let Some(sorted) = self.by_integers(key)?
        {
            return Ok(sorted);
        }
        let columns: Vec<Column<'_>> = keys.iter().map(|key| self.keys_of(key)).collect::<Result<_>>()?;
        let ids = self.ids();
        // Fast for nodes that stand in order already, as they often do.
        let order = order::sorted((0..ids.len()).collect(), |left: &usize, right: &usize| {
            let mut by_keys = columns.iter().map(|column| column.compare(*left, *right));
            by_keys.find(|order| order.is_ne()).unwrap_or_else(|| ids[*left].cmp(&ids[*right]))
        })?;
        Ok(order.into_iter().map(|at| ids[at]).collect())
    }

    fn keys_of<'a>(&'a self, key: &'a SortKey) -> Result<Column<'a>> {
        let mut values = Vec::with_capacity(self.len());
        match &key.by {
            By::Field(name) => {
                let reader = self.reader(name)?;
                for node in self.ids() {
                    guard::spend(ITEM)?;
                    values.push(reader.read(*node)?);
                }
            }
            By::Function(function) => {
                for node in self.iter() {
                    guard::check()?;
                    values.push(Cow::Owned(function.call(vec![Value::handle(node)])?));
                }
            }
        }
        Ok(match key.as_integers(values.iter().map(|value| &**value)) {
            Some(numbers) => Column::Numbers(numbers),
            None => Column::Values(key, values),
        })
    }

    /// One field of whole numbers is the common case, and the fast one.
    fn by_integers(&self, key: &SortKey) -> Result<Option<Vec<u32>>> {
        let By::Field(name) = &key.by else { return Ok(None) };
        if !key.first.is_empty() {
            return Ok(None);
        }
        let reader = self.reader(name)?;
        let mut pairs: Vec<(i64, u32)> = Vec::with_capacity(self.len());
        let (mut least, mut greatest) = (i64::MAX, i64::MIN);
        for node in self.ids() {
            guard::spend(ITEM)?;
            let Some(number) = reader.read(*node)?.as_integer() else { return Ok(None) };
            // `!` turns the order round.
            let number = if key.descending { !number } else { number };
            (least, greatest) = (least.min(number), greatest.max(number));
            pairs.push((number, *node));
        }
        if greatest.checked_sub(least).is_none_or(|spread| spread > i64::from(u32::MAX)) {
            pairs.sort_unstable();
            return Ok(Some(pairs.into_iter().map(|(_, node)| node).collect()));
        }
        // Numbers that lie near each other: one word holds the distance from the least, and the node.
        let word = |(number, node): &(i64, u32)| (number.abs_diff(least) << 32) | u64::from(*node);
        let mut words: Vec<u64> = pairs.iter().map(word).collect();
        words.sort_unstable();
        let node = |word: u64| u32::try_from(word & u64::from(u32::MAX)).unwrap_or(NONE);
        Ok(Some(words.into_iter().map(node).collect()))
    }
}
