//! Values to JSON and back.

use super::{Json, Value};
use crate::guard::{self, BYTE, ITEM};
use std::collections::HashMap;

impl Value {
    /// How it appears in a result. A float that JSON cannot hold (NaN, infinity) and a function become `null`.
    ///
    /// Nothing but `null` is given for the rest, once the running call is over: see [`guard::is_over`].
    pub fn to_json(&self) -> Json {
        let bytes = self.as_text().map_or(0, str::len);
        match self {
            _ if guard::is_over(ITEM + bytes * BYTE) => Json::Null,
            Self::Null | Self::Function(_) => Json::Null,
            Self::Bool(value) => Json::Bool(*value),
            Self::Integer(value) => Json::from(*value),
            Self::Float(value) => Json::from(*value),
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
    fn numbers_above_an_integer_become_floats() {
        assert_eq!(
            Value::from_json(&json!(18_446_744_073_709_551_615_u64)),
            Value::Float(18_446_744_073_709_551_615.0)
        );
    }
}
