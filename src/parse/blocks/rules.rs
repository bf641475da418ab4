//! The rules of blocks: read from a map, with every key checked and every regular expression compiled.

use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::pattern::{Captures, Pattern};
use crate::value::{Kind, Map, Text, Value};
use std::sync::Arc;

/// Defines what a block is; see [`super::blocks`].
pub struct BlockRules {
    pub(super) start: LineRule,
    pub(super) end: Option<LineRule>,
    pub(super) end_takes: bool,
    pub(super) tail: Option<LineRule>,
    pub(super) fields: Vec<FieldRule>,
    pub(super) items: Option<ItemRules>,
    pub(super) sections: Option<LineRule>,
    /// Lines that are not part of the preamble. Without this rule, these are the lines that set a field.
    pub(super) beside: Option<LineRule>,
    pub(super) lists: Vec<ListRule>,
    pub(super) opaque: bool,
}

/// A field that one line sets for the whole block.
pub(super) struct FieldRule {
    pub(super) name: Text,
    pub(super) rule: LineRule,
    /// The values of words, by the word in lower case.
    words: Map,
    /// The value if no line sets the field.
    otherwise: Value,
}

/// Lines of a block that are read as records.
pub(super) struct ItemRules {
    /// Items begin after such a line, or after the start of the block if there is no rule.
    pub(super) after: Option<LineRule>,
    pub(super) item: LineRule,
    /// Items end before such a line.
    pub(super) stop: Option<LineRule>,
    /// Such a line continues the item above it.
    pub(super) continues: Option<LineRule>,
    /// Whether the text of an item is everything from its group `text` to the end of the line. Finding where a match
    /// begins is much faster than finding where it ends.
    pub(super) rest: bool,
}

/// How a field is split into records.
pub(super) struct ListRule {
    /// The field, or the group of the start or end line.
    pub(super) name: Text,
    pub(super) separator: Text,
    /// Words that mean "nothing".
    pub(super) none: Vec<Text>,
    pub(super) item: Option<LineRule>,
    /// A prefix that is added to a part that the regular expression matches only with it.
    pub(super) prefix: Option<Text>,
}

/// Names and their values. There are few of them, so a linear search is fastest.
pub type NamedValues = Vec<(Text, Value)>;

/// A regular expression for one line, and its named groups.
pub(super) struct LineRule {
    pattern: Arc<Pattern>,
    names: Vec<(usize, Text)>,
}

impl LineRule {
    fn new(pattern: &str, path: &str) -> Result<Self> {
        let pattern = Pattern::compile_cached(pattern).map_err(|mut error| {
            error.message = format!("rule `{path}`: {}", error.message);
            error
        })?;
        let numbered = pattern.names().iter().enumerate();
        let names = numbered.filter_map(|(number, name)| Some((number, Arc::clone(name.as_ref()?)))).collect();
        Ok(Self { pattern, names })
    }

    /// Whether it matches anywhere in a line.
    pub(super) fn matches(&self, line: &str) -> Result<bool> {
        self.pattern.is_match(line)
    }

    /// Its first match in a line. Most lines have none, and testing that is faster than searching for a match.
    pub(super) fn find(&self, line: &str) -> Result<Option<Captures>> {
        if self.matches(line)? { self.pattern.first(line) } else { Ok(None) }
    }

    /// Its first match in a line that is likely to have one.
    pub(super) fn expect(&self, line: &str) -> Result<Option<Captures>> {
        self.pattern.first(line)
    }

    /// Where the group with this name begins, if it took part in the match.
    pub(super) fn start_of(&self, name: &str, found: &Captures) -> Option<usize> {
        let number = self.names.iter().find(|(_, known)| &**known == name).map(|(number, _)| *number)?;
        found.group(number).map(|span| span.start)
    }

    /// The named groups of a match; `()` for a group that took no part.
    pub(super) fn groups(&self, line: &str, found: &Captures) -> NamedValues {
        let value = |number: usize| Value::from(found.group(number).map(|span| Value::from(&line[span])));
        self.names.iter().map(|(number, name)| (Arc::clone(name), value(*number))).collect()
    }

    /// The group `name`, or the first group, or the whole match; `()` if that group took no part.
    pub(super) fn main_group(&self, name: &str, line: &str, found: &Captures) -> Value {
        let named = self.names.iter().find(|(_, known)| &**known == name).map(|(number, _)| *number);
        let number = named.unwrap_or_else(|| usize::from(self.pattern.names().len() > 1));
        found.group(number).map(|span| Value::from(&line[span])).into()
    }
}

/// A map of rules and its path.
struct RuleReader {
    map: Map,
    path: String,
}

