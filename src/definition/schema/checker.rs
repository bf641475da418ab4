//! Validates values by a schema, which is compiled once and offline: linear time, all violations at once.

use super::document::ObjectSchema;
use super::integers;
use super::keyword::{PATH, follow_reference};
use super::violation::{describe_error, shorten};
use crate::definition::code;
use crate::diagnostic::{Diagnostic, Result};
use crate::pattern::Pattern;
use crate::primitive_api::SchemaViolation;
use crate::value::Json;
use jsonschema::paths::Location;
use jsonschema::{Keyword, PatternOptions, ValidationError, Validator};
use serde_json::Map;
use std::sync::{Arc, OnceLock};

/// A compiled schema.
pub struct Checker {
    given: ObjectSchema,
    /// This and the next two are made of `given` when they are first needed.
    root: OnceLock<Json>,
    validator: OnceLock<Result<CompiledSchema>>,
    plan: OnceLock<DefaultsPlan>,
}

/// The validator of a schema.
struct CompiledSchema {
    validator: Validator,
    /// The sizes of its patterns for names.
    names: u64,
}

/// More violations than this are not listed.
const MAX_PROBLEMS: usize = 50;

impl Checker {
    /// Compiles a schema whose references are resolved (`Schema::publish` or `Schema::resolve`).
    pub fn new(schema: impl Into<ObjectSchema>) -> Result<Self> {
        let checker = Self::lazy(schema);
        checker.compile_now()?;
        Ok(checker)
    }

    /// A checker of a schema that is known to be sound: it is compiled when a value is first checked.
    pub fn lazy(schema: impl Into<ObjectSchema>) -> Self {
        Self { given: schema.into(), root: OnceLock::new(), validator: OnceLock::new(), plan: OnceLock::new() }
    }

    /// Compiles the schema now.
    ///
    /// # Errors
    /// The schema cannot be used.
    pub fn compile_now(&self) -> Result<()> {
        self.validator().map(|_| ())
    }

    /// The schema.
    pub fn schema(&self) -> &Json {
        self.root.get_or_init(|| Json::Object((*self.given).clone()))
    }

    fn validator(&self) -> Result<&CompiledSchema> {
        self.validator.get_or_init(|| compile(self.schema())).as_ref().map_err(Clone::clone)
    }

    /// Every violation, in the order of the schema, each once.
    pub fn check(&self, value: &Json) -> Vec<SchemaViolation> {
        let whole =
            |message: String, help: Option<String>| vec![SchemaViolation { pointer: String::new(), message, help }];
        let validator = match self.validator() {
            Err(diagnostic) => return whole(diagnostic.message, diagnostic.help),
            Ok(CompiledSchema { validator, names }) => match too_many_names(value, *names) {
                Some(message) => return whole(format!("the value {message}"), None),
                None if validator.is_valid(value) => return Vec::new(),
                None => validator,
            },
        };
        let mut problems: Vec<SchemaViolation> = Vec::new();
        for error in validator.iter_errors(value) {
            for problem in describe_error(&error, self.schema(), value) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            if problems.len() >= MAX_PROBLEMS {
                problems.truncate(MAX_PROBLEMS);
                break;
            }
        }
        problems
    }

    /// Fills in the defaults of the root and of existing nested objects, after the existing keys.
    //= docs/spec.md#definitions
    //# The defaults of an input schema MUST be filled in, also in nested objects that are present.
    pub fn fill_defaults(&self, value: &mut Json) {
        self.plan.get_or_init(|| DefaultsPlan::from_schema(self.schema())).fill(value);
    }

    /// Converts whole numbers such as `3.0` to integers where the schema requires an integer.
    pub fn settle_integers(&self, value: &mut Json) {
        integers::settle_integers(self.schema(), value);
    }
}

fn compile(schema: &Json) -> Result<CompiledSchema> {
    let names = name_pattern_sizes(schema)?;
    let built = jsonschema::draft202012::options()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_format(PATH, |_: &str| true)
        .with_pattern_options(PatternOptions::regex())
        .with_keyword("pattern", pattern_keyword)
        .build(schema);
    let built = built.map(|validator| CompiledSchema { validator, names });
    built.map_err(|error| {
        let message = shorten(&error.masked().to_string(), 300);
        let place = error.instance_path().to_string();
        Diagnostic::new(code::SCHEMA_VALUE, format!("the schema cannot be used: {message}")).help(if place.is_empty() {
            "JSON Schema 2020-12".to_owned()
        } else {
            format!("at `{place}`")
        })
    })
}

/// Maximum product of the sizes of all patterns for names and the bytes of all names of a value: the validator matches
/// names itself, and cannot be interrupted.
const MAX_NAME_MATCHING_COST: u64 = 20_000_000;

