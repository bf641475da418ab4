//! Bytes behind a handle: content of a binary file, a decoded text.

use super::{Json, Kind, Object, Value};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::sync::Arc;

/// Shared bytes. In a result they appear as base64 (RFC 4648 §4, with padding), as MCP carries them.
#[derive(Clone, PartialEq, Eq)]
pub struct Bytes(pub Arc<[u8]>);

impl Bytes {
    /// A handle to these bytes.
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
}
