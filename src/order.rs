//! A total order over values of all kinds, sets of values, and sort keys.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, BYTE, ITEM, checked};
use crate::value::{Function, Json, Kind, Map, Object, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::Arc;
use std::vec::IntoIter;

/// Compares two values. The order of kinds is: `()`, boolean, number, text, list, map, native objects, functions.
///
/// Integers and floats compare by their exact numeric value; NaN comes after all other numbers. Texts compare by code
/// points, lists item by item, maps pair by pair. Native objects of the same kind compare by the JSON that they show in
/// a result. All functions are equal.
pub fn compare(left: &Value, right: &Value) -> Ordering {
    match (left, right) {
        (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
        (Value::Integer(a), Value::Integer(b)) => a.cmp(b),
        (Value::Float(a), Value::Float(b)) => compare_floats(*a, *b),
        (Value::Integer(a), Value::Float(b)) => compare_mixed(*a, *b),
        (Value::Float(a), Value::Integer(b)) => compare_mixed(*b, *a).reverse(),
        (Value::Text(a), Value::Text(b)) => a.cmp(b),
        (Value::List(a), Value::List(b)) => {
            let differing = a.iter().zip(b).map(|(a, b)| compare_parts(a, b)).find(|order| order.is_ne());
            differing.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Map(a), Value::Map(b)) => {
            let pairs = a.iter().zip(b).map(|((a, x), (b, y))| a.cmp(b).then_with(|| compare_parts(x, y)));
            let differing = pairs.into_iter().find(|order| order.is_ne());
            differing.unwrap_or_else(|| a.len().cmp(&b.len()))
        }
        (Value::Handle(a), Value::Handle(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
        (Value::Handle(_), _) | (_, Value::Handle(_)) => compare_native(left, right),
        _ => rank(left).cmp(&rank(right)),
    }
}

/// Compares two parts of values, and counts the work. If the running call is over, all parts are equal: see
/// [`guard::is_over`].
fn compare_parts(left: &Value, right: &Value) -> Ordering {
    let bytes = left.as_text().map_or(0, str::len);
    if guard::is_over(ITEM + bytes * BYTE) { Ordering::Equal } else { compare(left, right) }
}

/// The number of items up to which insertion sort is used.
const MAX_INSERTION_SORT_LEN: usize = 24;

/// Sorts items by `compare`. The sort is stable, and the guard of the running call can stop it.
///
/// The standard library's sort cannot be stopped, and may panic if an interrupted comparison contradicts another one.
///
/// # Errors
/// The running call was stopped.
pub fn sorted<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Result<Vec<T>> {
    let count = items.len();
    merge_sort(&mut items.into_iter(), count, &compare)
}

/// Sorts the next `count` items by merging sorted halves.
fn merge_sort<T>(items: &mut IntoIter<T>, count: usize, compare: &impl Fn(&T, &T) -> Ordering) -> Result<Vec<T>> {
    if count <= MAX_INSERTION_SORT_LEN {
        guard::spend(MAX_INSERTION_SORT_LEN * ITEM)?;
        let mut run: Vec<T> = items.by_ref().take(count).collect();
        sort_run(&mut run, compare);
        return Ok(run);
    }
    let left = merge_sort(items, count / 2, compare)?;
    let right = merge_sort(items, count - count / 2, compare)?;
    merge(left, right, compare)
}

/// Sorts a few items by insertion.
fn sort_run<T>(run: &mut [T], compare: &impl Fn(&T, &T) -> Ordering) {
    for at in 1..run.len() {
        if compare(&run[at - 1], &run[at]).is_gt() {
            let place = run[..at].partition_point(|before| compare(before, &run[at]).is_le());
            run[place..=at].rotate_right(1);
        }
    }
}

/// Merges two sorted lists. Equal items of the left list come first.
fn merge<T>(mut left: Vec<T>, right: Vec<T>, compare: &impl Fn(&T, &T) -> Ordering) -> Result<Vec<T>> {
    if let (Some(a), Some(b)) = (left.last(), right.first())
        && compare(a, b).is_le()
    {
        guard::spend(right.len() * ITEM)?;
        left.extend(right);
        return Ok(left);
    }
    let mut merged = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter(), right.into_iter());
    // Slices, because the two values that `Peekable` would keep make this loop half as fast.
    while let (Some(a), Some(b)) = (left.as_slice().first(), right.as_slice().first()) {
        guard::spend(ITEM)?;
        let next = if compare(a, b).is_gt() { right.next() } else { left.next() };
        merged.extend(next);
    }
    merged.extend(left);
    merged.extend(right);
    Ok(merged)
}

/// Whether two values are equal in this order, as `1` and `1.0` are. Counts the work.
pub fn is_equal(left: &Value, right: &Value) -> bool {
    compare_parts(left, right).is_eq()
}

fn rank(value: &Value) -> u8 {
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

fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// Compares exactly. A cast of the integer would round, but equality must be transitive.
#[allow(clippy::cast_possible_truncation, reason = "the range was checked")]
fn compare_mixed(whole: i64, float: f64) -> Ordering {
    const I64_RANGE_END: f64 = 9_223_372_036_854_775_808.0;
    if float.is_nan() || float >= I64_RANGE_END {
        return Ordering::Less;
    }
    if float < -I64_RANGE_END {
        return Ordering::Greater;
    }
    whole.cmp(&(float.trunc() as i64)).then_with(|| compare_floats(0.0, float.fract()))
}

/// Compares two values of which at least one is a handle. Frozen data compares as the list or map that it contains.
fn compare_native(left: &Value, right: &Value) -> Ordering {
    if guard::is_over(ITEM) {
        return Ordering::Equal;
    }
    let (left, right) = (thaw(left), thaw(right));
    match (&*left, &*right) {
        (Value::Handle(a), Value::Handle(b)) => {
            let seen = |json: Json| Value::from_json(&json);
            a.kind().cmp(&b.kind()).then_with(|| compare(&seen(a.to_json()), &seen(b.to_json())))
        }
        (Value::Handle(_), _) | (_, Value::Handle(_)) => rank(&left).cmp(&rank(&right)),
        _ => compare(&left, &right),
    }
}

fn thaw(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::Handle(handle) if handle.kind() == Kind::Frozen => Cow::Owned(Value::from_json(&handle.to_json())),
        other => Cow::Borrowed(other),
    }
}

/// A set of values: sorted, without duplicates, searched by bisection.
pub struct Set {
    items: Vec<Value>,
}

impl Set {
    /// Creates a set of these items.
    ///
    /// # Errors
    /// The running call was stopped.
    pub fn new(items: Vec<Value>) -> Result<Self> {
        let mut items = sorted(items, compare)?;
        items.dedup_by(|later, earlier| compare_parts(later, earlier).is_eq());
        guard::spend(ITEM)?;
        Ok(Self { items })
    }

    /// Whether the set has an item equal to `value`.
    pub fn contains(&self, value: &Value) -> bool {
        self.items.binary_search_by(|item| compare(item, value)).is_ok()
    }
}

impl Object for Set {
    fn kind(&self) -> Kind {
        Kind::Set
    }

    fn to_json(&self) -> Json {
        Json::Array(self.items.iter().map(Value::to_json).collect())
    }

    fn length(&self) -> Option<usize> {
        Some(self.items.len())
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.items.get(index).cloned()
    }
}

/// One sort key.
#[derive(Clone)]
pub struct SortKey {
    /// The source of the key of an item.
    pub by: SortBy,
    /// Whether the greatest key comes first.
    pub descending: bool,
    /// Values that come first, in this order. All others follow in the order of [`compare`].
    pub first: Vec<Value>,
}

/// The source of the key of an item.
#[derive(Clone)]
pub enum SortBy {
    /// A field.
    Field(String),
    /// The result of a function for the item.
    Function(Function),
}

impl SortKey {
    /// Parses the argument of `sort`: `"field"`, `"-field"`, `#{ by, order, descending }`, a function that returns the
    /// key, or a list of these.
    ///
    /// # Errors
    /// The value is none of these, or the running call was stopped.
    pub fn parse(by: &Value) -> Result<Vec<Self>> {
        match by {
            Value::List(items) => checked(items).map(|item| Self::parse_one(item?)).collect(),
            Value::Null => Ok(Vec::new()),
            by => Ok(vec![Self::parse_one(by)?]),
        }
    }

    fn parse_one(by: &Value) -> Result<Self> {
        match by {
            Value::Text(name) => {
                let (name, descending) = name.strip_prefix('-').map_or((&**name, false), |name| (name, true));
                Ok(Self { by: SortBy::Field(name.to_owned()), descending, first: Vec::new() })
            }
            Value::Function(function) => {
                if let Some(taken) = function.parameters().filter(|taken| *taken != 1) {
                    let message = format!(
                        "the function of `sort` takes 1 argument, an item, and returns its key; this one takes {taken}"
                    );
                    return Err(Diagnostic::new(Code::ARGUMENTS, message)
                        .help("such as `sort(|item| item.name)`, or `sort(\"-name\")` for the reverse by a field"));
                }
                Ok(Self { by: SortBy::Function(function.clone()), descending: false, first: Vec::new() })
            }
            Value::Map(map) => Self::from_map(map),
            other => {
                let message = format!("`sort` takes field names, got {}", other.kind().name());
                Err(Diagnostic::new(Code::ARGUMENTS, message)
                    .help("such as [\"file\", \"-line\", #{ by: \"level\", order: [..] }]"))
            }
        }
    }

    fn from_map(map: &Map) -> Result<Self> {
        let known = ["by", "order", "descending"];
        if let Some(name) = map.keys().find(|name| !known.contains(&&***name)) {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("an order has no key `{name}`"));
            return Err(error.help("known: `by`, `order`, `descending`"));
        }
        let mut key = Self::parse_one(map.get("by").unwrap_or(&Value::Null))?;
        if let Some(Value::List(order)) = map.get("order") {
            key.first.clone_from(order);
        }
        key.descending ^= matches!(map.get("descending"), Some(Value::Bool(true)));
        Ok(key)
    }

    /// Whether the key consists of a field name and scalars only, so that it always produces the same order.
    pub fn is_plain(&self) -> bool {
        let plain =
            |value: &Value| !matches!(value, Value::List(_) | Value::Map(_) | Value::Handle(_) | Value::Function(_));
        matches!(self.by, SortBy::Field(_)) && self.first.iter().all(plain)
    }

    /// Whether both keys sort by the same field in the same way. Keys with functions are never the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let by = matches!((&self.by, &other.by), (SortBy::Field(one), SortBy::Field(two)) if one == two);
        let first = || self.first.iter().zip(&other.first).all(|(one, two)| compare(one, two).is_eq());
        by && self.descending == other.descending && self.first.len() == other.first.len() && first()
    }

    /// The keys as integers in the same order, if all of them are integers or all are in `first`. Integers compare
    /// fast.
    pub fn as_integers<'a>(&self, keys: impl Iterator<Item = &'a Value>) -> Option<Vec<i64>> {
        let place = |value: &Value| self.first.iter().position(|known| is_equal(known, value));
        let one = |value: &Value| match self.first.is_empty() {
            true => value.as_integer(),
            false => place(value).and_then(|at| i64::try_from(at).ok()),
        };
        // `!` reverses the order and, unlike negation, cannot overflow.
        keys.map(|value| one(value).map(|number| if self.descending { !number } else { number })).collect()
    }

    /// Compares two keys.
    pub fn compare(&self, left: &Value, right: &Value) -> Ordering {
        let order = if self.first.is_empty() {
            compare(left, right)
        } else {
            let place = |value: &Value| self.first.iter().position(|known| is_equal(known, value));
            match (place(left), place(right)) {
                (None, None) => compare(left, right),
                (Some(left), Some(right)) => left.cmp(&right),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
            }
        };
        if self.descending { order.reverse() } else { order }
    }

    /// Compares the keys of two items: one value for each of `keys`.
    pub fn compare_all(keys: &[Self], left: &[Value], right: &[Value]) -> Ordering {
        let pairs = keys.iter().zip(left.iter().zip(right));
        let mut orders = pairs.map(|(key, (left, right))| key.compare(left, right));
        orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Frozen;
    use proptest::prelude::*;
    use serde_json::json;

    fn any_value() -> impl Strategy<Value = Value> {
        let scalar = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Integer),
            (-2_i64..3).prop_map(Value::Integer),
            any::<f64>().prop_map(Value::Float),
            (-4_i32..5).prop_map(|half| Value::Float(f64::from(half) / 2.0)),
            "[ab]{0,2}".prop_map(Value::from),
        ];
        scalar.prop_recursive(2, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Value::List))
    }

    proptest! {
        #[test]
        fn the_order_is_total(a in any_value(), b in any_value(), c in any_value()) {
            prop_assert_eq!(compare(&a, &b), compare(&b, &a).reverse());
            prop_assert!(is_equal(&a, &a));
            if compare(&a, &b).is_le() && compare(&b, &c).is_le() {
                prop_assert!(compare(&a, &c).is_le());
            }
        }
    }

    #[test]
    fn numbers_compare_exactly() {
        let large = 9_007_199_254_740_993; // 2^53 + 1, which no float holds
        assert!(compare(&Value::Integer(large), &Value::Float(9_007_199_254_740_992.0)).is_gt());
        assert!(is_equal(&Value::Integer(1), &Value::Float(1.0)));
        assert!(compare(&Value::Integer(-1), &Value::Float(-1.5)).is_gt());
        assert!(compare(&Value::Integer(i64::MAX), &Value::Float(f64::NAN)).is_lt());
    }

    #[test]
    fn frozen_data_compares_as_what_it_holds() {
        let json = json!({ "a": [1, 2] });
        assert!(is_equal(&Value::from_json(&json), &Frozen::value(Arc::new(json.clone()))));
    }

    #[test]
    fn a_set_is_sorted_and_holds_each_once() {
        let set = Set::new(vec!["b".into(), 2_i64.into(), "a".into(), Value::Float(2.0)]).expect("nothing stops it");
        assert_eq!(set.to_json(), json!([2, "a", "b"]));
        assert!(set.contains(&"a".into()) && !set.contains(&"c".into()));
    }

    #[test]
    fn a_long_sort_ends_when_its_call_does() {
        let limits = guard::Limits { time: std::time::Duration::ZERO, ..guard::Limits::default() };
        let guard = guard::Guard::new(limits, guard::CancelFlag::default());
        let _entered = guard.enter();
        assert!(sorted((0..100_000).rev().collect(), i32::cmp).is_err());
    }

    proptest! {
        #[test]
        fn the_sort_is_stable(
            numbers in proptest::collection::vec(0_u16..2_000, 0..3_000),
            most in 1_u16..2_000,
        ) {
            let items: Vec<(u16, usize)> = numbers.into_iter().map(|number| number % most).zip(0..).collect();
            let by = |a: &(u16, usize), b: &(u16, usize)| a.0.cmp(&b.0);
            let mut expected = items.clone();
            expected.sort_by(by);
            prop_assert_eq!(sorted(items, by), Ok(expected));
        }
    }
}
