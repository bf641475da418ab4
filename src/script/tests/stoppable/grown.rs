//! Cases with longer values, which reveal work that is fast per byte.

use super::WorstCase;
use crate::document::{Document, Lines, Passage};
use crate::order::Set;
use crate::value::{Bytes, Frozen, Value};
use std::sync::Arc;

/// The factor by which values are made longer.
const GROWTH_FACTOR: usize = 64;

/// A shorter value is not a worst value but a harmless one.
const MIN_GROWN_LEN: usize = 1_000;

/// The case with each long value made longer; `None` if it has no long value.
pub(super) fn grown(case: &WorstCase) -> Option<WorstCase> {
    let mut is_longer = false;
    let arguments = case.arguments.iter().map(|value| {
        let longer = longer(value);
        is_longer |= longer.is_some();
        longer.unwrap_or_else(|| value.clone())
    });
    let arguments = arguments.collect();
    is_longer.then(|| WorstCase { label: format!("{}, grown", case.label), arguments })
}

fn longer(value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) if text.len() > MIN_GROWN_LEN => Some(Value::from(text.repeat(GROWTH_FACTOR))),
        Value::List(items) if items.len() > MIN_GROWN_LEN => Some(Value::List(repeated(items))),
        Value::Map(map) if map.len() > MIN_GROWN_LEN => {
            let copy = |copy: usize| map.iter().map(move |(key, value)| (format!("{key}/{copy}"), value.clone()));
            Some(Value::map((0..GROWTH_FACTOR).flat_map(copy)))
        }
        // Options, or a map with one long value.
        Value::Map(map) => {
            let longer: Vec<(String, Option<Value>)> =
                map.iter().map(|(key, value)| (key.to_string(), longer(value))).collect();
            let is_longer = longer.iter().any(|(_, longer)| longer.is_some());
            let values = longer
                .into_iter()
                .zip(map.values())
                .map(|((key, longer), value)| (key, longer.unwrap_or_else(|| value.clone())));
            is_longer.then(|| Value::map(values))
        }
        Value::Handle(_) => longer_handle(value),
        _ => None,
    }
}

fn repeated(items: &[Value]) -> Vec<Value> {
    (0..GROWTH_FACTOR).flat_map(|_| items.iter().cloned()).collect()
}

fn longer_handle(value: &Value) -> Option<Value> {
    if let Some(bytes) = value.as_object::<Bytes>() {
        return (bytes.0.len() > MIN_GROWN_LEN).then(|| Bytes::value(bytes.0.repeat(GROWTH_FACTOR)));
    }
    if let Some(frozen) = value.as_object::<Frozen>() {
        let longer = longer(&Value::from_json(frozen.json()))?;
        return Some(Frozen::value(Arc::new(longer.to_json())));
    }
    if let (Value::Handle(handle), Some(_)) = (value, value.as_object::<Set>()) {
        let items: Vec<Value> = (0..handle.length()?).filter_map(|at| handle.item(at)).collect();
        let copy = |copy: i64| items.iter().map(move |item| Value::list([item.clone(), copy.into()]));
        let more = (0..GROWTH_FACTOR as i64).flat_map(copy).collect();
        return (items.len() > MIN_GROWN_LEN).then(|| Value::handle(Set::new(more).expect("nothing stops it")));
    }
    let document = |text: &str| (text.len() > MIN_GROWN_LEN).then(|| Document::new("a.md", text.repeat(GROWTH_FACTOR)));
    if let Some(own) = value.as_object::<Document>() {
        return document(own.text()).map(Value::handle);
    }
    if let Some(lines) = value.as_object::<Lines>() {
        return document(&lines.text()).map(|document| Value::handle(document.lines(1, i64::MAX)));
    }
    let passage = value.as_object::<Passage>()?;
    document(passage.text()).map(|document| Value::handle(Passage::from_lines(&document.lines(1, i64::MAX))))
}
