//! Arguments of a call: texts converted to what a schema asks for, checked, completed by defaults and constants.

use crate::definition::{Checker, NO_NAMES, ObjectSchema};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::find_oversized_integer;
use crate::parse::toml::unescape;
use crate::primitive_api::SchemaViolation;
use crate::registry::CallContract;
use crate::value::Json;
use serde_json::json;

/// The value that a text spells for this schema; the text itself where it spells none, for the check to tell.
pub fn parse_argument(text: &str, schema: Option<&Json>) -> Json {
    let Some(schema) = schema else { return Json::from(text) };
    let takes = |wanted: &str| match schema.get("type") {
        Some(Json::String(one)) => one == wanted,
        Some(Json::Array(several)) => several.iter().any(|one| one == wanted),
        _ => false,
    };
    if takes("string") {
        return Json::from(text);
    }
    let fits = |json: &Json| match json {
        Json::Number(number) => takes("number") || (takes("integer") && !number.is_f64()),
        Json::Bool(_) => takes("boolean"),
        Json::Array(_) => takes("array"),
        Json::Object(_) => takes("object"),
        Json::Null => takes("null"),
        Json::String(_) => false,
    };
    let exact = |_: &Json| matches!(find_oversized_integer(text), Ok(None));
    serde_json::from_str(text).ok().filter(fits).filter(exact).unwrap_or_else(|| Json::from(text))
}

/// Checks arguments against a schema, then fills in defaults and merges constants. `what` names the definition.
///
/// # Errors
/// All problems at once.
pub fn accept_arguments(what: &str, checks: &CallContract, with: &Json, arguments: &Json) -> Result<Json> {
    let mut arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
    if let Some(checker) = &checks.arguments {
        //= docs/spec.md#calls
        //# All violations of an input schema MUST be reported at once, in a tool error that a model can
        //# correct.
        let problems = check_present(checker, &mut arguments);
        if !problems.is_empty() {
            return Err(arguments_error(what, &problems));
        }
        checker.settle_integers(&mut arguments);
        checker.fill_defaults(&mut arguments);
    }
    merge_constants(&mut arguments, with);
    Ok(arguments)
}

//= docs/spec.md#calls
//# `null` for an argument that must not be null MUST count as omitted.
/// What is wrong with arguments, of which each `null` that does not fit is removed before: clients that send every
/// argument send `null` for those that they leave out.
pub fn check_present(checker: &Checker, arguments: &mut Json) -> Vec<SchemaViolation> {
    loop {
        let problems = checker.check(arguments);
        let mut is_changed = false;
        for problem in &problems {
            is_changed |= remove_null(arguments, &problem.pointer);
        }
        if !is_changed {
            return problems;
        }
    }
}

/// Removes what a JSON pointer leads to, if it is a `null` of an object.
fn remove_null(value: &mut Json, pointer: &str) -> bool {
    let Some((parent, name)) = pointer.rsplit_once('/') else { return false };
    let Some(Json::Object(parent)) = value.pointer_mut(parent) else { return false };
    let name = unescape(name);
    let is_null = parent.get(&name) == Some(&Json::Null);
    if is_null {
        parent.shift_remove(&name);
    }
    is_null
}

/// Merges constants into arguments.
pub fn merge_constants(arguments: &mut Json, with: &Json) {
    if let (Some(map), Some(with)) = (arguments.as_object_mut(), with.as_object()) {
        for (name, value) in with {
            map.insert(name.clone(), value.clone());
        }
    }
}

/// Returns the error for arguments that do not fit `what`, for a model to fix: `{ "error", "problems" }`.
pub fn arguments_error(what: &str, problems: &[SchemaViolation]) -> Box<Diagnostic> {
    let reported: Vec<String> = problems.iter().map(describe_problem).collect();
    let sentences = reported.iter().fold(String::new(), |text, sentence| match text.as_str() {
        "" => sentence.clone(),
        text if text.ends_with('?') => format!("{text} {sentence}"),
        text => format!("{text}. {sentence}"),
    });
    let error = format!("the arguments of {what} do not fit");
    let message = format!("{error}: {sentences}");
    Diagnostic::new(Code::ARGUMENTS, message).data(json!({ "error": error, "problems": reported }))
}

