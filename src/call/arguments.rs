//! Arguments of a call: texts converted to what a schema asks for, checked, completed by defaults and constants.

use crate::definition::ObjectSchema;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::parse::find_oversized_integer;
use crate::primitive::SchemaViolation;
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
        let problems = checker.check(&arguments);
        if !problems.is_empty() {
            return Err(arguments_fault(what, &problems));
        }
        checker.fill_defaults(&mut arguments);
    }
    merge_constants(&mut arguments, with);
    Ok(arguments)
}

/// Merges constants into arguments.
pub fn merge_constants(arguments: &mut Json, with: &Json) {
    if let (Some(map), Some(with)) = (arguments.as_object_mut(), with.as_object()) {
        for (name, value) in with {
            map.insert(name.clone(), value.clone());
        }
    }
}

/// The fault of arguments that do not fit `what`, for a model to repair: `{ "error", "problems" }`.
pub fn arguments_fault(what: &str, problems: &[SchemaViolation]) -> Box<Diagnostic> {
    //= docs/spec.md#calls
    //# All violations of an input schema MUST be reported at once, in a tool error that a model can correct.
    let told: Vec<String> = problems.iter().map(describe_problem).collect();
    let message = format!("the arguments of {what} do not fit: {}", told.join(". "));
    let error = format!("the arguments of {what} do not fit");
    Diagnostic::new(Code::ARGUMENTS, message).data(json!({ "error": error, "problems": told }))
}

/// A problem as one sentence.
fn describe_problem(problem: &SchemaViolation) -> String {
    match &problem.help {
        // What is missing is told with what it stands for.
        Some(help) if problem.message.ends_with(" is missing") => format!("{} ({help})", problem.message),
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    }
}

/// The names of the properties of a schema.
pub fn property_names(schema: &ObjectSchema) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use super::parse_argument;
    use serde_json::json;

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
