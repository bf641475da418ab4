//! The keywords of one schema: its types, its listed values, its limits, and what can only be equal.

use super::super::change::Change;
use super::normal::{bare, refers, refers_to_definitions};
use super::relation::{
    ARRAY, NUMBERS, OBJECT, Relation, STRING, dependency_relation, end_relation, listed_values, multiple_relation,
    type_relation, types,
};
use super::walk::{Comparison, Part};
use crate::definition::Checker;
use crate::value::Json;
use serde_json::{Map, Value};

type Keywords = Map<String, Json>;

/// Limits whose keywords are numbers: the types that they apply to, the keywords, and whether they are minimums.
const LIMITS: [(u8, [&str; 2], bool); 8] = [
    (NUMBERS, ["minimum", "exclusiveMinimum"], true),
    (NUMBERS, ["maximum", "exclusiveMaximum"], false),
    (STRING, ["minLength", ""], true),
    (STRING, ["maxLength", ""], false),
    (ARRAY, ["minItems", ""], true),
    (ARRAY, ["maxItems", ""], false),
    (OBJECT, ["minProperties", ""], true),
    (OBJECT, ["maxProperties", ""], false),
];

/// Keywords that are compared as they are written: the types that they apply to, and keywords that belong together. The
/// first one decides whether there is a constraint.
const OPAQUE: [(u8, &[&str]); 7] = [
    (STRING, &["pattern"]),
    (STRING, &["format"]),
    (STRING, &["contentEncoding"]),
    (STRING, &["contentMediaType", "contentSchema"]),
    (ARRAY, &["contains", "minContains", "maxContains"]),
    (OBJECT, &["dependentSchemas"]),
    (u8::MAX, &["not"]),
];

/// Keywords that depend on what others of the same schema looked at.
const UNEVALUATED: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

static NOTHING: Json = Value::Null;

impl<'a> Comparison<'a> {
    /// Compares what two schemas accept; references were followed.
    pub(super) fn keywords(&self, old: &'a Json, new: &'a Json, part: &Part, found: &mut Vec<Change>) {
        match (old == &Json::Bool(false), new == &Json::Bool(false)) {
            (true, true) => return,
            (true, false) => return self.report(Relation::Looser, "any value", "was refused", part, found),
            (false, true) => return self.report(Relation::Tighter, "any value", "is refused now", part, found),
            _ => {}
        }
        // `true` has no keywords; neither has anything that is not a schema.
        let empty = Map::new();
        let old_map = old.as_object().unwrap_or(&empty);
        let new_map = new.as_object().unwrap_or(&empty);
        if self.listed(old_map, new_map, part, found) {
            return;
        }
        let relation = type_relation(types(old_map), types(new_map));
        let kind = match relation {
            Relation::Looser => "type-widened",
            Relation::Tighter => "type-narrowed",
            _ => "type-changed",
        };
        if relation != Relation::Same {
            let shown = |map: &Keywords| map.get("type").map_or_else(|| "not limited".to_owned(), Json::to_string);
            let what = format!("the type is {} now, it was {}", shown(new_map), shown(old_map));
            self.judged(kind, self.verdict(relation), &what, part, found);
        }
        let values = types(self.narrow_and_wide(old_map, new_map).0);
        self.limits(old_map, new_map, values, part, found);
        self.opaque(old_map, new_map, values, part, found);
        if values & ARRAY != 0 {
            self.items(old, new, part, found);
        }
        if values & OBJECT != 0 {
            self.objects(old, new, part, found);
        }
        self.alternatives(old, new, part, found);
        self.conditions(old, new, part, found);
    }

    /// Compares listed values. Returns whether they decide what is accepted.
    fn listed(&self, old: &Keywords, new: &Keywords, part: &Part, found: &mut Vec<Change>) -> bool {
        let (of_old, of_new) = (listed_values(old), listed_values(new));
        if of_old.is_none() && of_new.is_none() {
            return false;
        }
        let removed = of_old.as_deref().map(|values| refused(values, new, self.new_root));
        let added = of_new.as_deref().map(|values| refused(values, old, self.old_root));
        let each = |values: &[&Json], relation, kind, word: &str, found: &mut Vec<Change>| {
            for value in values {
                self.judged(kind, self.verdict(relation), &format!("the value {value} {word}"), part, found);
            }
        };
        match (removed, added) {
            (Some(Some(removed)), Some(Some(added))) => {
                each(&removed, Relation::Tighter, "enum-value-removed", "was removed", found);
                each(&added, Relation::Looser, "enum-value-added", "is new", found);
            }
            (Some(Some(removed)), None) if removed.is_empty() => {
                self.judged(
                    "enum-removed",
                    self.verdict(Relation::Looser),
                    "other values are accepted now",
                    part,
                    found,
                );
            }
            (None, Some(Some(added))) if added.is_empty() => {
                self.judged(
                    "enum-added",
                    self.verdict(Relation::Tighter),
                    "only listed values are accepted now",
                    part,
                    found,
                );
            }
            (Some(Some(removed)), None) => {
                each(&removed, Relation::Changed, "enum-value-removed", "was removed", found)
            }
            (None, Some(Some(added))) => each(&added, Relation::Changed, "enum-value-added", "is new", found),
            _ => self.report(Relation::Unknown, "the list of values", "changed", part, found),
        }
        true
    }

