//! A script that comes with a call: compiled, run, and answered with the value of its last line.

use super::active_request::HostState;
use super::answer::{Answer, ToolOutcome};
use super::host::{DryWorlds, RequestContext, Staging};
use super::request::ScriptRequest;
use super::script_host::ScriptHost;
use super::tool_caller::{ScriptCall, ScriptCalls, ToolCaller};
use crate::content::Content;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::guard::Guard;
use crate::primitive_api::Host;
use crate::script::ad_hoc::{AdHocOutcome, AdHocScript};
use crate::script::{compose_call, watch_guard};
use crate::value::{Json, Value};
use crate::world::staging::StagedFile;
use serde_json::json;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The maximum length of a note.
const MAX_NOTE_CHARS: usize = 300;

/// How many calls the answer of a failed script names.
const LAST_CALLS: usize = 5;

/// What a script is run with.
pub(super) struct ScriptSetup {
    pub(super) state: Arc<HostState>,
    pub(super) context: RequestContext,
}

/// Runs a script and answers with its value.
///
/// # Errors
/// The call was cancelled, or is suspended by a question.
pub(super) fn run_script(request: &ScriptRequest, setup: ScriptSetup) -> Result<Answer> {
    compose_call();
    let began = Instant::now();
    let dry = request.is_dry.then(|| Arc::new(DryWorlds::default()));
    let state = match &dry {
        Some(dry) => setup.state.staged(Staging { dry: Some(Arc::clone(dry)), ..Staging::default() }),
        None => setup.state,
    };
    let id = blake3::hash(request.text.as_bytes()).to_hex()[..12].to_owned();
    let shared = Arc::new(ScriptCalls {
        began: state.registry.load_full(),
        rules: request.rules.clone(),
        id: Some(id.clone()),
        is_dry: request.is_dry,
        depth: 1,
        begun: 0.into(),
        kept_bytes: 0.into(),
        calls: Mutex::default(),
        notes: Mutex::default(),
        state: Arc::clone(&state),
        context: setup.context,
        host: Some(|caller| Arc::new(ScriptHost::new(caller))),
    });
    let guard = Guard::new(request.rules.limits, shared.context.cancel.clone());
    let watched = watch_guard(&guard);
    let caller = ToolCaller { shared: Arc::clone(&shared), path: String::new(), next: 0.into(), is_branch: false };
    let host = Arc::new(ScriptHost::new(caller));
    let mut ended = compile_and_run(request, &host, &guard);
    if let Ok(outcome) = &mut ended {
        outcome.notes.append(&mut shared.notes.lock().unwrap_or_else(PoisonError::into_inner));
    }
    drop(watched);
    let calls = std::mem::take(&mut *shared.calls.lock().unwrap_or_else(PoisonError::into_inner));
    let ended_as = ended.as_ref().map_or_else(|error| error.code.kind(), |_| "well");
    state.audit.record_script(&json!({
        "script": id, "bytes": request.text.len(), "calls": calls.len(), "ended": ended_as,
        "ms": u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX),
    }));
    let changes = dry.map(|dry| dry.written()).transpose()?;
    let answer = match ended {
        Err(error) if matches!(error.code, Code::SUSPENDED | Code::CANCELLED) => return Err(error),
        Ok(outcome) => good_answer(outcome, &host.take_printed(), &calls, changes, request.rules.limits.output),
        Err(error) => {
            let error = error.bounded(request.rules.limits.output);
            failed_answer(&error, &host.take_printed(), &calls, request.is_dry)
        }
    };
    Ok(Answer::Tool(answer))
}

fn compile_and_run(request: &ScriptRequest, host: &Arc<ScriptHost>, guard: &Arc<Guard>) -> Result<AdHocOutcome> {
    let script = {
        let _guarded = guard.enter();
        AdHocScript::compile(&request.text, Value::from_json(&request.input), host.as_ref())?
    };
    let host: Arc<dyn Host> = Arc::clone(host) as Arc<dyn Host>;
    script.run(&host, guard)
}

