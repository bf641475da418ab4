//! Compares schemas by keyword: an input must accept all that the old one accepted, a result must have nothing that the
//! old schema refuses. What the texts do not show is breaking.

mod choices;
mod objects;
mod relation;

use super::change::{Change, Verdict};
use super::wording::text_change;
use crate::definition::{Checker, shorten};
use crate::value::Json;
use relation::{
    ARRAY, NUMBERS, OBJECT, Relation, STRING, bare, end_relation, follow, listed_values, refers, refers_to_definitions,
    step_relation, type_relation, types,
};
use std::cmp::Ordering;
use std::collections::HashSet;

/// What a schema describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The arguments of a call.
    Arguments,
    /// The settings of a pack in a project.
    Settings,
    /// The result of a call.
    Result,
}

impl Role {
    fn noun(self) -> &'static str {
        ["argument", "setting", "field"][self as usize]
    }

    /// What a change means for a caller.
    fn consequence(self, verdict: Verdict) -> &'static str {
        let [breaking, other] = match self {
            Self::Arguments => ["a call that was accepted may be refused", "calls that were accepted still are"],
            Self::Settings => ["a setting that was accepted may be refused", "settings that were accepted still are"],
            Self::Result => {
                ["a client that listed the old schema may refuse results", "results still fit the old schema"]
            }
        };
        if verdict == Verdict::Breaking { breaking } else { other }
    }
}

/// The types that keywords apply to, and how a looser number compares to another. Without it, a keyword is tighter when
/// it is there. A second keyword excludes its number.
const KEYWORDS: [(u8, &[&str], Option<Ordering>); 12] = [
    (NUMBERS, &["minimum", "exclusiveMinimum"], Some(Ordering::Less)),
    (NUMBERS, &["maximum", "exclusiveMaximum"], Some(Ordering::Greater)),
    (NUMBERS, &["multipleOf"], None),
    (STRING, &["minLength"], Some(Ordering::Less)),
    (STRING, &["maxLength"], Some(Ordering::Greater)),
    (STRING, &["pattern"], None),
    (STRING, &["format"], None),
    (ARRAY, &["minItems"], Some(Ordering::Less)),
    (ARRAY, &["maxItems"], Some(Ordering::Greater)),
    (ARRAY, &["uniqueItems"], None),
    (OBJECT, &["minProperties"], Some(Ordering::Less)),
    (OBJECT, &["maxProperties"], Some(Ordering::Greater)),
];

/// Keywords that are rare in tools: they are only compared for equality.
const RARE: &str = "allOf not contains minContains maxContains prefixItems patternProperties propertyNames \
    dependentRequired dependentSchemas contentEncoding contentMediaType contentSchema";

/// Keywords that depend on all others of the same schema.
const DEPENDENT: [&str; 2] = ["unevaluatedProperties", "unevaluatedItems"];

/// Texts in schemas: the keyword, the code of its change, and its word.
const TEXTS: [(&str, &str, &str); 6] = [
    ("description", "description-changed", "description"),
    ("title", "title-changed", "title"),
    ("examples", "examples-changed", "examples"),
    ("deprecated", "deprecation-changed", "deprecation"),
    ("enumNames", "title-changed", "list of names"),
    ("$comment", "description-changed", "comment"),
];

/// A part of a schema, in words.
#[derive(Clone)]
struct Part {
    owner: String,
    path: String,
}

impl Part {
    fn property(&self, name: &str) -> Self {
        let path = if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { path, owner: self.owner.clone() }
    }

    /// One of several alternatives.
    fn alternative(&self, name: &str) -> Self {
        Self { path: self.path.clone(), owner: format!("{}, {name}", self.owner) }
    }

    fn words(&self, role: Role) -> String {
        match self.path.is_empty() {
            false => format!("{}, {} `{}`", self.owner, role.noun(), self.path),
            true => format!("{}, {}", self.owner, ["arguments", "settings", "result"][role as usize]),
        }
    }
}

/// Maximum number of pairs of schemas that one comparison looks at.
const MAX_PAIRS: usize = 20_000;
/// Maximum depth of nested pairs.
const MAX_DEPTH: usize = 48;

/// The schema that accepts everything.
static ANYTHING: Json = Json::Bool(true);

/// A comparison of two schemas.
struct Comparison<'a> {
    pack: &'a str,
    role: Role,
    roots: [&'a Json; 2],
    /// Whether equal references mean equal schemas: in full, and without annotations.
    same_definitions: [bool; 2],
    /// The pairs around the current one: a circle of references ends at a pair that is open.
    open: Vec<(&'a Json, &'a Json)>,
    pairs: usize,
    changes: Vec<Change>,
}

