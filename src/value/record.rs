//! A map that keeps the order in which its fields were named.

use super::{Json, Kind, Object, Text, Value};
use crate::diagnostic::Result;
use crate::guard;
use std::collections::HashMap;

/// An immutable map with its fields in a chosen order; rhai's own maps sort theirs by key.
#[derive(Clone)]
pub struct Record {
    fields: Vec<(Text, Value)>,
}

impl Record {
    /// A handle to the record of these fields. A name that comes twice keeps its first place and last value.
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

    /// Its fields, in their order.
    pub fn fields(&self) -> &[(Text, Value)] {
        &self.fields
    }
}

impl Object for Record {
    fn kind(&self) -> Kind {
        Kind::Frozen
    }

    /// A field that it does not have is `()`, as in a map of a script.
    fn field(&self, name: &str) -> Result<Value> {
        Ok(self.fields.iter().find(|(known, _)| &**known == name).map_or(Value::Null, |(_, value)| value.clone()))
    }

    fn to_json(&self) -> Json {
        Json::Object(self.fields.iter().map(|(name, value)| (name.to_string(), value.to_json())).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_its_order() {
        let record =
            Record::value([("b".into(), 1_i64.into()), ("a".into(), 2_i64.into()), ("b".into(), 3_i64.into())]);
        assert_eq!(record.to_json().to_string(), r#"{"b":3,"a":2}"#);
        let record: &Record = record.as_object().expect("it is a record");
        assert_eq!((record.field("a"), record.field("c")), (Ok(2_i64.into()), Ok(Value::Null)));
    }
}
