//! Equality by a hash: an index per kind and field, made when first asked for.

use super::{Graph, Nodes, Reader};
use crate::diagnostic::Result;
use crate::value::{Text, Value};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Nodes of one kind by the value of one field, each list in the order of insertion.
pub(super) type Index = FxHashMap<Key, Arc<[u32]>>;

/// A scalar that can be hashed. A whole float equals the integer, as in scripts.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Key {
    Null,
    Bool(bool),
    Integer(i64),
    Float(u64),
    Text(Text),
}

impl Key {
    /// The key of a scalar; lists, maps and handles have none.
    pub fn of(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(*flag),
            Value::Integer(number) => Self::Integer(*number),
            Value::Float(number) => match whole(*number) {
                Some(whole) => Self::Integer(whole),
                None if number.is_nan() => Self::Float(f64::NAN.to_bits()),
                None => Self::Float(number.to_bits()),
            },
            Value::Text(text) => Self::Text(text.clone()),
            _ => return None,
        })
    }
}

/// The integer that a float is exactly, if it is one.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked before")]
fn whole(number: f64) -> Option<i64> {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    let fits = number.fract() == 0.0 && (-BEYOND..BEYOND).contains(&number);
    fits.then_some(number as i64)
}

impl Graph {
    /// The nodes of a kind whose field has this value: O(result) once the index is made.
    ///
    /// `None` if the kind has no such field, or the name is a dotted way.
    pub(super) fn indexed(self: &Arc<Self>, kind: u16, name: &str, value: &Key) -> Result<Option<Arc<[u32]>>> {
        let table = &self.parts.kinds[usize::from(kind)];
        let at = match table.field_at.get(name) {
            Some(field) => usize::from(*field),
            None if matches!(name, "key" | "id") => {
                let Key::Text(id) = value else { return Ok(Some(Arc::default())) };
                let found = self.parts.find(Some(kind), id, super::hash_of(id));
                return Ok(Some(found.into_iter().collect()));
            }
            None => return Ok(None),
        };
        let index = match table.indexes[at].get() {
            Some(index) => index,
            None => {
                let made = self.index(kind, name)?;
                table.indexes[at].get_or_init(|| made)
            }
        };
        Ok(Some(index.get(value).map_or_else(Arc::default, Arc::clone)))
    }

    fn index(self: &Arc<Self>, kind: u16, name: &str) -> Result<Index> {
        let nodes = Nodes::of_kind(Arc::clone(self), kind);
        let reader = Reader::new(self, name);
        reader.prepare(nodes.ids())?;
        let mut lists: FxHashMap<Key, Vec<u32>> = FxHashMap::default();
        for node in nodes.ids() {
            if let Some(key) = Key::of(&*reader.read(*node)?) {
                lists.entry(key).or_default().push(*node);
            }
        }
        Ok(lists.into_iter().map(|(key, list)| (key, list.into())).collect())
    }
}