    fn limits(&self, old: &Keywords, new: &Keywords, values: u8, part: &Part, found: &mut Vec<Change>) {
        let mut relations: Vec<(Relation, &str)> = LIMITS
            .iter()
            .filter(|(types, ..)| values & types != 0)
            .map(|(_, keywords, is_lower)| (end_relation(old, new, *keywords, *is_lower), changed(old, new, *keywords)))
            .collect();
        if values & NUMBERS != 0 {
            relations.push((multiple_relation(old.get("multipleOf"), new.get("multipleOf")), "multipleOf"));
        }
        if values & ARRAY != 0 {
            let unique = |map: &Keywords| map.get("uniqueItems").filter(|value| **value == Json::Bool(true)).cloned();
            relations.push((Relation::of_presence(unique(old), unique(new)), "uniqueItems"));
        }
        if values & OBJECT != 0 {
            let of = "dependentRequired";
            relations.push((dependency_relation(old.get(of), new.get(of)), of));
        }
        for (relation, keyword) in relations {
            let happened = happened(old.get(keyword), new.get(keyword));
            self.report(relation, &format!("`{keyword}`"), &happened, part, found);
        }
    }

    fn opaque(&self, old: &Keywords, new: &Keywords, values: u8, part: &Part, found: &mut Vec<Change>) {
        for (_, keywords) in OPAQUE.iter().filter(|(types, _)| values & types != 0) {
            let parts = |map: &Keywords| -> Vec<Json> {
                keywords.iter().map(|keyword| map.get(*keyword).map_or(NOTHING.clone(), bare)).collect()
            };
            let relation = match (old.get(keywords[0]), new.get(keywords[0])) {
                (Some(_), Some(_)) => {
                    let [old, new] = [old, new].map(|map| Json::Array(parts(map)));
                    let is_same = old == new && self.is_same(&old, &new);
                    if is_same { Relation::Same } else { Relation::Unknown }
                }
                (old, new) => Relation::of_presence(old, new),
            };
            let happened = happened(old.get(keywords[0]), new.get(keywords[0]));
            self.report(relation, &format!("`{}`", keywords[0]), &happened, part, found);
        }
        let wide = self.narrow_and_wide(old, new).1;
        for keyword in UNEVALUATED.iter().filter(|keyword| wide.get(**keyword).is_some_and(|value| value != true)) {
            let is_plain = *keyword == UNEVALUATED[0] && [old, new].into_iter().all(|map| !applies_others(map));
            let [old, new] = [old, new].map(|map| bare(&Json::Object(map.clone())));
            if !is_plain && !self.is_same(&old, &new) {
                let subject = format!("a schema with `{keyword}`");
                self.report(Relation::Unknown, &subject, "changed", part, found);
            }
        }
    }
}

/// Whether a schema has other schemas for the same value.
pub(super) fn applies_others(schema: &Keywords) -> bool {
    ["$ref", "allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas"].iter().any(|key| schema.contains_key(*key))
}

/// The keyword of a pair that differs.
fn changed<'k>(old: &Keywords, new: &Keywords, [one, other]: [&'k str; 2]) -> &'k str {
    if other.is_empty() || old.get(one) != new.get(one) { one } else { other }
}

fn happened(old: Option<&Json>, new: Option<&Json>) -> String {
    let short = |value: &Json| {
        let shown = value.to_string();
        if shown.chars().count() > 80 { shown.chars().take(79).chain(['…']).collect() } else { shown }
    };
    match (old, new) {
        (Some(old), Some(new)) => format!("is {} now, it was {}", short(new), short(old)),
        (None, Some(new)) => format!("is new: {}", short(new)),
        (Some(old), None) => format!("was removed ({})", short(old)),
        (None, None) => "changed".to_owned(),
    }
}

/// Returns the values that a schema refuses; `None` if the schema cannot be checked alone.
fn refused<'v>(values: &[&'v Json], schema: &Keywords, root: &Json) -> Option<Vec<&'v Json>> {
    let mut alone = schema.clone();
    if refers(&Json::Object(schema.clone())) {
        if !refers_to_definitions(root) {
            return None;
        }
        for keyword in ["$defs", "definitions"] {
            alone.extend(root.get(keyword).map(|defs| (keyword.to_owned(), defs.clone())));
        }
    }
    let checker = Checker::new(alone).ok()?;
    Some(values.iter().copied().filter(|value| !checker.check(value).is_empty()).collect())
}
