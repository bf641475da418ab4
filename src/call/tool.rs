//! A call of a tool: arguments checked, body run, result shaped.

use super::running::{self, Running};
use super::{Outcome, operation, outcome, writing};
use crate::definition::{Body, Located, ObjectSchema, Tool};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::SchemaViolation;
use crate::registry::ServedTool;
use crate::value::{Fault, Json, Value};
use serde_json::json;

/// Checks arguments against a schema: all problems at once; then fills in defaults, and merges constants.
pub fn accept(what: &str, checks: &crate::registry::CallContract, with: &Json, arguments: &Json) -> Result<Json> {
    let mut arguments = if arguments.is_null() { json!({}) } else { arguments.clone() };
    if let Some(checker) = &checks.arguments {
        //= docs/spec.md#calls
        //# All violations of the input schema MUST be told at once.
        let problems = checker.check(&arguments);
        if !problems.is_empty() {
            return Err(refused(what, &problems));
        }
        checker.fill_defaults(&mut arguments);
    }
    merge(&mut arguments, with);
    Ok(arguments)
}

/// Merges constants into arguments.
pub fn merge(arguments: &mut Json, with: &Json) {
    if let (Some(map), Some(with)) = (arguments.as_object_mut(), with.as_object()) {
        for (name, value) in with {
            map.insert(name.clone(), value.clone());
        }
    }
}

/// The fault of arguments that do not fit, for a model to repair: `{ "error", "problems" }`.
pub fn refused(what: &str, problems: &[SchemaViolation]) -> Box<Diagnostic> {
    //= docs/spec.md#calls
    //# A failed validation MUST be a tool error that a model can repair.
    let told: Vec<String> = problems.iter().map(said).collect();
    let message = format!("the arguments of {what} do not fit: {}", told.join(". "));
    let error = format!("the arguments of {what} do not fit");
    Diagnostic::new(Code::ARGUMENTS, message).data(json!({ "error": error, "problems": told }))
}

/// A problem as one sentence.
pub fn said(problem: &SchemaViolation) -> String {
    match &problem.help {
        // What is missing is told with what it stands for.
        Some(help) if problem.message.ends_with(" is missing") => format!("{} ({help})", problem.message),
        Some(help) => format!("{}; {help}", problem.message),
        None => problem.message.clone(),
    }
}

/// Runs a tool whose arguments are accepted, or tells why they are not. Its faults go through `on_error`.
///
/// A fault that comes out is one of the protocol: `reject`, `not_found`, a call that was taken back.
/// `prompts` answers the tool of the pack's prompts.
pub fn call(
    served: &ServedTool,
    running: &Running,
    arguments: &Json,
    prompts: &dyn Fn(&Json) -> Result<Value>,
) -> Result<Outcome> {
    let most = served.contract.limits.output;
    //= docs/spec.md#calls
    //# Arguments MUST be validated before the script runs.
    let value = running.guarded(|| operation::accept(served, arguments)).and_then(|(body, accepted)| {
        let declared = if running::fills(body) { declared(&served.input) } else { Vec::new() };
        if *body == Body::Prompts { prompts(&accepted) } else { running.body(body, &accepted, &declared) }
    });
    let ended = value
        .and_then(|value| running.guarded(|| outcome::of_value(&value, served, most)))
        .and_then(|outcome| writing::settled(running, outcome));
    let fault = match ended {
        Ok(outcome) => return Ok(outcome),
        Err(fault) => fault,
    };
    writing::dropped(running);
    let handled = match handler(&served.tool, running) {
        Some((script, function)) if !matches!(fault.code, Code::CANCELLED | Code::SUSPENDED) => {
            // A call that used up its limits has nothing left: the handler gets limits of its own.
            let again = running.anew();
            let arguments = again.value(arguments).map(|arguments| vec![Fault::value(fault), arguments]);
            arguments
                .and_then(|arguments| again.function(&script, &function, arguments))
                .and_then(|value| again.guarded(|| outcome::of_value(&value, served, most)))
                .and_then(|outcome| writing::settled(&again, outcome))
                .inspect_err(|_| writing::dropped(&again))
        }
        _ => Err(fault),
    };
    handled.or_else(|fault| match fault.code {
        Code::REJECT | Code::NOT_FOUND | Code::CANCELLED | Code::SUSPENDED | Code::CAPABILITY => {
            Err(fault.bounded(most))
        }
        _ => Ok(Outcome { changes: writing::written(running), ..outcome::of_fault(fault, served) }),
    })
}

/// The names of the properties of a schema.
pub fn declared(schema: &ObjectSchema) -> Vec<&str> {
    let properties = schema.get("properties").and_then(Json::as_object);
    properties.into_iter().flatten().map(|(name, _)| name.as_str()).collect()
}

/// `on_error` of the tool, else of the pack: script and function. The script is that of the body, else `lib.rhai`.
fn handler(tool: &Tool, running: &Running) -> Option<(String, String)> {
    let pack = running.pack();
    let script = |name: &Located<String>| {
        let of_body = match &tool.body.value {
            Body::Script { script, .. } | Body::Operations { script } => script.clone(),
            _ => format!("tools.d/{}.rhai", pack.name),
        };
        (of_body, name.value.clone())
    };
    tool.on_error.as_ref().or(pack.definition.on_error.as_ref()).map(script)
}
