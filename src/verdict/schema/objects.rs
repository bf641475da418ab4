//! The properties of objects: which are new, required, or gone, and what other names may have.

use super::super::change::Verdict;
use super::super::wording::overlooked;
use super::relation::{Relation, follow};
use super::{ANYTHING, Comparison, Part, Role};
use crate::value::Json;
use std::collections::BTreeSet;

pub(super) fn required(schema: &Json) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// The schemas of properties, with their names.
pub(super) fn properties(schema: &Json) -> impl Iterator<Item = (&str, &Json)> {
    let all = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
    all.map(|(name, schema)| (name.as_str(), schema))
}

fn others(schema: &Json) -> &Json {
    schema.get("additionalProperties").unwrap_or(&ANYTHING)
}

// Codes of what happened to an argument, a setting, a field.
const ADDED: [&str; 3] = ["argument-added", "setting-added", "field-added"];
const REMOVED: [&str; 3] = ["argument-removed", "setting-removed", "field-removed"];
const REQUIRED: [&str; 3] = ["argument-required", "setting-required", "field-required"];
const OPTIONAL: [&str; 3] = ["argument-optional", "setting-optional", "field-optional"];

impl<'a> Comparison<'a> {
    pub(super) fn objects(&mut self, old: &'a Json, new: &'a Json, part: &Part) {
        let names = |schema: &'a Json| properties(schema).map(|(name, _)| name).chain(required(schema));
        for name in names(old).chain(names(new)).collect::<BTreeSet<_>>() {
            self.property(name, old, new, &part.property(name));
        }
        let (before, after) = (others(old), others(new));
        let (kind, relation, what) = match (before, after) {
            (Json::Bool(false), Json::Bool(false)) => return,
            (Json::Bool(false), _) => ("object-opened", Relation::Looser, "other names are accepted now"),
            (_, Json::Bool(false)) => ("object-closed", Relation::Tighter, "other names are refused now"),
            _ => return self.node(before, after, &part.property("*")),
        };
        self.judged(kind, relation, what, part);
    }

    fn property(&mut self, name: &str, old: &'a Json, new: &'a Json, part: &Part) {
        let [was_required, is_required] = [old, new].map(|schema| required(schema).any(|known| known == name));
        let [before, after] = [old, new].map(|schema| schema.get("properties")?.get(name));
        let noun = self.role.noun();
        match (before, after) {
            (Some(_), None) => {
                let what = format!("the {noun} was removed");
                return self.judged(REMOVED[self.role as usize], Relation::Unknown, &what, part);
            }
            (None, Some(after)) => {
                self.added(after, [was_required, is_required], old, part);
                if is_required {
                    return;
                }
            }
            _ => {}
        }
        if was_required != is_required {
            let (kinds, relation, word) = match is_required {
                true => (REQUIRED, Relation::Tighter, "required"),
                false => (OPTIONAL, Relation::Looser, "optional"),
            };
            let what = format!("the {noun} is {word} now");
            self.judged(kinds[self.role as usize], relation, &what, part);
        }
        if let (Some(before), Some(after)) = (before, after) {
            if !was_required && !is_required {
                self.default(before, after, part);
            }
            self.node(before, after, part);
        }
    }

    /// A property is new: whether it fits what was accepted under its name, and whether it is required.
    fn added(&mut self, new: &'a Json, required: [bool; 2], old: &'a Json, part: &Part) {
        let [was_required, is_required] = required;
        let (noun, is_result) = (self.role.noun(), self.role == Role::Result);
        let by_pattern = old.get("patternProperties").and_then(Json::as_object).into_iter().flatten();
        let mut elsewhere = by_pattern.map(|(_, schema)| schema).chain([others(old)]);
        let (relation, meaning) = if is_required && !was_required && !is_result {
            (Relation::Unknown, "and required")
        } else if elsewhere.all(|old| if is_result { self.implies(new, old) } else { self.implies(old, new) }) {
            (self.compatible(), if is_required { "and required" } else { "and optional" })
        } else if is_result {
            (Relation::Unknown, "and the old schema refuses it")
        } else {
            (Relation::Unknown, "and the old schema accepted other values of this name")
        };
        let described = new.get("description").and_then(Json::as_str).unwrap_or_default();
        let what = format!("the {noun} is new {meaning}{}", overlooked("", described));
        self.judged(ADDED[self.role as usize], relation, &what, part);
        if let Some(change) = self.changes.last_mut().filter(|_| !described.is_empty()) {
            change.after = Some(described.to_owned());
        }
    }

    /// The default of what is optional before and after: without it, the same call means something else.
    fn default(&mut self, old: &'a Json, new: &'a Json, part: &Part) {
        let of =
            |schema: &'a Json, root: &'a Json| schema.get("default").or_else(|| follow(schema, root)?.get("default"));
        let (old, new) = (of(old, self.roots[0]), of(new, self.roots[1]));
        if old == new || self.role == Role::Result {
            return;
        }
        let shown = |value: Option<&Json>| value.map_or_else(|| "not set".to_owned(), Json::to_string);
        let (now, was, noun) = (shown(new), shown(old), self.role.noun());
        let message =
            format!("the default is {now} now, it was {was}: without the {noun}, the same call means something else");
        self.change("default-changed", Verdict::Breaking, message, part);
    }
}
