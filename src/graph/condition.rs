//! What `where` asks of a field: plain equality, or a map of tests.

use super::lookup::tokens;
use super::{Graph, Key, Nodes, Reader};
use crate::diagnostic::{Code, Diagnostic, Result, did_you_mean};
use crate::guard::{self, ITEM, Work, each};
use crate::order::{compare, same as alike};
use crate::pattern::Pattern;
use crate::value::{Map, Value};
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// One test of a value.
pub struct Condition {
    tests: Vec<Test>,
    /// Whether letters are compared without regard to case.
    fold: bool,
    /// The scalar that a plain equality asks for.
    equal: Option<Key>,
}

enum Test {
    Equals(Value),
    OneOf(Choice),
    NoneOf(Choice),
    StartsWith(String),
    EndsWith(String),
    Contains(Value),
    Words(Vec<String>),
    Tokens(Vec<String>),
    SomeToken(Vec<String>),
    Regex(Arc<Pattern>),
    Empty(bool),
    Above(Value),
    Below(Value),
    Any(Condition),
    Not(Condition),
}

const NAMES: [&str; 16] = [
    "equals",
    "one_of",
    "none_of",
    "starts_with",
    "ends_with",
    "contains",
    "words",
    "tokens",
    "some_token",
    "regex",
    "empty",
    "above",
    "below",
    "any",
    "not",
    "fold",
];

impl Condition {
    /// Reads a test. A map asks for all that it names:
    /// `equals`, `one_of: [..]`, `none_of: [..]` (of a list: one, none of its items is among them), `starts_with`, `ends_with`, `contains` (a part of a text, an item of a list),
    /// `words` (each of them stands in the text between other characters than letters, digits and `_`),
    /// `tokens` (each of them is a run of letters, digits, `_` and `-` of the text, but for `-` at the ends of the run;
    /// upper and lower case are equal), `some_token` (one of them is),
    /// `regex`, `empty` (`()`, no characters, no items), `above` and `below` (without the bound), `any` (an item
    /// of a list meets the test), `not` (the value does not meet the test), and `fold: true` (without regard to case).
    /// Anything else is compared for equality.
    pub fn read(test: &Value) -> Result<Self> {
        let Value::Map(map) = test else {
            return Ok(Self { tests: vec![Test::Equals(test.clone())], fold: false, equal: Key::of(test) });
        };
        let fold = matches!(map.get("fold"), Some(Value::Bool(true)));
        let named = map.iter().filter(|(name, _)| &***name != "fold");
        let tests = named.map(|(name, value)| Test::read(name, value, fold)).collect::<Result<_>>()?;
        let equal = match (map.len(), map.get("equals")) {
            (1, Some(value)) => Key::of(value),
            _ => None,
        };
        Ok(Self { tests, fold, equal })
    }

    /// A part, in lower case, that every text has which meets it.
    fn part(&self) -> Option<String> {
        self.tests.iter().find_map(|test| match test {
            Test::Contains(Value::Text(part)) if self.fold => Some(part.to_string()),
            // What it is in lower case depends on its neighbours.
            Test::Contains(Value::Text(part)) => (!part.contains('Σ')).then(|| part.to_lowercase()),
            _ => None,
        })
    }

    /// The tokens that it asks for and nothing else, and whether for all of them.
    fn tokens(&self) -> Option<(&[String], bool)> {
        match self.tests.as_slice() {
            [Test::Tokens(words)] => Some((words, true)),
            [Test::SomeToken(words)] => Some((words, false)),
            _ => None,
        }
    }

