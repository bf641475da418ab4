//! The objects that all modules share: bytes, records and caught errors.

use super::model::{Json, Kind, Map, Object, Text, Value, no_field};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::json;
use std::collections::HashMap;
use std::sync::Arc;

/// Shared bytes. In a result they appear as base64 (RFC 4648, section 4, with padding), as MCP transfers them.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Arc<[u8]>);

impl Bytes {
    /// Creates a handle to these bytes.
    pub fn value(bytes: impl Into<Arc<[u8]>>) -> Value {
        Value::handle(Self(bytes.into()))
    }
}

impl Object for Bytes {
    fn kind(&self) -> Kind {
        Kind::Bytes
    }

    fn to_json(&self) -> Json {
        Json::String(BASE64_STANDARD.encode(&self.0))
    }

    fn length(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn item(&self, index: usize) -> Option<Value> {
        self.0.get(index).map(|byte| Value::Integer(i64::from(*byte)))
    }
}

/// An immutable map whose fields have a chosen order. Rhai's own maps are sorted by key.
#[derive(Clone)]
pub struct Record {
    fields: Vec<(Text, Value)>,
}

impl Record {
    /// Creates a handle to a record of these fields. A repeated name keeps its first position and gets its last value.
    pub fn value(fields: impl IntoIterator<Item = (Text, Value)>) -> Value {
        let mut kept: Vec<(Text, Value)> = Vec::new();
        let mut places: HashMap<Text, usize> = HashMap::new();
        for (name, value) in fields {
            if guard::is_over(4 * guard::ITEM) {
                break;
            }
            match places.get(&name) {
                Some(place) => kept[*place].1 = value,
                None => {
                    places.insert(Text::clone(&name), kept.len());
                    kept.push((name, value));
                }
            }
        }
        Value::handle(Self { fields: kept })
    }

    /// Its fields, in order.
    pub fn fields(&self) -> &[(Text, Value)] {
        &self.fields
    }
}

impl Object for Record {
    fn kind(&self) -> Kind {
        Kind::Frozen
    }

    /// A field that the record lacks reads as `()`, as in a script map.
    fn field(&self, name: &str) -> Result<Value> {
        Ok(self.fields.iter().find(|(known, _)| &**known == name).map_or(Value::Null, |(_, value)| value.clone()))
    }

    fn to_json(&self) -> Json {
        Json::Object(self.fields.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect())
    }
}

/// A caught error. Its fields are `kind`, `code`, `message`, `help`, `data`, `at`, and
/// `tool` if the call of a tool failed.
#[derive(Clone, Debug, PartialEq)]
pub struct CaughtError(pub Box<Diagnostic>);

impl CaughtError {
    /// Wraps the error in a value.
    pub fn value(error: Box<Diagnostic>) -> Value {
        Value::handle(Self(error))
    }

    /// Converts a thrown value to an error. A caught error is returned unchanged. A text becomes the message of a new
    /// error. A map becomes its data, with `message` and `help` taken from it.
    pub fn from_thrown(value: &Value) -> Box<Diagnostic> {
        match value {
            Value::Text(text) => Diagnostic::new(Code::SCRIPT, &**text),
            Value::Map(map) => Self::from_thrown_map(map),
            Value::Handle(handle) if let Some(error) = handle.downcast::<Self>() => error.0.clone(),
            other => Diagnostic::new(Code::SCRIPT, "the script threw a value").data(other.to_json()),
        }
    }

    fn from_thrown_map(map: &Map) -> Box<Diagnostic> {
        let text = |name: &str| map.get(name).and_then(Value::as_text);
        let message = text("message").unwrap_or("the script threw a map");
        let error = Diagnostic::new(Code::SCRIPT, message).data(Value::Map(map.clone()).to_json());
        match text("help") {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

impl Object for CaughtError {
    fn kind(&self) -> Kind {
        Kind::Error
    }

    fn field(&self, name: &str) -> Result<Value> {
        let error = &self.0;
        Ok(match name {
            "kind" => error.code.kind().into(),
            "code" => error.code.0.into(),
            "message" => error.message.as_str().into(),
            "help" => error.help.as_deref().into(),
            "data" => error.data.as_deref().map(Value::from_json).into(),
            "tool" => error.tool.as_deref().into(),
            "at" => error.at.as_ref().map(ToString::to_string).into(),
            _ => return Err(no_field(Kind::Error, name, &["kind", "code", "message", "help", "data", "at", "tool"])),
        })
    }

    fn to_json(&self) -> Json {
        let error = &self.0;
        let mut json = json!({ "kind": error.code.kind(), "code": error.code.0, "message": error.message });
        if let Some(help) = &error.help {
            json["help"] = json!(help);
        }
        if let Some(data) = &error.data {
            json["data"] = (**data).clone();
        }
        json
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_appear_as_base64() {
        let value = Bytes::value(*b"\x00\xff");
        assert_eq!(value.to_json(), "AP8=");
        let bytes: &Bytes = value.as_object().expect("they are bytes");
        assert_eq!((bytes.length(), bytes.item(1), bytes.item(2)), (Some(2), Some(Value::Integer(255)), None));
    }

    #[test]
    fn a_record_keeps_its_order() {
        let record =
            Record::value([("b".into(), 1_i64.into()), ("a".into(), 2_i64.into()), ("b".into(), 3_i64.into())]);
        assert_eq!(record.to_json().to_string(), r#"{"b":3,"a":2}"#);
        let record: &Record = record.as_object().expect("it is a record");
        assert_eq!((record.field("a"), record.field("c")), (Ok(2_i64.into()), Ok(Value::Null)));
    }

    #[test]
    fn thrown_values_become_errors() {
        assert_eq!(CaughtError::from_thrown(&"no".into()), Diagnostic::new(Code::SCRIPT, "no"));
        let map = Value::from_json(&json!({ "message": "no", "help": "yes", "line": 3 }));
        let error = CaughtError::from_thrown(&map);
        assert_eq!((error.message.as_str(), error.help.as_deref()), ("no", Some("yes")));
        assert_eq!(error.data.as_deref(), Some(&json!({ "message": "no", "help": "yes", "line": 3 })));
    }

    #[test]
    fn caught_errors_keep_their_fields() {
        let error = Diagnostic::new(Code("parse.yaml"), "bad").data(json!({ "line": 1 }));
        let caught = CaughtError::value(error.clone());
        assert_eq!(CaughtError::from_thrown(&caught), error);
        let Value::Handle(object) = caught else { panic!("it is a handle") };
        assert_eq!(object.field("kind"), Ok("parse".into()));
        assert_eq!(object.field("help"), Ok(Value::Null));
        assert!(object.field("mesage").is_err_and(|error| error.help.is_some_and(|help| help.contains("message"))));
    }
}
