//! `[discover]` of `toolsd.toml`: a short list of tools, in which the others are found by words.

use super::fields::Fields;
use super::grammar::{Grammar, ValueShape, optional};
use super::located::Located;
use crate::diagnostic::Diagnostic;

/// The tool that finds tools.
pub const FIND_TOOLS: &str = "find_tools";
/// The tool that calls a tool which the list lacks.
pub const CALL_TOOL: &str = "call_tool";

/// `[discover]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DiscoverDefinition {
    /// The public names of the tools that are listed nevertheless, with `*` for any text.
    pub pin: Vec<String>,
    /// How many tools a search returns.
    pub limit: Option<u64>,
    /// The maximum size of the list, in tokens.
    pub budget: Option<Located<u64>>,
}

/// `[discover]`.
pub(super) static DISCOVER: Grammar = Grammar {
    name: "[discover]",
    doc: "Lists `find_tools` and `call_tool` in place of all tools. The list is the same for every client, and every tool can still be called by its name.",
    keys: &[
        optional(
            "pin",
            ValueShape::Texts,
            "The public names of tools that are listed nevertheless, with `*` for any text; those with `pinned = true` are, too.",
        ),
        optional("limit", ValueShape::IntegerWithin(1, 50), "How many tools a search returns (default: 5)."),
        optional(
            "budget",
            ValueShape::Integer(1),
            "The size that the list may have, in tokens (bytes ÷ 4): more is an error of `toolsd check`.",
        ),
    ],
};

/// `[discover]`, if it is there.
pub(super) fn read_discover(file: &Fields<'_>, diagnostics: &mut Vec<Diagnostic>) -> Option<DiscoverDefinition> {
    let table = file.table("discover", diagnostics)?;
    Some(DiscoverDefinition {
        pin: table.texts("pin"),
        limit: table.integer("limit"),
        budget: table.located_integer("budget"),
    })
}
