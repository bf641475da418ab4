//! A call of a tool: operation chosen, arguments checked, body run, result shaped, writes committed, a line of the
//! audit.

use super::answer::ToolOutcome;
use super::arguments::{accept_arguments, arguments_error, check_present, merge_constants, property_names};
use super::invocation::{Invocation, takes_arguments};
use crate::definition::{Body, Located, Tool};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::Limits;
use crate::parse::toml::unescape;
use crate::primitive_api::SchemaViolation;
use crate::primitive_api::{Effect, Host};
use crate::registry::{CallContract, ServedTool};
use crate::script::commit_call;
use crate::value::{CaughtError, Json, Value};
use crate::world::staging::StagedFile;
use serde_json::json;
use std::sync::OnceLock;
use std::time::Instant;

/// What a call does at most, and what it may use: as its operation declares. A call of no known operation does no more
/// than the least of them.
pub(super) fn effect_and_limits(served: &ServedTool, arguments: &Json) -> (Effect, Limits) {
    let Some(dispatch) = &served.definition.dispatch else {
        return (served.definition.effect.value, served.contract.limits);
    };
    match served.operation(arguments) {
        //= docs/spec.md#operations
        //# The effect of each operation MUST be verified by `check` and enforced at run time.
        Some((operation, checks)) => (operation.effect.value, checks.limits),
        None => {
            let least = dispatch.operations.iter().map(|operation| operation.effect.value).min();
            (least.unwrap_or(Effect::Pure), served.contract.limits)
        }
    }
}

/// The body that answers a call, and its arguments as the script gets them; all problems at once if they do not fit.
pub(super) fn choose_body<'a>(served: &'a ServedTool, arguments: &Json) -> Result<(&'a Body, Json)> {
    let what = format!("`{}`", served.name);
    let Some((operation, checks)) = served.operation(arguments) else {
        return Ok((
            &served.definition.body.value,
            accept_arguments(&what, &served.contract, &served.definition.bind, arguments)?,
        ));
    };
    let name = &operation.name.value;
    let checker = checks.arguments.as_ref();
    //= docs/spec.md#operations
    //# The arguments of an operation MUST be validated against its own schema, with all violations reported
    //# at once.
    let mut arguments = arguments.clone();
    let mut problems = checker.map(|checker| check_present(checker, &mut arguments)).unwrap_or_default();
    if problems.is_empty() {
        let mut accepted = accept_arguments(&what, checks, &served.definition.bind, &arguments)?;
        merge_constants(&mut accepted, &operation.bind);
        return Ok((&operation.body.value, accepted));
    }
    problems.iter_mut().for_each(|problem| describe_foreign_argument(problem, name, served));
    Err(arguments_error(&format!("`{name}` of {what}"), &problems))
}

/// Says of a problem with an argument of other operations which ones those are.
fn describe_foreign_argument(problem: &mut SchemaViolation, name: &str, served: &ServedTool) {
    let Some(argument) = problem.pointer.strip_prefix('/').filter(|name| !name.contains('/')) else { return };
    let argument = unescape(argument);
    let knows =
        |checks: &CallContract| checks.schema.get("properties").is_some_and(|known| known.get(&argument).is_some());
    let operations = served.definition.dispatch.iter().flat_map(|dispatch| &dispatch.operations);
    let takers = operations.zip(&served.contract.operations).filter(|(_, checks)| knows(checks));
    let takers: Vec<String> = takers.map(|(operation, _)| format!("`{}`", operation.name.value)).collect();
    if !takers.is_empty() && !takers.contains(&format!("`{name}`")) {
        problem.message = format!("`{name}` takes no `{argument}`");
        problem.help = Some(format!("it is an argument of {}", takers.join(", ")));
    }
}

/// Runs a tool. Its errors, including those of its arguments, go through `on_error` and become its outcome. `prompts`
/// answers the tool of the pack's prompts.
///
/// # Errors
/// Protocol errors: `protocol_error`, `not_found`, a call that was cancelled or suspended, a missing capability.
pub(super) fn run_tool(
    served: &ServedTool,
    invocation: &Invocation,
    arguments: &Json,
    prompts: &dyn Fn(&Json) -> Result<Value>,
) -> Result<ToolOutcome> {
    let most = served.contract.limits.output;
    //= docs/spec.md#calls
    //# Arguments MUST be validated before the script runs, within the limits of the call.
    let value = invocation.guarded(|| choose_body(served, arguments)).and_then(|(body, accepted)| {
        let declared = if takes_arguments(body) { property_names(&served.contract.schema) } else { Vec::new() };
        if *body == Body::Prompts { prompts(&accepted) } else { invocation.body(body, &accepted, &declared) }
    });
    let ended = value
        .and_then(|value| invocation.guarded(|| ToolOutcome::from_value(&value, served, most)))
        .and_then(|outcome| commit_writes(invocation, outcome));
    let error = match ended {
        Ok(outcome) => return Ok(outcome),
        Err(error) => error,
    };
    discard_writes(invocation);
    let handled = match error_handler(&served.definition, invocation) {
        Some((script, function)) if !matches!(error.code, Code::CANCELLED | Code::SUSPENDED) => {
            // A call may have used up its limits, so the handler gets its own.
            let again = invocation.with_fresh_limits();
            let first = error.clone();
            let arguments = again.value(arguments).map(|arguments| vec![CaughtError::value(error), arguments]);
            arguments
                .and_then(|arguments| again.function(&script, &function, arguments))
                .and_then(|value| again.guarded(|| ToolOutcome::from_value(&value, served, most)))
                .and_then(|outcome| commit_writes(&again, outcome))
                .inspect_err(|_| discard_writes(&again))
                // An error that is thrown again stays what it was: an error of the arguments is not one of the handler.
                .map_err(|error| if is_thrown_again(&error, &first) { first } else { error })
        }
        _ => Err(error),
    };
    handled.or_else(|error| match error.code {
        Code::PROTOCOL_ERROR | Code::NOT_FOUND | Code::CANCELLED | Code::SUSPENDED | Code::CAPABILITY => {
            Err(error.bounded(most))
        }
        _ => Ok(ToolOutcome { changes: written_files(invocation), ..ToolOutcome::from_diagnostic(error, served) }),
    })
}