/// Compiles a pattern of a schema: look-around and back-references are refused.
///
/// # Errors
/// What is wrong with it, as the end of a sentence.
pub fn linear_pattern(pattern: &str) -> std::result::Result<Arc<Pattern>, String> {
    let read = Pattern::compile_cached(pattern).map_err(|diagnostic| {
        let message = diagnostic.message.strip_prefix("invalid regular expression: ");
        message.unwrap_or(&diagnostic.message).to_owned()
    })?;
    if read.looks_around() { Err("it looks around, or refers back".to_owned()) } else { Ok(read) }
}

/// The keyword `pattern`.
struct PatternKeyword(Arc<Pattern>);

/// Makes the keyword `pattern` for the validator.
fn pattern_keyword<'a>(
    _: &'a Map<String, Json>,
    value: &'a Json,
    _: Location,
) -> std::result::Result<Box<dyn for<'i> Keyword<'i>>, ValidationError<'a>> {
    let pattern = value.as_str().ok_or_else(|| "a pattern is a text".to_owned()).and_then(linear_pattern);
    pattern.map(|pattern| Box::new(PatternKeyword(pattern)) as _).map_err(ValidationError::schema)
}

impl<'i> Keyword<'i> for PatternKeyword {
    fn validate(&self, value: &'i Json) -> std::result::Result<(), ValidationError<'i>> {
        match self.is_valid(value) {
            true => Ok(()),
            false => Err(ValidationError::custom(self.0.text())),
        }
    }

    /// The guard of the call reports what stopped a search.
    fn is_valid(&self, value: &'i Json) -> bool {
        value.as_str().is_none_or(|text| self.0.is_match(text).unwrap_or(false))
    }
}

/// The total size of the patterns that a schema has for names of properties.
///
/// # Errors
/// One of them cannot be used.
fn name_pattern_sizes(schema: &Json) -> Result<u64> {
    let mut size: u64 = 0;
    let mut open = vec![schema];
    while let Some(part) = open.pop() {
        match part {
            Json::Array(items) => open.extend(items),
            Json::Object(map) => {
                let names = map.get("patternProperties").and_then(Json::as_object).into_iter().flatten();
                for (pattern, _) in names {
                    let read = linear_pattern(pattern).map_err(|reason| {
                        let message = format!("the pattern `{}` cannot be used: {reason}", shorten(pattern, 120));
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

/// Returns a message if a value has more names than patterns of this size may be matched with.
fn too_many_names(value: &Json, size: u64) -> Option<String> {
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
    let most = MAX_NAME_MATCHING_COST / size.max(1);
    (bytes > most).then(|| format!("has names of {} kB in all; at most {} kB", bytes >> 10, most >> 10))
}

/// What to fill in, worked out once.
#[derive(Debug, Default)]
struct DefaultsPlan {
    defaults: Vec<(String, Json)>,
    nested: Vec<(String, DefaultsPlan)>,
}

/// Recursive definitions are followed to this depth.
const MAX_DEPTH: usize = 8;

impl DefaultsPlan {
    /// Creates the plan of a schema whose references are resolved.
    fn from_schema(root: &Json) -> Self {
        let mut plan = Self::default();
        plan.add(root, root, MAX_DEPTH);
        plan
    }

    fn add(&mut self, schema: &Json, root: &Json, depth: usize) {
        let (Some(map), Some(deeper)) = (schema.as_object(), depth.checked_sub(1)) else { return };
        if let Some(target) =
            map.get("$ref").and_then(Json::as_str).and_then(|reference| follow_reference(reference, root))
        {
            self.add(target, root, deeper);
        }
        for part in map.get("allOf").and_then(Json::as_array).into_iter().flatten() {
            self.add(part, root, deeper);
        }
        for (name, property) in map.get("properties").and_then(Json::as_object).into_iter().flatten() {
            if let Some(default) = default_value(property, root, deeper)
                && !self.defaults.iter().any(|(known, _)| known == name)
            {
                self.defaults.push((name.clone(), default.clone()));
            }
            let mut inner = Self::default();
            inner.add(property, root, deeper);
            if !inner.defaults.is_empty() || !inner.nested.is_empty() {
                self.nested.push((name.clone(), inner));
            }
        }
    }

    /// Fills in missing values, after the existing keys.
    fn fill(&self, json: &mut Json) {
        let Some(map) = json.as_object_mut() else { return };
        for (name, default) in &self.defaults {
            map.entry(name.as_str()).or_insert_with(|| default.clone());
        }
        for (name, plan) in &self.nested {
            if let Some(value) = map.get_mut(name) {
                plan.fill(value);
            }
        }
    }
}

fn default_value<'a>(property: &'a Json, root: &'a Json, depth: usize) -> Option<&'a Json> {
    if let Some(default) = property.get("default") {
        return Some(default);
    }
    let target = follow_reference(property.get("$ref")?.as_str()?, root)?;
    default_value(target, root, depth.checked_sub(1)?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::definition::schema_object;
    use serde_json::json;

    fn said(schema: &Json, value: &Json) -> Vec<String> {
        let problems = Checker::new(schema_object(schema.clone()).unwrap()).unwrap().check(value);
        problems.into_iter().map(|p| format!("{} {} ({})", p.pointer, p.message, p.help.unwrap_or_default())).collect()
    }

    #[test]
    fn more_names_than_patterns_can_be_held_against_are_refused_before() {
        let schema = json!({ "type": "object", "patternProperties": { "^(?:a{10}|b){1,90}$": { "type": "integer" } } });
        let named = |bytes: usize| Json::Object([("b".repeat(bytes), json!(1))].into_iter().collect());
        assert_eq!(said(&schema, &named(80)), Vec::<String>::new());
        let reported = said(&schema, &named(100 << 10)).concat();
        assert!(reported.contains("the value has names of 100 kB in all; at most "), "{reported}");
    }

    //= docs/spec.md#calls
    //= type=test
    //# All violations of an input schema MUST be reported at once, in a tool error that a model can correct.
    //= docs/spec.md#calls
    //= type=test
    //# An unknown argument MUST be refused with the nearest known name.
    #[test]
    fn all_violations_are_reported_with_the_nearest_name() {
        let schema = json!({
            "type": "object", "required": ["query"], "additionalProperties": false,
            "properties": {
                "query": { "type": "string", "description": "Word or phrase." },
                "limit": { "type": "integer", "minimum": 1 },
                "mode": { "enum": ["persist", "preview"] },
            }
        });
        let value = json!({ "qery": "x", "limit": 0, "mode": "prevew" });
        let mut problems = said(&schema, &value);
        problems.sort();
        assert_eq!(
            problems,
            [
                " `query` is missing (word or phrase)",
                "/limit `limit` must be 1 or more (got 0)",
                "/mode `mode` must be one of \"persist\", \"preview\" (did you mean `preview`?)",
                "/qery there is no `qery` (did you mean `query`?)",
            ]
        );
    }

    #[test]
    fn every_argument_of_what_takes_none_is_named() {
        let none = json!({ "type": "object", "additionalProperties": false });
        let within = json!({ "type": "object", "properties": { "of": none } });
        assert_eq!(
            said(&none, &json!({ "a": 1, "b": 2 })),
            ["/a there is no `a` (no names are taken here)", "/b there is no `b` (no names are taken here)"]
        );
        assert_eq!(said(&within, &json!({ "of": { "a": 1 } })), ["/of/a there is no `a` (no names are taken here)"]);
    }

    #[test]
    fn names_behind_references_are_known_and_long_values_are_not_quoted() {
        let schema = json!({
            "type": "object", "properties": { "node": { "$ref": "#/$defs/N" } },
            "$defs": { "N": { "type": "object", "additionalProperties": false, "properties": { "identifier": { "type": "integer" } } } }
        });
        let long = "x".repeat(100_000);
        let problems = said(&schema, &json!({ "node": { "identifer": 1, "identifier": long } }));
        assert!(problems.iter().any(|problem| problem.contains("did you mean `identifier`?")), "{problems:?}");
        assert!(problems.iter().all(|problem| problem.len() < 400));
    }

    //= docs/spec.md#definitions
    //= type=test
    //# The defaults of an input schema MUST be filled in, also in nested objects that are present.
    #[test]
    fn defaults_fill_the_root_and_nested_objects_that_are_there() {
        let schema = json!({
            "type": "object",
            "properties": {
                "limit": { "type": "integer", "default": 10 },
                "page": { "type": "object", "properties": { "size": { "default": 5 } } },
                "other": { "type": "object", "properties": { "size": { "default": 5 } } },
            },
            "anyOf": [{ "properties": { "never": { "default": 1 } } }]
        });
        let checker = Checker::new(schema_object(schema).unwrap()).unwrap();
        let mut value = json!({ "page": {} });
        checker.fill_defaults(&mut value);
        assert_eq!(value, json!({ "page": { "size": 5 }, "limit": 10 }));
    }

    #[test]
    fn nothing_is_fetched_and_patterns_are_linear() {
        let is_refused = |schema: Json| schema_object(schema).and_then(Checker::new).is_err();
        assert!(is_refused(json!({ "$ref": "https://example.com/s.json" })));
        assert!(is_refused(json!({ "pattern": "(?=a)b" })));
        assert!(is_refused(json!({ "format": "nosuch" })));
        assert!(is_refused(json!("object")) && is_refused(json!(null)));
    }

    #[test]
    fn alternatives_name_what_the_nearest_one_lacks() {
        let schema = json!({ "oneOf": [
            { "type": "object", "required": ["op", "title"], "properties": { "op": { "const": "set_title" } } },
            { "type": "object", "required": ["op", "tag"], "properties": { "op": { "const": "add_tag" } } },
        ] });
        let problems = said(&schema, &json!({ "op": "add_tag" }));
        assert_eq!(problems, [" the value fits none of the alternatives (nearest: `tag` is missing)"]);
        let problems = said(&schema, &json!({ "op": "add_tags" }));
        assert_eq!(problems, ["/op `op` must be one of \"set_title\", \"add_tag\" (did you mean `add_tag`?)"]);
    }
}
