//! What to sort by: names of fields, functions that give a key, values that come first.

use super::{compare, same};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::each;
use crate::value::{Function, Map, Value};
use std::cmp::Ordering;

/// One thing to sort by.
#[derive(Clone)]
pub struct SortKey {
    /// Where the key comes from.
    pub by: By,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// Values that come first, in this order; others follow in their own order.
    pub first: Vec<Value>,
}

/// Where a key comes from.
#[derive(Clone)]
pub enum By {
    /// A field.
    Field(String),
    /// What a function gives for an item.
    Function(Function),
}

impl SortKey {
    /// Reads what `sort` takes: `"field"`, `"-field"`, `#{ by, order, descending }`, a function that gives the
    /// key, or a list of these.
    pub fn read(by: &Value) -> Result<Vec<Self>> {
        match by {
            Value::List(items) => each(items).map(|item| Self::one(item?)).collect(),
            Value::Null => Ok(Vec::new()),
            by => Ok(vec![Self::one(by)?]),
        }
    }

    fn one(by: &Value) -> Result<Self> {
        match by {
            Value::Text(name) => {
                let (name, descending) = name.strip_prefix('-').map_or((&**name, false), |name| (name, true));
                Ok(Self { by: By::Field(name.to_owned()), descending, first: Vec::new() })
            }
            Value::Function(function) => {
                Ok(Self { by: By::Function(function.clone()), descending: false, first: Vec::new() })
            }
            Value::Map(map) => Self::from_map(map),
            other => {
                let message = format!("`sort` takes names of fields, got {}", other.kind().name());
                Err(Diagnostic::new(Code::ARGUMENTS, message)
                    .help("such as [\"file\", \"-line\", #{ by: \"level\", order: [..] }]"))
            }
        }
    }

    fn from_map(map: &Map) -> Result<Self> {
        let known = ["by", "order", "descending"];
        if let Some(name) = map.keys().find(|name| !known.contains(&&***name)) {
            let fault = Diagnostic::new(Code::ARGUMENTS, format!("an order has no `{name}`"));
            return Err(fault.help("known: `by`, `order`, `descending`"));
        }
        let mut key = Self::one(map.get("by").unwrap_or(&Value::Null))?;
        if let Some(Value::List(order)) = map.get("order") {
            key.first.clone_from(order);
        }
        key.descending ^= matches!(map.get("descending"), Some(Value::Bool(true)));
        Ok(key)
    }

    /// Whether it is told by a name and plain values alone, and so sorts the same whenever it is asked.
    pub fn is_plain(&self) -> bool {
        let plain =
            |value: &Value| !matches!(value, Value::List(_) | Value::Map(_) | Value::Handle(_) | Value::Function(_));
        matches!(self.by, By::Field(_)) && self.first.iter().all(plain)
    }

    /// Whether both sort by the same field, in the same way.
    pub fn is_same(&self, other: &Self) -> bool {
        let by = matches!((&self.by, &other.by), (By::Field(one), By::Field(two)) if one == two);
        let first = || self.first.iter().zip(&other.first).all(|(one, two)| compare(one, two).is_eq());
        by && self.descending == other.descending && self.first.len() == other.first.len() && first()
    }

    /// The keys as whole numbers that stand in the same order, if they are whole numbers or all have a place in
    /// `first`: these compare fast.
    pub fn as_integers<'a>(&self, keys: impl Iterator<Item = &'a Value>) -> Option<Vec<i64>> {
        let place = |value: &Value| self.first.iter().position(|known| same(known, value));
        let one = |value: &Value| match self.first.is_empty() {
            true => value.as_integer(),
            false => place(value).and_then(|at| i64::try_from(at).ok()),
        };
        // `!` turns the order round, and no number is left without a counterpart.
        keys.map(|value| one(value).map(|number| if self.descending { !number } else { number })).collect()
    }

    /// Compares two keys.
    pub fn compare(&self, left: &Value, right: &Value) -> Ordering {
        let order = if self.first.is_empty() {
            compare(left, right)
        } else {
            let place = |value: &Value| self.first.iter().position(|known| same(known, value));
            match (place(left), place(right)) {
                (None, None) => compare(left, right),
                (Some(left), Some(right)) => left.cmp(&right),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
            }
        };
        if self.descending { order.reverse() } else { order }
    }

    /// Compares the keys of two items, one for each of `keys`.
    pub fn compare_all(keys: &[Self], left: &[Value], right: &[Value]) -> Ordering {
        let pairs = keys.iter().zip(left.iter().zip(right));
        let mut orders = pairs.map(|(key, (left, right))| key.compare(left, right));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}
