//! Values to rhai's and back. Small ones are copied, handles and functions are wrapped.

use super::{Closure, Running, kind_of_type};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::{self, ITEM};
use crate::value::{Handle, Map, Value};
use rhai::{Array, Dynamic, FnPtr, ImmutableString, NativeCallContext};
use std::any::Any;
use std::sync::Arc;

/// A handle, as rhai holds it: one type for all kinds.
#[derive(Clone)]
pub(super) struct HandleBox(pub(super) Handle);

/// How deep a value may be nested: deeper ones come from a mistake, and their drop would use up the stack.
const DEPTH: usize = 128;

/// Bytes of a text from which on the guard is asked before it is copied.
const LONG: usize = 64 << 10;

/// Where functions in the values come from: without it they cannot be converted.
pub(super) type Origin<'a, 'b> = Option<(&'a NativeCallContext<'b>, &'a Arc<Running>)>;

/// From rhai.
pub(super) fn to_value(from: &Dynamic, origin: Origin<'_, '_>) -> Result<Value> {
    convert(from, origin, DEPTH)
}

fn convert(from: &Dynamic, origin: Origin<'_, '_>, depth: usize) -> Result<Value> {
    guard::spend(ITEM)?;
    // Questions that only look at the kind come first: lists of many numbers pass here.
    if from.is_int()
        && let Ok(number) = from.as_int()
    {
        return Ok(Value::Integer(number));
    }
    if from.is_unit() {
        return Ok(Value::Null);
    }
    if from.is_string()
        && let Ok(text) = from.as_immutable_string_ref()
    {
        if text.len() >= LONG {
            guard::reserve_memory(text.len())?;
            guard::spend(text.len())?;
        }
        return Ok(Value::Text(Arc::from(text.as_str())));
    }
    if from.is_bool()
        && let Ok(flag) = from.as_bool()
    {
        return Ok(Value::Bool(flag));
    }
    if let Some(handle) = from.read_lock::<HandleBox>() {
        return Ok(Value::Handle(Arc::clone(&handle.0)));
    }
    if depth == 0 {
        return Err(Diagnostic::new(Code::LIMIT, format!("a value is nested more than {DEPTH} levels deep")));
    }
    if from.is_array()
        && let Ok(list) = from.as_array_ref()
    {
        if list.len() >= LONG / size_of::<Value>() {
            guard::reserve_memory(list.len().saturating_mul(size_of::<Value>()))?;
        }
        let mut items = Vec::with_capacity(list.len());
        for item in list.iter() {
            items.push(convert(item, origin, depth - 1)?);
        }
        return Ok(Value::List(items));
    }
    if from.is_map()
        && let Ok(map) = from.as_map_ref()
    {
        return map
            .iter()
            .map(|(key, value)| Ok((Arc::from(key.as_str()), convert(value, origin, depth - 1)?)))
            .collect::<Result<Map>>()
            .map(Value::Map);
    }
    rare(from, origin)
}

fn rare(from: &Dynamic, origin: Origin<'_, '_>) -> Result<Value> {
    if let Ok(number) = from.as_float() {
        return Ok(Value::Float(number));
    }
    if let Ok(letter) = from.as_char() {
        return Ok(Value::from(letter.to_string()));
    }
    if let Some(pointer) = from.read_lock::<FnPtr>() {
        return match origin {
            Some((context, running)) => Ok(Value::Function(Arc::new(Closure::new(context, &pointer, running)))),
            None => Err(Diagnostic::new(Code::SCRIPT, "a function cannot leave its script")
                .help("return what it gives, not the function itself")),
        };
    }
    let message = format!("a {} cannot be used here", kind_of_type(from.type_name()));
    Err(Diagnostic::new(Code::ARGUMENTS, message).help("a range can be walked by `for` only"))
}

/// Into rhai. Nothing but `()` is given for the rest, once the running call is over: see [`guard::is_over`].
pub(super) fn from_value(value: Value) -> Dynamic {
    if guard::is_over(ITEM + value.as_text().map_or(0, str::len)) {
        return Dynamic::UNIT;
    }
    match value {
        Value::Null => Dynamic::UNIT,
        Value::Function(function) => match (&*function as &dyn Any).downcast_ref::<Closure>() {
            Some(closure) => closure.pointer().into(),
            None => Dynamic::UNIT,
        },
        Value::Bool(flag) => flag.into(),
        Value::Integer(number) => number.into(),
        Value::Float(number) => number.into(),
        Value::Text(text) => ImmutableString::from(&*text).into(),
        Value::List(items) => Dynamic::from_array(items.into_iter().map(from_value).collect::<Array>()),
        Value::Map(map) => {
            Dynamic::from_map(map.into_iter().map(|(key, value)| ((&*key).into(), from_value(value))).collect())
        }
        Value::Handle(handle) => Dynamic::from(HandleBox(handle)),
    }
}
