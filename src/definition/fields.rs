//! Opens a table by its grammar and reports unknown, missing and ill-typed keys, so that lowering can trust what it
//! reads.

use super::code;
use super::grammar::{Grammar, GrammarKey, ValueShape};
use super::located::Located;
use super::schema::Schema;
use crate::diagnostic::{Diagnostic, Result, did_you_mean, nearest};
use crate::parse::toml::{TomlEntry, TomlItem, TomlNode};
use crate::parse::{OVERSIZED_INTEGER_HELP, find_oversized_integer};
use crate::source::Place;
use crate::value::Json;
use std::borrow::Cow;

/// The prefix of a value that is taken from the configuration of the pack.
const CONFIG: &str = "config.";

/// The keys of one table that are what its grammar says.
pub struct Fields<'a> {
    /// The location of the table's header, for missing keys.
    pub header: Place,
    grammar: &'static Grammar,
    found: Vec<FieldEntry<'a>>,
    /// Keys that are written, but misspelled or with a wrong value. That is reported, so they are not missing, too.
    attempted: Vec<&'static str>,
}

/// An item of a list that allows both.
pub enum TextOrTable<'a> {
    Text(Located<String>),
    /// A table with its own grammar.
    Table(Fields<'a>),
}

struct FieldEntry<'a> {
    key: &'static GrammarKey,
    at: Place,
    node: Cow<'a, TomlNode>,
}

/// A value that is written in the definition, or taken from the configuration of the pack.
#[derive(Clone, Debug)]
pub enum Configurable<T> {
    /// The value.
    Fixed(T),
    /// The key of the configuration.
    FromConfig(Located<String>),
}

impl<T: Clone> Configurable<T> {
    /// Returns the value, given the configuration of the pack; `of` converts a value of the configuration.
    pub fn value(&self, config: &Json, of: impl Fn(&Json) -> Option<T>) -> Option<T> {
        match self {
            Self::Fixed(value) => Some(value.clone()),
            Self::FromConfig(key) => of(&config[&key.value]),
        }
    }
}

impl<'a> Fields<'a> {
    /// Opens a table by its grammar and reports invalid keys. A node that is not a table has been reported before, and
    /// has no keys.
    pub fn open(node: &'a TomlNode, grammar: &'static Grammar, diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut fields = Self { header: node.at.clone(), grammar, found: Vec::new(), attempted: Vec::new() };
        for entry in node.entries() {
            fields.take(entry, diagnostics);
        }
        for key in grammar.keys.iter().filter(|key| key.required) {
            if fields.lacks(&[key.name]) {
                let diagnostic = Diagnostic::new(code::MISSING_KEY, format!("{} has no `{}`", grammar.name, key.name));
                let help = format!("{}: {}", key.shape.describe(), as_clause(key.doc));
                diagnostics.push(*diagnostic.at(fields.header.clone()).help(help));
            }
        }
        fields
    }

    fn take(&mut self, entry: &'a TomlEntry, diagnostics: &mut Vec<Diagnostic>) {
        if let Some(key) = self.grammar.keys.iter().find(|key| key.name == entry.key) {
            return self.keep(key, entry, Cow::Borrowed(&entry.node), diagnostics);
        }
        let as_json = entry
            .key
            .strip_suffix("_json")
            .and_then(|base| self.grammar.keys.iter().find(|key| key.name == base && key.shape.has_json_form()));
        let Some(key) = as_json else {
            self.attempted.extend(nearest(&entry.key, self.grammar.keys.iter().map(|key| key.name)));
            return diagnostics.push(*unknown_key(self.grammar, entry));
        };
        match read_json(&entry.node) {
            Ok(node) => self.keep(key, entry, Cow::Owned(node), diagnostics),
            Err(diagnostic) => {
                self.attempted.push(key.name);
                diagnostics.push(*diagnostic);
            }
        }
    }

