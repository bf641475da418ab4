//! What is within a value: properties of objects, by name and by pattern, and items of lists.

use super::super::change::{Change, Verdict};
use super::super::wording::overlooked;
use super::keywords::applies_others;
use super::normal::follow;
use super::relation::Relation;
use super::walk::{Comparison, Part, Role};
use crate::value::Json;
use serde_json::Map;
use std::collections::BTreeSet;

/// The schema that accepts everything.
static ANYTHING: Json = Json::Bool(true);

/// What an object schema says of names.
struct Names<'a> {
    properties: Option<&'a Map<String, Json>>,
    patterns: Option<&'a Map<String, Json>>,
    /// The schema of all other names.
    others: &'a Json,
    required: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(schema: &'a Json) -> Self {
        let map = |key: &str| schema.get(key).and_then(Json::as_object);
        // Without other schemas for the same object, the properties that are not evaluated are those without a schema.
        let unevaluated = schema
            .get("unevaluatedProperties")
            .filter(|_| schema.as_object().is_some_and(|schema| !applies_others(schema)));
        let required = schema.get("required").and_then(Json::as_array).into_iter().flatten();
        Self {
            properties: map("properties"),
            patterns: map("patternProperties"),
            others: schema.get("additionalProperties").or(unevaluated).unwrap_or(&ANYTHING),
            required: required.filter_map(Json::as_str).collect(),
        }
    }

    fn property(&self, name: &str) -> Option<&'a Json> {
        self.properties?.get(name)
    }

    fn pattern(&self, pattern: &str) -> Option<&'a Json> {
        self.patterns?.get(pattern)
    }

    /// The schemas of which one may hold for a name without a schema of its own.
    fn elsewhere(&self) -> impl Iterator<Item = &'a Json> {
        std::iter::once(self.others).chain(self.patterns.into_iter().flat_map(Map::values))
    }
}

