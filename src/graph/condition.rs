//! Conditions on field values, as `where` takes them: plain equality, or a map of tests.

use super::snapshot::ScalarKey;
use super::text_index::tokens;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::document::Spans;
use crate::guard::{self, CheckedIterator, ITEM};
use crate::order::{compare, is_equal as alike};
use crate::pattern::Pattern;
use crate::value::Value;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// A condition on a value.
pub struct FieldCondition {
    tests: Vec<FieldTest>,
    /// Whether case is ignored in comparisons.
    fold: bool,
    /// The scalar, if the condition is plain equality.
    pub(super) equal: Option<ScalarKey>,
}

enum FieldTest {
    Equals(Value),
    OneOf(ValueChoice),
    NoneOf(ValueChoice),
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
    Overlaps(Spans),
    Any(FieldCondition),
    Not(FieldCondition),
}

const NAMES: [&str; 17] = [
    "equals",
    "one_of",
    "none_of",
    "starts_with",
    "ends_with",
    "contains",
    "words",
    "all_tokens",
    "any_token",
    "regex",
    "empty",
    "greater_than",
    "less_than",
    "overlaps",
    "any_of",
    "not",
    "ignore_case",
];

impl FieldCondition {
    /// Parses a condition. A map requires all tests that it names: `equals`; `one_of: [..]`; `none_of: [..]` (for a
    /// list: none of its items is one of these); `starts_with`; `ends_with`; `contains` (a part of a text, or an item
    /// of a list); `words` (each word appears in the text, delimited by characters other than letters, digits and `_`);
    /// `all_tokens` (each is a token of the text, that is, a run of letters, digits, `_` and `-`, without `-` at the
    /// ends of the run; case is ignored); `any_token` (at least one of them is); `regex`; `empty` (`()`, no characters,
    /// no items); `greater_than` and `less_than` (both exclude the bound); `overlaps` (the spans have a byte in
    /// common with these spans of the same text); `any_of` (an item of a list meets the test); `not` (the value does
    /// not meet the test); and `ignore_case: true` (case is ignored). Any other value is compared for equality.
    pub fn parse(test: &Value) -> Result<Self> {
        let Value::Map(map) = test else {
            return Ok(Self {
                tests: vec![FieldTest::Equals(test.clone())],
                fold: false,
                equal: ScalarKey::from_value(test),
            });
        };
        let fold = matches!(map.get("ignore_case"), Some(Value::Bool(true)));
        let named = map.iter().filter(|(name, _)| &***name != "ignore_case");
        let tests = named.map(|(name, value)| FieldTest::parse(name, value, fold)).collect::<Result<_>>()?;
        let equal = match (map.len(), map.get("equals")) {
            (1, Some(value)) => ScalarKey::from_value(value),
            _ => None,
        };
        Ok(Self { tests, fold, equal })
    }

    /// A lower-case part that every matching text contains; `None` if there is none.
    pub(super) fn required_part(&self) -> Option<String> {
        self.tests.iter().find_map(|test| match test {
            FieldTest::Contains(Value::Text(part)) if self.fold => Some(part.to_string()),
            // The lower case of Σ depends on its neighbours, so a part with Σ cannot be looked up.
            FieldTest::Contains(Value::Text(part)) => (!part.contains('Σ')).then(|| part.to_lowercase()),
            _ => None,
        })
    }

    /// The tokens, if the condition is a token test only; and whether all of them are required.
    pub(super) fn required_tokens(&self) -> Option<(&[String], bool)> {
        match self.tests.as_slice() {
            [FieldTest::Tokens(words)] => Some((words, true)),
            [FieldTest::SomeToken(words)] => Some((words, false)),
            _ => None,
        }
    }

