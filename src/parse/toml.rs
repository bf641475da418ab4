//! TOML as a tree in which every key and value has its location. Whatever JSON cannot represent is an error.

use crate::diagnostic::{Code, Diagnostic, Result, find_merge_conflict};
use crate::guard;
use crate::source::{Place, Source};
use crate::value::Json;
use std::ops::Range;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeFloat, DeInteger, DeTable, DeValue};

/// Invalid TOML.
pub const TOML_SYNTAX: Code = Code("toml-syntax");
/// TOML that JSON cannot represent: bare dates, `nan`, integers out of range.
pub const TOML_VALUE: Code = Code("toml-value");

/// The parser's worst-case time per byte, in nanoseconds. It cannot be interrupted, so at most 4 MB are read.
const PARSE_NS_PER_BYTE: u32 = 47;

/// The units of work for an entry or an item of the tree.
const ENTRY_COST: usize = 128;

/// How a bare date is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dates {
    /// It is an error, because JSON cannot represent it.
    Refused,
    /// It is read as text.
    Texts,
}

/// A value and where it was written.
#[derive(Clone, Debug)]
pub struct TomlNode {
    /// The value.
    pub item: TomlItem,
    /// The place of the value; for a table with a header, the place of the header.
    pub at: Place,
}

/// The value of a node.
#[derive(Clone, Debug)]
pub enum TomlItem {
    /// `true`, `false`, a number or a text.
    Scalar(Json),
    /// `[ … ]`, or all tables of one `[[name]]`.
    List(Vec<TomlNode>),
    /// `{ … }` or `[name]`: entries in the order in which they were written.
    Table(Vec<TomlEntry>),
}

/// One key of a table.
#[derive(Clone, Debug)]
pub struct TomlEntry {
    /// The key.
    pub key: String,
    /// The place of the key.
    pub at: Place,
    /// Its value.
    pub node: TomlNode,
}