/// The changes between two schemas of `owner`, such as "tool `review`" of `pack`.
pub fn compare_schemas(pack: &str, owner: &str, role: Role, old: &Json, new: &Json) -> Vec<Change> {
    let equal = |form: fn(&Json) -> Json| {
        let same = |key: &&str| old.get(*key).map(form) == new.get(*key).map(form);
        [old, new].into_iter().all(refers_to_definitions) && ["$defs", "definitions"].iter().all(same)
    };
    let bare_definitions = |definitions: &Json| bare(&serde_json::json!({ "$defs": definitions }));
    let same_definitions = [equal(Json::clone), equal(bare_definitions)];
    let (open, changes) = (Vec::new(), Vec::new());
    let mut comparison = Comparison { pack, role, roots: [old, new], same_definitions, open, pairs: 0, changes };
    comparison.node(old, new, &Part { owner: owner.to_owned(), path: String::new() });
    let mut known = HashSet::new();
    // A part that is reached in two ways is reported once.
    comparison.changes.retain(|change| known.insert(change.clone()));
    comparison.changes
}

impl<'a> Comparison<'a> {
    /// Whether two schemas are equal, apart from annotations.
    fn is_same(&self, old: &Json, new: &Json) -> bool {
        bare(old) == bare(new) && (self.same_definitions[1] || !refers(old))
    }

    /// The one that must accept less comes first: calls are made by the old schema, results by the new one.
    fn narrow_and_wide<T>(&self, old: T, new: T) -> (T, T) {
        if self.role == Role::Result { (new, old) } else { (old, new) }
    }

    /// The relation in which everything still works.
    fn compatible(&self) -> Relation {
        self.narrow_and_wide(Relation::Looser, Relation::Tighter).0
    }

    /// Whether the wide schema accepts all that the narrow one accepts, as far as the texts show it.
    fn implies(&mut self, narrow: &'a Json, wide: &'a Json) -> bool {
        let (old, new) = self.narrow_and_wide(narrow, wide);
        let known = std::mem::take(&mut self.changes);
        self.node(old, new, &Part { owner: String::new(), path: String::new() });
        let found = std::mem::replace(&mut self.changes, known);
        found.iter().all(|change| change.verdict < Verdict::Breaking)
    }

    /// Compares two schemas, and everything within them.
    fn node(&mut self, old: &'a Json, new: &'a Json, part: &Part) {
        if old == new && (self.same_definitions[0] || !refers(old)) {
            return;
        }
        self.pairs += 1;
        if self.pairs > MAX_PAIRS || self.open.len() > MAX_DEPTH {
            return self.report(Relation::Unknown, "the schema is too large to be compared", part);
        }
        let targets = (follow(old, self.roots[0]), follow(new, self.roots[1]));
        let (old_target, new_target) = (targets.0.unwrap_or(old), targets.1.unwrap_or(new));
        for (keyword, kind, noun) in TEXTS {
            // A text next to a reference comes before that of what it leads to.
            let [old, new] = [[old, old_target], [new, new_target]]
                .map(|schemas| schemas.into_iter().find_map(|schema| schema.get(keyword)));
            if old != new {
                self.changes.extend(text_change(self.pack, &part.words(self.role), kind, noun, old, new));
            }
        }
        let is_open = |(old, new): &(&Json, &Json)| std::ptr::eq(*old, old_target) && std::ptr::eq(*new, new_target);
        if targets.0.is_none() || targets.1.is_none() {
            if !self.is_same(old, new) {
                self.report(Relation::Unknown, "a reference cannot be followed", part);
            }
        } else if !self.open.iter().any(is_open) {
            self.open.push((old_target, new_target));
            self.keywords(old_target, new_target, part);
            self.open.pop();
        }
    }

    /// Compares what two schemas accept; references were followed.
    fn keywords(&mut self, old: &'a Json, new: &'a Json, part: &Part) {
        match (old, new) {
            (Json::Bool(false), Json::Bool(false)) => return,
            (Json::Bool(false), _) => return self.report(Relation::Looser, "any value was refused", part),
            (_, Json::Bool(false)) => return self.report(Relation::Tighter, "any value is refused now", part),
            _ if self.listed(old, new, part) => return,
            _ => {}
        }
        let relation = type_relation(types(old), types(new));
        let kind = match relation {
            Relation::Same => "",
            Relation::Looser => "type-widened",
            Relation::Tighter => "type-narrowed",
            Relation::Unknown => "type-changed",
        };
        let shown = |schema: &Json| schema.get("type").map_or_else(|| "not limited".to_owned(), Json::to_string);
        self.judged(kind, relation, &format!("the type is {} now, it was {}", shown(new), shown(old)), part);
        let (narrow, wide) = self.narrow_and_wide(old, new);
        let values = types(narrow);
        for (_, keywords, looser) in KEYWORDS.iter().filter(|(types, ..)| values & types != 0) {
            let keyword = keywords.iter().find(|keyword| old.get(**keyword) != new.get(**keyword));
            let Some(keyword) = keyword else { continue };
            let (before, after) = (old.get(keyword), new.get(keyword));
            let relation = match looser {
                Some(looser) => end_relation(old, new, keywords, *looser),
                None => step_relation(before, after),
            };
            self.report(relation, &format!("`{keyword}` {}", happened(before, after)), part);
        }
        let depends = DEPENDENT.into_iter().filter(|keyword| wide.get(*keyword).is_some_and(|schema| *schema != true));
        let rare = RARE.split(' ').filter(|keyword| old.get(*keyword).or(new.get(*keyword)).is_some());
        let rare = rare.filter(|keyword| !self.is_same(&parts(old, &[keyword]), &parts(new, &[keyword])));
        let unknown = rare.chain(depends.filter(|_| !self.is_same(old, new)));
        for keyword in unknown.collect::<Vec<_>>() {
            let (before, after) = (old.get(keyword), new.get(keyword));
            let what = match before == after {
                true => format!("a schema with `{keyword}` changed"),
                false => format!("`{keyword}` {}", happened(before, after)),
            };
            self.report(Relation::Unknown, &what, part);
        }
        if values & ARRAY != 0 {
            let [before, after] = [old, new].map(|schema| schema.get("items").unwrap_or(&ANYTHING));
            self.node(before, after, &Part { path: format!("{}[]", part.path), owner: part.owner.clone() });
        }
        if values & OBJECT != 0 {
            self.objects(old, new, part);
        }
        self.alternatives(old, new, part);
        self.conditions(old, new, part);
    }

