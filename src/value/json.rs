//! Values to JSON and back.

use super::{Frozen, Json, Value};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, BYTE, ITEM};
use std::cell::Cell;
use std::collections::HashMap;

thread_local! {
    /// Whether a float that JSON cannot hold was met since this was last looked at: it may lie in any native thing.
    static IS_LOST: Cell<bool> = const { Cell::new(false) };
}

impl Value {
    /// How it appears in a result: the door that everything passes which leaves a script as JSON, YAML or data.
    ///
    /// # Errors
    /// A number that is not finite has no form there; the call was stopped.
    #[cfg_attr(test, track_caller)]
    pub fn json(&self) -> Result<Json> {
        IS_LOST.set(false);
        let json = self.to_json();
        guard::check()?;
        match IS_LOST.take() {
            false => Ok(json),
            true => Err(self.not_finite()),
        }
    }

    fn not_finite(&self) -> Box<Diagnostic> {
        let mut way = String::new();
        let number = lost(self, &mut way).unwrap_or_else(|| "NaN or an infinity".to_owned());
        let place = if way.is_empty() { "the value itself".to_owned() } else { format!("`{way}`") };
        Diagnostic::new(Code::ARGUMENTS, format!("{place} is {number}, a number that JSON, YAML and TOML cannot say"))
            .help("test it with `is_finite()` before; say `()` or a text in its place")
    }

    /// How a number appears within a text: as JSON has it, and as scripts print it where JSON has no form for it.
    pub fn number_text(&self) -> String {
        match self {
            Self::Float(number) if !number.is_finite() => number.to_string(),
            other => other.to_json().to_string(),
        }
    }

    /// The same without a word: a float that JSON cannot hold (NaN, infinity) and a function become `null`. To compare and
    /// to show; what is kept or sent goes through [`Self::json`].
    ///
    /// Nothing but `null` is given for the rest, once the running call is over: see [`guard::is_over`].
    pub fn to_json(&self) -> Json {
        let bytes = self.as_text().map_or(0, str::len);
        match self {
            _ if guard::is_over(ITEM + bytes * BYTE) => Json::Null,
            Self::Null | Self::Function(_) => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Float(value) => {
                if !value.is_finite() {
                    IS_LOST.set(true);
                }
                Json::from(*value)
            }
            Self::Text(value) => Json::String(value.to_string()),
            Self::List(items) => Json::Array(items.iter().map(Self::to_json).collect()),
            Self::Map(map) => Json::Object(map.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect()),
            Self::Handle(handle) => handle.to_json(),
        }
    }

    /// The value of a JSON text's tree. Whole numbers above the range of an integer become floats.
    ///
    /// Nothing but `()` is given for the rest, once the running call is over: see [`guard::is_over`].
    pub fn from_json(json: &Json) -> Self {
        let bytes = json.as_str().map_or(0, str::len);
        match json {
            _ if guard::is_over(ITEM + bytes * BYTE) => Self::Null,
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Self::Integer(whole),
                None => Self::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::from(text.as_str()),
            Json::Array(items) => Self::List(items.iter().map(Self::from_json).collect()),
            Json::Object(map) => {
                Self::Map(map.iter().map(|(key, value)| (key.as_str().into(), Self::from_json(value))).collect())
            }
        }
    }
}

/// The first float in a value that JSON cannot hold, in words; `way` is told how it is reached.
fn lost(value: &Value, way: &mut String) -> Option<String> {
    let depth = way.len();
    let mut within = |step: &str, inner: &Value| {
        way.push_str(step);
        let found = lost(inner, way);
        if found.is_none() {
            way.truncate(depth);
        }
        found
    };
    match value {
        _ if guard::is_over(ITEM) => None,
        Value::Float(number) if !number.is_finite() => Some(number.to_string()),
        Value::List(items) => items.iter().enumerate().find_map(|(at, item)| within(&format!("[{at}]"), item)),
        Value::Map(map) => map.iter().find_map(|(key, inner)| within(&format!(".{key}"), inner)),
        Value::Handle(handle) if handle.downcast::<Frozen>().is_none() => match handle.length() {
            Some(length) => {
                (0..length).find_map(|at| handle.item(at).and_then(|item| within(&format!("[{at}]"), &item)))
            }
            None => {
                let Json::Object(map) = handle.to_json() else { return None };
                map.keys().find_map(|key| within(&format!(".{key}"), &handle.field(key).ok()?))
            }
        },
        _ => None,
    }
}

/// A copy of a tree of JSON, counted as work.
///
/// Nothing but `null` is given for the rest, once the running call is over: see [`guard::is_over`].
pub(super) fn copied(json: &Json) -> Json {
    if guard::is_over(ITEM + json.as_str().map_or(0, str::len)) {
        return Json::Null;
    }
    match json {
        Json::Array(items) => Json::Array(items.iter().map(copied).collect()),
        Json::Object(map) => Json::Object(map.iter().map(|(key, value)| (key.clone(), copied(value))).collect()),
        scalar => scalar.clone(),
    }
}

/// The same JSON, with the keys of `first` in front in every object, in that order; the others follow as they are.
///
/// Nothing but `null` is given for the rest, once the running call is over: see [`guard::is_over`].
pub fn ordered(json: Json, first: &[String]) -> Json {
    // Of a key that is named twice the first place counts.
    let places: HashMap<&str, usize> =
        first.iter().map(String::as_str).zip(0..first.len()).rev().take_while(|_| !guard::is_over(ITEM)).collect();
    in_order(json, &places)
}

fn in_order(json: Json, places: &HashMap<&str, usize>) -> Json {
    match json {
        Json::Array(_) | Json::Object(_) if guard::is_over(ITEM) => Json::Null,
        Json::Array(items) => Json::Array(items.into_iter().map(|item| in_order(item, places)).collect()),
        Json::Object(map) => {
            guard::is_over(map.len() * ITEM);
            let place = |(key, _): &(String, Json)| places.get(key.as_str()).copied();
            let (mut leading, others): (Vec<_>, Vec<_>) = map.into_iter().partition(|pair| place(pair).is_some());
            leading.sort_by_key(place);
            let pairs = leading.into_iter().chain(others);
            Json::Object(pairs.map(|(key, value)| (key, in_order(value, places))).collect())
        }
        scalar => scalar,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_survives_the_way_there_and_back() {
        let json = json!({ "a": [1, 2.5, "x", null, true], "b": { "c": -1 } });
        assert_eq!(Value::from_json(&json).to_json(), json);
    }

    #[test]
    fn a_number_that_is_not_finite_is_told_with_its_way_wherever_it_lies() {
        let told = |value: Value| value.json().expect_err("it has no form").message;
        let record = |number: f64| super::super::Record::value([("mean".into(), Value::Float(number))]);
        assert!(told(Value::Float(f64::NAN)).starts_with("the value itself is NaN, "));
        let within = Value::map([("rows", Value::list([Value::Null, record(f64::NEG_INFINITY)]))]);
        assert!(told(within.clone()).starts_with("`.rows[1].mean` is -inf, "), "{}", told(within));
        // What was met elsewhere is not told here.
        let _ = Value::Float(f64::INFINITY).to_json();
        assert_eq!(record(0.5).json(), Ok(json!({ "mean": 0.5 })));
    }

    #[test]
    fn numbers_above_an_integer_become_floats() {
        assert_eq!(
            Value::from_json(&json!(18_446_744_073_709_551_615_u64)),
            Value::Float(18_446_744_073_709_551_615.0)
        );
    }
}
