//! The declaration of a table's keys, once for parsing, “did you mean” and documentation; keys that many tables share.

/// A kind of table: `[pack]`, `[[tool]]`, …
pub struct Grammar {
    /// How it is written, such as `[[tool]]`.
    pub name: &'static str,
    /// What it is, in one sentence with a full stop.
    pub doc: &'static str,
    /// Its keys, in the order they are documented.
    pub keys: &'static [GrammarKey],
}

/// The name of a table without its brackets.
pub fn without_brackets(name: &str) -> &str {
    name.trim_matches(['[', ']'])
}

/// A key of a table.
pub struct GrammarKey {
    /// The key.
    pub name: &'static str,
    /// The shape of its value.
    pub shape: ValueShape,
    /// Whether it is required.
    pub required: bool,
    /// What it means, in one sentence with a full stop.
    pub doc: &'static str,
}

/// The shape of a key's value.
#[derive(Clone, Copy)]
pub enum ValueShape {
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
    /// A table from names to JSON Schemas.
    NamedSchemas,
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

impl ValueShape {
    /// Describes the shape, for documentation and messages.
    pub fn describe(self) -> String {
        match self {
            Self::Text => "a string".to_owned(),
            Self::OneOf(words) => {
                let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
                format!("one of {}", words.join(", "))
            }
            Self::Texts => "an array of strings".to_owned(),
            Self::TextOrTexts => "a string that is not empty, or an array of such strings".to_owned(),
            Self::Flag => "`true` or `false`".to_owned(),
            Self::Integer(least) => format!("an integer, {least} or more"),
            Self::IntegerWithin(least, most) => format!("an integer from {least} to {most}"),
            Self::IntegerOrKey(least) => format!("an integer, {least} or more, or `\"config.KEY\"`"),
            Self::FlagOrKey => "`true`, `false` or `\"config.KEY\"`".to_owned(),
            Self::WordOrTable(words, grammar) => {
                format!("{}, or a table: {}", Self::OneOf(words).describe(), grammar.name)
            }
            Self::TextMap => "a table of strings".to_owned(),
            Self::Object | Self::Named => "a table".to_owned(),
            Self::Objects => "an array of tables".to_owned(),
            Self::Any => "any value".to_owned(),
            Self::Schema => "a JSON Schema".to_owned(),
            Self::NamedSchemas => "a table from names to JSON Schemas".to_owned(),
            Self::Completions => "a table from names to a function's name or an array of strings".to_owned(),
            Self::Completion => "a function's name or an array of strings".to_owned(),
            Self::NamedTables(grammar) => format!("a table from names to tables: {}", grammar.name),
            Self::Table(grammar) => format!("a table: {}", grammar.name),
            Self::Tables(grammar) => format!("tables: {}", grammar.name),
            Self::TextsOrTables(grammar) => format!("an array of strings and tables: {}", grammar.name),
        }
    }

    /// Returns whether the key may also be written as JSON, under its name with the suffix `_json`.
    pub fn has_json_form(self) -> bool {
        matches!(self, Self::Object | Self::Any | Self::Schema)
    }
}

/// Declares a required key.
pub(super) const fn required(name: &'static str, shape: ValueShape, doc: &'static str) -> GrammarKey {
    GrammarKey { name, shape, required: true, doc }
}

/// Declares an optional key.
pub(super) const fn optional(name: &'static str, shape: ValueShape, doc: &'static str) -> GrammarKey {
    GrammarKey { name, shape, required: false, doc }
}

/// The script of a definition.
pub const SCRIPT: GrammarKey = optional(
    "script",
    ValueShape::Text,
    "Path of the script, relative to the root (default: `<stem>.rhai` next to it).",
);

/// The constants of a definition.
pub const BIND: GrammarKey = optional(
    "bind",
    ValueShape::Object,
    "Constants merged into the arguments, so that several definitions can share one function.",
);

/// Whether a definition is served.
pub const ENABLED: GrammarKey =
    optional("enabled", ValueShape::FlagOrKey, "Whether the definition is served (default: `true`).");

/// A constant that several kinds of definitions share.
pub const META: GrammarKey = optional("meta", ValueShape::Object, "`_meta`, passed through.");
