//! Compares the expectations of a step with its outcome, and describes the differences.

use super::blessing::Blessing;
use super::stage::Snapshot;
use crate::call::{Answer, ResourceAnswer, ToolOutcome};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::code::CASE;
use crate::definition::{CaseStep, Expectation};
use crate::diagnostic::{Code, Diagnostic};
use crate::primitive_api::Notice;
use crate::source::Place;
use crate::value::{Json, Object};
use serde_json::json;
use similar::{ChangeTag, TextDiff};

pub struct StepOutcome<'a> {
    /// The answer, if something was asked.
    pub answer: Option<&'a Answer>,
    /// The files before.
    pub before: Snapshot,
    /// The files after.
    pub after: Snapshot,
    /// The notices that were sent.
    pub notices: Vec<Notice>,
    pub asked: Vec<Json>,
}

/// Returns the expectations that are not met, each at its location. With blessings, a different result becomes one.
pub fn check_expectations(
    happened: &StepOutcome<'_>,
    step: &CaseStep,
    mut blessings: Option<&mut Vec<Blessing>>,
) -> Vec<Diagnostic> {
    let mut diagnostics = Vec::new();
    let failure = happened.answer.and_then(failure);
    let expected = step.expect.iter().any(|expect| matches!(expect.value, Expectation::Error(_)));
    if let (Some(diagnostic), false) = (failure, expected) {
        let reported = match &diagnostic.at {
            Some(place) => format!("it failed: {} (at {place})", diagnostic.message),
            None => format!("it failed: {}", diagnostic.message),
        };
        let mut reported = unmet_at(&step.act.at, reported);
        reported.help.clone_from(&diagnostic.help);
        return vec![reported];
    }
    for expect in &step.expect {
        let differs = match (&expect.value, happened.answer) {
            (Expectation::Files(files), _) => leaves(files, happened),
            (Expectation::Notifications(notices), _) => notified(notices, happened),
            (Expectation::Questions(questions), _) => asks(questions, happened),
            (_, None) => Some("nothing was called, read or prompted".to_owned()),
            (Expectation::Result(expected), Some(answer)) => difference(expected, &result_of(answer)),
            (Expectation::Matches(expected), Some(answer)) => partial_difference(expected, &result_of(answer)),
            (Expectation::Contains(text), Some(answer)) => contains(text, answer),
            (Expectation::Error(expected), Some(_)) => fails(expected, failure),
        };
        if let Some(differs) = differs {
            if let (Expectation::Result(_), Some(answer), Some(blessings)) =
                (&expect.value, happened.answer, &mut blessings)
            {
                blessings.push(Blessing { at: expect.at.clone(), value: result_of(answer) });
                continue;
            }
            let what = match &expect.value {
                Expectation::Result(_) => "the result differs",
                Expectation::Matches(_) => "the result does not match",
                Expectation::Contains(_) => "the result does not contain it",
                Expectation::Error(_) => "the error differs",
                Expectation::Files(_) => "other files changed",
                Expectation::Notifications(_) => "the notifications differ",
                Expectation::Questions(_) => "the questions differ",
            };
            diagnostics.push(unmet_at(&expect.at, format!("{what}\n{differs}")));
        }
    }
    diagnostics
}

/// Returns the error of an answer, if it failed.
fn failure(answer: &Answer) -> Option<&Diagnostic> {
    match answer {
        Answer::Error(diagnostic) => Some(diagnostic),
        Answer::Tool(outcome) if outcome.failed => outcome.error.as_deref(),
        _ => None,
    }
}

fn fails(expected: &Json, failure: Option<&Diagnostic>) -> Option<String> {
    let Some(diagnostic) = failure else { return Some("it ended well".to_owned()) };
    let rejected = diagnostic.code == Code::PROTOCOL_ERROR;
    let inner = diagnostic.data.as_deref().cloned().unwrap_or_default();
    let (code, data) = match (rejected, inner.get("code")) {
        (true, Some(code)) => (code.clone(), inner.get("data").cloned().unwrap_or_default()),
        _ => (json!(diagnostic.code.0), inner),
    };
    let mut differing = Vec::new();
    if let Some(wanted) = expected.get("code")
        && !is_equal(wanted, &code)
    {
        differing.push(format!("code: expected {wanted}, got {code}"));
    }
    if let Some(wanted) = expected.get("message").and_then(Json::as_str)
        && !diagnostic.message.contains(wanted)
    {
        differing.push(format!("message: expected a part {wanted:?}, got {:?}", diagnostic.message));
    }
    if let Some(wanted) = expected.get("data")
        && let Some(differs) = partial_difference(wanted, &data)
    {
        differing.push(format!("data: {differs}"));
    }
    (!differing.is_empty()).then(|| differing.join("\n"))
}