impl RuleReader {
    fn new(value: &Value, path: &str, known: &[&str]) -> Result<Self> {
        let map = match value {
            Value::Map(map) => map.clone(),
            Value::Handle(handle) if handle.kind() == Kind::Frozen && handle.length().is_none() => {
                match Value::from_json(&handle.to_json()) {
                    Value::Map(map) => map,
                    _ => Map::new(),
                }
            }
            other => return Err(wrong(path, "a map", other)),
        };
        if !known.is_empty()
            && let Some(unknown) = map.keys().find(|key| !known.contains(&&***key))
        {
            let error = Diagnostic::new(Code::ARGUMENTS, format!("`{path}` has no key `{unknown}`"));
            let help = did_you_mean(unknown, known.iter().copied());
            return Err(error.help(help.unwrap_or_else(|| format!("known: `{}`", known.join("`, `")))));
        }
        Ok(Self { map, path: path.to_owned() })
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    fn path(&self, key: &str) -> String {
        format!("{}.{key}", self.path)
    }

    fn text(&self, key: &str) -> Result<Option<&str>> {
        let wrong = |value: &Value| wrong(&self.path(key), "a text", value);
        self.get(key).map(|value| value.as_text().ok_or_else(|| wrong(value))).transpose()
    }

    fn rule(&self, key: &str) -> Result<Option<LineRule>> {
        self.text(key)?.map(|pattern| LineRule::new(pattern, &self.path(key))).transpose()
    }

    fn needed(&self, key: &str) -> Result<LineRule> {
        self.rule(key)?.ok_or_else(|| {
            let message = format!("`{}` lacks `{key}`", self.path);
            Diagnostic::new(Code::ARGUMENTS, message).help(format!("set `{key}` to a regular expression"))
        })
    }

    fn flag(&self, key: &str) -> Result<bool> {
        match self.get(key) {
            None => Ok(false),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(other) => Err(wrong(&self.path(key), "a boolean", other)),
        }
    }
}

fn wrong(path: &str, expected: &str, value: &Value) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("`{path}` must be {expected}, got {}", value.kind().name()))
}

impl BlockRules {
    /// The keys of the map.
    const KEYS: &'static [&'static str] =
        &["start", "end", "end_takes", "tail", "fields", "items", "sections", "beside", "lists", "fences"];

    /// Reads the rules. A key that is unknown, missing or of the wrong type is an error with the code `arguments`.
    pub fn read(value: &Value) -> Result<Self> {
        let rules = RuleReader::new(value, "rules", Self::KEYS)?;
        let opaque = match rules.text("fences")? {
            None | Some("opaque") => true,
            Some("plain") => false,
            Some(other) => {
                let message = format!("`rules.fences` must be `opaque` or `plain`, got `{other}`");
                return Err(Diagnostic::new(Code::ARGUMENTS, message));
            }
        };
        let mut fields = Vec::new();
        if let Some(value) = rules.get("fields") {
            let reader = RuleReader::new(value, "rules.fields", &[])?;
            for name in reader.map.keys() {
                fields.push(FieldRule::read(&reader, name)?);
            }
        }
        let rules = Self {
            start: rules.needed("start")?,
            end: rules.rule("end")?,
            end_takes: rules.flag("end_takes")?,
            tail: rules.rule("tail")?,
            fields,
            items: rules.get("items").map(ItemRules::read).transpose()?,
            sections: rules.rule("sections")?,
            beside: rules.rule("beside")?,
            lists: rules.get("lists").map(ListRule::read_all).transpose()?.unwrap_or_default(),
            opaque,
        };
        rules.check_lists()?;
        Ok(rules)
    }

    /// Whether a block can have a group or a field with this name.
    pub fn names(&self, name: &str) -> bool {
        let lines = [Some(&self.start), self.end.as_ref()];
        lines.into_iter().flatten().flat_map(|rule| &rule.names).any(|(_, known)| &**known == name)
            || self.fields.iter().any(|field| &*field.name == name)
    }

    /// The named groups of the line if it ends a block.
    pub(super) fn end_of(&self, line: &str) -> Result<Option<NamedValues>> {
        let Some(end) = &self.end else { return Ok(None) };
        Ok(end.find(line)?.map(|found| end.groups(line, &found)))
    }

    /// Whether the line after an end line belongs to the block.
    pub(super) fn is_tail(&self, line: &str) -> Result<bool> {
        match &self.tail {
            Some(tail) => Ok(tail.matches(line)? && !self.start.matches(line)?),
            None => Ok(false),
        }
    }

    /// Requires that each list splits a field, or a named group of the start or end line.
    fn check_lists(&self) -> Result<()> {
        let groups = [Some(&self.start), self.end.as_ref()].into_iter().flatten().flat_map(|rule| &rule.names);
        let known: Vec<&str> =
            self.fields.iter().map(|field| &*field.name).chain(groups.map(|(_, name)| &**name)).collect();
        match self.lists.iter().find(|list| !known.contains(&&*list.name)) {
            None => Ok(()),
            Some(ListRule { name, .. }) => {
                let error =
                    Diagnostic::new(Code::ARGUMENTS, format!("`rules.lists` splits `{name}`, which is not a field"));
                let help = did_you_mean(name, known);
                Err(error.help(help.unwrap_or_else(|| "use a key of `fields`".to_owned())))
            }
        }
    }
}

