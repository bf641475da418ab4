//! How one constraint relates to another, and what a schema says by itself: its types, its values, its references.

use crate::value::Json;
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
    /// Each accepts something that the other refuses, or the texts do not show it.
    Unknown,
}

impl Relation {
    /// The relation of two constraints each of which may accept all that the other one accepts.
    fn of(new_accepts_old: bool, old_accepts_new: bool) -> Self {
        match (new_accepts_old, old_accepts_new) {
            (true, true) => Self::Same,
            (true, false) => Self::Looser,
            (false, true) => Self::Tighter,
            (false, false) => Self::Unknown,
        }
    }

    /// The relation of two constraints of which one may be absent.
    pub(super) fn of_presence<T: PartialEq>(old: Option<T>, new: Option<T>) -> Self {
        Self::of(new.is_none() || old == new, old.is_none() || old == new)
    }
}

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "object", "array", "null"];
pub(super) const STRING: u8 = 1;
pub(super) const NUMBERS: u8 = 6;
pub(super) const OBJECT: u8 = 16;
pub(super) const ARRAY: u8 = 32;
const ANY: u8 = 127;

/// The types that a schema accepts, one bit each.
pub(super) fn types(schema: &Json) -> u8 {
    let bits = |name: &Json| match TYPES.iter().position(|known| name == known) {
        Some(2) => NUMBERS,
        at => at.map_or(0, |at| 1 << at),
    };
    match schema.get("type") {
        Some(Json::Array(names)) => names.iter().map(bits).fold(0, |all, bits| all | bits),
        name => name.map_or(ANY, bits),
    }
}

pub(super) fn type_relation(old: u8, new: u8) -> Relation {
    Relation::of(old & new == old, old & new == new)
}

/// The values that a schema lists with `const` or `enum`.
pub(super) fn listed_values(schema: &Json) -> Option<&[Json]> {
    let one = schema.get("const").map(std::slice::from_ref);
    one.or_else(|| schema.get("enum")?.as_array().map(Vec::as_slice))
}

/// Compares numbers exactly; `None` if that is not possible.
fn order(one: &Json, other: &Json) -> Option<Ordering> {
    let whole = |value: &Json| value.as_i64().map(i128::from).or_else(|| value.as_u64().map(i128::from));
    let near = |value: &Json| value.as_f64().filter(|value| value.abs() < 9_007_199_254_740_992.0);
    match (whole(one), whole(other)) {
        (Some(one), Some(other)) => Some(one.cmp(&other)),
        _ => near(one)?.partial_cmp(&near(other)?),
    }
}

/// The relation of ends of ranges; `looser` is how a looser end compares to another. The second keyword, if there is
/// one, excludes its number; a schema with both is compared only to an equal one.
pub(super) fn end_relation(old: &Json, new: &Json, keywords: &[&str], looser: Ordering) -> Relation {
    let [before, after] = [old, new].map(|schema| keywords.iter().map(|key| schema.get(*key)).collect::<Vec<_>>());
    let one = |ends: &[Option<&Json>]| match ends {
        [Some(end), None] | [Some(end)] => Some((Json::clone(end), false)),
        [None, Some(end)] => Some((Json::clone(end), true)),
        _ => None,
    };
    let (Some((old, excludes_old)), Some((new, excludes_new))) = (one(&before), one(&after)) else {
        let present = |ends: Vec<_>| ends.iter().any(Option::is_some).then_some(ends);
        return Relation::of_presence(present(before), present(after));
    };
    match order(&new, &old) {
        None => Relation::Unknown,
        Some(Ordering::Equal) => Relation::of(excludes_old || !excludes_new, excludes_new || !excludes_old),
        Some(order) => Relation::of(order == looser, order != looser),
    }
}

/// The relation of two constraints that are met by all values or fewer: steps by what they divide, others if they are equal.
pub(super) fn step_relation(old: Option<&Json>, new: Option<&Json>) -> Relation {
    let step = |step: Option<&Json>| step.and_then(Json::as_u64).filter(|step| *step > 0);
    let is_there = |value: &&Json| **value != Json::Bool(false);
    match (step(old), step(new)) {
        (Some(old), Some(new)) => Relation::of(old.is_multiple_of(new), new.is_multiple_of(old)),
        _ => Relation::of_presence(old.filter(is_there), new.filter(is_there)),
    }
}

/// Keywords that models read and that refuse nothing.
const ANNOTATIONS: [&str; 9] =
    ["title", "description", "examples", "deprecated", "enumNames", "$comment", "readOnly", "writeOnly", "default"];

/// Keywords whose values have names that are not keywords.
const NAMED: [&str; 6] =
    ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas", "dependentRequired"];

/// The same schema without annotations.
pub(super) fn bare(schema: &Json) -> Json {
    let part = |(keyword, value): (&String, &Json)| match (keyword.as_str(), value) {
        ("const" | "enum", value) => (keyword.clone(), value.clone()),
        (key, Json::Object(named)) if NAMED.contains(&key) => {
            (keyword.clone(), named.iter().map(|(name, schema)| (name.clone(), bare(schema))).collect())
        }
        _ => (keyword.clone(), bare(value)),
    };
    match schema {
        Json::Object(map) => map.iter().filter(|(key, _)| !ANNOTATIONS.contains(&key.as_str())).map(part).collect(),
        Json::Array(schemas) => schemas.iter().map(bare).collect(),
        other => other.clone(),
    }
}

fn any_key(json: &Json, is_found: &dyn Fn(&str, &Json) -> bool) -> bool {
    match json {
        Json::Array(items) => items.iter().any(|item| any_key(item, is_found)),
        Json::Object(map) => map.iter().any(|(key, value)| is_found(key, value) || any_key(value, is_found)),
        _ => false,
    }
}

/// Whether a schema refers to something.
pub(super) fn refers(schema: &Json) -> bool {
    any_key(schema, &|keyword, _| matches!(keyword, "$ref" | "$dynamicRef"))
}

/// Whether every reference of a schema leads into the shared definitions of its root.
pub(super) fn refers_to_definitions(root: &Json) -> bool {
    !any_key(root, &|keyword, value| match keyword {
        "$ref" => value.as_str().is_none_or(|to| !to.starts_with("#/$defs/") && !to.starts_with("#/definitions/")),
        _ => matches!(keyword, "$dynamicRef" | "$id" | "$anchor" | "$dynamicAnchor"),
    })
}

/// Returns what a reference leads to, through others. `None` if it leads out of the schema or in a circle, or if other
/// keywords next to it refuse more.
pub(super) fn follow<'a>(mut schema: &'a Json, root: &'a Json) -> Option<&'a Json> {
    let is_neutral = |key: &String| {
        ["$ref", "$defs", "definitions", "$schema"].contains(&key.as_str()) || ANNOTATIONS.contains(&key.as_str())
    };
    for _ in 0..32 {
        match (schema.get("$ref"), schema.get("$dynamicRef")) {
            (None, None) => return Some(schema),
            (Some(Json::String(to)), _) if schema.as_object()?.keys().all(is_neutral) => {
                schema = root.pointer(to.strip_prefix('#')?)?;
            }
            _ => return None,
        }
    }
    None
}