fn contains(text: &str, answer: &Answer) -> Option<String> {
    let words = answer_texts(answer);
    let all = words.join("\n");
    let found = all.contains(text) || result_of(answer).to_string().contains(text);
    (!found).then(|| format!("expected a part {text:?}, got:\n{all}"))
}

fn answer_texts(answer: &Answer) -> Vec<String> {
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

/// Exactly these files changed: path and text, `null` for a removed file.
fn leaves(expected: &Json, happened: &StepOutcome<'_>) -> Option<String> {
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

fn notified(expected: &Json, happened: &StepOutcome<'_>) -> Option<String> {
    let reported = happened.notices.iter().map(|notice| match notice {
        Notice::Progress { done, total, message } => {
            json!({ "progress": { "done": done, "total": total, "message": message } })
        }
        Notice::Status(text) => json!({ "status": text }),
        Notice::Log { level, data } => json!({ "log": { "level": level.name(), "data": data } }),
        Notice::Changed(list) => json!({ "changed": list.name() }),
        Notice::Updated { uri } => json!({ "updated": uri }),
    });
    partial_difference(expected, &reported.collect())
}

/// These questions, in this order: a text stands for a key.
fn asks(expected: &Json, happened: &StepOutcome<'_>) -> Option<String> {
    let one = |expected: &Json| if expected.is_string() { json!({ "key": expected }) } else { expected.clone() };
    let expected: Json = match expected {
        Json::Array(all) => all.iter().map(one).collect(),
        single => Json::Array(vec![one(single)]),
    };
    partial_difference(&expected, &Json::Array(happened.asked.clone()))
}

pub fn unmet_at(at: &Place, message: String) -> Diagnostic {
    *Diagnostic::new(CASE, message).at(at.clone())
}

/// What an answer holds, as `result`, `result_matches` and `capture` see it: data as it is, a single text as a text (as
/// JSON, if a resource says that it is), several blocks as MCP writes them.
pub fn result_of(answer: &Answer) -> Json {
    match answer {
        Answer::Tool(outcome) => result_of_tool(outcome),
        Answer::Contents(contents) => result_of_read(contents),
        Answer::Messages { messages, .. } => {
            messages.iter().map(|(role, content)| json!({ "role": role, "content": content.to_json() })).collect()
        }
        Answer::Completion { values, .. } => json!(values),
        Answer::Resources(resources) => json!(**resources),
        Answer::Skills(skills) => skills.iter().map(|(_, skill)| json!(skill.uri)).collect(),
        Answer::Ready(_) => Json::Null,
        Answer::Asks(asks) => asks.questions.iter().map(|(key, _)| json!(key)).collect(),
        Answer::Error(diagnostic) => crate::call::error_json(diagnostic),
    }
}

fn result_of_tool(outcome: &ToolOutcome) -> Json {
    if let Some(data) = &outcome.structured {
        return data.clone();
    }
    match outcome.content.as_slice() {
        [one] if let (ContentBody::Text(text), None, None) = (&one.block, &one.annotations, &one.meta) => json!(text),
        blocks => blocks.iter().map(Object::to_json).collect(),
    }
}

fn result_of_read(contents: &ResourceAnswer) -> Json {
    let shown = |(uri, mime_type, body): &(String, Option<String>, ResourceBody)| match body {
        ResourceBody::Text(text) if mime_type.as_deref().is_some_and(|kind| kind.contains("json")) => {
            serde_json::from_str(text).unwrap_or_else(|_| json!(text))
        }
        ResourceBody::Text(text) => json!(text),
        ResourceBody::Blob(blob) => json!({ "uri": uri, "mimeType": mime_type, "blob": blob }),
    };
    let parts: Vec<Json> = contents.parts.iter().map(shown).collect();
    match parts.len() {
        1 => parts.into_iter().next().unwrap_or_default(),
        _ => Json::Array(parts),
    }
}

/// Maximum number of differences that are listed; of more, only the number is shown.
const MAX_LISTED_DIFFERENCES: usize = 8;

/// Returns how two values differ; `None` if they are equal (the order of keys does not matter).
pub fn difference(expected: &Json, got: &Json) -> Option<String> {
    if is_equal(expected, got) {
        return None;
    }
    Some(diff(&pretty(&sorted(expected)), &pretty(&sorted(got))))
}

/// Returns how `got` differs from `expected`; `None` if `expected` is a part of it. Maps may have more keys, lists must
/// have the same number of items.
fn partial_difference(expected: &Json, got: &Json) -> Option<String> {
    let mut differing = Vec::new();
    compare_part(expected, got, &mut String::new(), &mut differing);
    let more = differing.len().saturating_sub(MAX_LISTED_DIFFERENCES);
    differing.truncate(MAX_LISTED_DIFFERENCES);
    if more > 0 {
        differing.push(format!("and {more} more"));
    }
    (!differing.is_empty()).then(|| differing.join("\n"))
}

/// A unified view of two texts, three lines around each change.
fn diff(expected: &str, got: &str) -> String {
    let diff = TextDiff::from_lines(expected, got);
    let mut text = String::from("- expected\n+ got\n");
    for (index, group) in diff.grouped_ops(3).iter().enumerate() {
        if index > 0 {
            text.push_str("  …\n");
        }
        for change in group.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let sign = match change.tag() {
                ChangeTag::Delete => "- ",
                ChangeTag::Insert => "+ ",
                ChangeTag::Equal => "  ",
            };
            text.push_str(sign);
            text.push_str(change.value().trim_end_matches('\n'));
            text.push('\n');
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// Whether both are equal as JSON Schema has it: `1` is `1.0`, and keys have no order.
fn is_equal(one: &Json, other: &Json) -> bool {
    match (one, other) {
        (Json::Number(one), Json::Number(other)) => {
            // Two large integers may be the same number only after rounding.
            let are_whole = !one.is_f64() && !other.is_f64();
            one == other || !are_whole && one.as_f64() == other.as_f64()
        }
        (Json::Array(one), Json::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_equal(one, other))
        }
        (Json::Object(one), Json::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|found| is_equal(value, found)))
        }
        _ => one == other,
    }
}

fn compare_part(expected: &Json, got: &Json, at: &mut String, differing: &mut Vec<String>) {
    let length = at.len();
    match (expected, got) {
        (Json::Object(expected), Json::Object(found)) => {
            for (key, value) in expected {
                at.push('/');
                at.push_str(key);
                match found.get(key) {
                    Some(found) => compare_part(value, found, at, differing),
                    None => differing.push(format!("{at}: expected {}, got nothing", shorten(value))),
                }
                at.truncate(length);
            }
        }
        (Json::Array(expected), Json::Array(found)) if expected.len() == found.len() => {
            for (index, (value, found)) in expected.iter().zip(found).enumerate() {
                at.push_str(&format!("/{index}"));
                compare_part(value, found, at, differing);
                at.truncate(length);
            }
        }
        (Json::Array(expected), Json::Array(found)) => {
            let place = place_name(at);
            let (wanted, count) = (expected.len(), found.len());
            differing.push(format!("{place}: expected {wanted} items, got {count}: {}", shorten(got)));
        }
        _ if is_equal(expected, got) => {}
        _ => differing.push(format!("{}: expected {}, got {}", place_name(at), shorten(expected), shorten(got))),
    }
}

fn place_name(at: &str) -> &str {
    if at.is_empty() { "the result" } else { at }
}

fn shorten(value: &Json) -> String {
    let text = value.to_string();
    match text.char_indices().nth(300) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

fn pretty(value: &Json) -> String {
    match value {
        Json::String(text) if text.contains('\n') => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// The same with sorted keys, so that a view of two texts shows only what differs.
fn sorted(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(sorted).collect(),
        Json::Object(map) => {
            let mut pairs: Vec<(&String, &Json)> = map.iter().collect();
            pairs.sort_by_key(|(key, _)| *key);
            Json::Object(pairs.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_and_the_way_to_write_a_number_do_not_matter() {
        assert_eq!(difference(&json!({ "a": 1, "b": [2.0] }), &json!({ "b": [2], "a": 1.0 })), None);
        let shown = "- expected\n+ got\n  {\n-   \"a\": 1\n+   \"a\": 2\n  }";
        assert_eq!(difference(&json!({ "a": 1 }), &json!({ "a": 2 })).as_deref(), Some(shown));
    }

    #[test]
    fn a_part_may_leave_keys_out_but_no_items() {
        assert_eq!(partial_difference(&json!([{ "a": 1 }]), &json!([{ "a": 1, "b": 2 }])), None);
        let shown = "the result: expected 1 items, got 2: [1,2]";
        assert_eq!(partial_difference(&json!([1]), &json!([1, 2])).as_deref(), Some(shown));
        let shown = "/0/a: expected 1, got \"x\"\n/0/b: expected 2, got nothing";
        assert_eq!(partial_difference(&json!([{ "a": 1, "b": 2 }]), &json!([{ "a": "x" }])).as_deref(), Some(shown));
    }

    #[test]
    fn large_integers_are_equal_only_if_they_are_the_same() {
        let equal = |one: Json, other: Json| is_equal(&one, &other);
        assert!(equal(json!({ "x": 1 }), json!({ "x": 1.0 })));
        assert!(!equal(json!({ "x": 9_007_199_254_740_993_i64 }), json!({ "x": 9_007_199_254_740_992_i64 })));
        assert!(equal(json!(9_007_199_254_740_992_i64), json!(9_007_199_254_740_992.0)));
    }
}
