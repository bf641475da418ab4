//! Schemas of which some or exactly one must accept a value, and what single values of an argument demand, as operations
//! of a tool are published.

use super::super::change::Verdict;
use super::objects::{properties, required};
use super::relation::{OBJECT, Relation, bare, follow, listed_values, types};
use super::{ANYTHING, Comparison, Part, parts};
use crate::value::Json;
use serde_json::{Map, json};

const CONDITION: [&str; 3] = ["if", "then", "else"];

impl<'a> Comparison<'a> {
    pub(super) fn alternatives(&mut self, old: &'a Json, new: &'a Json, part: &Part) {
        let (narrow, wide) = self.narrow_and_wide(old, new);
        for keyword in ["anyOf", "oneOf"] {
            let [narrow_ones, wide_ones] = [narrow, wide].map(|schema| schema.get(keyword).and_then(Json::as_array));
            if narrow_ones.or(wide_ones).is_none() {
                continue;
            }
            let is_same = self.is_same(&parts(narrow, &[keyword]), &parts(wide, &[keyword]));
            let is_exact = is_same || wide_ones.is_some_and(|wide| keyword == "anyOf" || self.are_disjoint(wide));
            match (narrow_ones, wide_ones) {
                (Some(_), None) => self.report(self.compatible(), &format!("`{keyword}` is not in both schemas"), part),
                (None, Some(wide)) if is_exact && wide.iter().any(|one| self.implies(narrow, one)) => {
                    self.judged("constraint-changed", self.compatible(), &format!("`{keyword}` changed"), part);
                }
                (None, _) => self.report(Relation::Unknown, &format!("`{keyword}` changed"), part),
                (Some(narrow), Some(wide)) => {
                    self.pair(narrow, wide, part);
                    if !is_exact {
                        let what = "alternatives of which exactly one must match changed, and may overlap";
                        self.report(Relation::Unknown, what, part);
                    }
                }
            }
        }
    }

