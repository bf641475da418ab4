//! The door of every table: unknown, missing and ill-typed keys are told here, so that lowering can trust what it reads.

use super::{Grammar, Key, Located, Schema, Shape, TomlEntry, TomlItem, TomlNode, code, json};
use crate::diagnostic::{Diagnostic, did_you_mean};
use crate::source::Place;
use crate::value::Json;
use std::borrow::Cow;

/// What begins a value that the configuration of the pack holds.
const CONFIG: &str = "config.";

/// The keys of one table that are what its grammar says.
pub struct Fields<'a> {
    /// The place of the table's header, for what is missing.
    pub header: Place,
    grammar: &'static Grammar,
    found: Vec<Field<'a>>,
}

/// An item of a list that takes both.
pub enum TextOrTable<'a> {
    /// A text and its place.
    Text(Located<String>),
    /// A table with a grammar of its own.
    Table(Fields<'a>),
}

struct Field<'a> {
    key: &'static Key,
    at: Place,
    node: Cow<'a, TomlNode>,
}

impl<'a> Fields<'a> {
    /// Opens a table. Anything else but a table has been refused before and has no keys.
    pub fn open(node: &'a TomlNode, grammar: &'static Grammar, faults: &mut Vec<Diagnostic>) -> Self {
        let mut fields = Self { header: node.at.clone(), grammar, found: Vec::new() };
        for entry in node.entries() {
            fields.take(entry, faults);
        }
        for key in grammar.keys.iter().filter(|key| key.required) {
            if !node.entries().iter().any(|entry| entry.key == key.name) {
                let fault = Diagnostic::new(code::MISSING_KEY, format!("{} has no `{}`", grammar.name, key.name));
                let help = format!("{}: {}", key.shape.describe(), plain(key.doc));
                faults.push(*fault.at(fields.header.clone()).help(help));
            }
        }
        fields
    }

    fn take(&mut self, entry: &'a TomlEntry, faults: &mut Vec<Diagnostic>) {
        if let Some(key) = self.grammar.keys.iter().find(|key| key.name == entry.key) {
            return self.keep(key, entry, Cow::Borrowed(&entry.node), faults);
        }
        let as_json = entry
            .key
            .strip_suffix("_json")
            .and_then(|base| self.grammar.keys.iter().find(|key| key.name == base && key.shape.has_json_form()));
        let Some(key) = as_json else { return faults.push(*unknown(self.grammar, entry)) };
        match json::read(&entry.node) {
            Ok(node) => self.keep(key, entry, Cow::Owned(node), faults),
            Err(fault) => faults.push(*fault),
        }
    }

    fn keep(&mut self, key: &'static Key, entry: &TomlEntry, node: Cow<'a, TomlNode>, faults: &mut Vec<Diagnostic>) {
        if let Some(other) = self.field(key.name) {
            let fault = Diagnostic::new(code::CONFLICTING_KEYS, format!("`{}` stands twice", key.name));
            let line = other.at.line_column().0;
            return faults.push(*fault.at(entry.at.clone()).help(format!("it is given in line {line} already")));
        }
        if fits(key, &node, faults) {
            self.found.push(Field { key, at: entry.at.clone(), node });
        }
    }

