//! A call of a tool of operations: which one is meant, and what it is held to.

use super::tool::{self, merge, refused};
use crate::definition::Body;
use crate::diagnostic::Result;
use crate::guard::Limits;
use crate::parse::toml::unescape;
use crate::primitive::Effect;
use crate::primitive::SchemaViolation;
use crate::registry::{CallContract, ServedTool};
use crate::value::Json;

/// What a call does at most, and what it may use: those of the operation it means. A call that means none does no
/// more than the least of them.
pub fn held_to(served: &ServedTool, arguments: &Json) -> (Effect, Limits) {
    let Some(dispatch) = &served.tool.dispatch else { return (served.tool.effect.value, served.contract.limits) };
    match served.operation(arguments) {
        //= docs/spec.md#operations
        //# A call of an operation MUST be held to the effect of that operation.
        Some((operation, checks)) => (operation.effect.value, checks.limits),
        None => {
            let least = dispatch.operations.iter().map(|operation| operation.effect.value).min();
            (least.unwrap_or(Effect::Pure), served.contract.limits)
        }
    }
}

/// The body that answers a call, and its arguments as the script gets them; all problems at once if they do not fit.
pub fn accept<'a>(served: &'a ServedTool, arguments: &Json) -> Result<(&'a Body, Json)> {
    let what = format!("`{}`", served.name);
    let Some((operation, checks)) = served.operation(arguments) else {
        return Ok((&served.tool.body.value, tool::accept(&what, &served.contract, &served.tool.with, arguments)?));
    };
    let name = &operation.name.value;
    let checker = checks.arguments.as_ref();
    //= docs/spec.md#operations
    //# The arguments of an operation MUST be held to its own schema, all violations at once.
    let mut problems = checker.map(|checker| checker.check(arguments)).unwrap_or_default();
    if problems.is_empty() {
        let mut accepted = tool::accept(&what, checks, &served.tool.with, arguments)?;
        merge(&mut accepted, &operation.with);
        return Ok((&operation.body.value, accepted));
    }
    problems.iter_mut().for_each(|problem| foreign(problem, name, served));
    Err(refused(&format!("`{name}` of {what}"), &problems))
}

/// An argument of other operations is told as such.
fn foreign(problem: &mut SchemaViolation, name: &str, served: &ServedTool) {
    let Some(argument) = problem.pointer.strip_prefix('/').filter(|name| !name.contains('/')) else { return };
    let argument = unescape(argument);
    let knows =
        |checks: &CallContract| checks.schema.get("properties").is_some_and(|known| known.get(&argument).is_some());
    let operations = served.tool.dispatch.iter().flat_map(|dispatch| &dispatch.operations);
    let takers = operations.zip(&served.contract.operations).filter(|(_, checks)| knows(checks));
    let takers: Vec<String> = takers.map(|(operation, _)| format!("`{}`", operation.name.value)).collect();
    if !takers.is_empty() && !takers.contains(&format!("`{name}`")) {
        problem.message = format!("`{name}` takes no `{argument}`");
        problem.help = Some(format!("it is an argument of {}", takers.join(", ")));
    }
}
