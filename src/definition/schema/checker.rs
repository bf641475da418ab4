//! Checks values by a schema: compiled once, offline, in linear time, every violation at once.

use super::defaults::Plan;
use super::{ObjectSchema, PATH, code, problems_of, regular};
use crate::diagnostic::{Diagnostic, Result};
use crate::value::Json;
use jsonschema::{PatternOptions, Validator};
use std::sync::OnceLock;

/// One violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where in the value: a JSON pointer.
    pub pointer: String,
    /// What is wrong with it; never quotes a value at length.
    pub message: String,
    /// What is allowed, or the nearest name.
    pub help: Option<String>,
}

/// A compiled schema.
pub struct Checker {
    given: ObjectSchema,
    /// Made of it when it is first needed, and so are the next.
    root: OnceLock<Json>,
    validator: OnceLock<Result<Compiled>>,
    plan: OnceLock<Plan>,
}

/// What checks values.
struct Compiled {
    validator: Validator,
    /// The sizes of its patterns for names.
    names: u64,
}

/// More violations than this are not listed.
const PROBLEMS: usize = 50;

impl Checker {
    /// Compiles a schema whose references are resolved (`published` or `resolved`).
    pub fn new(schema: impl Into<ObjectSchema>) -> Result<Self> {
        let checker = Self::later(schema);
        checker.ready()?;
        Ok(checker)
    }

    /// A schema that is known to be sound: it is compiled when a value is first checked.
    pub fn later(schema: impl Into<ObjectSchema>) -> Self {
        Self { given: schema.into(), root: OnceLock::new(), validator: OnceLock::new(), plan: OnceLock::new() }
    }

    /// Compiles what waits for it; a schema that cannot be used is a fault.
    pub fn ready(&self) -> Result<()> {
        self.validator().map(|_| ())
    }

    /// The schema.
    pub fn schema(&self) -> &Json {
        self.root.get_or_init(|| Json::Object((*self.given).clone()))
    }

    fn validator(&self) -> Result<&Compiled> {
        self.validator.get_or_init(|| compile(self.schema())).as_ref().map_err(Clone::clone)
    }

    /// Every violation, in the order of the schema, each once.
    pub fn check(&self, value: &Json) -> Vec<Problem> {
        let whole = |message: String, help: Option<String>| vec![Problem { pointer: String::new(), message, help }];
        let validator = match self.validator() {
            Err(fault) => return whole(fault.message, fault.help),
            Ok(Compiled { validator, names }) => match regular::too_many_names(value, *names) {
                Some(message) => return whole(format!("the value {message}"), None),
                None if validator.is_valid(value) => return Vec::new(),
                None => validator,
            },
        };
        let mut problems: Vec<Problem> = Vec::new();
        for error in validator.iter_errors(value) {
            for problem in problems_of(&error, self.schema(), value) {
                if !problems.contains(&problem) {
                    problems.push(problem);
                }
            }
            if problems.len() >= PROBLEMS {
                problems.truncate(PROBLEMS);
                break;
            }
        }
        problems
    }

    /// Fills in the defaults of the root and of nested objects that are there, behind what is there.
    pub fn fill_defaults(&self, value: &mut Json) {
        self.plan.get_or_init(|| Plan::of(self.schema())).fill(value);
    }
}

fn compile(schema: &Json) -> Result<Compiled> {
    let names = regular::of_names(schema)?;
    let built = jsonschema::draft202012::options()
        .offline()
        .should_validate_formats(true)
        .should_ignore_unknown_formats(false)
        .with_format(PATH, |_: &str| true)
        .with_pattern_options(PatternOptions::regex())
        .with_keyword("pattern", regular::keyword)
        .build(schema);
    let built = built.map(|validator| Compiled { validator, names });
    built.map_err(|error| {
        let message = super::shorten(&error.masked().to_string(), 300);
        let place = error.instance_path().to_string();
        Diagnostic::new(code::SCHEMA_VALUE, format!("the schema cannot be used: {message}")).help(if place.is_empty() {
            "JSON Schema 2020-12".to_owned()
        } else {
            format!("at `{place}`")
        })
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::object;
    use super::*;
    use serde_json::json;

    fn said(schema: &Json, value: &Json) -> Vec<String> {
        let problems = Checker::new(object(schema.clone()).unwrap()).unwrap().check(value);
        problems.into_iter().map(|p| format!("{} {} ({})", p.pointer, p.message, p.help.unwrap_or_default())).collect()
    }

    #[test]
    fn more_names_than_patterns_can_be_held_against_are_refused_before() {
        let schema = json!({ "type": "object", "patternProperties": { "^(?:a{10}|b){1,90}$": { "type": "integer" } } });
        let named = |bytes: usize| Json::Object([("b".repeat(bytes), json!(1))].into_iter().collect());
        assert_eq!(said(&schema, &named(80)), Vec::<String>::new());
        let told = said(&schema, &named(100 << 10)).concat();
        assert!(told.contains("the value has names of 100 kB in all; at most "), "{told}");
    }

    //= docs/spec.md#calls
    //= type=test
    //# All violations of the input schema MUST be told at once.
    //= docs/spec.md#calls
    //= type=test
    //# An argument that the schema does not name MUST be refused, with the nearest one that it names.
    #[test]
    fn every_violation_is_told_at_once_with_the_nearest_name() {
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
        let checker = Checker::new(object(schema).unwrap()).unwrap();
        let mut value = json!({ "page": {} });
        checker.fill_defaults(&mut value);
        assert_eq!(value, json!({ "page": { "size": 5 }, "limit": 10 }));
    }

    #[test]
    fn nothing_is_fetched_and_patterns_are_linear() {
        let is_refused = |schema: Json| object(schema).and_then(Checker::new).is_err();
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