    fn keep(
        &mut self,
        key: &'static GrammarKey,
        entry: &TomlEntry,
        node: Cow<'a, TomlNode>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        if let Some(other) = self.field(key.name) {
            let diagnostic = Diagnostic::new(code::CONFLICTING_KEYS, format!("`{}` appears twice", key.name));
            let line = other.at.line_column().0;
            return diagnostics
                .push(*diagnostic.at(entry.at.clone()).help(format!("remove one: it is already set in line {line}")));
        }
        if check_shape(key, &node, diagnostics) {
            self.found.push(FieldEntry { key, at: entry.at.clone(), node });
        } else {
            self.attempted.push(key.name);
        }
    }

    fn field(&self, name: &str) -> Option<&FieldEntry<'a>> {
        debug_assert!(self.grammar.keys.iter().any(|key| key.name == name), "{} {name}", self.grammar.name);
        self.found.iter().find(|field| field.key.name == name)
    }

    /// Returns the tree of a key.
    pub fn node(&self, name: &str) -> Option<&TomlNode> {
        self.field(name).map(|field| field.node.as_ref())
    }

    /// Returns the location of a key, if it is present.
    pub fn key_place(&self, name: &str) -> Option<&Place> {
        self.field(name).map(|field| &field.at)
    }

    /// Returns whether the key is present.
    pub fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// Returns whether none of these keys is written, not even misspelled or with a wrong value.
    pub fn lacks(&self, names: &[&str]) -> bool {
        !names.iter().any(|name| self.has(name) || self.attempted.contains(name))
    }

    /// Returns a string.
    pub fn text(&self, name: &str) -> Option<String> {
        self.node(name).and_then(TomlNode::text).map(str::to_owned)
    }

    /// Returns a string and its location.
    pub fn located(&self, name: &str) -> Option<Located<String>> {
        let node = self.node(name)?;
        Some(Located { value: node.text()?.to_owned(), at: node.at.clone() })
    }

    /// Returns a required string, or an empty one at the header if it is missing, which has been reported.
    pub fn required(&self, name: &str) -> Located<String> {
        self.located(name).unwrap_or_else(|| Located { value: String::new(), at: self.header.clone() })
    }

    /// Returns a list of strings; a single string is a list of one.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.located_texts(name).into_iter().map(|text| text.value).collect()
    }

    /// Like [`Fields::texts`], with locations.
    pub fn located_texts(&self, name: &str) -> Vec<Located<String>> {
        let Some(node) = self.node(name) else { return Vec::new() };
        let one = node.text().map(|_| node);
        one.into_iter()
            .chain(node.items())
            .filter_map(|item| Some(Located { value: item.text()?.to_owned(), at: item.at.clone() }))
            .collect()
    }

    /// Returns a flag.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.node(name)?.item {
            TomlItem::Scalar(Json::Bool(flag)) => Some(flag),
            _ => None,
        }
    }

    /// Returns the name in `config.NAME`, and its location.
    pub fn config_key(&self, name: &str) -> Option<Located<String>> {
        let node = self.node(name)?;
        Some(Located { value: node.text()?.strip_prefix(CONFIG)?.to_owned(), at: node.at.clone() })
    }

    /// Returns the value of a key, or `config.KEY`.
    pub fn setting<T>(&self, name: &str, written: T) -> Configurable<T> {
        self.config_key(name).map_or(Configurable::Fixed(written), Configurable::FromConfig)
    }

    /// Returns an integer.
    pub fn integer(&self, name: &str) -> Option<u64> {
        match &self.node(name)?.item {
            TomlItem::Scalar(Json::Number(number)) => number.as_u64(),
            _ => None,
        }
    }

    /// Returns an integer, and where its key is.
    pub fn located_integer(&self, name: &str) -> Option<Located<u64>> {
        Some(Located { value: self.integer(name)?, at: self.key_place(name)?.clone() })
    }

    /// Returns any value.
    pub fn json(&self, name: &str) -> Option<Json> {
        self.node(name).map(TomlNode::to_json)
    }

    /// Returns a table of any keys; an empty one if it is absent.
    pub fn object(&self, name: &str) -> Json {
        self.json(name).unwrap_or_else(|| Json::Object(serde_json::Map::new()))
    }

    /// Returns a schema with its locations.
    pub fn schema(&self, name: &str) -> Option<Schema> {
        self.node(name).map(Schema::from_node)
    }

    /// Returns a table from names to strings.
    pub fn text_map(&self, name: &str) -> Vec<(String, String)> {
        let entries = self.node(name).map(TomlNode::entries).unwrap_or_default();
        entries.iter().filter_map(|entry| Some((entry.key.clone(), entry.node.text()?.to_owned()))).collect()
    }

    /// Returns a table with its own grammar.
    pub fn table(&self, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Option<Fields<'_>> {
        let field = self.field(name)?;
        match field.key.shape {
            ValueShape::Table(grammar) => Some(Fields::open(&field.node, grammar, diagnostics)),
            ValueShape::WordOrTable(_, grammar) if is_table(&field.node) => {
                Some(Fields::open(&field.node, grammar, diagnostics))
            }
            _ => None,
        }
    }

    /// Returns tables with their own grammar.
    pub fn tables(&self, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<Fields<'_>> {
        let Some(field) = self.field(name) else { return Vec::new() };
        let ValueShape::Tables(grammar) = field.key.shape else { return Vec::new() };
        field.node.items().iter().map(|item| Fields::open(item, grammar, diagnostics)).collect()
    }

    /// Returns the items of a list of strings and tables.
    pub fn texts_or_tables(&self, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<TextOrTable<'_>> {
        let Some(field) = self.field(name) else { return Vec::new() };
        let ValueShape::TextsOrTables(grammar) = field.key.shape else { return Vec::new() };
        let mut item = |item| match TomlNode::text(item) {
            Some(text) => TextOrTable::Text(Located { value: text.to_owned(), at: item.at.clone() }),
            None => TextOrTable::Table(Fields::open(item, grammar, diagnostics)),
        };
        field.node.items().iter().map(&mut item).collect()
    }

    /// Returns the tables of a table, with their names and the locations of the names.
    pub fn named_tables(&self, name: &str, diagnostics: &mut Vec<Diagnostic>) -> Vec<(Located<String>, Fields<'_>)> {
        let Some(field) = self.field(name) else { return Vec::new() };
        let ValueShape::NamedTables(grammar) = field.key.shape else { return Vec::new() };
        let open = |entry: &'_ TomlEntry| Located { value: entry.key.clone(), at: entry.at.clone() };
        field
            .node
            .entries()
            .iter()
            .map(|entry| (open(entry), Fields::open(&entry.node, grammar, diagnostics)))
            .collect()
    }

    /// Returns which of these keys is present. Reports each further one as an error; `what` names what they belong to.
    pub fn one_of(
        &self,
        names: &[&'static str],
        what: &str,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<&'static str> {
        let mut written = names.iter().copied().filter(|name| self.has(name));
        let first = written.next();
        for other in written {
            let message = format!("`{}` and `{other}` exclude each other", first.unwrap_or_default());
            let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let help = format!("{what} takes one of {}", words.join(", "));
            let at = self.key_place(other).unwrap_or(&self.header).clone();
            diagnostics.push(*Diagnostic::new(code::CONFLICTING_KEYS, message).at(at).help(help));
        }
        first
    }
}

