//! A seed that deserializes any serde format directly into values, without an intermediate JSON tree.

use crate::guard;
use crate::value::{Map, Value};
use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// Reads one value of any shape. Keys of maps become texts as written. If a key is repeated, the last value is used if
/// `last_wins`; otherwise it is an error.
#[derive(Clone, Copy)]
pub(super) struct ValueSeed<'a> {
    pub(super) last_wins: bool,
    /// Set when a number was read that may be a rounded integer.
    pub(super) is_rounded: &'a Cell<bool>,
}

impl ValueSeed<'_> {
    /// Reports a stopped guard as an error of the format. The caller checks the guard again and returns its error.
    fn check<E: Error>() -> Result<(), E> {
        guard::check().map_err(|_| E::custom("stopped"))
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    #[allow(clippy::cast_precision_loss, reason = "the caller checks the text if a number was rounded")]
    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        match i64::try_from(value) {
            Ok(whole) => Ok(Value::Integer(whole)),
            Err(_) => self.visit_f64(value as f64),
        }
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        if may_be_rounded(value) {
            self.is_rounded.set(true);
        }
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            Self::check()?;
            list.push(item);
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(MapKey(key)) = pairs.next_key()? {
            Self::check()?;
            if !self.last_wins && map.contains_key(key.as_str()) {
                return Err(A::Error::custom(format!("the key `{key}` appears twice")));
            }
            let value = pairs.next_value_seed(self)?;
            map.insert(key.into(), value);
        }
        Ok(Value::Map(map))
    }
}

/// A key of a map: a text as written. An empty key, which YAML allows, is `null`.
struct MapKey(String);

impl<'de> Deserialize<'de> for MapKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // A reader of texts would refuse an empty key.
        deserializer.deserialize_option(MapKeyVisitor)
    }
}

struct MapKeyVisitor;

impl<'de> Visitor<'de> for MapKeyVisitor {
    type Value = MapKey;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_none<E>(self) -> Result<MapKey, E> {
        Ok(MapKey("null".to_owned()))
    }

    fn visit_unit<E: Error>(self) -> Result<MapKey, E> {
        self.visit_none()
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<MapKey, D::Error> {
        String::deserialize(deserializer).map(MapKey)
    }

    fn visit_str<E>(self, key: &str) -> Result<MapKey, E> {
        Ok(MapKey(key.to_owned()))
    }
}

/// Whether a float may be a rounded integer, so that the text must be checked.
pub fn may_be_rounded(number: f64) -> bool {
    const I64_RANGE_END: f64 = 9_223_372_036_854_775_808.0;
    number.abs() >= I64_RANGE_END
}
