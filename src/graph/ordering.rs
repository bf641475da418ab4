//! A total order of all values, and sorting by fields that ends with the order of insertion.

use super::Nodes;
use super::index::whole;
use crate::diagnostic::{Code, Diagnostic, Result};
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
        if let ([ordering], [column]) = (orderings, keys.as_slice())
            && let Some(sorted) = by_integers(ids, column, ordering)
        {
            return Ok(self.with(sorted));
        }
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_by(|left, right| {
            let by_keys = orderings.iter().zip(&keys).map(|(by, key)| by.compare(&key[*left], &key[*right]));
            by_keys.fold(Order::Equal, Order::then).then(ids[*left].cmp(&ids[*right]))
        });
        Ok(self.with(order.into_iter().map(|at| ids[at]).collect()))
    }
}

/// One column of whole numbers is the common case, and the fast one.
fn by_integers(ids: &[u32], column: &[Value], ordering: &Ordering) -> Option<Vec<u32>> {
    if !ordering.first.is_empty() {
        return None;
    }
    let numbers = column.iter().map(Value::as_integer);
    let mut pairs: Vec<(i64, u32)> =
        numbers.zip(ids).map(|(number, id)| Some((number?, *id))).collect::<Option<_>>()?;
    if ordering.descending {
        pairs.sort_unstable_by(|left, right| right.0.cmp(&left.0).then(left.1.cmp(&right.1)));
    } else {
        pairs.sort_unstable();
    }
    Some(pairs.into_iter().map(|(_, id)| id).collect())
}

/// A total order: `()`, flags, numbers (an integer equals the same float), texts (bytewise), lists, maps, handles
/// (by their JSON).
pub fn compare(left: &Value, right: &Value) -> Order {
    match (left, right) {
        (Value::Null, Value::Null) => Order::Equal,
        (Value::Bool(left), Value::Bool(right)) => left.cmp(right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => floats(*left, *right),
        (Value::Integer(left), Value::Float(right)) => mixed(*left, *right),
        (Value::Float(left), Value::Integer(right)) => mixed(*right, *left).reverse(),
        (Value::Text(left), Value::Text(right)) => left.cmp(right),
        (Value::List(left), Value::List(right)) => {
            let items = left.iter().zip(right).map(|(left, right)| compare(left, right));
            items.fold(Order::Equal, Order::then).then(left.len().cmp(&right.len()))
        }
        (Value::Map(left), Value::Map(right)) => {
            let entries =
                left.iter().zip(right).map(|(left, right)| left.0.cmp(right.0).then(compare(left.1, right.1)));
            entries.fold(Order::Equal, Order::then).then(left.len().cmp(&right.len()))
        }
        (Value::Handle(left), Value::Handle(right)) => {
            let same = || left.to_json().to_string().cmp(&right.to_json().to_string());
            left.kind().cmp(&right.kind()).then_with(same)
        }
        (left, right) => class(left).cmp(&class(right)),
    }
}

/// Both zeros are equal; not-a-number comes last.
fn floats(left: f64, right: f64) -> Order {
    match (whole(left), whole(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        _ => left.total_cmp(&right),
    }
}

/// Exact: neither side is rounded to the other.
#[allow(clippy::cast_possible_truncation, reason = "the range is checked before")]
fn mixed(left: i64, right: f64) -> Order {
    if right.is_nan() {
        return if right.is_sign_negative() { Order::Greater } else { Order::Less };
    }
    if right >= 9.223_372_036_854_775_8e18 {
        return Order::Less;
    }
    if right < -9.223_372_036_854_775_8e18 {
        return Order::Greater;
    }
    left.cmp(&(right.trunc() as i64)).then(0.0_f64.total_cmp(&(right.fract() + 0.0)))
}

fn class(value: &Value) -> u8 {
    match value {
        Value::Null => 0,
        Value::Bool(_) => 1,
        Value::Integer(_) | Value::Float(_) => 2,
        Value::Text(_) => 3,
        Value::List(_) => 4,
        Value::Map(_) => 5,
        Value::Handle(_) => 6,
        Value::Function(_) => 7,
    }
}