fn is_table(node: &TomlNode) -> bool {
    matches!(node.item, TomlItem::Table(_))
}

/// Turns a sentence into a part of a help line.
fn as_clause(doc: &str) -> String {
    let doc = doc.trim_end_matches('.');
    let mut letters = doc.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn unknown_key(grammar: &'static Grammar, entry: &TomlEntry) -> Box<Diagnostic> {
    //= docs/spec.md#definitions
    //# An unknown key MUST be refused with the nearest known key.
    let message = format!("{} has no key `{}`", grammar.name, entry.key);
    let diagnostic = Diagnostic::new(code::UNKNOWN_KEY, message).at(entry.at.clone());
    let names: Vec<&str> = grammar.keys.iter().map(|key| key.name).collect();
    let help =
        did_you_mean(&entry.key, names.iter().copied()).unwrap_or_else(|| format!("its keys are {}", names.join(", ")));
    diagnostic.help(help)
}

/// Returns whether a value has the shape that its key takes; if not, reports the wrong part.
fn check_shape(key: &GrammarKey, node: &TomlNode, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let before = diagnostics.len();
    let mut wrong = |part: &TomlNode, wanted: &str| {
        let message = format!("`{}` takes {wanted}, got {}", key.name, part.kind());
        diagnostics.push(*Diagnostic::new(code::WRONG_TYPE, message).at(part.at.clone()).help(as_clause(key.doc)));
    };
    let is_list = |node: &TomlNode| matches!(node.item, TomlItem::List(_));
    let wanted = key.shape.describe();
    match key.shape {
        ValueShape::Any => {}
        ValueShape::Text if node.text().is_some() => {}
        ValueShape::OneOf(_) | ValueShape::WordOrTable(..) | ValueShape::IntegerOrKey(_) | ValueShape::FlagOrKey
            if node.text().is_some() => {}
        ValueShape::WordOrTable(..) if is_table(node) => {}
        ValueShape::Flag | ValueShape::FlagOrKey if matches!(node.item, TomlItem::Scalar(Json::Bool(_))) => {}
        ValueShape::Integer(_) | ValueShape::IntegerWithin(..) | ValueShape::IntegerOrKey(_)
            if node.kind() == "an integer" => {}
        ValueShape::TextOrTexts if node.text().is_some_and(|text| !text.is_empty()) => {}
        ValueShape::Completion if node.text().is_some() => {}
        ValueShape::Texts | ValueShape::TextOrTexts | ValueShape::Completion if is_list(node) => {
            let may_be_empty = !matches!(key.shape, ValueShape::TextOrTexts);
            let is_wrong = |item: &&TomlNode| item.text().is_none_or(|text| text.is_empty() && !may_be_empty);
            node.items().iter().filter(is_wrong).for_each(|item| wrong(item, &wanted));
        }
        ValueShape::Objects | ValueShape::Tables(_) if is_list(node) => {
            node.items().iter().filter(|item| !is_table(item)).for_each(|item| wrong(item, &wanted));
        }
        ValueShape::TextsOrTables(_) if is_list(node) => {
            let others = node.items().iter().filter(|item| item.text().is_none() && !is_table(item));
            others.for_each(|item| wrong(item, "a text or a table"));
        }
        ValueShape::TextMap if is_table(node) => {
            let entries = node.entries().iter().filter(|entry| entry.node.text().is_none());
            entries.for_each(|entry| wrong(&entry.node, &wanted));
        }
        ValueShape::Completions if is_table(node) => {
            for entry in node.entries() {
                let texts = is_list(&entry.node) && entry.node.items().iter().all(|item| item.text().is_some());
                if entry.node.text().is_none() && !texts {
                    wrong(&entry.node, &wanted);
                }
            }
        }
        ValueShape::NamedTables(_) if is_table(node) => {
            let entries = node.entries().iter().filter(|entry| !is_table(&entry.node));
            entries.for_each(|entry| wrong(&entry.node, "a table"));
        }
        ValueShape::Object
        | ValueShape::Schema
        | ValueShape::Named
        | ValueShape::NamedSchemas
        | ValueShape::Table(_)
            if is_table(node) => {}
        _ => wrong(node, &wanted),
    }
    if diagnostics.len() == before {
        check_value(key, node, diagnostics);
    }
    diagnostics.len() == before
}

/// Reports a value of the right kind that is not allowed.
fn check_value(key: &GrammarKey, node: &TomlNode, diagnostics: &mut Vec<Diagnostic>) {
    let diagnostic = match (key.shape, &node.item) {
        (ValueShape::OneOf(words) | ValueShape::WordOrTable(words, _), TomlItem::Scalar(Json::String(text)))
            if !words.contains(&text.as_str()) =>
        {
            let help = did_you_mean(text, words.iter().copied());
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be \"{text}\"", key.name))
                .help(help.unwrap_or_else(|| key.shape.describe()))
        }
        (ValueShape::Integer(least) | ValueShape::IntegerOrKey(least), TomlItem::Scalar(Json::Number(number)))
            if number.as_i64().is_none_or(|n| n < least) =>
        {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be {number}", key.name)).help(key.shape.describe())
        }
        (ValueShape::IntegerWithin(least, most), TomlItem::Scalar(Json::Number(number)))
            if number.as_i64().is_none_or(|n| n < least || n > most) =>
        {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be {number}", key.name)).help(key.shape.describe())
        }
        (ValueShape::IntegerOrKey(_) | ValueShape::FlagOrKey, TomlItem::Scalar(Json::String(text)))
            if text.strip_prefix(CONFIG).is_none_or(str::is_empty) =>
        {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be \"{text}\"", key.name))
                .help(key.shape.describe())
        }
        (ValueShape::Text, TomlItem::Scalar(Json::String(text))) if key.required && text.trim().is_empty() => {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` is empty", key.name)).help(as_clause(key.doc))
        }
        _ => return,
    };
    diagnostics.push(*diagnostic.at(node.at.clone()));
}

/// Parses the text of a node as JSON. Locations of syntax errors are exact if the text has no escapes; every part of
/// the tree has the location of the text.
fn read_json(node: &TomlNode) -> Result<TomlNode> {
    let Some(text) = node.text() else {
        let message = format!("JSON is written as a text, got {}", node.kind());
        return Err(Diagnostic::new(code::WRONG_TYPE, message).at(node.at.clone()).help("'''{ … }'''"));
    };
    match serde_json::from_str::<Json>(text) {
        Ok(json) => match find_oversized_integer(text)? {
            None => Ok(json_tree(json, &node.at)),
            Some(beyond) => {
                Err(Diagnostic::new(code::JSON_SYNTAX, beyond.message).at(node.at.clone()).help(OVERSIZED_INTEGER_HELP))
            }
        },
        Err(error) => {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default().to_lowercase();
            let at = json_place(&node.at, text, error.line(), error.column());
            Err(Diagnostic::new(code::JSON_SYNTAX, format!("not JSON: {message}")).at(at).help("RFC 8259"))
        }
    }
}

fn json_tree(json: Json, at: &Place) -> TomlNode {
    let item = match json {
        Json::Array(items) => TomlItem::List(items.into_iter().map(|item| json_tree(item, at)).collect()),
        Json::Object(map) => TomlItem::Table(
            map.into_iter().map(|(key, value)| TomlEntry { key, at: at.clone(), node: json_tree(value, at) }).collect(),
        ),
        scalar => TomlItem::Scalar(scalar),
    };
    TomlNode { item, at: at.clone() }
}

/// Returns the location of a one-based line and column (in bytes) of a quoted text, exact if the text is written
/// verbatim.
fn json_place(at: &Place, text: &str, line: usize, column: usize) -> Place {
    let written = &at.source.text[at.span.clone()];
    let Some(start) = written.find(text).filter(|_| !text.is_empty()) else { return at.clone() };
    let before: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let offset = at.span.start + start + (before + column.saturating_sub(1)).min(text.len());
    at.source.place(offset..offset + 1)
}
