//! The verbs of the language itself, for lists, maps, texts and handles. rhai's own ones are not registered:
//! many change their receiver and return nothing, some swallow errors, some allocate without bound.

mod lists;
mod maps;
mod numbers;
mod sequences;
mod texts;
mod verbs;

pub(super) use verbs::sequence_verb;

use super::{Closure, HandleBox, Origin, current, from_value, kind_of_type, raise, to_value};
use crate::guard::{self, ITEM};
use crate::order;
use crate::value::Value;
use rhai::{Dynamic, Module, NativeCallContext};

type Outcome<T = Dynamic> = Result<T, Box<rhai::EvalAltResult>>;

/// Adds them all.
pub(super) fn register(module: &mut Module) {
    texts::register(module);
    lists::register(module);
    maps::register(module);
    numbers::register(module);
    sequences::register(module);
    verbs::register(module);
}

/// Whether two values are equal: numbers by what they are worth, exactly (see
/// [`order::compare`]), lists and maps by their parts. No two are, once the running call is
/// over: who asks looks at the guard then, as [`compared`] does.
fn same(a: &Dynamic, b: &Dynamic) -> bool {
    if guard::is_over(ITEM) {
        return false;
    }
    if let (Ok(a), Ok(b)) = (a.as_immutable_string_ref(), b.as_immutable_string_ref()) {
        return a.len() == b.len() && !guard::is_over(a.len()) && *a == *b;
    }
    if let (Some(a), Some(b)) = (number(a), number(b)) {
        return order::compare(&a, &b).is_eq();
    }
    if let (Ok(a), Ok(b)) = (a.as_array_ref(), b.as_array_ref()) {
        return a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b));
    }
    if let (Ok(a), Ok(b)) = (a.as_map_ref(), b.as_map_ref()) {
        let pairs = || a.iter().zip(b.iter());
        return a.len() == b.len() && pairs().all(|((name, a), (other, b))| name == other && same(a, b));
    }
    match (to_value(a, None), to_value(b, None)) {
        (Ok(a), Ok(b)) => a == b || (one_is_a_handle(&a, &b) && a.to_json() == b.to_json()),
        _ => false,
    }
}

/// What a comparison gave, unless the call was stopped within it.
#[cfg_attr(test, track_caller)]
fn compared<T>(context: &NativeCallContext<'_>, given: T) -> Outcome<T> {
    guard::check().map(|()| given).map_err(|fault| raise(fault, context))
}

/// Counts work of a verb that has none of the guard's own loops: see [`guard::spend`].
#[cfg_attr(test, track_caller)]
fn spend(context: &NativeCallContext<'_>, units: usize) -> Outcome<()> {
    guard::spend(units).map_err(|fault| raise(fault, context))
}

fn number(value: &Dynamic) -> Option<Value> {
    match (value.as_int(), value.as_float()) {
        (Ok(whole), _) => Some(Value::Integer(whole)),
        (_, Ok(float)) => Some(Value::Float(float)),
        _ => None,
    }
}

fn one_is_a_handle(a: &Value, b: &Value) -> bool {
    use Value::{Handle, List, Map};
    matches!((a, b), (Handle(_), List(_) | Map(_)) | (List(_) | Map(_), Handle(_)))
}

/// A value as a part of a text: lists, maps and handles as JSON, `()` as nothing.
fn show(value: &Dynamic) -> String {
    if value.is_unit() {
        return String::new();
    }
    let compound = value.is_array() || value.is_map() || value.is::<HandleBox>();
    match (compound, to_value(value, None as Origin<'_, '_>)) {
        (true, Ok(value)) => value.to_json().to_string(),
        _ => value.to_string(),
    }
}
