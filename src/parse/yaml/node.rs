//! What the reader of YAML hands over: values, each scalar with the place that says how it is written.

use super::schema::resolved;
use crate::diagnostic::Result as Checked;
use crate::guard::{self, ITEM};
use crate::value::{Text, Value};
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;
use std::collections::BTreeMap;
use std::fmt;

/// A value that was read.
pub(super) enum Node {
    Scalar(Value),
    List(Vec<Placed>),
    /// Keys are texts as they are written.
    Map(BTreeMap<Text, Placed>),
}

type Placed = Spanned<Node>;

/// The value of a node of `text`, each scalar by the core schema.
pub(super) fn value_of(node: Placed, text: &str) -> Checked<Value> {
    guard::spend(ITEM)?;
    Ok(match node.value {
        Node::Scalar(value @ Value::Text(_)) => value,
        Node::Scalar(value) => {
            // An alias is written where its anchor stands.
            let span = node.defined.span();
            let start = span.byte_offset().and_then(|at| usize::try_from(at).ok()).unwrap_or(usize::MAX);
            let count = span.byte_len().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
            match text.get(start..start.saturating_add(count)) {
                Some(written) => resolved(value, written),
                None => value,
            }
        }
        Node::List(items) => Value::List(items.into_iter().map(|item| value_of(item, text)).collect::<Checked<_>>()?),
        Node::Map(pairs) => {
            let pair = |(key, node)| Ok((key, value_of(node, text)?));
            Value::Map(pairs.into_iter().map(pair).collect::<Checked<_>>()?)
        }
    })
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

/// A stopped guard as a fault of the format; the reader asks the guard again and passes on what it says.
fn check<E: Error>() -> Result<(), E> {
    guard::check().map_err(|_| E::custom("stopped"))
}

impl<'de> Visitor<'de> for Reading {
    type Value = Node;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Integer(value)))
    }

    #[allow(clippy::cast_precision_loss, reason = "above an integer the nearest float is what JSON readers give")]
    fn visit_u64<E>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(i64::try_from(value).map_or(Value::Float(value as f64), Value::Integer)))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Float(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Node, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Placed>()? {
            check()?;
            list.push(item);
        }
        Ok(Node::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Node, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = pairs.next_key::<String>()? {
            check()?;
            if map.contains_key(key.as_str()) {
                return Err(A::Error::custom(format!("the key `{key}` stands twice")));
            }
            let value = pairs.next_value::<Placed>()?;
            map.insert(key.into(), value);
        }
        Ok(Node::Map(map))
    }
}