/// The code of what happened to an argument, a setting or a field.
fn kind(role: Role, kinds: [&'static str; 3]) -> &'static str {
    kinds[match role {
        Role::Arguments => 0,
        Role::Settings => 1,
        Role::Result => 2,
    }]
}

const ADDED: [&str; 3] = ["argument-added", "setting-added", "field-added"];
const REMOVED: [&str; 3] = ["argument-removed", "setting-removed", "field-removed"];
const REQUIRED: [&str; 3] = ["argument-required", "setting-required", "field-required"];
const OPTIONAL: [&str; 3] = ["argument-optional", "setting-optional", "field-optional"];

impl<'a> Comparison<'a> {
    pub(super) fn objects(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        let (old_names, new_names) = (Names::of(old), Names::of(new));
        let all: BTreeSet<&str> = [&old_names, &new_names]
            .into_iter()
            .flat_map(|names| {
                names
                    .required
                    .iter()
                    .copied()
                    .chain(names.properties.into_iter().flat_map(Map::keys).map(String::as_str))
            })
            .collect();
        for name in all {
            self.property(name, &old_names, &new_names, part, found);
        }
        self.patterns(&old_names, &new_names, part, found);
        let is_closed = |names: &Names<'_>| names.others == &Json::Bool(false);
        match (is_closed(&old_names), is_closed(&new_names)) {
            (true, true) => {}
            (true, false) => {
                self.judged(
                    "object-opened",
                    self.verdict(Relation::Looser),
                    "other names are accepted now",
                    part,
                    found,
                );
            }
            (false, true) => {
                self.judged(
                    "object-closed",
                    self.verdict(Relation::Tighter),
                    "other names are refused now",
                    part,
                    found,
                );
            }
            (false, false) => self.node(old_names.others, new_names.others, &part.property("*"), found),
        }
        let [old, new] = [old, new].map(|schema| schema.get("propertyNames").unwrap_or(&ANYTHING));
        self.node(old, new, &part.property("(names)"), found);
    }

    fn property(&self, name: &str, old: &Names<'a>, new: &Names<'a>, part: &Part, found: &mut Vec<Change>) {
        let inner = part.property(name);
        let (was_required, is_required) = (old.required.contains(name), new.required.contains(name));
        match (old.property(name), new.property(name)) {
            (Some(before), Some(after)) => {
                self.requirement(was_required, is_required, &inner, found);
                if !was_required && !is_required {
                    self.default(before, after, &inner, found);
                }
                self.node(before, after, &inner, found);
            }
            (None, Some(after)) => self.added(after, (!was_required && is_required, is_required), old, &inner, found),
            (Some(_), None) => {
                let what = format!("the {} was removed", self.role.noun());
                self.judged(kind(self.role, REMOVED), Verdict::Breaking, &what, &inner, found);
            }
            (None, None) => self.requirement(was_required, is_required, &inner, found),
        }
    }

    fn requirement(&self, was: bool, is: bool, part: &Part, found: &mut Vec<Change>) {
        let noun = self.role.noun();
        if !was && is {
            let what = format!("the {noun} is required now");
            self.judged(kind(self.role, REQUIRED), self.verdict(Relation::Tighter), &what, part, found);
        } else if was && !is {
            let what = format!("the {noun} is optional now");
            self.judged(kind(self.role, OPTIONAL), self.verdict(Relation::Looser), &what, part, found);
        }
    }

    /// A property is new: whether it fits what was accepted under its name, and whether it is required.
    fn added(&self, new: &'a Json, required: (bool, bool), old: &Names<'a>, part: &Part, found: &mut Vec<Change>) {
        let (newly_required, is_required) = required;
        let fits = |schema: &'a Json| match self.role {
            Role::Result => self.implies(new, schema),
            _ => self.implies(schema, new),
        };
        let (noun, is_result) = (self.role.noun(), self.role == Role::Result);
        let word = if is_required { "required" } else { "optional" };
        let (verdict, what) = if newly_required && !is_result {
            (Verdict::Breaking, format!("the {noun} is new and required"))
        } else if old.elsewhere().all(fits) {
            (Verdict::Compatible, format!("the {noun} is new and {word}"))
        } else if is_result {
            (Verdict::Breaking, format!("the {noun} is new, and the old schema refuses it"))
        } else {
            (Verdict::Breaking, format!("the {noun} is new, and the old schema accepted other values of this name"))
        };
        let described = new.get("description").and_then(Json::as_str).unwrap_or_default();
        let what = format!("{what}{}", overlooked("", described));
        self.judged(kind(self.role, ADDED), verdict, &what, part, found);
        if let Some(change) = found.last_mut().filter(|_| !described.is_empty()) {
            change.after = Some(described.to_owned());
        }
    }

    /// The default of what is optional before and after: without it, the same call means something else.
    fn default(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        let of =
            |schema: &'a Json, root: &'a Json| schema.get("default").or_else(|| follow(schema, root)?.get("default"));
        let (old, new) = (of(old, self.old_root), of(new, self.new_root));
        if old == new || self.role == Role::Result {
            return;
        }
        let shown = |value: Option<&Json>| value.map_or_else(|| "not set".to_owned(), Json::to_string);
        let noun = self.role.noun();
        let message = format!(
            "the default is {} now, it was {}: without the {noun}, the same call means something else",
            shown(new),
            shown(old)
        );
        self.change("default-changed", Verdict::Breaking, message, part, found);
    }

    fn patterns(&self, old: &Names<'a>, new: &Names<'a>, part: &Part, found: &mut Vec<Change>) {
        let all: BTreeSet<&String> = [old.patterns, new.patterns].into_iter().flatten().flat_map(Map::keys).collect();
        for pattern in all {
            let inner = part.property(&format!("/{pattern}/"));
            match (old.pattern(pattern), new.pattern(pattern)) {
                (Some(before), Some(after)) => self.node(before, after, &inner, found),
                (before, after) => {
                    // Only the narrow schema has it: its names are then held against the schema of all others.
                    let (narrow, _) = self.narrow_and_wide(before, after);
                    let others = self.narrow_and_wide(old.others, new.others).1;
                    let relation = match narrow.is_some_and(|schema| self.implies(schema, others)) {
                        false => Relation::Unknown,
                        true if after.is_some() => Relation::Tighter,
                        true => Relation::Looser,
                    };
                    let word = if after.is_some() { "is new" } else { "was removed" };
                    self.report(relation, &format!("the pattern of names `{pattern}`"), word, &inner, found);
                }
            }
        }
    }

    pub(super) fn items(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        let first =
            |schema: &'a Json| schema.get("prefixItems").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
        let rest = |schema: &'a Json| schema.get("items").unwrap_or(&ANYTHING);
        let (old_first, new_first) = (first(old), first(new));
        for at in 0..old_first.len().max(new_first.len()) {
            let before = old_first.get(at).unwrap_or(rest(old));
            let after = new_first.get(at).unwrap_or(rest(new));
            self.node(before, after, &part.items().property(&at.to_string()), found);
        }
        self.node(rest(old), rest(new), &part.items(), found);
    }
}