fn is_thrown_again(error: &Diagnostic, first: &Diagnostic) -> bool {
    let has_more = error.data.is_some() && error.data != first.data;
    error.code == first.code && error.message == first.message && !has_more
}

/// Returns `on_error` of the tool, otherwise of the pack: script and function. The script is that of the body,
/// otherwise `tools.d/PACK.rhai`.
fn error_handler(tool: &Tool, invocation: &Invocation) -> Option<(String, String)> {
    let pack = invocation.pack();
    let script = |name: &Located<String>| {
        let of_body = match &tool.body.value {
            Body::Script { script, .. } | Body::Operations { script } => script.clone(),
            _ => format!("tools.d/{}.rhai", pack.name),
        };
        (of_body, name.value.clone())
    };
    tool.on_error.as_ref().or(pack.definition.on_error.as_ref()).map(script)
}

/// Lets the writes and the changes of the graph of a call that ended well count, unless it was stopped meanwhile. The
/// outcome tells what changed.
///
//= docs/spec.md#writes
//# What a call writes MUST be staged until the call succeeds, and MUST be discarded when it fails or is
//# cancelled.
fn commit_writes(invocation: &Invocation, mut outcome: ToolOutcome) -> Result<ToolOutcome> {
    if let Some(error) = invocation.guard.verdict() {
        return Err(error);
    }
    if invocation.host.cancel.is_cancelled() {
        return Err(Diagnostic::new(Code::CANCELLED, "the call was cancelled"));
    }
    commit_call(|| {
        if let Some(staged) = invocation.host.world().staged() {
            staged.flush()?;
            outcome.changes = staged.written()?;
        }
        invocation.host.commit_graph();
        Ok(outcome)
    })
}

/// Discards the remaining staged writes and the graph changes of a call that failed.
///
fn discard_writes(invocation: &Invocation) {
    if let Some(staged) = invocation.host.world().staged() {
        staged.drop_all();
    }
    //= docs/spec.md#changes
    //# A change MUST NOT take effect before its call succeeds, and MUST leave nothing behind when it fails.
    if let Some(changing) = invocation.host.graph_session().taken() {
        changing.abandon();
    }
}

/// Returns what a call has changed on the disk, whether or not it succeeded.
fn written_files(invocation: &Invocation) -> Vec<StagedFile> {
    invocation.host.world().staged().and_then(|staged| staged.written().ok()).unwrap_or_default()
}

pub(super) type AuditWriter = Box<dyn Fn(&Json) + Send + Sync>;

/// Writes one line for each call of a tool, once a writer is set.
#[derive(Default)]
pub struct AuditLog(OnceLock<AuditWriter>);

impl AuditLog {
    /// Has `writer` called for each call from now on. Only the first writer counts.
    pub(super) fn set_writer(&self, writer: AuditWriter) {
        let _once_is_enough = self.0.set(writer);
    }

    /// Runs a call and writes its line: what was called, by which script, how it ended, which files it changed.
    pub(super) fn record(
        &self,
        tool: &ServedTool,
        arguments: &Json,
        script: Option<&str>,
        call: impl FnOnce() -> Result<ToolOutcome>,
    ) -> Result<ToolOutcome> {
        let Some(line) = self.0.get() else { return call() };
        let began = Instant::now();
        let ended = call();
        let (kind, changes) = match &ended {
            Err(error) => (error.code.kind(), Json::from(Vec::<Json>::new())),
            Ok(outcome) => {
                let kind = outcome.error.as_ref().map_or("well", |error| error.code.kind());
                (kind, outcome.changes.iter().map(|file| json!({ "path": file.path, "change": file.change })).collect())
            }
        };
        let operation = tool.operation(arguments).map(|(operation, _)| operation);
        let effect = operation.map_or(&tool.definition.effect, |operation| &operation.effect);
        let mut entry = json!({
            "tool": tool.name,
            "operation": operation.map(|operation| &operation.name.value),
            "pack": tool.pack.name,
            "workspace": tool.pack.compiled.root.as_ref().map(|root| root.root().to_owned()),
            "effect": effect.value.name(),
            "ended": kind,
            "ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
            "changes": changes,
        });
        if let Some(script) = script {
            entry["script"] = json!(script);
        }
        line(&entry);
        ended
    }

    /// Writes the line of a script that called tools.
    pub(super) fn record_script(&self, entry: &Json) {
        if let Some(line) = self.0.get() {
            line(entry);
        }
    }
}
