//! The regular expressions of a schema: a client chooses the texts, so they are matched by [`Pattern`], which can be stopped.

use super::code;
use crate::diagnostic::{Diagnostic, Result};
use crate::pattern::Pattern;
use crate::value::Json;
use jsonschema::paths::Location;
use jsonschema::{Keyword, ValidationError};
use serde_json::Map;
use std::sync::Arc;

/// The sizes of all patterns for names, times the bytes of all names of a value: the validator matches names itself, and
/// cannot be asked meanwhile.
const MOST: u64 = 20_000_000;

/// A pattern as schemas have them: without look-around.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub fn read(pattern: &str) -> std::result::Result<Arc<Pattern>, String> {
    let read = Pattern::compile_cached(pattern).map_err(|fault| {
        let message = fault.message.strip_prefix("invalid regular expression: ");
        message.unwrap_or(&fault.message).to_owned()
    })?;
    if read.looks_around() { Err("it looks around, or refers back".to_owned()) } else { Ok(read) }
}

/// The keyword `pattern`.
struct Matches(Arc<Pattern>);

/// Makes the keyword `pattern` for the validator.
pub fn keyword<'a>(
    _: &'a Map<String, Json>,
    value: &'a Json,
    _: Location,
) -> std::result::Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let pattern = value.as_str().ok_or_else(|| "a pattern is a text".to_owned()).and_then(read);
    pattern.map(|pattern| Box::new(Matches(pattern)) as _).map_err(ValidationError::schema)
}

impl<'i> Keyword<'i> for Matches {
    fn validate(&self, value: &'i Json) -> std::result::Result<(), ValidationError<'i>> {
        match self.is_valid(value) {
            true => Ok(()),
            false => Err(ValidationError::custom(self.0.text())),
        }
    }

    /// What stopped the search is told by the guard of the call.
    fn is_valid(&self, value: &'i Json) -> bool {
        value.as_str().is_none_or(|text| self.0.is_match(text).unwrap_or(false))
    }
}

/// The sizes of all patterns that a schema has for names.
///
/// # Errors
/// One of them cannot be used.
pub fn of_names(schema: &Json) -> Result<u64> {
    let mut size: u64 = 0;
    let mut open = vec![schema];
    while let Some(part) = open.pop() {
        match part {
            Json::Array(items) => open.extend(items),
            Json::Object(map) => {
                let names = map.get("patternProperties").and_then(Json::as_object).into_iter().flatten();
                for (pattern, _) in names {
                    let read = read(pattern).map_err(|reason| {
                        let message =
                            format!("the pattern `{}` cannot be used: {reason}", super::shorten(pattern, 120));
                        Diagnostic::new(code::SCHEMA_PATTERN, message)
                    })?;
                    size = size.saturating_add(read.size());
                }
                open.extend(map.values());
            }
            _ => {}
        }
    }
    Ok(size)
}

/// What is wrong with the names of a value, if they are more than patterns of this size can be held against.
pub fn too_many_names(value: &Json, size: u64) -> Option<String> {
    let (mut bytes, mut open) = (0_u64, vec![value]);
    while let Some(part) = open.pop().filter(|_| size > 0) {
        match part {
            Json::Array(items) => open.extend(items),
            Json::Object(map) => {
                bytes += map.keys().map(|name| name.len() as u64).sum::<u64>();
                open.extend(map.values());
            }
            _ => {}
        }
    }
    let most = MOST / size.max(1);
    (bytes > most).then(|| format!("has names of {} kB in all; at most {} kB", bytes >> 10, most >> 10))
}