fn good_answer(
    outcome: AdHocOutcome,
    printed: &str,
    calls: &[ScriptCall],
    changes: Option<Vec<StagedFile>>,
    most: usize,
) -> ToolOutcome {
    let value = match outcome.value.json() {
        Ok(value) => value,
        Err(error) => return failed_answer(&error, printed, calls, changes.is_some()),
    };
    let text = match &value {
        Json::String(text) => text.clone(),
        value => value.to_string(),
    };
    if text.len() > most {
        return failed_answer(&too_large(&value, text.len(), most), printed, calls, changes.is_some());
    }
    let mut notes: Vec<String> = outcome.notes.iter().map(|note| shorten(note)).collect();
    if !printed.is_empty() {
        notes.push(format!("printed: {}", printed.trim_end()));
    }
    if let Some(changes) = &changes {
        let listed: Vec<String> = changes.iter().map(|file| format!("{} {}", file.change, file.path)).collect();
        notes.push(match listed.is_empty() {
            true => "dry run: no file would change".to_owned(),
            false => format!("dry run, nothing was written; would change: {}", listed.join(", ")),
        });
    }
    let structured = match value {
        Json::String(_) => None,
        value => Some(value),
    };
    ToolOutcome {
        content: vec![Content::text(text)],
        structured,
        meta: Some(calls_meta(calls)),
        notices: notes,
        changes: changes.unwrap_or_default(),
        ..ToolOutcome::default()
    }
}

/// The answer of a script that failed: the error, what it printed, and the calls that were made.
fn failed_answer(error: &Diagnostic, printed: &str, calls: &[ScriptCall], is_dry: bool) -> ToolOutcome {
    let mut data = json!({ "error": error.message });
    if let Some(place) = &error.at {
        data["at"] = json!(place.to_string());
    }
    let help = error.help.as_deref().filter(|_| !error.is_for_author);
    let help = help.or_else(|| (error.code == Code::LIMIT).then_some("do less in one script: fewer calls, fewer rows"));
    if let Some(help) = help {
        data["help"] = json!(help);
    }
    if let Some(tool) = &error.tool {
        data["tool"] = json!(tool);
    }
    // The message of arguments that do not fit has all problems.
    if let Some(more) = error.data.as_ref().filter(|_| error.code != Code::ARGUMENTS) {
        data["data"] = (**more).clone();
    }
    if !calls.is_empty() {
        let last = calls.iter().skip(calls.len().saturating_sub(LAST_CALLS)).map(ScriptCall::describe);
        data["calls"] = json!({ "total": calls.len(), "last": last.collect::<Vec<_>>() });
    }
    let changed: Vec<&String> = calls.iter().flat_map(|call| &call.changes).collect();
    if !changed.is_empty() && !is_dry {
        data["already_changed"] = json!(changed);
    }
    if !printed.is_empty() {
        data["printed"] = json!(printed.trim_end());
    }
    ToolOutcome {
        content: vec![Content::text(data.to_string())],
        structured: Some(data),
        failed: true,
        meta: Some(calls_meta(calls)),
        ..ToolOutcome::default()
    }
}

fn calls_meta(calls: &[ScriptCall]) -> Json {
    json!({ "toolsd/calls": calls.iter().map(ScriptCall::to_json).collect::<Vec<_>>() })
}

/// The error of a value that is too large, with what it is.
fn too_large(value: &Json, bytes: usize, most: usize) -> Box<Diagnostic> {
    let message = format!("the value has {} kB (limit {}): {}", bytes >> 10, most >> 10, describe_value(value));
    Diagnostic::new(Code::LIMIT, message).help("return fewer rows or fields: `rows.take(5)`, `rows.map(|r| r.id)`")
}

/// One line of a limited length: names of properties and tools may be of any length.
fn shorten(note: &str) -> String {
    let line = note.replace(['\n', '\r'], " ");
    match line.char_indices().nth(MAX_NOTE_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

fn describe_value(value: &Json) -> String {
    let keys = |map: &serde_json::Map<String, Json>| {
        let named: Vec<String> = map.keys().take(6).map(|key| format!("`{key}`")).collect();
        format!("{}{}", named.join(", "), if map.len() > 6 { ", …" } else { "" })
    };
    match value {
        Json::Array(items) => match items.first() {
            Some(Json::Object(first)) => format!("an array of {} maps with {}", items.len(), keys(first)),
            _ => format!("an array of {} values", items.len()),
        },
        Json::Object(map) => format!("a map with {}", keys(map)),
        Json::String(_) => "a string".to_owned(),
        _ => "a value".to_owned(),
    }
}
