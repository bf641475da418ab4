//! What a step expected, against what happened.

use super::stage::Snapshot;
use super::{Blessing, diff, gives, matches, result_of, same, wrong};
use crate::call::Answer;
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::{Expect, Step};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive::Notice;
use crate::value::Json;
use serde_json::json;

/// What happened in a step.
pub struct Happened<'a> {
    /// The answer, if something was asked.
    pub answer: Option<&'a Answer>,
    /// The files before.
    pub before: Snapshot,
    /// The files after.
    pub after: Snapshot,
    /// What the client was told.
    pub notices: Vec<Notice>,
    /// What it was asked.
    pub asked: Vec<Json>,
}

/// The expectations that are not met, each at its place. Where blessings are taken, another result is one.
pub fn unmet(happened: &Happened<'_>, step: &Step, mut blessings: Option<&mut Vec<Blessing>>) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    let failure = happened.answer.and_then(failure);
    let expected = step.expect.iter().any(|expect| matches!(expect.value, Expect::Fails(_)));
    if let (Some(fault), false) = (failure, expected) {
        let told = match &fault.at {
            Some(place) => format!("it failed: {} (at {place})", fault.message),
            None => format!("it failed: {}", fault.message),
        };
        let mut told = wrong(&step.act.at, told);
        told.help.clone_from(&fault.help);
        return vec![told];
    }
    for expect in &step.expect {
        let differs = match (&expect.value, happened.answer) {
            (Expect::Leaves(files), _) => leaves(files, happened),
            (Expect::Notified(notices), _) => notified(notices, happened),
            (Expect::Asks(questions), _) => asks(questions, happened),
            (_, None) => Some("nothing was called, read or prompted".to_owned()),
            (Expect::Gives(expected), Some(answer)) => gives(expected, &result_of(answer)),
            (Expect::Matches(expected), Some(answer)) => matches(expected, &result_of(answer)),
            (Expect::Contains(text), Some(answer)) => contains(text, answer),
            (Expect::Fails(expected), Some(_)) => fails(expected, failure),
        };
        if let Some(differs) = differs {
            if let (Expect::Gives(_), Some(answer), Some(blessings)) = (&expect.value, happened.answer, &mut blessings)
            {
                blessings.push(Blessing { at: expect.at.clone(), value: result_of(answer) });
                continue;
            }
            let what = match &expect.value {
                Expect::Gives(_) => "the result is another one",
                Expect::Matches(_) => "the result does not match",
                Expect::Contains(_) => "the result does not contain it",
                Expect::Fails(_) => "it did not fail so",
                Expect::Leaves(_) => "other files changed",
                Expect::Notified(_) => "other notices were sent",
                Expect::Asks(_) => "other questions were asked",
            };
            faults.push(wrong(&expect.at, format!("{what}\n{differs}")));
        }
    }
    faults
}

/// What an answer failed with, if it failed.
fn failure(answer: &Answer) -> Option<&Diagnostic> {
    match answer {
        Answer::Fault(fault) => Some(fault),
        Answer::Tool(outcome) if outcome.failed => outcome.fault.as_deref(),
        _ => None,
    }
}

fn fails(expected: &Json, failure: Option<&Diagnostic>) -> Option<String> {
    let Some(fault) = failure else { return Some("it ended well".to_owned()) };
    let rejected = fault.code == Code::REJECT;
    let inner = fault.data.as_deref().cloned().unwrap_or_default();
    let (code, data) = match (rejected, inner.get("code")) {
        (true, Some(code)) => (code.clone(), inner.get("data").cloned().unwrap_or_default()),
        _ => (json!(fault.code.0), inner),
    };
    let mut differing = Vec::new();
    if let Some(wanted) = expected.get("code")
        && !same(wanted, &code)
    {
        differing.push(format!("code: expected {wanted}, got {code}"));
    }
    if let Some(wanted) = expected.get("message").and_then(Json::as_str)
        && !fault.message.contains(wanted)
    {
        differing.push(format!("message: expected a part {wanted:?}, got {:?}", fault.message));
    }
    if let Some(wanted) = expected.get("data")
        && let Some(differs) = matches(wanted, &data)
    {
        differing.push(format!("data: {differs}"));
    }
    (!differing.is_empty()).then(|| differing.join("\n"))
}

fn contains(text: &str, answer: &Answer) -> Option<String> {
    let words = words(answer);
    let all = words.join("\n");
    let found = all.contains(text) || result_of(answer).to_string().contains(text);
    (!found).then(|| format!("expected a part {text:?}, got:\n{all}"))
}

fn words(answer: &Answer) -> Vec<String> {
    let of_block = |content: &Content| match &content.block {
        ContentBody::Text(text) => text.clone(),
        ContentBody::Resource { body: ResourceBody::Text(text), .. } => text.clone(),
        other => format!("{other:?}"),
    };
    match answer {
        Answer::Tool(outcome) => outcome.content.iter().map(of_block).collect(),
        Answer::Messages { messages, .. } => messages.iter().map(|(_, content)| of_block(content)).collect(),
        Answer::Contents(contents) => contents
            .parts
            .iter()
            .map(|(_, _, body)| match body {
                ResourceBody::Text(text) | ResourceBody::Blob(text) => text.clone(),
            })
            .collect(),
        other => vec![result_of(other).to_string()],
    }
}

/// Exactly these files changed: path and text, `null` where one is gone.
fn leaves(expected: &Json, happened: &Happened<'_>) -> Option<String> {
    let (before, after) = (&happened.before, &happened.after);
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    let changed = paths.filter(|path| before.get(*path) != after.get(*path));
    let changed: serde_json::Map<String, Json> = changed
        .map(|path| {
            let text = after.get(path).map_or(Json::Null, |bytes| json!(String::from_utf8_lossy(bytes)));
            (path.clone(), text)
        })
        .collect();
    let mut differing = Vec::new();
    for (path, wanted) in expected.as_object().into_iter().flatten() {
        match (changed.get(path), wanted) {
            (Some(got), wanted) if got == wanted => {}
            (Some(Json::String(got)), Json::String(wanted)) => {
                differing.push(format!("`{path}`:\n{}", diff(wanted, got)));
            }
            (Some(got), _) => differing.push(format!("`{path}`: expected {wanted}, got {got}")),
            (None, _) => differing.push(format!("`{path}` did not change")),
        }
    }
    let unexpected = changed.keys().filter(|path| expected.get(path.as_str()).is_none());
    differing.extend(unexpected.map(|path| format!("`{path}` changed too")));
    (!differing.is_empty()).then(|| differing.join("\n"))
}

fn notified(expected: &Json, happened: &Happened<'_>) -> Option<String> {
    let told = happened.notices.iter().map(|notice| match notice {
        Notice::Progress { done, total, message } => {
            json!({ "progress": { "done": done, "total": total, "message": message } })
        }
        Notice::Status(text) => json!({ "status": text }),
        Notice::Log { level, data } => json!({ "log": { "level": level.name(), "data": data } }),
        Notice::Changed(list) => json!({ "changed": list.name() }),
        Notice::Updated { uri } => json!({ "updated": uri }),
    });
    matches(expected, &told.collect())
}

/// These questions, in this order: a text stands for a key.
fn asks(expected: &Json, happened: &Happened<'_>) -> Option<String> {
    let one = |expected: &Json| if expected.is_string() { json!({ "key": expected }) } else { expected.clone() };
    let expected: Json = match expected {
        Json::Array(all) => all.iter().map(one).collect(),
        single => Json::Array(vec![one(single)]),
    };
    matches(&expected, &Json::Array(happened.asked.clone()))
}
