//! A total order of all values, and sorting by fields that ends with the order of insertion.

use super::Nodes;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::order::compare;
use crate::value::{Function, Map, Value};
use std::cmp::Ordering as Order;

/// One thing to sort by.
pub struct Ordering {
    by: By,
    descending: bool,
    /// Values that come first, in this order; others follow in their own order.
    first: Vec<Value>,
}

enum By {
    Field(String),
    Function(Function),
}

impl Ordering {
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
        let mut ordering = Self::one(map.get("by").unwrap_or(&Value::Null))?;
        if let Some(Value::List(order)) = map.get("order") {
            ordering.first.clone_from(order);
        }
        ordering.descending ^= matches!(map.get("descending"), Some(Value::Bool(true)));
        Ok(ordering)
    }

    fn compare(&self, left: &Value, right: &Value) -> Order {
        let place = |value| self.first.iter().position(|known| compare(known, value).is_eq());
        let order = match (self.first.is_empty(), place(left), place(right)) {
            (true, ..) | (_, None, None) => compare(left, right),
            (_, Some(left), Some(right)) => left.cmp(&right),
            (_, Some(_), None) => Order::Less,
            (_, None, Some(_)) => Order::Greater,
        };
        if self.descending { order.reverse() } else { order }
    }
}

impl Nodes {
    /// The nodes in this order; where it says nothing, in the order of insertion. So it is total.
    pub fn sort(&self, orderings: &[Ordering]) -> Result<Self> {
        if let [ordering] = orderings
            && let Some(sorted) = self.by_integers(ordering)?
        {
            return Ok(self.with(sorted));
        }
        let mut keys: Vec<Vec<Value>> = Vec::with_capacity(orderings.len());
        for ordering in orderings {
            let column = match &ordering.by {
                By::Field(name) => self.column(name)?,
                By::Function(function) => {
                    let key = |node| function.call(vec![Value::handle(node)]);
                    self.iter().map(key).collect::<Result<_>>()?
                }
            };
            keys.push(column);
        }
        let ids = self.ids();
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by(|left, right| {
            let by_keys = orderings.iter().zip(&keys).map(|(by, key)| by.compare(&key[*left], &key[*right]));
            by_keys.fold(Order::Equal, Order::then).then(ids[*left].cmp(&ids[*right]))
        });
        Ok(self.with(order.into_iter().map(|at| ids[at]).collect()))
    }

    /// One field of whole numbers is the common case, and the fast one.
    fn by_integers(&self, ordering: &Ordering) -> Result<Option<Vec<u32>>> {
        let By::Field(name) = &ordering.by else { return Ok(None) };
        if !ordering.first.is_empty() {
            return Ok(None);
        }
        let reader = self.reader(name)?;
        let mut pairs: Vec<(i64, u32)> = Vec::with_capacity(self.len());
        for node in self.ids() {
            match reader.read(*node)?.as_integer() {
                Some(number) => pairs.push((number, *node)),
                None => return Ok(None),
            }
        }
        if ordering.descending {
            pairs.sort_unstable_by(|left, right| right.0.cmp(&left.0).then(left.1.cmp(&right.1)));
        } else {
            pairs.sort_unstable();
        }
        Ok(Some(pairs.into_iter().map(|(_, node)| node).collect()))
    }
}
