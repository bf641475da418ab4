//! Shared parts of the list primitives: the items of any sequence, keys of items, and values as texts.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::CheckedIterator;
use crate::primitive_api::Args;
use crate::value::{Frozen, Kind, Object, Record, Text, Value, with_article};
use std::borrow::Cow;

/// The kinds that the list primitives accept: lists and other sequences.
pub const KINDS: &[Kind] = &[Kind::List, Kind::Set, Kind::Lines, Kind::Nodes, Kind::Edges, Kind::Rows];

/// The items of the sequence in argument `name`. The items of a plain list are moved out of the arguments.
pub fn items(args: &mut Args, name: &str) -> Result<Vec<Value>> {
    match args.take(name) {
        Value::List(items) => Ok(items),
        Value::Handle(handle) => items_of(&*handle),
        _ => Ok(Vec::new()),
    }
}

/// The items of a native sequence.
pub fn items_of(handle: &dyn Object) -> Result<Vec<Value>> {
    (0..handle.length().unwrap_or(0)).filter_map(|at| handle.item(at)).collect_checked()
}

/// The result of the receiver's own implementation of `verb`, if it has one: see `Object::perform`.
pub fn perform_on_receiver(args: &Args, verb: &str, receiver: &str, others: &[&str]) -> Option<Result<Value>> {
    match args.value(receiver) {
        Value::Handle(handle) => {
            let others: Vec<Value> = others.iter().map(|name| args.value(name).clone()).collect();
            handle.perform(verb, &others)
        }
        _ => None,
    }
}

/// The key of an item: the field named `by`, or the result of the function `by`.
///
/// A map that lacks the field has the key `()`. A value that cannot have such a field is an error.
pub fn key(item: &Value, by: &Value) -> Result<Value> {
    match by {
        Value::Function(function) => function.call(vec![item.clone()]),
        Value::Text(name) => field(item, name),
        other => {
            let message = format!("a key must be a field name or a function, got {}", other.kind().name());
            Err(Diagnostic::new(Code::ARGUMENTS, message))
        }
    }
}

/// The field of a map or of a native object.
pub fn field(item: &Value, name: &str) -> Result<Value> {
    match item {
        Value::Map(map) => Ok(map.get(name).cloned().unwrap_or(Value::Null)),
        Value::Handle(handle) => handle.field(name),
        other => {
            let message = format!("{} has no field `{name}`", with_article(other.kind().name()));
            Err(Diagnostic::new(Code::ARGUMENTS, message).help("only maps, nodes and rows have fields"))
        }
    }
}

/// A scalar as a text: texts unchanged, numbers and booleans as in JSON; `None` for anything else.
pub fn scalar_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Text(text) => Some(Cow::Borrowed(text)),
        Value::Integer(_) | Value::Float(_) | Value::Bool(_) => Some(Cow::Owned(value.number_text())),
        _ => None,
    }
}

/// The map key for a scalar: its text, or `()` for null.
pub fn map_key(value: &Value) -> Result<Text> {
    if value.is_null() {
        return Ok(Text::from(Kind::Null.name()));
    }
    scalar_text(value).map(|word| Text::from(&*word)).ok_or_else(|| {
        let message = format!("a map key must be a text, a number or a boolean, got {}", value.kind().name());
        Diagnostic::new(Code::ARGUMENTS, message).help("use a function that returns one")
    })
}

/// Whether a value is a map, plain or frozen.
pub fn is_map(value: &Value) -> bool {
    match value {
        Value::Map(_) => true,
        Value::Handle(handle) => handle.kind() == Kind::Frozen && handle.length().is_none(),
        _ => false,
    }
}

/// The fields of a map in order. Plain maps are sorted by key; frozen ones keep the order in which they were written.
pub fn fields(map: &Value) -> Result<Vec<(Text, Value)>> {
    match map {
        Value::Map(map) => map.iter().map(|(key, value)| (Text::clone(key), value.clone())).collect_checked(),
        Value::Handle(handle) => match (handle.downcast::<Record>(), handle.downcast::<Frozen>()) {
            (Some(record), _) => record.fields().iter().cloned().collect_checked(),
            (None, Some(frozen)) => {
                let keys = frozen.keys();
                let keys = keys.iter().filter_map(Value::as_text);
                keys.filter_map(|key| Some((Text::from(key), frozen.field(key).ok()?))).collect_checked()
            }
            (None, None) => match Value::from_json(&map.json()?) {
                Value::Map(map) => map.into_iter().collect_checked(),
                _ => Ok(Vec::new()),
            },
        },
        _ => Ok(Vec::new()),
    }
}

/// The fields of both maps, where those of `over` win. They keep the order of `under` if it has an order of its own.
pub fn merged(under: &Value, over: &Value) -> Result<Value> {
    let fields = fields(under)?.into_iter().chain(fields(over)?);
    match under {
        Value::Map(_) => fields.collect_checked().map(Value::Map),
        _ => Ok(Record::value(fields)),
    }
}
