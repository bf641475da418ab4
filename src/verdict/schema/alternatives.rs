//! Schemas of which all, some or exactly one must accept a value: paired by what they are, then compared.

use super::super::change::{Change, Verdict};
use super::normal::follow;
use super::relation::{OBJECT, Relation, listed_values, types};
use super::walk::{Comparison, Part, Role};
use crate::value::Json;

/// The schemas of a keyword such as `anyOf`.
fn schemas<'a>(schema: &'a Json, keyword: &str) -> Option<Vec<&'a Json>> {
    Some(schema.get(keyword)?.as_array()?.iter().collect())
}

impl<'a> Comparison<'a> {
    pub(super) fn alternatives(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        self.all_of(old, new, part, found);
        for (keyword, other) in [("anyOf", "oneOf"), ("oneOf", "anyOf")] {
            let (narrow, wide) = self.narrow_and_wide(old, new);
            match (schemas(narrow, keyword), schemas(wide, keyword)) {
                (None, None) => {}
                (Some(_), None) => {
                    let is_looser = self.role != Role::Result;
                    let (relation, word) =
                        if is_looser { (Relation::Looser, "was removed") } else { (Relation::Tighter, "is new") };
                    self.report(relation, &format!("`{keyword}`"), word, part, found);
                }
                (None, Some(wide_ones)) => {
                    let narrow_ones = schemas(narrow, other).unwrap_or_else(|| vec![narrow]);
                    let is_implied = narrow_ones.iter().all(|one| self.is_accepted(one, &wide_ones));
                    let relation = match is_implied && self.is_exact(keyword, &wide_ones, narrow) {
                        false => Relation::Unknown,
                        true if self.role == Role::Result => Relation::Looser,
                        true => Relation::Tighter,
                    };
                    match relation {
                        Relation::Unknown => self.report(relation, &format!("`{keyword}`"), "changed", part, found),
                        _ => self.judged(
                            "constraint-changed",
                            Verdict::Compatible,
                            &format!("`{keyword}` changed"),
                            part,
                            found,
                        ),
                    }
                }
                (Some(narrow_ones), Some(wide_ones)) => {
                    self.pair(keyword, (narrow, narrow_ones), wide_ones, part, found);
                }
            }
        }
    }

