//! The manual: looks up primitives, tables of definitions, rules, error codes and pages of the guide, by name or by words,
//! and generates the pages of the documentation from its tables.

mod error_codes;
mod guide;
mod pages;
mod search;

pub use error_codes::ErrorCode;
pub use guide::GuidePage;
pub use pages::{describe_option, families, family_primitives, family_word, files, verbs_of};
pub use search::{FoundEntry, nearest_word, search_manual};

use crate::check::{ALL as RULES, CheckRule, DIRECTORY};
use crate::definition::{Grammar, GrammarKey, all_grammars, without_brackets};
use crate::diagnostic::nearest;
use crate::primitive_api::{Family, Primitive};
use crate::primitives::ALL as PRIMITIVES;
use crate::value::Json;
use error_codes::error_codes;
use guide::guide_pages;
use pages::{code_to_json, key_to_json, primitive_to_json, rule_to_json, table_to_json};
use serde_json::json;

/// The entries with a certain name, or all entries.
pub struct ManualEntries {
    /// Chapters of primitives.
    pub families: Vec<Family>,
    /// Primitives, sorted by name.
    pub primitives: Vec<&'static Primitive>,
    /// Tables of definitions and of `toolsd.toml`.
    pub tables: Vec<&'static Grammar>,
    /// Keys of these tables, each with its table; none in a list of all entries.
    pub keys: Vec<(&'static Grammar, &'static GrammarKey)>,
    /// Rules of `check`, sorted by code.
    pub rules: Vec<&'static CheckRule>,
    /// Error codes that no rule explains.
    pub error_codes: Vec<&'static ErrorCode>,
    /// Pages of the guide.
    pub pages: Vec<GuidePage>,
}

impl ManualEntries {
    /// All entries.
    pub fn all() -> Self {
        Self {
            families: families(),
            primitives: PRIMITIVES.to_vec(),
            tables: all_grammars(),
            keys: Vec::new(),
            rules: [RULES, DIRECTORY].concat(),
            error_codes: error_codes(),
            pages: guide_pages(),
        }
    }

    /// The entries with this name: a primitive, a table (`tool` or `[[tool]]`), a key, a chapter, a rule, a code, or a page of the
    /// guide (`guide/13`). Several entries may have the same name, such as `graph`.
    pub fn named(name: &str) -> Self {
        let mut entries = Self::all();
        let keys = entries.tables.iter().flat_map(|table| table.keys.iter().map(|key| (*table, key)));
        entries.keys = keys.filter(|(_, key)| key.name == name).collect();
        // Only tables can be looked up with their brackets.
        entries.tables.retain(|table| table.name == name || without_brackets(table.name) == name);
        entries.families.retain(|family| family_word(*family) == name);
        entries.primitives.retain(|primitive| primitive.name == name);
        entries.rules.retain(|rule| rule.code.0 == name);
        entries.error_codes.retain(|error| error.code == name);
        entries.pages.retain(|page| page.name == name);
        entries
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.families.is_empty()
            && self.primitives.is_empty()
            && self.tables.is_empty()
            && self.keys.is_empty()
            && self.rules.is_empty()
            && self.error_codes.is_empty()
            && self.pages.is_empty()
    }

    /// The entries as JSON: an object with `families`, `primitives`, `tables`, `keys`, `rules`,
    /// `error_codes`, `pages`.
    pub fn to_json(&self) -> Json {
        let family = |family: &Family| {
            let names: Vec<&str> = family_primitives(*family).map(|primitive| primitive.name).collect();
            json!({ "name": family_word(*family), "title": family.title(), "primitives": names })
        };
        let key = |(table, key): &(&Grammar, &GrammarKey)| {
            let mut json = key_to_json(key);
            json["table"] = table.name.into();
            json
        };
        let page = |page: &GuidePage| json!({ "name": page.name, "summary": page.line, "text": page.text });
        json!({
            "families": self.families.iter().map(family).collect::<Vec<_>>(),
            "primitives": self.primitives.iter().map(|one| primitive_to_json(one)).collect::<Vec<_>>(),
            "tables": self.tables.iter().map(|one| table_to_json(one)).collect::<Vec<_>>(),
            "keys": self.keys.iter().map(key).collect::<Vec<_>>(),
            "rules": self.rules.iter().map(|one| rule_to_json(one)).collect::<Vec<_>>(),
            "error_codes": self.error_codes.iter().map(|one| code_to_json(one)).collect::<Vec<_>>(),
            "pages": self.pages.iter().map(page).collect::<Vec<_>>(),
        })
    }
}

/// The most similar name, if one is near enough to be the intended name.
pub fn nearest_name(name: &str) -> Option<&'static str> {
    let all = ManualEntries::all();
    let tables = all.tables.iter().map(|table| without_brackets(table.name));
    let names = all.primitives.iter().map(|primitive| primitive.name);
    let codes = all.rules.iter().map(|rule| rule.code.0).chain(all.error_codes.iter().map(|error| error.code));
    nearest(
        without_brackets(name),
        names.chain(tables).chain(all.families.iter().map(|family| family_word(*family))).chain(codes),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diagnostic::{FOREIGN_WORDS, ForeignWord};
    use crate::script::known_names;

    #[test]
    fn a_name_finds_everything_that_it_stands_for() {
        let graph = ManualEntries::named("graph");
        assert_eq!((graph.primitives.len(), graph.tables.len(), graph.families.len()), (1, 1, 1));
        assert_eq!(ManualEntries::named("[graph]").tables.len(), 1);
        assert!(ManualEntries::named("[graph]").primitives.is_empty());
        assert_eq!(ManualEntries::named("tool-name").rules.len(), 1);
        assert_eq!(ManualEntries::named("unknown-key").error_codes.len(), 1);
        assert!(ManualEntries::named("no such thing").is_empty());
        assert_eq!(nearest_name("slag"), Some("slug"));
        assert_eq!(nearest_name("[[tol]]"), Some("tool"));
    }

    #[test]
    fn a_code_is_explained_once() {
        let all = ManualEntries::all();
        let mut codes: Vec<&str> = all.rules.iter().map(|rule| rule.code.0).collect();
        codes.extend(all.error_codes.iter().map(|error| error.code));
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn each_foreign_word_is_named_once_and_leads_to_functions_that_exist() {
        let known: Vec<&str> = known_names().collect();
        assert!(FOREIGN_WORDS.windows(2).all(|pair| pair[0].word < pair[1].word), "sorted by word, each once");
        for ForeignWord { word, says } in FOREIGN_WORDS {
            let names = says.split('`').skip(1).step_by(2);
            let names = names.filter(|name| name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
            for name in names.filter(|name| *name != "in") {
                assert!(known.contains(&name), "{word}: there is no function `{name}`");
            }
        }
    }
}
