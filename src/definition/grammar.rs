//! The keys of every table that an author may write, declared once: parsing, “did you mean” and documentation.

mod ask;
mod case;
mod operation;
mod pack;
mod prompt;
mod resource;
mod skills;
mod tool;
mod workspace;

pub use workspace::WORKSPACE;

use ask::{ASK, REQUIRES_CLIENT};
use case::{CASE, PROMPT_EXAMPLE, RESOURCE_EXAMPLE, TOOL_EXAMPLE};
use operation::OPERATION;
use pack::{ENABLED, GRAPH, ICON, ICONS, LIMITS, META, PACK, SCRIPT, WITH};
use prompt::PROMPT;
use resource::RESOURCE;
use skills::SKILLS;
use tool::TOOL;

/// A kind of table: `[pack]`, `[[tool]]`, …
pub struct Grammar {
    /// How it is written, such as `[[tool]]`.
    pub name: &'static str,
    /// What it is, in one sentence with a full stop.
    pub doc: &'static str,
    /// Its keys, in the order they are documented.
    pub keys: &'static [Key],
}

/// A key of a table.
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// What it holds.
    pub shape: Shape,
    /// Whether it must be there.
    pub required: bool,
    /// What it means, in one sentence with a full stop.
    pub doc: &'static str,
}

/// What a key holds.
#[derive(Clone, Copy)]
pub enum Shape {
    /// A text that is not empty.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// A list of texts.
    Texts,
    /// A text, or a list of texts.
    TextOrTexts,
    /// `true` or `false`.
    Flag,
    /// A whole number, at least this.
    Integer(i64),
    /// A whole number, at least the first and at most the second.
    IntegerWithin(i64, i64),
    /// A whole number, at least this, or `config.KEY`: a key of the pack's configuration.
    IntegerOrKey(i64),
    /// `true` or `false`, or `config.KEY`.
    FlagOrKey,
    /// A table from names to texts.
    TextMap,
    /// A table; also as `KEY_json = '''…'''`.
    Object,
    /// A list of tables of any keys.
    Objects,
    /// Anything; also as `KEY_json = '''…'''`.
    Any,
    /// A JSON Schema; also as `KEY_json = '''…'''`.
    Schema,
    /// A table from names to tables or values of any kind.
    Named,
    /// A table from names to a text (a function) or a list of texts.
    Completions,
    /// A text (a function) or a list of texts.
    Completion,
    /// A table from names to tables of this kind.
    NamedTables(&'static Grammar),
    /// A table of this kind.
    Table(&'static Grammar),
    /// One of these texts, or a table of this kind.
    WordOrTable(&'static [&'static str], &'static Grammar),
    /// A list of tables of this kind.
    Tables(&'static Grammar),
    /// A list of texts and of tables of this kind.
    TextsOrTables(&'static Grammar),
}

impl Shape {
    /// What it takes, as documentation and messages say it.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a text".to_owned(),
            Self::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Texts => "a list of texts".to_owned(),
            Self::TextOrTexts => "a text or a list of texts".to_owned(),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Integer(least) => format!("an integer, {least} or more"),
            Self::IntegerWithin(least, most) => format!("an integer from {least} to {most}"),
            Self::IntegerOrKey(least) => format!("an integer, {least} or more, or `\"config.KEY\"`"),
            Self::FlagOrKey => "`true`, `false` or `\"config.KEY\"`".to_owned(),
            Self::WordOrTable(words, grammar) => {
                format!("{}, or a table: {}", Self::OneOf(words).describe(), grammar.name)
            }
            Self::TextMap => "a table of texts".to_owned(),
            Self::Object | Self::Named => "a table".to_owned(),
            Self::Objects => "a list of tables".to_owned(),
            Self::Any => "any value".to_owned(),
            Self::Schema => "a JSON Schema".to_owned(),
            Self::Completions => "a table from names to a function's name or a list of texts".to_owned(),
            Self::Completion => "a function's name or a list of texts".to_owned(),
            Self::NamedTables(grammar) => format!("a table from names to tables: {}", grammar.name),
            Self::Table(grammar) => format!("a table: {}", grammar.name),
            Self::Tables(grammar) => format!("tables: {}", grammar.name),
            Self::TextsOrTables(grammar) => format!("a list of texts and tables: {}", grammar.name),
        }
    }

    /// Whether the key may also be written as JSON, under its name with `_json` behind it.
    pub fn has_json_form(self) -> bool {
        matches!(self, Self::Object | Self::Any | Self::Schema)
    }
}

/// A key that must be there.
const fn required(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, required: true, doc }
}

/// A key that may be left out.
const fn optional(name: &'static str, shape: Shape, doc: &'static str) -> Key {
    Key { name, shape, required: false, doc }
}

/// A `.toml` file below `tools.d`.
pub static FILE: Grammar = Grammar {
    name: "tools.d/*.toml",
    doc: "A file of a pack holds any of these tables.",
    keys: &[
        optional("pack", Shape::Table(&PACK), "The pack itself; it stands in one of its files."),
        optional("graph", Shape::Table(&GRAPH), "The graph that the pack builds from files."),
        optional("data", Shape::Named, "Tables of the pack, read by `data(\"NAME\")`."),
        optional("defs", Shape::Named, "Schemas that others refer to: `{ \"$ref\" = \"#/$defs/NAME\" }`."),
        optional("tool", Shape::Tables(&TOOL), "The tools."),
        optional("resource", Shape::Tables(&RESOURCE), "The resources."),
        optional("prompt", Shape::Tables(&PROMPT), "The prompts."),
        optional("skills", Shape::Tables(&SKILLS), "The skills, served by the Skills extension."),
        optional("case", Shape::Tables(&CASE), "Cases: tests of several steps."),
    ],
};

/// Every table of definitions and of `toolsd.toml`, in the order they are documented.
pub fn reference() -> Vec<&'static Grammar> {
    let mut found: Vec<&'static Grammar> = Vec::new();
    for root in [&FILE, &WORKSPACE] {
        collect(root, &mut found);
    }
    found
}

fn collect(grammar: &'static Grammar, found: &mut Vec<&'static Grammar>) {
    if found.iter().any(|known| std::ptr::eq(*known, grammar)) {
        return;
    }
    found.push(grammar);
    for key in grammar.keys {
        if let Shape::Table(inner)
        | Shape::Tables(inner)
        | Shape::NamedTables(inner)
        | Shape::WordOrTable(_, inner)
        | Shape::TextsOrTables(inner) = key.shape
        {
            collect(inner, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_explained_once() {
        for grammar in reference() {
            let mut names: Vec<&str> = grammar.keys.iter().map(|key| key.name).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), grammar.keys.len(), "{} has a key twice", grammar.name);
            for key in grammar.keys {
                assert!(key.doc.ends_with('.'), "{} {}: {}", grammar.name, key.name, key.doc);
            }
        }
    }
}