/// A problem as one sentence.
fn describe_problem(problem: &SchemaViolation) -> String {
    match &problem.help {
        // The message for a missing argument includes its description.
        Some(help) if problem.message.ends_with(" is missing") => format!("{} ({help})", problem.message),
        Some(help) if help == NO_NAMES && problem.pointer.matches('/').count() == 1 => {
            format!("{}; it takes no arguments", problem.message)
        }
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    }
}

pub fn property_names(schema: &ObjectSchema) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::{NO_NAMES, SchemaViolation, accept_arguments, arguments_error, parse_argument};
    use crate::definition::{Checker, schema_object};
    use crate::registry::CallContract;
    use serde_json::json;
    use std::sync::Arc;

    #[test]
    fn problems_are_sentences() {
        let problem = |pointer: &str, message: &str, help: &str| SchemaViolation {
            pointer: pointer.into(),
            message: message.into(),
            help: Some(help.into()),
        };
        let problems = [
            problem("/a", "there is no `a`", NO_NAMES),
            problem("/b/c", "there is no `c`", NO_NAMES),
            problem("/d", "there is no `d`", "did you mean `e`?"),
            problem("", "`e` is missing", "A letter"),
        ];
        assert_eq!(
            arguments_error("`x`", &problems).message,
            "the arguments of `x` do not fit: there is no `a`; it takes no arguments. there is no `c`; no names are \
             taken here. there is no `d`; did you mean `e`? `e` is missing (A letter)"
        );
    }

    //= docs/spec.md#calls
    //= type=test
    //# `null` for an argument that must not be null MUST count as omitted.
    #[test]
    fn a_null_that_does_not_fit_counts_as_left_out() {
        let schema = json!({
            "type": "object",
            "required": ["query"],
            "properties": {
                "query": { "type": "string" },
                "limit": { "type": "integer", "default": 20 },
                "kind": { "enum": ["a", "b"] },
                "since": { "type": ["string", "null"] },
                "either": { "anyOf": [{ "type": "string" }, { "type": "integer" }] },
                "page": { "type": "object", "properties": { "size": { "type": "integer" } } },
                "ids": { "type": "array", "items": { "type": "string" } },
            },
        });
        let schema: serde_json::Map<_, _> = schema_object(schema).unwrap_or_default();
        let checker = Checker::new(Arc::new(schema));
        let contract = CallContract { arguments: checker.ok().map(Arc::new), ..CallContract::default() };
        let accepted = |arguments| accept_arguments("`find`", &contract, &json!({}), &arguments);
        let rows = [
            (json!({ "query": "a", "limit": null, "kind": null }), json!({ "query": "a", "limit": 20 })),
            (
                json!({ "query": "a", "either": null, "since": null }),
                json!({ "query": "a", "since": null, "limit": 20 }),
            ),
            (json!({ "query": "a", "page": { "size": null } }), json!({ "query": "a", "page": {}, "limit": 20 })),
            // A script receives as an integer what JSON Schema counts as one.
            (
                json!({ "query": "a", "limit": 3.0, "page": { "size": 4.0 } }),
                json!({ "query": "a", "limit": 3, "page": { "size": 4 } }),
            ),
        ];
        for (given, expected) in rows {
            assert_eq!(accepted(given.clone()).ok(), Some(expected), "{given}");
        }
        let refused = |arguments| accepted(arguments).err().map(|error| error.message.clone()).unwrap_or_default();
        assert!(refused(json!({ "query": null })).contains("`query` is missing"));
        assert!(refused(json!({ "query": "a", "ids": [null] })).contains("must be a string"));
    }

    #[test]
    fn a_text_becomes_what_the_schema_asks_for() {
        let schema = |kind: &str| json!({ "type": kind });
        assert_eq!(parse_argument("3", Some(&schema("integer"))), json!(3));
        assert_eq!(parse_argument("3.5", Some(&schema("integer"))), json!("3.5"));
        assert_eq!(parse_argument("3.5", Some(&schema("number"))), json!(3.5));
        assert_eq!(parse_argument("true", Some(&schema("boolean"))), json!(true));
        assert_eq!(parse_argument("3", Some(&schema("string"))), json!("3"));
        assert_eq!(parse_argument("3", Some(&json!({ "type": ["string", "integer"] }))), json!("3"));
        assert_eq!(parse_argument("3", None), json!("3"));
        // A number that would be rounded stays a text, which the check tells.
        assert_eq!(parse_argument("12345678901234567890", Some(&schema("number"))), json!("12345678901234567890"));
    }
}
