//! The former names of a tool or a prompt, and that it will be removed.

use super::fields::Fields;
use super::grammar::{GrammarKey, ValueShape, optional};
use super::located::Located;

/// The former names of a definition, and that it will be removed.
#[derive(Clone, Debug, Default)]
pub struct Lifecycle {
    /// Names by which it is found too, and that no list shows: clients may keep a list for weeks.
    pub aliases: Vec<Located<String>>,
    /// What to use in its place, and when it goes.
    pub deprecated: Option<String>,
}

/// The key of the former names.
pub(super) const ALIASES: GrammarKey = optional(
    "aliases",
    ValueShape::Texts,
    "Former names: a request by one of them works, and lists do not show them, since clients may keep a list for weeks.",
);

/// The key of the notice.
pub(super) const DEPRECATED: GrammarKey = optional(
    "deprecated",
    ValueShape::Text,
    "What to use instead, and when this goes: it follows the description, and each request is logged.",
);

/// Reads both keys.
pub(super) fn read_lifecycle(fields: &Fields<'_>) -> Lifecycle {
    Lifecycle { aliases: fields.located_texts("aliases"), deprecated: fields.text("deprecated") }
}

impl Lifecycle {
    /// The description with the notice, if there is one.
    pub(super) fn describe(&self, description: &str) -> String {
        let notice = self.deprecated.as_ref().map(|notice| format!("Deprecated: {notice}"));
        let parts = [Some(description.to_owned()).filter(|text| !text.is_empty()), notice];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }
}
