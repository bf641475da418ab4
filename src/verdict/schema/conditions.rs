//! `if`, `then` and `else`: a chain over the values of one argument, as operations of a tool are published, is compared
//! value by value; others can only be equal.

use super::super::change::{Change, Verdict};
use super::relation::{Relation, listed_values};
use super::walk::{Comparison, Part, Role};
use crate::value::Json;
use serde_json::Map;

/// What single values of an argument demand.
struct Chain<'a> {
    argument: &'a str,
    demands: Vec<(&'a str, &'a Json)>,
}

/// Reads a chain of conditions; `None` if it is not one over the values of a single argument.
fn read_chain(schema: &Json) -> Option<Chain<'_>> {
    let mut chain: Option<Chain<'_>> = None;
    let mut link = Some(schema);
    while let Some(condition) = link.and_then(|link| link.get("if")) {
        let (argument, choice) = single(condition.get("properties")?.as_object()?)?;
        let required: Vec<&Json> = condition.get("required")?.as_array()?.iter().collect();
        if condition.as_object()?.len() != 2 || required != [argument] || choice.as_object()?.len() != 1 {
            return None;
        }
        let chain = chain.get_or_insert(Chain { argument, demands: Vec::new() });
        if chain.argument != argument {
            return None;
        }
        for value in listed_values(choice.as_object()?)? {
            // The first link that names a value decides.
            if !chain.demands.iter().any(|(known, _)| value == known) {
                chain.demands.push((value.as_str()?, link?.get("then")?));
            }
        }
        link = link?.get("else");
        let is_link = |link: &Json| {
            link.as_object().is_some_and(|map| {
                map.keys().all(|key| ["if", "then", "else"].contains(&key.as_str())) && map.contains_key("if")
            })
        };
        if link.is_some_and(|link| !is_link(link)) {
            return None;
        }
    }
    chain
}

fn single(map: &Map<String, Json>) -> Option<(&str, &Json)> {
    let mut entries = map.iter();
    let (name, value) = entries.next()?;
    entries.next().is_none().then_some((name.as_str(), value))
}

fn required(schema: &Json) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

static ANYTHING: Json = Json::Bool(true);

impl<'a> Comparison<'a> {
    pub(super) fn conditions(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        let parts = |schema: &Json| -> Vec<Option<Json>> {
            ["if", "then", "else"].iter().map(|key| schema.get(*key).map(super::normal::bare)).collect()
        };
        let (before, after) = (parts(old), parts(new));
        let is_same = before == after
            && ["if", "then", "else"]
                .iter()
                .all(|key| old.get(*key).zip(new.get(*key)).is_none_or(|(old, new)| self.is_same(old, new)));
        if is_same || (before[0].is_none() && after[0].is_none()) {
            return;
        }
        let (narrow, wide) = self.narrow_and_wide(old, new);
        match (read_chain(narrow), read_chain(wide)) {
            (narrow_chain, Some(wide_chain)) if narrow.get("if").is_none() || narrow_chain.is_some() => {
                self.chains((narrow, narrow_chain), &wide_chain, part, found);
            }
            _ if wide.get("if").is_none() => {
                let relation = if self.role == Role::Result { Relation::Tighter } else { Relation::Looser };
                self.report(relation, "a condition", "is not in both schemas", part, found);
            }
            _ => self.report(Relation::Unknown, "`if`", "changed", part, found),
        }
    }

    /// Holds what the wide schema demands of each value against what the narrow one demands of it.
    fn chains(
        &self,
        (narrow, chain): (&'a Json, Option<Chain<'a>>),
        wide: &Chain<'a>,
        part: &Part,
        found: &mut Vec<Change>,
    ) {
        let argument = wide.argument;
        let values = narrow.get("properties").and_then(|properties| properties.get(argument)?.as_object());
        let values = values.and_then(listed_values);
        let is_possible = |value: &str| values.as_ref().is_none_or(|values| values.iter().any(|known| *known == value));
        let same_argument = chain.filter(|chain| chain.argument == argument);
        for (value, demand) in wide.demands.iter().filter(|(value, _)| is_possible(value)) {
            let known = same_argument.as_ref().and_then(|chain| chain.demands.iter().find(|(known, _)| known == value));
            let known = known.map_or(&ANYTHING, |(_, demand)| *demand);
            let inner = part.alternative(&format!("{argument} `{value}`"));
            let missing =
                required(demand).filter(|name| !required(narrow).chain(required(known)).any(|known| known == *name));
            for name in missing {
                let (kind, what) = match self.role {
                    Role::Result => ("field-optional", "the field is optional now"),
                    _ => ("argument-required", "the argument is required now"),
                };
                self.judged(kind, Verdict::Breaking, what, &inner.property(name), found);
            }
            let has_more = demand.as_object().is_none_or(|demand| demand.keys().any(|key| key != "required"));
            if has_more && !self.is_same(known, demand) && !self.is_accepted_by(known, demand) {
                self.report(Relation::Unknown, "what it demands", "changed", &inner, found);
            }
        }
        if found.iter().all(|change| change.verdict < Verdict::Breaking) {
            self.judged("constraint-changed", Verdict::Compatible, "the conditions of its values changed", part, found);
        }
    }

    fn is_accepted_by(&self, known: &'a Json, demand: &'a Json) -> bool {
        self.implies(known, demand)
    }
}