    /// Compares listed values. Returns whether they decide what is accepted.
    fn listed(&mut self, old: &'a Json, new: &'a Json, part: &Part) -> bool {
        let (before, after) = (listed_values(old), listed_values(new));
        if before.or(after).is_none() || self.is_same(old, new) {
            return before.is_some();
        }
        let removed = ("enum-value-removed", "was removed", "enum-removed", "other values are accepted now");
        let added = ("enum-value-added", "is new", "enum-added", "only listed values are accepted now");
        let [old_root, new_root] = self.roots;
        for (values, other, root, tighter, looser, (kind, word, whole_kind, whole)) in [
            (before, (after, new), new_root, Relation::Tighter, Relation::Looser, removed),
            (after, (before, old), old_root, Relation::Looser, Relation::Tighter, added),
        ] {
            let Some(values) = values else { continue };
            match refused(values, other.1, root) {
                None => self.report(Relation::Unknown, "the list of values changed", part),
                Some(refused) if refused.is_empty() && other.0.is_none() => {
                    self.judged(whole_kind, looser, whole, part);
                }
                Some(refused) => {
                    let relation = if other.0.is_some() { tighter } else { Relation::Unknown };
                    for value in refused {
                        self.judged(kind, relation, &format!("the value {value} {word}"), part);
                    }
                }
            }
        }
        true
    }

    /// Reports a change of a constraint.
    fn report(&mut self, relation: Relation, what: &str, part: &Part) {
        let kind = match relation {
            Relation::Same | Relation::Looser => "constraint-loosened",
            Relation::Tighter => "constraint-tightened",
            Relation::Unknown => {
                let (call, result) = ("all that was accepted still is", "the old schema accepts all results");
                let message = format!("{what}: cannot tell whether {}", self.narrow_and_wide(call, result).0);
                return self.change("cannot-tell", Verdict::Breaking, message, part);
            }
        };
        self.judged(kind, relation, what, part);
    }

    /// Reports a change together with what it means, if it is one.
    fn judged(&mut self, kind: &'static str, relation: Relation, what: &str, part: &Part) {
        let verdict = match relation {
            Relation::Same => return,
            relation if relation == self.compatible() => Verdict::Compatible,
            _ => Verdict::Breaking,
        };
        self.change(kind, verdict, format!("{what}: {}", self.role.consequence(verdict)), part);
    }

    fn change(&mut self, kind: &'static str, verdict: Verdict, message: String, part: &Part) {
        self.changes.push(Change::new(self.pack, part.words(self.role), kind, verdict, message));
    }
}

/// Some keywords of a schema.
fn parts(schema: &Json, keywords: &[&str]) -> Json {
    keywords.iter().filter_map(|key| Some(((*key).to_owned(), schema.get(*key)?.clone()))).collect()
}

fn happened(old: Option<&Json>, new: Option<&Json>) -> String {
    let short = |value: &Json| shorten(&value.to_string(), 80);
    match (old.map(short), new.map(short)) {
        (Some(old), Some(new)) => format!("is {new} now, it was {old}"),
        (None, new) => format!("is new: {}", new.unwrap_or_default()),
        (Some(old), None) => format!("was removed ({old})"),
    }
}

/// Returns the values that a schema refuses; `None` if the schema cannot be checked alone.
fn refused<'v>(values: &'v [Json], schema: &Json, root: &Json) -> Option<Vec<&'v Json>> {
    let Json::Object(mut alone) = schema.clone() else { return Some(Vec::new()) };
    if refers(schema) {
        if !refers_to_definitions(root) {
            return None;
        }
        for keyword in ["$defs", "definitions"] {
            alone.extend(root.get(keyword).map(|defs| (keyword.to_owned(), defs.clone())));
        }
    }
    let checker = Checker::new(alone).ok()?;
    Some(values.iter().filter(|value| !checker.check(value).is_empty()).collect())
}