impl FieldRule {
    /// Reads a regular expression, or `#{ find, words, otherwise }`.
    fn read(fields: &RuleReader, name: &Text) -> Result<Self> {
        let plain = |rule| Self { name: Arc::clone(name), rule, words: Map::new(), otherwise: Value::Null };
        let Some(value @ (Value::Map(_) | Value::Handle(_))) = fields.get(name) else {
            return fields.needed(name).map(plain);
        };
        let reader = RuleReader::new(value, &fields.path(name), &["find", "words", "otherwise"])?;
        let mut words = Map::new();
        if let Some(value) = reader.get("words") {
            for (word, meant) in RuleReader::new(value, &reader.path("words"), &[])?.map {
                words.insert(word.to_lowercase().into(), meant);
            }
        }
        let otherwise = reader.get("otherwise").cloned().unwrap_or(Value::Null);
        Ok(Self { words, otherwise, ..plain(reader.needed("find")?) })
    }

    /// The value of the word that a line contains.
    pub(super) fn meant(&self, word: Option<Value>) -> Value {
        match word {
            None | Some(Value::Null) => self.otherwise.clone(),
            Some(Value::Text(word)) if !self.words.is_empty() => {
                self.words.get(word.to_lowercase().as_str()).cloned().unwrap_or(Value::Text(word))
            }
            Some(word) => word,
        }
    }
}

impl ItemRules {
    fn read(value: &Value) -> Result<Self> {
        let reader = RuleReader::new(value, "rules.items", &["after", "item", "stop", "continues", "rest"])?;
        Ok(Self {
            after: reader.rule("after")?,
            item: reader.needed("item")?,
            stop: reader.rule("stop")?,
            continues: reader.rule("continues")?,
            rest: reader.flag("rest")?,
        })
    }
}

impl ListRule {
    fn read_all(value: &Value) -> Result<Vec<Self>> {
        let lists = RuleReader::new(value, "rules.lists", &[])?;
        lists.map.iter().map(|(name, value)| Self::read(name, value)).collect()
    }

    fn read(name: &Text, value: &Value) -> Result<Self> {
        let path = format!("rules.lists.{name}");
        let reader = RuleReader::new(value, &path, &["separator", "none", "item", "prefix"])?;
        let none = match reader.get("none") {
            None => Vec::new(),
            Some(Value::List(words)) => {
                let word = |word: &Value| match word {
                    Value::Text(word) => Ok(Arc::clone(word)),
                    other => Err(wrong(&reader.path("none"), "a list of texts", other)),
                };
                words.iter().map(word).collect::<Result<_>>()?
            }
            Some(other) => return Err(wrong(&reader.path("none"), "a list of texts", other)),
        };
        let separator = reader.text("separator")?.unwrap_or(",");
        if separator.is_empty() {
            return Err(Diagnostic::new(Code::ARGUMENTS, format!("`{}` is empty", reader.path("separator"))));
        }
        let (item, prefix) = (reader.rule("item")?, reader.text("prefix")?.map(Text::from));
        Ok(Self { name: Arc::clone(name), separator: separator.into(), none, item, prefix })
    }

    /// The records of a field: the named groups of each part, and its `text`. Parts that are empty or mean "nothing"
    /// are omitted. If the regular expression does not match a part, its groups are `()`.
    pub(super) fn records(&self, text: &str) -> Result<Vec<NamedValues>> {
        let is_none = |part: &str| part.is_empty() || self.none.iter().any(|word| &**word == part);
        let mut records = Vec::new();
        if is_none(text.trim()) {
            return Ok(records);
        }
        for part in text.split(&*self.separator).map(str::trim).filter(|part| !is_none(part)) {
            crate::guard::check()?;
            records.push(self.record(part)?);
        }
        Ok(records)
    }

    fn record(&self, part: &str) -> Result<NamedValues> {
        let mut text = Text::from(part);
        let mut groups = Vec::new();
        if let Some(rule) = &self.item {
            let mut found = rule.find(&text)?;
            if let (None, Some(prefix)) = (&found, self.prefix.as_ref().filter(|prefix| !part.starts_with(&***prefix)))
            {
                text = format!("{prefix}{part}").into();
                found = rule.find(&text)?;
            }
            groups = match found {
                Some(found) => rule.groups(&text, &found),
                None => rule.names.iter().map(|(_, name)| (Arc::clone(name), Value::Null)).collect(),
            };
        }
        groups.retain(|(name, _)| &**name != "text");
        groups.push(("text".into(), Value::Text(text)));
        Ok(groups)
    }
}