    fn is_accepted(&self, narrow: &'a Json, wide: &[&'a Json]) -> bool {
        wide.iter().any(|wide| self.implies(narrow, wide))
    }

    /// Whether a value that one alternative accepts is not refused because another one accepts it too.
    fn is_exact(&self, keyword: &str, wide: &[&'a Json], narrow: &'a Json) -> bool {
        let values = narrow.as_object().map_or(u8::MAX, types);
        keyword == "anyOf"
            || wide.iter().enumerate().all(|(at, one)| wide[..at].iter().all(|other| self.excludes(one, other, values)))
    }

    /// Compares alternatives with those that they became.
    fn pair(
        &self,
        keyword: &str,
        (narrow, narrow_ones): (&'a Json, Vec<&'a Json>),
        wide_ones: Vec<&'a Json>,
        part: &Part,
        found: &mut Vec<Change>,
    ) {
        let all_of_wide = wide_ones.clone();
        let is_equal = narrow_ones.len() == wide_ones.len()
            && narrow_ones.iter().zip(&wide_ones).all(|(narrow, wide)| self.is_same(narrow, wide));
        let mut narrow_left: Vec<(usize, &Json)> = narrow_ones.into_iter().enumerate().collect();
        let mut wide_left: Vec<(usize, &Json)> = wide_ones.into_iter().enumerate().collect();
        let mut pairs = Vec::new();
        let by_name = |one: &'a Json, other: &'a Json| name(one).is_some() && name(one) == name(other);
        let by_text = |one: &'a Json, other: &'a Json| self.is_same(one, other);
        for is_pair in [&by_text as &dyn Fn(&'a Json, &'a Json) -> bool, &by_name] {
            narrow_left.retain(|(at, narrow)| {
                let Some(partner) = wide_left.iter().position(|(_, wide)| is_pair(narrow, wide)) else { return true };
                pairs.push((*at, *narrow, wide_left.remove(partner).1));
                false
            });
        }
        if narrow_left.len() == wide_left.len()
            && narrow_left.iter().zip(&wide_left).all(|(one, other)| one.0 == other.0)
        {
            let same_place = narrow_left.drain(..).zip(wide_left.drain(..));
            pairs.extend(same_place.map(|((at, narrow), (_, wide))| (at, narrow, wide)));
        }
        for (at, narrow, wide) in pairs {
            let (old, new) = self.narrow_and_wide(narrow, wide);
            self.node(old, new, &part.alternative(&label(narrow, at)), found);
        }
        let is_result = self.role == Role::Result;
        let kinds = if is_result {
            ["alternative-added", "alternative-removed"]
        } else {
            ["alternative-removed", "alternative-added"]
        };
        for (at, narrow) in &narrow_left {
            let is_accepted = self.is_accepted(narrow, &all_of_wide);
            let verdict = if is_accepted { Verdict::Compatible } else { Verdict::Breaking };
            let what = if is_result { "an alternative is new" } else { "an alternative was removed" };
            self.judged(kinds[0], verdict, what, &part.alternative(&label(narrow, *at)), found);
        }
        for (at, wide) in &wide_left {
            let what = if is_result { "an alternative was removed" } else { "an alternative is new" };
            self.judged(kinds[1], Verdict::Compatible, what, &part.alternative(&label(wide, *at)), found);
        }
        if !is_equal && !self.is_exact(keyword, &all_of_wide, narrow) {
            let subject = "alternatives of which exactly one must match";
            self.report(Relation::Unknown, subject, "changed, and may overlap", part, found);
        }
    }

    /// Whether no value of these types is accepted by both, as far as the texts show it.
    fn excludes(&self, one: &'a Json, other: &'a Json, values: u8) -> bool {
        let root = self.narrow_and_wide(self.old_root, self.new_root).1;
        let maps = [one, other].map(|schema| follow(schema, root).and_then(Json::as_object));
        let [Some(one), Some(other)] = maps else { return false };
        let common = types(one) & types(other) & values;
        let differ = |one: &Json, other: &Json| {
            let [Some(one), Some(other)] = [one, other].map(|schema| listed_values(schema.as_object()?)) else {
                return false;
            };
            // Numbers can be equal in two spellings.
            one.iter().all(|value| value.is_string() && !other.contains(value))
        };
        let is_required = |name: &String| {
            [one, other].into_iter().any(|schema| {
                let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
                required.into_iter().any(|known| known == name.as_str())
            })
        };
        let properties = one.get("properties").and_then(Json::as_object).into_iter().flatten();
        let by_property = || {
            properties.into_iter().any(|(name, schema)| {
                let other = other.get("properties").and_then(|properties| properties.get(name));
                is_required(name) && other.is_some_and(|other| differ(schema, other))
            })
        };
        common == 0
            || differ(&Json::Object(one.clone()), &Json::Object(other.clone()))
            || (common & !OBJECT == 0 && by_property())
    }

    fn all_of(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        let (narrow, wide) = self.narrow_and_wide(old, new);
        let [narrow_ones, wide_ones] = [narrow, wide].map(|schema| schemas(schema, "allOf").unwrap_or_default());
        for (at, wide_one) in wide_ones.iter().enumerate() {
            let mut inner = Vec::new();
            match narrow_ones.get(at) {
                Some(narrow_one) => {
                    let (old, new) = self.narrow_and_wide(*narrow_one, *wide_one);
                    self.node(old, new, part, &mut inner);
                }
                None => self.report(Relation::Unknown, "a part of `allOf`", "has no counterpart", part, &mut inner),
            }
            let is_breaking = inner.iter().any(|change| change.verdict == Verdict::Breaking);
            let is_implied = || narrow_ones.iter().chain([&narrow]).any(|narrow| self.implies(narrow, wide_one));
            if is_breaking && is_implied() {
                inner.retain(|change| change.verdict != Verdict::Breaking);
            }
            found.extend(inner);
        }
        if narrow_ones.len() > wide_ones.len() {
            self.judged(
                "constraint-changed",
                Verdict::Compatible,
                "a part of `allOf` is not in both schemas",
                part,
                found,
            );
        }
    }
}

/// What an alternative is called: by a property with one value, its title, or its reference.
fn name(schema: &Json) -> Option<String> {
    let properties = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    let by_value = properties.into_iter().find_map(|(name, schema)| Some(format!("{name}={}", schema.get("const")?)));
    let text = |key: &str| schema.get(key).and_then(Json::as_str).map(str::to_owned);
    by_value.or_else(|| schema.get("const").map(Json::to_string)).or_else(|| text("title")).or_else(|| text("$ref"))
}

fn label(schema: &Json, at: usize) -> String {
    name(schema).map_or_else(|| format!("alternative {}", at + 1), |name| format!("alternative `{name}`"))
}