    /// Compares alternatives with those that they became: equal ones, then those of one name, then those of one place.
    fn pair(&mut self, narrow: &'a [Json], wide: &'a [Json], part: &Part) {
        let mut wide_left: Vec<(usize, &'a Json)> = wide.iter().enumerate().collect();
        let (mut narrow_left, mut pairs) = (Vec::new(), Vec::new());
        let is_free = |other: &Json| {
            !narrow.iter().any(|one| self.is_same(one, other) || (name(one).is_some() && name(one) == name(other)))
        };
        for (at, one) in narrow.iter().enumerate() {
            let by_text = wide_left.iter().position(|(_, other)| self.is_same(one, other));
            let by_name = || wide_left.iter().position(|(_, other)| name(one).is_some() && name(one) == name(other));
            let by_place = || {
                wide_left.iter().position(|(place, other)| *place == at && narrow.len() == wide.len() && is_free(other))
            };
            match by_text.or_else(by_name).or_else(by_place) {
                Some(partner) => pairs.push(((at, one), wide_left.remove(partner).1)),
                None => narrow_left.push((at, one)),
            }
        }
        for ((at, narrow), wide) in pairs {
            let (old, new) = self.narrow_and_wide(narrow, wide);
            self.node(old, new, &part.alternative(&label(narrow, at)));
        }
        let removed = ("alternative-removed", "an alternative was removed");
        let added = ("alternative-added", "an alternative is new");
        let (of_narrow, of_wide) = self.narrow_and_wide(removed, added);
        for (at, narrow) in narrow_left {
            let is_accepted = wide.iter().any(|wide| self.implies(narrow, wide));
            let relation = if is_accepted { self.compatible() } else { Relation::Unknown };
            self.judged(of_narrow.0, relation, of_narrow.1, &part.alternative(&label(narrow, at)));
        }
        for (at, wide) in wide_left {
            self.judged(of_wide.0, self.compatible(), of_wide.1, &part.alternative(&label(wide, at)));
        }
    }

    /// Whether no two alternatives of the wide schema accept a common value, as far as the texts show it: their types
    /// differ, or their values, or those of a property that one of them needs.
    fn are_disjoint(&self, wide: &[Json]) -> bool {
        let root = self.narrow_and_wide(self.roots[0], self.roots[1]).1;
        // Numbers can be equal in two spellings.
        let differ = |one: &Json, other: &Json| match (listed_values(one), listed_values(other)) {
            (Some(one), Some(other)) => one.iter().all(|value| value.is_string() && !other.contains(value)),
            _ => false,
        };
        let exclude = |one: &Json, other: &Json| {
            let (Some(one), Some(other)) = (follow(one, root), follow(other, root)) else { return false };
            let differ_by = |(name, schema): (&str, &Json)| {
                let is_needed = required(one).chain(required(other)).any(|known| known == name);
                is_needed && properties(other).any(|(known, other)| known == name && differ(schema, other))
            };
            let common = types(one) & types(other);
            common == 0 || differ(one, other) || (common == OBJECT && properties(one).any(differ_by))
        };
        wide.iter().enumerate().all(|(at, one)| wide[..at].iter().all(|other| exclude(one, other)))
    }

    pub(super) fn conditions(&mut self, old: &'a Json, new: &'a Json, part: &Part) {
        let (narrow, wide) = self.narrow_and_wide(old, new);
        if narrow.get("if").or(wide.get("if")).is_none()
            || self.is_same(&parts(narrow, &CONDITION), &parts(wide, &CONDITION))
        {
            return;
        }
        match (read_chain(narrow), read_chain(wide)) {
            (Some(known), Some(chain)) if known.argument.is_none_or(|name| chain.argument == Some(name)) => {
                self.chains(narrow, &known, &chain, part);
            }
            _ if wide.get("if").is_none() => {
                self.report(self.compatible(), "a condition is not in both schemas", part);
            }
            _ => self.report(Relation::Unknown, "`if` changed", part),
        }
    }

    /// Holds what the wide schema demands of each value against what the narrow one demands of it.
    fn chains(&mut self, narrow: &'a Json, known: &Chain<'a>, wide: &Chain<'a>, part: &Part) {
        let argument = wide.argument.unwrap_or_default();
        let values = narrow.get("properties").and_then(|all| listed_values(all.get(argument)?));
        for (value, demand) in &wide.demands {
            if values.is_some_and(|values| !values.iter().any(|known| known == value)) {
                continue;
            }
            let known = known.demands.iter().find(|(known, _)| known == value).map_or(&ANYTHING, |(_, known)| *known);
            let inner = part.alternative(&format!("{argument} `{value}`"));
            let (kind, word) =
                self.narrow_and_wide(("argument-required", "required"), ("field-optional", "optional")).0;
            for name in required(demand).filter(|name| !required(narrow).chain(required(known)).any(|n| n == *name)) {
                let what = format!("the {} is {word} now", self.role.noun());
                self.judged(kind, Relation::Unknown, &what, &inner.property(name));
            }
            let [before, after] = [known, *demand].map(|demand| {
                let mut rest = bare(demand);
                rest.as_object_mut().map(|rest| rest.shift_remove("required"));
                rest
            });
            if after != Json::Object(Map::new()) && !self.is_same(&before, &after) {
                self.report(Relation::Unknown, "what it demands changed", &inner);
            }
        }
        if self.changes.iter().all(|change| change.verdict < Verdict::Breaking) {
            self.judged("constraint-changed", self.compatible(), "the conditions of its values changed", part);
        }
    }
}

/// What single values of an argument demand.
#[derive(Default)]
struct Chain<'a> {
    argument: Option<&'a str>,
    demands: Vec<(&'a str, &'a Json)>,
}

/// Reads a chain of conditions; empty without a condition, `None` if it is not one over the values of a single argument.
fn read_chain(schema: &Json) -> Option<Chain<'_>> {
    let (mut chain, mut link) = (Chain::default(), schema);
    while let Some(condition) = link.get("if") {
        let (argument, choice) = properties(condition).next()?;
        let is_single = choice.as_object()?.len() == 1
            && *condition == json!({ "properties": { argument: choice }, "required": [argument] });
        if !is_single || chain.argument.is_some_and(|known| known != argument) {
            return None;
        }
        chain.argument = Some(argument);
        for value in listed_values(choice)? {
            // The first link that names a value decides.
            if !chain.demands.iter().any(|(known, _)| value == known) {
                chain.demands.push((value.as_str()?, link.get("then")?));
            }
        }
        let Some(rest) = link.get("else") else { break };
        if rest.get("if").is_none() || !rest.as_object()?.keys().all(|key| CONDITION.contains(&&**key)) {
            return None;
        }
        link = rest;
    }
    Some(chain)
}

/// What an alternative is called: by a property with one value, its value, its title, or its reference.
fn name(schema: &Json) -> Option<String> {
    let by_value = properties(schema).find_map(|(name, schema)| Some(format!("{name}={}", schema.get("const")?)));
    let text = |key: &str| schema.get(key).and_then(Json::as_str).map(str::to_owned);
    by_value.or_else(|| schema.get("const").map(Json::to_string)).or_else(|| text("title")).or_else(|| text("$ref"))
}

fn label(schema: &Json, at: usize) -> String {
    name(schema).map_or_else(|| format!("alternative {}", at + 1), |name| format!("alternative `{name}`"))
}