    /// Whether a value meets it.
    pub fn holds(&self, value: &Value) -> Result<bool> {
        for test in &self.tests {
            if !test.holds(value, self.fold)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl Test {
    fn read(name: &str, value: &Value, fold: bool) -> Result<Self> {
        let text = || match value {
            Value::Text(text) => Ok(if fold { text.to_lowercase() } else { text.to_string() }),
            other => Err(no_text(name, other)),
        };
        Ok(match name {
            "equals" => Self::Equals(folded(value, fold)),
            "one_of" => Self::OneOf(Choice::read(name, value, fold)?),
            "none_of" => Self::NoneOf(Choice::read(name, value, fold)?),
            "starts_with" => Self::StartsWith(text()?),
            "ends_with" => Self::EndsWith(text()?),
            "contains" => Self::Contains(folded(value, fold)),
            "words" => Self::Words(words(value, fold)?),
            "tokens" => Self::Tokens(words(value, true)?),
            "some_token" => Self::SomeToken(words(value, true)?),
            "regex" => Self::Regex(regex(name, value, fold)?),
            "empty" => Self::Empty(!matches!(value, Value::Bool(false))),
            "above" => Self::Above(value.clone()),
            "below" => Self::Below(value.clone()),
            "any" => Self::Any(inner(value, fold)?),
            "not" => Self::Not(inner(value, fold)?),
            _ => {
                let fault = Diagnostic::new(Code::ARGUMENTS, format!("there is no test `{name}`"));
                let help = did_you_mean(name, NAMES).unwrap_or_else(|| format!("known: {}", NAMES.join(", ")));
                return Err(fault.help(help));
            }
        })
    }

    fn holds(&self, value: &Value, fold: bool) -> Result<bool> {
        guard::spend(ITEM + value.as_text().map_or(0, str::len))?;
        let text = |value: &Value| value.as_text().map(|text| if fold { text.to_lowercase() } else { text.to_owned() });
        Ok(match self {
            Self::Equals(wanted) if fold => compare(wanted, &folded(value, true)).is_eq(),
            Self::Equals(wanted) => compare(wanted, value).is_eq(),
            Self::OneOf(choice) => choice.has_any(value, fold),
            Self::NoneOf(choice) => !choice.has_any(value, fold),
            Self::StartsWith(start) => text(value).is_some_and(|text| text.starts_with(start)),
            Self::EndsWith(end) => text(value).is_some_and(|text| text.ends_with(end)),
            Self::Contains(part) => match (value, part) {
                (Value::Text(whole), Value::Text(part)) if !fold => whole.contains(&**part),
                (Value::Text(whole), Value::Text(part)) => whole.to_lowercase().contains(&**part),
                (value, part) => sequence(value).iter().any(|item| alike(part, &folded(item, fold))),
            },
            Self::Words(words) => text(value).is_some_and(|text| {
                words.iter().all(|word| !guard::is_over(ITEM + text.len()) && has_word(&text, word))
            }),
            Self::Tokens(words) => value.as_text().is_some_and(|text| {
                let text = text.to_lowercase();
                words.iter().all(|word| !guard::is_over(ITEM + text.len()) && tokens(&text).any(|token| token == word))
            }),
            Self::SomeToken(words) => value.as_text().is_some_and(|text| {
                let text = text.to_lowercase();
                tokens(&text).any(|token| !guard::is_over(words.len() * 4) && words.iter().any(|word| token == word))
            }),
            Self::Regex(pattern) => value.as_text().map_or(Ok(false), |text| pattern.is_match(text))?,
            Self::Empty(wanted) => is_empty(value) == *wanted,
            Self::Above(bound) => comparable(value, bound) && compare(value, bound).is_gt(),
            Self::Below(bound) => comparable(value, bound) && compare(value, bound).is_lt(),
            Self::Any(condition) => {
                for item in sequence(value) {
                    if condition.holds(&item)? {
                        return Ok(true);
                    }
                }
                false
            }
            Self::Not(condition) => !condition.holds(value)?,
        })
    }
}

/// The values of `one_of` and `none_of`: those that can be hashed, and the others.
struct Choice {
    keys: FxHashSet<Key>,
    others: Vec<Value>,
}

impl Choice {
    fn read(name: &str, value: &Value, fold: bool) -> Result<Self> {
        let items: Vec<Value> = items(name, value)?.iter().map(|item| folded(item, fold)).collect_checked()?;
        let keys = items.iter().filter_map(Key::of).collect_checked()?;
        Ok(Self { keys, others: items.into_iter().filter(|item| Key::of(item).is_none()).collect_checked()? })
    }

    /// Whether the value is among them, or, of a list, one of its items.
    fn has_any(&self, value: &Value, fold: bool) -> bool {
        let value = folded(value, fold);
        match Key::of(&value) {
            Some(key) => self.keys.contains(&key),
            None => {
                self.others.iter().any(|other| alike(other, &value))
                    || sequence(&value).iter().any(|item| self.has_any(item, fold))
            }
        }
    }
}

fn regex(name: &str, value: &Value, fold: bool) -> Result<Arc<Pattern>> {
    match value {
        Value::Text(pattern) if fold => Pattern::compile_cached(&format!("(?i:{pattern})")),
        Value::Text(pattern) => Pattern::compile_cached(pattern),
        other => Err(no_text(name, other)),
    }
}

fn no_text(name: &str, value: &Value) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("the test `{name}` takes a text, got {}", value.kind().name()))
}

/// A test within a test inherits `fold`.
fn inner(value: &Value, fold: bool) -> Result<Condition> {
    let value = match value {
        Value::Map(map) if fold && !map.contains_key("fold") => {
            let mut map = map.clone();
            map.insert("fold".into(), true.into());
            Value::Map(map)
        }
        Value::Map(_) => value.clone(),
        other if fold => Value::map([("equals", other.clone()), ("fold", true.into())]),
        other => other.clone(),
    };
    Condition::read(&value)
}

fn items(name: &str, value: &Value) -> Result<Vec<Value>> {
    match value {
        Value::List(_) | Value::Handle(_) => guard::check().map(|()| sequence(value)),
        other => Err(Diagnostic::new(
            Code::ARGUMENTS,
            format!("the test `{name}` takes a list, got {}", other.kind().name()),
        )),
    }
}

fn sequence(value: &Value) -> Vec<Value> {
    match value {
        Value::List(items) => items.iter().take_while(|_| !guard::is_over(ITEM)).cloned().collect(),
        Value::Handle(handle) => {
            let places = (0..handle.length().unwrap_or(0)).take_while(|_| !guard::is_over(ITEM));
            places.filter_map(|at| handle.item(at)).collect()
        }
        _ => Vec::new(),
    }
}

fn folded(value: &Value, fold: bool) -> Value {
    match value {
        Value::Text(text) if fold => text.to_lowercase().into(),
        value => value.clone(),
    }
}

/// One text is split at white space; of a list, each item may be a phrase.
fn words(value: &Value, fold: bool) -> Result<Vec<String>> {
    let fold = |text: &str| if fold { text.to_lowercase() } else { text.to_owned() };
    match value {
        Value::Text(text) => text.split_whitespace().map(fold).collect_checked(),
        other => {
            let phrases = items("words", other)?;
            phrases.iter().filter_map(Value::as_text).map(fold).collect_checked()
        }
    }
}

fn has_word(text: &str, word: &str) -> bool {
    let part =
        |character: Option<char>| character.is_some_and(|character| character.is_alphanumeric() || character == '_');
    let (opens, closes) = (part(word.chars().next()), part(word.chars().next_back()));
    text.match_indices(word).any(|(at, _)| {
        let before = part(text[..at].chars().next_back());
        let after = part(text[at + word.len()..].chars().next());
        !(opens && before || closes && after)
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Text(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        Value::Map(map) => map.is_empty(),
        Value::Handle(handle) => handle.length() == Some(0),
        _ => false,
    }
}

/// Numbers with numbers, texts with texts: `()` is neither above nor below anything.
fn comparable(left: &Value, right: &Value) -> bool {
    let number = |value: &Value| matches!(value, Value::Integer(_) | Value::Float(_));
    let text = |value: &Value| matches!(value, Value::Text(_));
    (number(left) && number(right)) || (text(left) && text(right))
}

impl Nodes {
    /// The nodes whose fields meet all these tests, in their order. Equality over a whole kind is O(result).
    pub fn where_(&self, tests: &Map) -> Result<Self> {
        let tests: Vec<(&str, Condition)> =
            tests.iter().map(|(name, test)| Ok((&**name, Condition::read(test)?))).collect::<Result<_>>()?;
        let hit = self.by_index(&tests)?;
        let perhaps = |(name, test): &(&str, Condition)| self.perhaps_with(&[name], &test.part()?);
        let mut left = match &hit {
            Some((_, found)) => self.with_lasting(Arc::clone(found)),
            None => tests.iter().find_map(perhaps).unwrap_or_else(|| self.clone()),
        };
        for (at, (name, condition)) in tests.iter().enumerate() {
            if hit.as_ref().is_some_and(|(indexed, _)| *indexed == at) {
                continue;
            }
            // Asked of all the nodes, so that a misspelt name is told even if none is left.
            if left.is_empty() && !self.is_empty() && !Reader::new(self.graph(), name).known_to(self.ids()) {
                self.reader(name)?;
            }
            left = left.only(name, condition)?;
        }
        Ok(left)
    }

    /// The nodes of which at least one of these fields meets the test; the first `limit` of them.
    pub fn any_of(&self, fields: &[String], test: &Value, limit: Option<usize>) -> Result<Self> {
        let condition = Condition::read(test)?;
        let names: Vec<&str> = fields.iter().map(String::as_str).collect();
        if let Some(perhaps) = condition.part().and_then(|part| self.perhaps_with(&names, &part)) {
            return perhaps.any_of_each(fields, &condition, limit);
        }
        self.any_of_each(fields, &condition, limit)
    }

    fn any_of_each(&self, fields: &[String], condition: &Condition, limit: Option<usize>) -> Result<Self> {
        let readers: Vec<Reader<'_>> = each(fields).map(|name| self.reader(name?)).collect::<Result<_>>()?;
        let mut found = Vec::new();
        for node in self.ids() {
            guard::spend(ITEM)?;
            if limit.is_some_and(|limit| found.len() >= limit) {
                break;
            }
            for reader in &readers {
                guard::spend(ITEM)?;
                if condition.holds(&*reader.read(*node)?)? {
                    found.push(*node);
                    break;
                }
            }
        }
        Ok(self.with(found))
    }

    /// The first of the tests that an index answers, and its answer.
    fn by_index(&self, tests: &[(&str, Condition)]) -> Result<Option<(usize, Arc<[u32]>)>> {
        let Some(kind) = self.whole_kind() else { return Ok(None) };
        for (at, (name, condition)) in tests.iter().enumerate() {
            if let Some(key) = &condition.equal
                && let Some(found) = self.graph().indexed(kind, name, key)?
            {
                return Ok(Some((at, found)));
            }
            if let Some((tokens, all)) = condition.tokens()
                && let Some(found) = self.with_tokens(name, tokens, all)
            {
                return Ok(Some((at, found)));
            }
        }
        Ok(None)
    }

    fn only(&self, name: &str, condition: &Condition) -> Result<Self> {
        let reader = self.reader(name)?;
        let mut found = Vec::new();
        for (at, node) in self.ids().iter().enumerate() {
            if at % 1024 == 0 {
                guard::check()?;
            }
            if condition.holds(&*reader.read(*node)?)? {
                found.push(*node);
            }
        }
        Ok(self.with(found))
    }
}

/// The snapshot, so that two sets can be told to be of one.
pub(super) fn same(left: &Arc<Graph>, right: &Arc<Graph>) -> Result<()> {
    if Arc::ptr_eq(left, right) {
        return Ok(());
    }
    Err(Diagnostic::new(Code::ARGUMENTS, "these nodes are of two different graphs")
        .help("take them from one `graph()`; while `build` runs, read again after a scan"))
}
