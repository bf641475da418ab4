//! The values that a field can hold, and the hash of a value.

use super::nodes::{Node, Nodes};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, CheckedIterator, ITEM};
use crate::order::Set;
use crate::value::{Kind, Map, Record, Value, with_article};

/// Converts a map, or a part of frozen data, to the fields of a node. `()` stands for no fields.
///
/// # Errors
/// The value is not a map, has a field `kind` or `key`, or contains something that cannot be stored.
pub(super) fn node_fields(fields: &Value) -> Result<Map> {
    let map = match fields {
        Value::Map(map) => map.clone(),
        Value::Null => Map::new(),
        Value::Handle(handle) if handle.kind() == Kind::Frozen => match Value::from_json(&fields.json()?) {
            Value::Map(map) => map,
            other => return Err(no_fields(other.kind())),
        },
        other => return Err(no_fields(other.kind())),
    };
    if let Some(name) = map.keys().find(|name| matches!(&***name, "kind" | "key")) {
        let error = Diagnostic::new(Code::ARGUMENTS, format!("a node cannot have a field `{name}` of its own"));
        return Err(error.help("give the field another name, such as `type` or `name`"));
    }
    map.into_iter().map(|(name, value)| Ok((name, to_stored(value)?))).collect()
}

fn no_fields(kind: Kind) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("the fields of a node must be a map, got {}", kind.name()))
}

/// Converts a value to its stored form. A node is stored as its key, so that a snapshot never holds a reference to
/// another one.
///
/// # Errors
/// The value cannot be stored, or the running call was stopped.
pub(super) fn to_stored(value: Value) -> Result<Value> {
    guard::spend(ITEM)?;
    Ok(match value {
        Value::List(items) => Value::List(items.into_iter().map(to_stored).collect::<Result<_>>()?),
        Value::Map(map) => {
            Value::Map(map.into_iter().map(|(key, value)| Ok((key, to_stored(value)?))).collect::<Result<_>>()?)
        }
        Value::Function(_) => return Err(unstorable(Kind::Function)),
        Value::Handle(handle) => match handle.kind() {
            Kind::Frozen => match handle.downcast::<Record>() {
                Some(record) => to_stored(Value::Map(record.fields().iter().cloned().collect()))?,
                None => Value::from_json(&handle.to_json()),
            },
            Kind::Rows | Kind::Set | Kind::Edges => {
                let items = (0..handle.length().unwrap_or(0)).filter_map(|at| handle.item(at));
                let items = items.map(to_stored).collect::<Result<Vec<_>>>()?;
                if handle.kind() == Kind::Set { Value::handle(Set::new(items)?) } else { Value::List(items) }
            }
            Kind::Node => handle.downcast::<Node>().map_or(Value::Null, |node| Value::Text(node.key())),
            Kind::Nodes => handle.downcast::<Nodes>().map_or(Ok(Value::Null), |nodes| {
                nodes.iter().map(|node| Value::Text(node.key())).collect_checked().map(Value::List)
            })?,
            kind @ (Kind::Builder | Kind::Transaction | Kind::Fragment | Kind::Graph | Kind::Edge) => {
                return Err(unstorable(kind));
            }
            _ => Value::Handle(handle),
        },
        scalar => scalar,
    })
}

fn unstorable(kind: Kind) -> Box<Diagnostic> {
    Diagnostic::new(Code::ARGUMENTS, format!("{} cannot be stored in the graph", with_article(kind.name())))
        .help("store plain values, documents, passages or spans; a node is stored as its key")
}

/// Adds a value to a hash.
///
/// # Errors
/// The value is a function. What it captured would be a hidden input.
pub(super) fn hash_value(value: &Value, hasher: &mut blake3::Hasher) -> Result<()> {
    let mut put = |tag: u8, bytes: &[u8]| {
        hasher.update(&[tag]).update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
    };
    match value {
        Value::Null => put(0, &[]),
        Value::Bool(flag) => put(1, &[u8::from(*flag)]),
        Value::Integer(number) => put(2, &number.to_le_bytes()),
        Value::Float(number) => put(3, &number.to_bits().to_le_bytes()),
        Value::Text(text) => put(4, text.as_bytes()),
        Value::List(items) => {
            put(5, &(items.len() as u64).to_le_bytes());
            items.iter().try_for_each(|item| hash_value(item, hasher))?;
        }
        Value::Map(map) => {
            put(6, &(map.len() as u64).to_le_bytes());
            for (key, value) in map {
                hash_value(&Value::Text(key.clone()), hasher)?;
                hash_value(value, hasher)?;
            }
        }
        Value::Handle(handle) => put(7, format!("{}:{}", handle.kind().name(), handle.to_json()).as_bytes()),
        Value::Function(_) => {
            let error = Diagnostic::new(Code::ARGUMENTS, "a function cannot be an argument of a scan");
            return Err(error.help("pass the name of the function, and pass what it needs as plain values"));
        }
    }
    Ok(())
}