    fn field(&self, name: &str) -> Option<&Field<'a>> {
        debug_assert!(self.grammar.keys.iter().any(|key| key.name == name), "{} {name}", self.grammar.name);
        self.found.iter().find(|field| field.key.name == name)
    }

    /// The tree of a key.
    pub fn node(&self, name: &str) -> Option<&TomlNode> {
        self.field(name).map(|field| field.node.as_ref())
    }

    /// The place of a key, if it was written.
    pub fn key_at(&self, name: &str) -> Option<&Place> {
        self.field(name).map(|field| &field.at)
    }

    /// Whether the key was written.
    pub fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// A text.
    pub fn text(&self, name: &str) -> Option<String> {
        self.node(name).and_then(TomlNode::text).map(str::to_owned)
    }

    /// A text and its place.
    pub fn located(&self, name: &str) -> Option<Located<String>> {
        let node = self.node(name)?;
        Some(Located { value: node.text()?.to_owned(), at: node.at.clone() })
    }

    /// A text that must be there; an empty one at the header where it is missing, which was told.
    pub fn needed(&self, name: &str) -> Located<String> {
        self.located(name).unwrap_or_else(|| Located { value: String::new(), at: self.header.clone() })
    }

    /// A list of texts, or one text as a list of one.
    pub fn texts(&self, name: &str) -> Vec<String> {
        self.located_texts(name).into_iter().map(|text| text.value).collect()
    }

    /// The same, each with its place.
    pub fn located_texts(&self, name: &str) -> Vec<Located<String>> {
        let Some(node) = self.node(name) else { return Vec::new() };
        let one = node.text().map(|_| node);
        one.into_iter()
            .chain(node.items())
            .filter_map(|item| Some(Located { value: item.text()?.to_owned(), at: item.at.clone() }))
            .collect()
    }

    /// A flag.
    pub fn flag(&self, name: &str) -> Option<bool> {
        match self.node(name)?.item {
            TomlItem::Scalar(Json::Bool(flag)) => Some(flag),
            _ => None,
        }
    }

    /// The name in `config.NAME`, and its place.
    pub fn config_key(&self, name: &str) -> Option<Located<String>> {
        let node = self.node(name)?;
        Some(Located { value: node.text()?.strip_prefix(CONFIG)?.to_owned(), at: node.at.clone() })
    }

    /// A whole number.
    pub fn integer(&self, name: &str) -> Option<u64> {
        match &self.node(name)?.item {
            TomlItem::Scalar(Json::Number(number)) => number.as_u64(),
            _ => None,
        }
    }

    /// Any value.
    pub fn json(&self, name: &str) -> Option<Json> {
        self.node(name).map(TomlNode::to_json)
    }

    /// A table of any keys; an empty one if it was left out.
    pub fn object(&self, name: &str) -> Json {
        self.json(name).unwrap_or_else(|| Json::Object(serde_json::Map::new()))
    }

    /// A schema with its places.
    pub fn schema(&self, name: &str) -> Option<Schema> {
        self.node(name).map(Schema::of)
    }

    /// A table from names to texts.
    pub fn text_map(&self, name: &str) -> Vec<(String, String)> {
        let entries = self.node(name).map(TomlNode::entries).unwrap_or_default();
        entries.iter().filter_map(|entry| Some((entry.key.clone(), entry.node.text()?.to_owned()))).collect()
    }

    /// A table with a grammar of its own.
    pub fn table(&self, name: &str, faults: &mut Vec<Diagnostic>) -> Option<Fields<'_>> {
        let field = self.field(name)?;
        match field.key.shape {
            Shape::Table(grammar) => Some(Fields::open(&field.node, grammar, faults)),
            Shape::WordOrTable(_, grammar) if is_table(&field.node) => Some(Fields::open(&field.node, grammar, faults)),
            _ => None,
        }
    }

    /// Tables with a grammar of their own.
    pub fn tables(&self, name: &str, faults: &mut Vec<Diagnostic>) -> Vec<Fields<'_>> {
        let Some(field) = self.field(name) else { return Vec::new() };
        let Shape::Tables(grammar) = field.key.shape else { return Vec::new() };
        field.node.items().iter().map(|item| Fields::open(item, grammar, faults)).collect()
    }

    /// The items of a list of texts and tables.
    pub fn texts_or_tables(&self, name: &str, faults: &mut Vec<Diagnostic>) -> Vec<TextOrTable<'_>> {
        let Some(field) = self.field(name) else { return Vec::new() };
        let Shape::TextsOrTables(grammar) = field.key.shape else { return Vec::new() };
        let mut item = |item| match TomlNode::text(item) {
            Some(text) => TextOrTable::Text(Located { value: text.to_owned(), at: item.at.clone() }),
            None => TextOrTable::Table(Fields::open(item, grammar, faults)),
        };
        field.node.items().iter().map(&mut item).collect()
    }

    /// A table from names to tables with a grammar of their own: each name with its place.
    pub fn named_tables(&self, name: &str, faults: &mut Vec<Diagnostic>) -> Vec<(Located<String>, Fields<'_>)> {
        let Some(field) = self.field(name) else { return Vec::new() };
        let Shape::NamedTables(grammar) = field.key.shape else { return Vec::new() };
        let open = |entry: &'_ TomlEntry| Located { value: entry.key.clone(), at: entry.at.clone() };
        field.node.entries().iter().map(|entry| (open(entry), Fields::open(&entry.node, grammar, faults))).collect()
    }

    /// Which of these keys were written; more than one is a fault at the second, `what` says of what.
    pub fn one_of(&self, names: &[&'static str], what: &str, faults: &mut Vec<Diagnostic>) -> Option<&'static str> {
        let mut written = names.iter().copied().filter(|name| self.has(name));
        let first = written.next();
        for other in written {
            let message = format!("`{}` and `{other}` exclude each other", first.unwrap_or_default());
            let words: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
            let help = format!("{what} takes one of {}", words.join(", "));
            let at = self.key_at(other).unwrap_or(&self.header).clone();
            faults.push(*Diagnostic::new(code::CONFLICTING_KEYS, message).at(at).help(help));
        }
        first
    }
}

fn is_table(node: &TomlNode) -> bool {
    matches!(node.item, TomlItem::Table(_))
}

/// A sentence as a part of a help line.
fn plain(doc: &str) -> String {
    let doc = doc.trim_end_matches('.');
    let mut letters = doc.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn unknown(grammar: &'static Grammar, entry: &TomlEntry) -> Box<Diagnostic> {
    //= docs/spec.md#definitions
    //# A key that the grammar does not have MUST be refused, with the nearest key that it has.
    let message = format!("{} has no key `{}`", grammar.name, entry.key);
    let fault = Diagnostic::new(code::UNKNOWN_KEY, message).at(entry.at.clone());
    let names: Vec<&str> = grammar.keys.iter().map(|key| key.name).collect();
    let help =
        did_you_mean(&entry.key, names.iter().copied()).unwrap_or_else(|| format!("its keys are {}", names.join(", ")));
    fault.help(help)
}

/// Whether a value is what its key takes; if not, that is told at the part which is wrong.
fn fits(key: &Key, node: &TomlNode, faults: &mut Vec<Diagnostic>) -> bool {
    let before = faults.len();
    let mut wrong = |part: &TomlNode, wanted: &str| {
        let message = format!("`{}` takes {wanted}, got {}", key.name, part.kind());
        faults.push(*Diagnostic::new(code::WRONG_TYPE, message).at(part.at.clone()).help(plain(key.doc)));
    };
    let is_list = |node: &TomlNode| matches!(node.item, TomlItem::List(_));
    let wanted = key.shape.describe();
    match key.shape {
        Shape::Any => {}
        Shape::Text if node.text().is_some() => {}
        Shape::OneOf(_) | Shape::WordOrTable(..) | Shape::IntegerOrKey(_) | Shape::FlagOrKey
            if node.text().is_some() => {}
        Shape::WordOrTable(..) if is_table(node) => {}
        Shape::Flag | Shape::FlagOrKey if matches!(node.item, TomlItem::Scalar(Json::Bool(_))) => {}
        Shape::Integer(_) | Shape::IntegerWithin(..) | Shape::IntegerOrKey(_) if node.kind() == "an integer" => {}
        Shape::TextOrTexts | Shape::Completion if node.text().is_some() => {}
        Shape::Texts | Shape::TextOrTexts | Shape::Completion if is_list(node) => {
            node.items().iter().filter(|item| item.text().is_none()).for_each(|item| wrong(item, &wanted));
        }
        Shape::Objects | Shape::Tables(_) if is_list(node) => {
            node.items().iter().filter(|item| !is_table(item)).for_each(|item| wrong(item, &wanted));
        }
        Shape::TextsOrTables(_) if is_list(node) => {
            let others = node.items().iter().filter(|item| item.text().is_none() && !is_table(item));
            others.for_each(|item| wrong(item, "a text or a table"));
        }
        Shape::TextMap if is_table(node) => {
            let entries = node.entries().iter().filter(|entry| entry.node.text().is_none());
            entries.for_each(|entry| wrong(&entry.node, &wanted));
        }
        Shape::Completions if is_table(node) => {
            for entry in node.entries() {
                let texts = is_list(&entry.node) && entry.node.items().iter().all(|item| item.text().is_some());
                if entry.node.text().is_none() && !texts {
                    wrong(&entry.node, &wanted);
                }
            }
        }
        Shape::NamedTables(_) if is_table(node) => {
            let entries = node.entries().iter().filter(|entry| !is_table(&entry.node));
            entries.for_each(|entry| wrong(&entry.node, "a table"));
        }
        Shape::Object | Shape::Schema | Shape::Named | Shape::Table(_) if is_table(node) => {}
        _ => wrong(node, &wanted),
    }
    if faults.len() == before {
        allowed(key, node, faults);
    }
    faults.len() == before
}

/// Values of the right kind that are not allowed.
fn allowed(key: &Key, node: &TomlNode, faults: &mut Vec<Diagnostic>) {
    let fault = match (key.shape, &node.item) {
        (Shape::OneOf(words) | Shape::WordOrTable(words, _), TomlItem::Scalar(Json::String(text)))
            if !words.contains(&text.as_str()) =>
        {
            let help = did_you_mean(text, words.iter().copied());
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be \"{text}\"", key.name))
                .help(help.unwrap_or_else(|| key.shape.describe()))
        }
        (Shape::Integer(least) | Shape::IntegerOrKey(least), TomlItem::Scalar(Json::Number(number)))
            if number.as_i64().is_none_or(|n| n < least) =>
        {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be {number}", key.name)).help(key.shape.describe())
        }
        (Shape::IntegerWithin(least, most), TomlItem::Scalar(Json::Number(number)))
            if number.as_i64().is_none_or(|n| n < least || n > most) =>
        {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be {number}", key.name)).help(key.shape.describe())
        }
        (Shape::IntegerOrKey(_) | Shape::FlagOrKey, TomlItem::Scalar(Json::String(text)))
            if text.strip_prefix(CONFIG).is_none_or(str::is_empty) =>
        {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` cannot be \"{text}\"", key.name))
                .help(key.shape.describe())
        }
        (Shape::Text, TomlItem::Scalar(Json::String(text))) if key.required && text.trim().is_empty() => {
            Diagnostic::new(code::WRONG_VALUE, format!("`{}` is empty", key.name)).help(plain(key.doc))
        }
        _ => return,
    };
    faults.push(*fault.at(node.at.clone()));
}
