//! What a tool says to those who find and use tools by themselves: whether it is always listed, by which words it is found,
//! whether scripts of agents may call it, how long its results may be.

use super::fields::Fields;
use super::grammar::{GrammarKey, ValueShape, optional};
use crate::value::Json;
use serde_json::Map;

/// The most characters of a result that a client takes.
const MAX_RESULT_CHARS: i64 = 500_000;

/// The key of `_meta` by which a client lists a tool from the start, and does not wait for a search.
pub const ALWAYS_LOAD: &str = "anthropic/alwaysLoad";
/// The key of `_meta` with the words by which a client finds a tool.
pub const SEARCH_HINT: &str = "anthropic/searchHint";
/// The key of `_meta` with the length of a result that a client does not cut.
pub const MAX_RESULT_SIZE: &str = "anthropic/maxResultSizeChars";

/// How a tool is found and used by agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovery {
    /// Whether it is listed even where tools are found by a search.
    pub pinned: bool,
    /// Words that people use for it, and that its description lacks.
    pub keywords: Option<String>,
    /// Whether scripts of agents may call it.
    pub code_mode: bool,
    /// The characters of a result that a client should take whole.
    pub max_result_chars: Option<u64>,
}

impl Default for Discovery {
    /// Found by its texts, and called by everybody.
    fn default() -> Self {
        Self { pinned: false, keywords: None, code_mode: true, max_result_chars: None }
    }
}

/// The keys of the table.
pub(super) const PINNED: GrammarKey = optional(
    "pinned",
    ValueShape::Flag,
    "Whether the tool is listed even where tools are found by a search (default: `false`). Also published as `_meta[\"anthropic/alwaysLoad\"]`.",
);
pub(super) const KEYWORDS: GrammarKey = optional(
    "keywords",
    ValueShape::Text,
    "Words that people use for it and that its description lacks, for searches, such as `\"relabel renumber\"`. Also published as `_meta[\"anthropic/searchHint\"]`.",
);
pub(super) const CODE_MODE: GrammarKey =
    optional("code_mode", ValueShape::Flag, "Whether scripts of agents may call the tool (default: `true`).");
pub(super) const MAX_RESULT: GrammarKey = optional(
    "max_result_chars",
    ValueShape::IntegerWithin(1, MAX_RESULT_CHARS),
    "Characters of a result that a client should pass to the model whole, published as `_meta[\"anthropic/maxResultSizeChars\"]` (default: the client decides). `limits.output_kb` limits the result itself.",
);

/// Reads the keys.
pub(super) fn read_discovery(fields: &Fields<'_>) -> Discovery {
    Discovery {
        pinned: fields.flag("pinned").unwrap_or(false),
        keywords: fields.text("keywords"),
        code_mode: fields.flag("code_mode").unwrap_or(true),
        max_result_chars: fields.integer("max_result_chars"),
    }
}

impl Discovery {
    /// `_meta` as it is published: what the author wrote, and what the keys add to it. What the author wrote wins.
    pub(super) fn published_meta(&self, written: Option<&Json>) -> Option<Json> {
        let hints = [
            (ALWAYS_LOAD, self.pinned.then_some(Json::Bool(true))),
            (SEARCH_HINT, self.keywords.as_deref().map(Json::from)),
            (MAX_RESULT_SIZE, self.max_result_chars.map(Json::from)),
        ];
        let mut meta = written.and_then(Json::as_object).cloned().unwrap_or_else(Map::new);
        for (key, hint) in hints {
            if let Some(hint) = hint.filter(|_| !meta.contains_key(key)) {
                meta.insert(key.to_owned(), hint);
            }
        }
        (written.is_some() || !meta.is_empty()).then_some(Json::Object(meta))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{Validation, read_definitions};
    use crate::source::Source;
    use serde_json::json;

    #[test]
    fn hints_are_published_beside_what_the_author_wrote() {
        for (keys, expected) in [
            ("", None),
            ("pinned = false\ncode_mode = false", None),
            ("meta = { a = 1 }", Some(json!({ "a": 1 }))),
            (
                "meta = { a = 1 }\npinned = true\nkeywords = \"relabel\"\nmax_result_chars = 500000",
                Some(json!({ "a": 1, ALWAYS_LOAD: true, SEARCH_HINT: "relabel", MAX_RESULT_SIZE: 500_000 })),
            ),
            (
                "meta = { \"anthropic/alwaysLoad\" = false, \"anthropic/searchHint\" = \"mine\" }\npinned = true\nkeywords = \"relabel\"",
                Some(json!({ ALWAYS_LOAD: false, SEARCH_HINT: "mine" })),
            ),
        ] {
            let text = format!("[[tool]]\nname = \"a\"\ndescription = \"x\"\ntext = \"x\"\n{keys}\n");
            let (definitions, diagnostics) = read_definitions(&Source::new("tools.d/a.toml", text), Validation::Full);
            assert!(diagnostics.iter().all(|one| !one.is_error() || one.code.0 == "missing-key"), "{diagnostics:?}");
            let tool = &definitions.tools[0];
            assert_eq!(tool.published_meta(), expected, "{keys}");
            assert_eq!(tool.discovery.code_mode, !keys.contains("code_mode"));
        }
    }

    #[test]
    fn a_result_has_a_limit() {
        let text = "[[tool]]\nname = \"a\"\ndescription = \"x\"\ntext = \"x\"\nmax_result_chars = 500001\n";
        let (_, diagnostics) = read_definitions(&Source::new("tools.d/a.toml", text), Validation::Full);
        assert!(diagnostics.iter().any(|one| one.to_string().contains("500000")), "{diagnostics:?}");
    }
}
