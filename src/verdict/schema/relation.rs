//! How one constraint relates to another: bounds, types, lists of values, and what can only be equal.

use crate::value::Json;
use serde_json::Map;
use std::cmp::Ordering;

/// How a new constraint relates to the old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// Both accept the same.
    Same,
    /// The new one accepts all that the old one accepted.
    Looser,
    /// The old one accepted all that the new one accepts.
    Tighter,
    /// Each accepts something that the other refuses.
    Changed,
    /// The texts do not show it.
    Unknown,
}

impl Relation {
    /// The relation of two constraints of which one may be absent, if both are known to differ where both exist.
    pub(super) fn of_presence<T: PartialEq>(old: Option<T>, new: Option<T>) -> Self {
        match (old, new) {
            (None, None) => Self::Same,
            (None, Some(_)) => Self::Tighter,
            (Some(_), None) => Self::Looser,
            (Some(old), Some(new)) if old == new => Self::Same,
            _ => Self::Unknown,
        }
    }
}

pub(super) const INTEGER: u8 = 2;
pub(super) const NUMBERS: u8 = 6;
pub(super) const STRING: u8 = 1;
pub(super) const OBJECT: u8 = 16;
pub(super) const ARRAY: u8 = 32;
const ALL: u8 = 127;

fn type_bits(name: &str) -> u8 {
    match name {
        "string" => STRING,
        "integer" => INTEGER,
        "number" => NUMBERS,
        "boolean" => 8,
        "object" => OBJECT,
        "array" => ARRAY,
        "null" => 64,
        _ => 0,
    }
}

/// The types that a schema accepts, one bit each.
pub(super) fn types(schema: &Map<String, Json>) -> u8 {
    match schema.get("type") {
        Some(Json::String(name)) => type_bits(name),
        Some(Json::Array(names)) => names.iter().filter_map(Json::as_str).fold(0, |bits, name| bits | type_bits(name)),
        _ => ALL,
    }
}

pub(super) fn type_relation(old: u8, new: u8) -> Relation {
    match (old & new == old, old & new == new) {
        (true, true) => Relation::Same,
        (true, false) => Relation::Looser,
        (false, true) => Relation::Tighter,
        (false, false) => Relation::Changed,
    }
}

/// The values that a schema lists with `const` or `enum`.
pub(super) fn listed_values(schema: &Map<String, Json>) -> Option<Vec<&Json>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => Some(vec![value]),
        (None, Some(Json::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Compares numbers exactly; `None` if that is not possible.
fn order(one: &Json, other: &Json) -> Option<Ordering> {
    let whole = |value: &Json| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    if let (Some(one), Some(other)) = (whole(one), whole(other)) {
        return Some(one.cmp(&other));
    }
    let near = |value: &Json| value.as_f64().filter(|value| value.abs() < 9_007_199_254_740_992.0);
    near(one)?.partial_cmp(&near(other)?)
}

/// The end of a range: a number, and whether the number itself is outside.
type End<'a> = Option<(&'a Json, bool)>;

/// The end that two keywords set together: `stricter` is how the number of the stricter one compares to the other.
fn end<'a>(schema: &'a Map<String, Json>, keywords: [&str; 2], stricter: Ordering) -> Option<End<'a>> {
    Some(match keywords.map(|keyword| schema.get(keyword)) {
        [None, None] => None,
        [Some(number), None] => Some((number, false)),
        [None, Some(number)] => Some((number, true)),
        [Some(number), Some(outside)] => match order(number, outside)? == stricter {
            true => Some((number, false)),
            false => Some((outside, true)),
        },
    })
}

/// The relation of ends of ranges; `is_lower` for a minimum.
pub(super) fn end_relation(
    old: &Map<String, Json>,
    new: &Map<String, Json>,
    keywords: [&str; 2],
    is_lower: bool,
) -> Relation {
    let stricter = if is_lower { Ordering::Greater } else { Ordering::Less };
    let (Some(old), Some(new)) = (end(old, keywords, stricter), end(new, keywords, stricter)) else {
        return Relation::Unknown;
    };
    let (Some((old, old_outside)), Some((new, new_outside))) = (old, new) else {
        return Relation::of_presence(old, new);
    };
    match order(new, old) {
        None => Relation::Unknown,
        Some(Ordering::Equal) => match (old_outside, new_outside) {
            (false, true) => Relation::Tighter,
            (true, false) => Relation::Looser,
            _ => Relation::Same,
        },
        Some(order) if order == stricter => Relation::Tighter,
        Some(_) => Relation::Looser,
    }
}

/// The relation of two steps that numbers must be multiples of.
pub(super) fn multiple_relation(old: Option<&Json>, new: Option<&Json>) -> Relation {
    let divides = |step: &Json, of: &Json| {
        step.as_u64().zip(of.as_u64()).is_some_and(|(step, of)| step > 0 && of.is_multiple_of(step))
    };
    match (old, new) {
        (Some(old), Some(new)) if old != new && divides(new, old) => Relation::Looser,
        (Some(old), Some(new)) if old != new && divides(old, new) => Relation::Tighter,
        _ => Relation::of_presence(old, new),
    }
}

/// The relation of `dependentRequired`: which names need which others.
pub(super) fn dependency_relation(old: Option<&Json>, new: Option<&Json>) -> Relation {
    let contains = |outer: &Json, inner: &Json| {
        let texts = |list: &Json| list.as_array().cloned().unwrap_or_default();
        inner.as_object().into_iter().flatten().all(|(name, needs)| {
            let known = outer.get(name).map(texts).unwrap_or_default();
            texts(needs).iter().all(|need| known.contains(need))
        })
    };
    match (old, new) {
        (Some(old), Some(new)) => match (contains(old, new), contains(new, old)) {
            (true, true) => Relation::Same,
            (true, false) => Relation::Looser,
            (false, true) => Relation::Tighter,
            (false, false) => Relation::Changed,
        },
        _ => Relation::of_presence(old, new),
    }
}
