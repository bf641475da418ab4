//! Lowers `[[tool]]`.

use super::{Reading, ask, icons, limits, operation, setting};
use crate::definition::{Body, Case, Dispatch, Fields, Hints, Located, Role, Schema, Task, Tasking, Tool, code};
use crate::diagnostic::Diagnostic;
use crate::primitive::Effect;

/// No task is kept for longer than a week, in milliseconds.
const LONGEST_MS: u64 = 7 * 24 * 3_600_000;

/// `[[tool]]`, and the examples of its operations.
pub fn tool(fields: &Fields<'_>, reading: &mut Reading) -> (Tool, Vec<Case>) {
    let mut body = reading.body(fields, "fn", &["fn", "template", "primitive", "text", "file"], "a tool");
    if !fields.has("description") && !fields.has("describe") {
        let help = "when to use it, when not, and what comes back";
        reading.missing(&fields.header, "[[tool]] has no `description`", help);
    }
    let tasking = tasking(fields, reading);
    let common = reading.schema(fields, "input", Role::Input).unwrap_or_else(|| Schema::none(&fields.header));
    let (dispatch, input, shown) = match operation::dispatch(fields, &common, reading) {
        Some((dispatch, input, shown)) => (Some(dispatch), input, shown),
        None => (None, common, Vec::new()),
    };
    let effect = match &dispatch {
        Some(dispatch) => {
            body.value = Body::Operations { script: reading.script_of(fields) };
            strongest(dispatch)
        }
        None => effect(fields, &body.value, reading),
    };
    let tool = Tool {
        at: fields.header.clone(),
        name: fields.needed("name"),
        title: fields.text("title"),
        description: fields.needed("description"),
        describe: fields.located("describe"),
        enabled: setting(fields, "enabled", fields.flag("enabled").unwrap_or(true)),
        effect,
        input,
        output: reading.schema(fields, "output", Role::Output),
        body,
        dispatch,
        with: fields.object("with"),
        on_error: fields.located("on_error"),
        questions: ask::questions(fields, reading, tasking.task != Task::Never),
        requires_client: ask::requires_client(fields, reading),
        tasking,
        hints: Hints {
            destructive: fields.flag("destructive"),
            idempotent: fields.flag("idempotent"),
            open_world: fields.flag("open_world"),
        },
        icons: icons(fields, &mut reading.faults),
        meta: fields.json("meta"),
        limits: limits(fields, &mut reading.faults),
    };
    (tool, shown)
}

/// What a tool of operations does at most: the strongest of them.
fn strongest(dispatch: &Dispatch) -> Located<Effect> {
    let strongest = dispatch.operations.iter().map(|operation| &operation.effect).max_by_key(|effect| effect.value);
    strongest.cloned().unwrap_or_else(|| Located { value: Effect::Pure, at: dispatch.argument.at.clone() })
}

/// The declared effect. Constants and plain templates have none; a primitive has its own.
fn effect(fields: &Fields<'_>, body: &Body, reading: &mut Reading) -> Located<Effect> {
    if let Some(word) = fields.located("effect") {
        let value = Effect::ALL.into_iter().find(|effect| effect.name() == word.value).unwrap_or(Effect::Pure);
        return Located { value, at: word.at };
    }
    let value = match body {
        Body::Text(_) | Body::File(_) => Some(Effect::Pure),
        Body::Template { context, .. } | Body::Inline { context, .. } if context.is_none() => Some(Effect::Pure),
        Body::Primitive(name) => Some(crate::primitives::find(name).map_or(Effect::Pure, |found| found.effect)),
        _ => None,
    };
    if value.is_none() {
        let words = "what it does at most: pure, reads, changes, writes or runs";
        reading.missing(&fields.header, "[[tool]] has no `effect`", words);
    }
    Located { value: value.unwrap_or(Effect::Runs), at: fields.needed("name").at }
}

/// Whether calls run as tasks, and how those are kept.
fn tasking(fields: &Fields<'_>, reading: &mut Reading) -> Tasking {
    let usual = Tasking::default();
    let word = fields.text("task");
    let task = Task::ALL.into_iter().find(|task| word.as_deref() == Some(task.name())).unwrap_or(usual.task);
    let mut given = |key: &'static str, usual: u64| {
        let (Some(given), Some(at)) = (fields.integer(key), fields.key_at(key)) else { return usual };
        if task == Task::Never {
            let fault = Diagnostic::new(code::WRONG_VALUE, format!("`{key}` says nothing: there are no tasks"));
            reading.fault(fault.at(at.clone()).help("give the tool `task = \"optional\"` or `\"required\"`"));
        } else if given > LONGEST_MS {
            let fault = Diagnostic::new(code::WRONG_VALUE, format!("no task is kept for {given} milliseconds"));
            reading.fault(fault.at(at.clone()).help(format!("at most a week: {LONGEST_MS}")));
        }
        given
    };
    let (ttl_ms, poll_ms) = (given("task_ttl_ms", usual.ttl_ms), given("task_poll_ms", usual.poll_ms));
    Tasking { task, ttl_ms, poll_ms }
}
