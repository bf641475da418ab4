//! What to sort by: names of fields, functions that give a key, values that come first.

use super::compare;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::value::{Function, Map, Value};
use std::cmp::Ordering;

/// One thing to sort by.
pub struct SortKey {
    /// Where the key comes from.
    pub by: By,
    /// Whether the greatest comes first.
    pub descending: bool,
    /// Values that come first, in this order; others follow in their own order.
    pub first: Vec<Value>,
}

/// Where a key comes from.
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
            Value::List(items) => items.iter().map(Self::one).collect(),
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

    /// Compares two keys.
    pub fn compare(&self, left: &Value, right: &Value) -> Ordering {
        let order = if self.first.is_empty() {
            compare(left, right)
        } else {
            let place = |value| self.first.iter().position(|known| compare(known, value).is_eq());
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
