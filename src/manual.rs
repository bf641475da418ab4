//! What can be looked up: primitives, tables, rules and fault codes, each from the table it is declared in; and the pages made of them.

mod definitions;
mod faults;
mod primitives;

pub use faults::Fault;
pub use primitives::{told_option, verbs_of};

use crate::check::{ALL as RULES, Rule};
use crate::definition::{Grammar, reference};
use crate::diagnostic::nearest;
use crate::primitive::{Family, Primitive};
use crate::primitives::ALL as PRIMITIVES;
use crate::value::Json;
use serde_json::json;

/// The first line of each generated page.
const HEAD: &str = "<!-- Generated from the tables in the source: do not edit, run `just bless`. -->\n";

/// What a name stands for, or everything there is.
pub struct Entries {
    /// Chapters of primitives, if one was asked for.
    pub families: Vec<Family>,
    /// Primitives, sorted by name.
    pub primitives: Vec<&'static Primitive>,
    /// Tables of definitions and of `toolsd.toml`.
    pub tables: Vec<&'static Grammar>,
    /// Rules of `check`, sorted by code.
    pub rules: Vec<&'static Rule>,
    /// Codes of faults that no rule explains.
    pub faults: Vec<&'static Fault>,
}

impl Entries {
    /// Everything there is.
    pub fn all() -> Self {
        Self {
            families: families(),
            primitives: PRIMITIVES.to_vec(),
            tables: reference(),
            rules: RULES.to_vec(),
            faults: faults::all(),
        }
    }

    /// Everything of this name: a primitive, a table (`tool` or `[[tool]]`), a chapter, a rule, a code. One name may
    /// stand for several things, as `graph` does.
    pub fn named(name: &str) -> Self {
        let mut entries = Self::all();
        // A table may be named as it is written, which no other thing is.
        entries.tables.retain(|table| table.name == name || bare(table.name) == name);
        entries.families.retain(|family| word_of(*family) == name);
        entries.primitives.retain(|primitive| primitive.name == name);
        entries.rules.retain(|rule| rule.code.0 == name);
        entries.faults.retain(|fault| fault.code == name);
        entries
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.families.is_empty()
            && self.primitives.is_empty()
            && self.tables.is_empty()
            && self.rules.is_empty()
            && self.faults.is_empty()
    }

    /// The same for machines: an object with `families`, `primitives`, `tables`, `rules`, `faults`.
    pub fn to_json(&self) -> Json {
        let family = |family: &Family| {
            let names: Vec<&str> = members(*family).map(|primitive| primitive.name).collect();
            json!({ "name": word_of(*family), "title": family.title(), "primitives": names })
        };
        json!({
            "families": self.families.iter().map(family).collect::<Vec<_>>(),
            "primitives": self.primitives.iter().map(|one| primitives::to_json(one)).collect::<Vec<_>>(),
            "tables": self.tables.iter().map(|one| definitions::to_json(one)).collect::<Vec<_>>(),
            "rules": self.rules.iter().map(|one| faults::rule_to_json(one)).collect::<Vec<_>>(),
            "faults": self.faults.iter().map(|one| faults::to_json(one)).collect::<Vec<_>>(),
        })
    }
}

/// The name that is most like this one, if one is near enough to be meant.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    let all = Entries::all();
    let tables = all.tables.iter().map(|table| bare(table.name));
    let names = all.primitives.iter().map(|primitive| primitive.name);
    let codes = all.rules.iter().map(|rule| rule.code.0).chain(all.faults.iter().map(|fault| fault.code));
    nearest(bare(name), names.chain(tables).chain(all.families.iter().map(|family| word_of(*family))).chain(codes))
}

/// The chapters, in the order of the documentation.
pub fn families() -> Vec<Family> {
    let mut families: Vec<Family> = PRIMITIVES.iter().map(|primitive| primitive.family).collect();
    families.sort_unstable();
    families.dedup();
    families
}

/// The primitives of a chapter.
pub fn members(family: Family) -> impl Iterator<Item = &'static Primitive> {
    PRIMITIVES.iter().copied().filter(move |primitive| primitive.family == family)
}

/// The word that a chapter is looked up by: the first of its title.
pub fn word_of(family: Family) -> &'static str {
    family.title().split([':', ' ']).next().unwrap_or_default()
}

/// The generated files: path from the root of the repository, and text.
pub fn files() -> Vec<(&'static str, String)> {
    vec![
        ("docs/primitives.d.rhai", crate::script::documentation::rhai_definitions()),
        ("docs/primitives.md", primitives::page()),
        ("docs/definitions.md", definitions::page()),
        ("docs/checks.md", faults::page()),
    ]
}

/// The table of the README: each chapter and the names of its primitives.
pub fn names_table() -> String {
    primitives::names_table()
}

/// The name of a table without its brackets.
fn bare(name: &str) -> &str {
    name.trim_matches(['[', ']'])
}

/// A text as a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_finds_everything_that_it_stands_for() {
        let graph = Entries::named("graph");
        assert_eq!((graph.primitives.len(), graph.tables.len(), graph.families.len()), (1, 1, 1));
        assert_eq!(Entries::named("[graph]").tables.len(), 1);
        assert!(Entries::named("[graph]").primitives.is_empty());
        assert_eq!(Entries::named("tool-name").rules.len(), 1);
        assert_eq!(Entries::named("unknown-key").faults.len(), 1);
        assert!(Entries::named("no such thing").is_empty());
        assert_eq!(nearest_name("slag"), Some("slug"));
        assert_eq!(nearest_name("[[tol]]"), Some("tool"));
    }

    #[test]
    fn a_code_is_explained_once() {
        let all = Entries::all();
        let mut codes: Vec<&str> = all.rules.iter().map(|rule| rule.code.0).collect();
        codes.extend(all.faults.iter().map(|fault| fault.code));
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