    /// Whether a value meets the condition.
    pub fn matches(&self, value: &Value) -> Result<bool> {
        for test in &self.tests {
            if !test.matches(value, self.fold)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl FieldTest {
    fn parse(name: &str, value: &Value, fold: bool) -> Result<Self> {
        let text = || match value {
            Value::Text(text) => Ok(if fold { text.to_lowercase() } else { text.to_string() }),
            other => Err(no_text(name, other)),
        };
        Ok(match name {
            "equals" => Self::Equals(folded(value, fold)),
            "one_of" => Self::OneOf(ValueChoice::parse(name, value, fold)?),
            "none_of" => Self::NoneOf(ValueChoice::parse(name, value, fold)?),
            "starts_with" => Self::StartsWith(text()?),
            "ends_with" => Self::EndsWith(text()?),
            "contains" => Self::Contains(folded(value, fold)),
            "words" => Self::Words(words(value, fold)?),
            "all_tokens" => Self::Tokens(words(value, true)?),
            "any_token" => Self::SomeToken(words(value, true)?),
            "regex" => Self::Regex(regex(name, value, fold)?),
            "empty" => Self::Empty(!matches!(value, Value::Bool(false))),
            "greater_than" => Self::Above(value.clone()),
            "less_than" => Self::Below(value.clone()),
            "overlaps" => match value.as_object::<Spans>() {
                Some(spans) => Self::Overlaps(spans.clone()),
                None => {
                    return Err(Diagnostic::new(
                        Code::ARGUMENTS,
                        format!("the test `overlaps` takes spans, got {}", value.kind().name()),
                    ));
                }
            },
            "any_of" => Self::Any(parse_inner(value, fold)?),
            "not" => Self::Not(parse_inner(value, fold)?),
            _ => {
                let error = Diagnostic::new(Code::ARGUMENTS, format!("there is no test `{name}`"));
                return Err(error.help_for(name, NAMES, &format!("known: {}", NAMES.join(", "))));
            }
        })
    }

    fn matches(&self, value: &Value, fold: bool) -> Result<bool> {
        guard::spend(ITEM + value.as_text().map_or(0, str::len))?;
        let text = |value: &Value| value.as_text().map(|text| if fold { text.to_lowercase() } else { text.to_owned() });
        Ok(match self {
            Self::Equals(wanted) if fold => compare(wanted, &folded(value, true)).is_eq(),
            Self::Equals(wanted) => compare(wanted, value).is_eq(),
            Self::OneOf(choice) => choice.contains_any(value, fold),
            Self::NoneOf(choice) => !choice.contains_any(value, fold),
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
            Self::Overlaps(spans) => match value.as_object::<Spans>() {
                Some(own) => {
                    guard::spend(own.ranges().len() * ITEM)?;
                    own.overlaps(spans)
                }
                None => false,
            },
            Self::Any(condition) => {
                for item in sequence(value) {
                    if condition.matches(&item)? {
                        return Ok(true);
                    }
                }
                false
            }
            Self::Not(condition) => !condition.matches(value)?,
        })
    }
}

/// The values of `one_of` and `none_of`: the hashable ones, and the others.
struct ValueChoice {
    keys: FxHashSet<ScalarKey>,
    others: Vec<Value>,
}

impl ValueChoice {
    fn parse(name: &str, value: &Value, fold: bool) -> Result<Self> {
        let items: Vec<Value> = items(name, value)?.iter().map(|item| folded(item, fold)).collect_checked()?;
        let keys = items.iter().filter_map(ScalarKey::from_value).collect_checked()?;
        Ok(Self {
            keys,
            others: items.into_iter().filter(|item| ScalarKey::from_value(item).is_none()).collect_checked()?,
        })
    }

    /// Whether the value is one of these; for a list, whether one of its items is.
    fn contains_any(&self, value: &Value, fold: bool) -> bool {
        let value = folded(value, fold);
        match ScalarKey::from_value(&value) {
            Some(key) => self.keys.contains(&key),
            None => {
                self.others.iter().any(|other| alike(other, &value))
                    || sequence(&value).iter().any(|item| self.contains_any(item, fold))
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

/// Parses a condition within a condition, which inherits `ignore_case`.
fn parse_inner(value: &Value, fold: bool) -> Result<FieldCondition> {
    let value = match value {
        Value::Map(map) if fold && !map.contains_key("ignore_case") => {
            let mut map = map.clone();
            map.insert("ignore_case".into(), true.into());
            Value::Map(map)
        }
        Value::Map(_) => value.clone(),
        other if fold => Value::map([("equals", other.clone()), ("ignore_case", true.into())]),
        other => other.clone(),
    };
    FieldCondition::parse(&value)
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

/// Parses words: a text is split at white space, while an item of a list may be a phrase.
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

/// Whether two values can be compared by size: numbers with numbers, texts with texts.
fn comparable(left: &Value, right: &Value) -> bool {
    let number = |value: &Value| matches!(value, Value::Integer(_) | Value::Float(_));
    let text = |value: &Value| matches!(value, Value::Text(_));
    (number(left) && number(right)) || (text(left) && text(right))
}