impl TomlNode {
    /// A noun phrase for the kind of value, such as "a text".
    pub fn kind(&self) -> &'static str {
        match &self.item {
            TomlItem::Scalar(Json::Bool(_)) => "a boolean",
            TomlItem::Scalar(Json::Number(number)) if number.is_f64() => "a float",
            TomlItem::Scalar(Json::Number(_)) => "an integer",
            TomlItem::Scalar(Json::Null) => "null",
            TomlItem::Scalar(_) => "a text",
            TomlItem::List(_) => "a list",
            TomlItem::Table(_) => "a table",
        }
    }

    /// The entries of a table; empty for any other value.
    pub fn entries(&self) -> &[TomlEntry] {
        match &self.item {
            TomlItem::Table(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; empty for any other value.
    pub fn items(&self) -> &[TomlNode] {
        match &self.item {
            TomlItem::List(items) => items,
            _ => &[],
        }
    }

    /// The text, if the value is one.
    pub fn text(&self) -> Option<&str> {
        match &self.item {
            TomlItem::Scalar(Json::String(text)) => Some(text),
            _ => None,
        }
    }

    /// The tree without its locations.
    pub fn to_json(&self) -> Json {
        match &self.item {
            TomlItem::Scalar(value) => value.clone(),
            TomlItem::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            TomlItem::Table(entries) => {
                Json::Object(entries.iter().map(|entry| (entry.key.clone(), entry.node.to_json())).collect())
            }
        }
    }

    /// Calls `found` with the JSON pointer and the place of this node and of every node below it. The place of a table
    /// without a header is that of its key.
    pub fn places(&self, pointer: &str, found: &mut dyn FnMut(String, &Place)) {
        found(pointer.to_owned(), &self.at);
        for (index, item) in self.items().iter().enumerate() {
            item.places(&format!("{pointer}/{index}"), found);
        }
        for entry in self.entries() {
            entry.node.places(&format!("{pointer}/{}", escape(&entry.key)), found);
        }
    }
}

/// Escapes a key as a part of a JSON pointer (RFC 6901).
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Unescapes a part of a JSON pointer to the key (RFC 6901).
pub fn unescape(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// Reads a whole TOML text. The tree holds everything that could be read; `faults` receives the rest.
pub fn parse(source: &Arc<Source>, dates: Dates, diagnostics: &mut Vec<Diagnostic>) -> TomlNode {
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if let Some(conflict) =
        Some(source).filter(|_| !errors.is_empty()).and_then(|it| find_merge_conflict(it, TOML_SYNTAX))
    {
        // Both sides were read, one after the other: nothing that is in the tree is meant.
        diagnostics.push(conflict);
        return TomlNode { item: TomlItem::Table(Vec::new()), at: source.place(0..0) };
    }
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        diagnostics.push(*syntax(source, error.message(), span));
    }
    tree(source, table.get_ref(), dates, diagnostics)
}

/// Reads a TOML text up to its first error. That is cheap even if every line has an error.
///
/// # Errors
/// The first error; the text is too long to be read without interruption; the call was stopped.
pub fn parse_to_error(source: &Arc<Source>, dates: Dates) -> Result<TomlNode> {
    guard::require_time("the reader of TOML", source.text.len(), PARSE_NS_PER_BYTE)?;
    let table =
        DeTable::parse(&source.text).map_err(|error| syntax(source, error.message(), error.span().unwrap_or(0..0)))?;
    let mut diagnostics = Vec::new();
    let tree = tree(source, table.get_ref(), dates, &mut diagnostics);
    guard::check()?;
    match diagnostics.into_iter().next() {
        Some(first) => Err(Box::new(first)),
        None => Ok(tree),
    }
}

fn tree(source: &Arc<Source>, table: &DeTable<'_>, dates: Dates, diagnostics: &mut Vec<Diagnostic>) -> TomlNode {
    let mut reader = TomlReader { source, dates, diagnostics };
    TomlNode { item: TomlItem::Table(reader.table(table)), at: source.place(0..0) }
}

/// Creates a syntax error, with a clearer message where the parser's message is hard to understand.
fn syntax(source: &Arc<Source>, message: &str, span: Range<usize>) -> Box<Diagnostic> {
    let message = message.lines().next().unwrap_or_default().trim_end_matches('.');
    let help = if message.contains("duplicate key") {
        "a key can appear only once in its table; a table that was written inline or with dotted keys cannot be reopened"
    } else if message.contains("string") || message.contains("quot") {
        "put texts in \"…\" or '…', and multi-line texts in \"\"\"…\"\"\" or '''…'''"
    } else {
        "TOML 1.1: `key = value`, `[table]`, `[[list of tables]]`"
    };
    Diagnostic::new(TOML_SYNTAX, message).at(source.place(span)).help(help)
}

struct TomlReader<'a> {
    source: &'a Arc<Source>,
    dates: Dates,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl TomlReader<'_> {
    fn table(&mut self, table: &DeTable<'_>) -> Vec<TomlEntry> {
        table
            .iter()
            .take_while(|_| !guard::is_over(ENTRY_COST))
            .map(|(key, value)| TomlEntry {
                key: key.get_ref().to_string(),
                at: self.source.place(key.span()),
                node: self.value(value),
            })
            .collect()
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>) -> TomlNode {
        let at = self.source.place(value.span());
        let item = match value.get_ref() {
            DeValue::String(text) => TomlItem::Scalar(Json::String(text.to_string())),
            DeValue::Boolean(flag) => TomlItem::Scalar(Json::Bool(*flag)),
            DeValue::Integer(number) => TomlItem::Scalar(self.integer(number, &at)),
            DeValue::Float(number) => TomlItem::Scalar(self.float(number, &at)),
            DeValue::Datetime(date) if self.dates == Dates::Texts => TomlItem::Scalar(Json::String(date.to_string())),
            DeValue::Datetime(date) => {
                let diagnostic = Diagnostic::new(TOML_VALUE, format!("a bare date: `{date}`"));
                self.diagnostics.push(*diagnostic.at(at.clone()).help(format!("put it in quotes: \"{date}\"")));
                TomlItem::Scalar(Json::String(date.to_string()))
            }
            DeValue::Array(items) => TomlItem::List(
                items.iter().take_while(|_| !guard::is_over(ENTRY_COST)).map(|item| self.value(item)).collect(),
            ),
            DeValue::Table(table) => TomlItem::Table(self.table(table)),
        };
        TomlNode { item, at }
    }

    fn integer(&mut self, number: &DeInteger<'_>, at: &Place) -> Json {
        i64::from_str_radix(number.as_str(), number.radix()).map_or_else(
            |_| {
                let diagnostic = Diagnostic::new(TOML_VALUE, format!("the integer `{number}` is out of range"));
                let range = format!("integers range from {} to {}", i64::MIN, i64::MAX);
                self.diagnostics.push(*diagnostic.at(at.clone()).help(range));
                Json::from(0)
            },
            Json::from,
        )
    }

    fn float(&mut self, number: &DeFloat<'_>, at: &Place) -> Json {
        let value = number.as_str().parse::<f64>().ok().and_then(serde_json::Number::from_f64);
        value.map_or_else(
            || {
                let diagnostic =
                    Diagnostic::new(TOML_VALUE, format!("the number `{number}` cannot be represented in JSON"));
                self.diagnostics
                    .push(*diagnostic.at(at.clone()).help("`nan`, `inf` and numbers beyond 1.8e308 cannot be sent"));
                Json::from(0.0)
            },
            Json::Number,
        )
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn read(text: &str) -> (TomlNode, Vec<Diagnostic>) {
        let mut diagnostics = Vec::new();
        let node = parse(&Source::new("a.toml", text), Dates::Refused, &mut diagnostics);
        (node, diagnostics)
    }

    #[test]
    fn all_values_json_cannot_hold_are_reported() {
        let (node, diagnostics) = read("a = 2026-11-21\nb = nan\nc = 9223372036854775808\nd = 1\n");
        let lines: Vec<String> =
            diagnostics.iter().map(|diagnostic| diagnostic.at.as_ref().unwrap().to_string()).collect();
        assert_eq!(lines, ["a.toml:1:5", "a.toml:2:5", "a.toml:3:5"]);
        assert_eq!(node.entries().len(), 4);
    }

    #[test]
    fn several_syntax_errors_are_reported_and_the_rest_is_read() {
        let (node, diagnostics) = read("a = \nb = 1\nc = 'x\nd = 2\n");
        assert!(diagnostics.len() >= 2, "{diagnostics:?}");
        assert!(node.entries().iter().any(|entry| entry.key == "b"));
    }
}
