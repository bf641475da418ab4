//! One tool, prompt or resource before and after: its texts, its schemas, and what it demands of clients.

use super::change::{Change, Verdict};
use super::schema::{Role, compare_schemas};
use super::wording::{overlooked, text_change};
use crate::value::Json;
use serde_json::{Map, json};

/// Where the item is.
pub(super) struct Place<'a> {
    pub(super) pack: &'a str,
    pub(super) name: &'a str,
    /// Whether scripts, templates and data are the same.
    pub(super) same_behaviour: bool,
}

impl Place<'_> {
    fn change(&self, what: String, kind: &'static str, verdict: Verdict, message: impl Into<String>) -> Change {
        Change::new(self.pack, what, kind, verdict, message)
    }
}

/// Texts of every item: the key, and the code of its change.
const TEXTS: [(&str, &str); 5] = [
    ("description", "description-changed"),
    ("title", "title-changed"),
    ("icons", "icons-changed"),
    ("deprecated", "deprecation-changed"),
    ("_meta", "meta-changed"),
];

/// Compares an item with what it became; `key` is `tools`, `prompts` or `resources`.
pub(super) fn compare_item(key: &str, place: &Place<'_>, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    if old == new {
        return;
    }
    let what = format!("{} `{}`", key.trim_end_matches('s'), place.name);
    for (key, kind) in TEXTS {
        changes.extend(text_change(place.pack, &what, kind, key, old.get(key), new.get(key)));
    }
    demands(place, &what, old, new, changes);
    match key {
        "tools" => tool(place, &what, old, new, changes),
        "prompts" => prompt(place, &what, old, new, changes),
        _ => resource(place, &what, old, new, changes),
    }
}

fn tool(place: &Place<'_>, what: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let anything = json!({ "type": "object" });
    let input = |tool: &Json| tool.get("inputSchema").unwrap_or(&anything).clone();
    changes.extend(compare_schemas(place.pack, what, Role::Arguments, &input(old), &input(new)));
    let of_result = format!("{what}, result");
    match (old.get("outputSchema"), new.get("outputSchema")) {
        (Some(old), Some(new)) => changes.extend(compare_schemas(place.pack, what, Role::Result, old, new)),
        (None, Some(_)) => {
            let message = "an output schema is new: clients check results now, and readers of text get other text";
            changes.push(place.change(of_result, "output-schema-added", Verdict::Breaking, message));
        }
        (Some(_), None) if place.same_behaviour => {
            let message = "the output schema was removed, and behaviour is the same: results still fit the old schema";
            changes.push(place.change(of_result, "output-schema-removed", Verdict::Compatible, message));
        }
        (Some(_), None) => {
            let message =
                "the output schema was removed, and behaviour changed: cannot tell whether results fit the old schema";
            changes.push(place.change(of_result, "output-schema-removed", Verdict::Breaking, message));
        }
        (None, None) => {}
    }
    hints(place, what, old, new, changes);
    task(place, what, old, new, changes);
}

fn hints(place: &Place<'_>, what: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let hint = |tool: &Json, key: &str, usual: bool| {
        tool.get("annotations").and_then(|hints| hints.get(key)?.as_bool()).unwrap_or(usual)
    };
    let reads = |tool: &Json| hint(tool, "readOnlyHint", false);
    // What only reads destroys nothing and can be repeated, whatever the other hints are.
    let risks = |tool: &Json| {
        [
            !reads(tool),
            !reads(tool) && hint(tool, "destructiveHint", true),
            !reads(tool) && !hint(tool, "idempotentHint", false),
            hint(tool, "openWorldHint", true),
        ]
    };
    let words = [
        ("read-only-hint-changed", "readOnlyHint", "does more than read", "only reads"),
        ("destructive-hint-changed", "destructiveHint", "may destroy", "does not destroy"),
        (
            "idempotent-hint-changed",
            "idempotentHint",
            "cannot be repeated without effect",
            "can be repeated without effect",
        ),
        ("open-world-hint-changed", "openWorldHint", "reaches an open world", "reaches a closed world"),
    ];
    for ((was, is), (kind, key, risk, safe)) in risks(old).into_iter().zip(risks(new)).zip(words) {
        let what = format!("{what}, `{key}`");
        changes.extend(match (was, is) {
            (false, true) => {
                let message = format!("the tool {risk} now: clients that allow or retry by this hint stop or ask");
                Some(place.change(what, kind, Verdict::Breaking, message).widening(true))
            }
            (true, false) => {
                Some(place.change(what, kind, Verdict::Compatible, format!("the tool {safe} now: calls still work")))
            }
            _ => None,
        });
    }
}

fn task(place: &Place<'_>, what: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let of = |tool: &Json| tool.get("task").and_then(Json::as_str).unwrap_or("forbidden").to_owned();
    let (before, after) = (of(old), of(new));
    if before == after {
        return;
    }
    let (verdict, meaning) = match after.as_str() {
        "optional" => (Verdict::Compatible, "calls with and without a task work"),
        "required" => (Verdict::Breaking, "calls without a task fail"),
        _ => (Verdict::Breaking, "calls with a task fail"),
    };
    let message = format!("a task is {after} now, it was {before}: {meaning}");
    changes.push(place.change(format!("{what}, task"), "task-changed", verdict, message));
}

fn texts<'a>(item: &'a Json, key: &str) -> Vec<&'a str> {
    item.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect()
}

/// Questions to users, and features that a client must have.
fn demands(place: &Place<'_>, what: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let kinds = [
        ("asks", "question", ["question-added", "question-removed"], "a client that cannot ask its user fails"),
        ("requires", "demand on clients", ["requirement-added", "requirement-removed"], "a client without it fails"),
    ];
    for (key, noun, [added, removed], meaning) in kinds {
        let (before, after) = (texts(old, key), texts(new, key));
        for name in after.iter().filter(|name| !before.contains(name)) {
            let message = format!("the {noun} `{name}` is new: {meaning}");
            changes.push(place.change(format!("{what}, `{key}`"), added, Verdict::Breaking, message));
        }
        for name in before.iter().filter(|name| !after.contains(name)) {
            let message = format!("the {noun} `{name}` was removed: calls still work");
            changes.push(place.change(format!("{what}, `{key}`"), removed, Verdict::Compatible, message));
        }
    }
}

/// The arguments of a prompt as a schema, so that they are judged like those of a tool.
fn argument_schema(prompt: &Json) -> Json {
    let arguments = prompt.get("arguments").and_then(Json::as_array).map_or(&[][..], Vec::as_slice);
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for argument in arguments {
        let Some(name) = argument.get("name").and_then(Json::as_str) else { continue };
        let mut schema = json!({ "type": "string" });
        for key in ["title", "description", "default"] {
            if let Some(text) = argument.get(key) {
                schema[key] = text.clone();
            }
        }
        properties.insert(name.to_owned(), schema);
        required.extend((argument.get("required") == Some(&Json::Bool(true))).then_some(name));
    }
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn prompt(place: &Place<'_>, what: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    changes.extend(compare_schemas(place.pack, what, Role::Arguments, &argument_schema(old), &argument_schema(new)));
    let list = |prompt: &Json| prompt.get("rendered").and_then(Json::as_array).cloned().unwrap_or_default();
    for example in list(new) {
        let is_same = |other: &Json| other.get("arguments") == example.get("arguments");
        let Some(before) = list(old).into_iter().find(is_same) else { continue };
        if before.get("messages") == example.get("messages") {
            continue;
        }
        let (before, after) = (messages(&before), messages(&example));
        let arguments = example.get("arguments").map_or_else(|| "{}".to_owned(), Json::to_string);
        let notice = overlooked(&before, &after);
        let message = format!("the messages changed: models read another text{notice}");
        let mut change =
            place.change(format!("{what}, with {arguments}"), "messages-changed", Verdict::Wording, message);
        (change.before, change.after) = (Some(before), Some(after));
        changes.push(change);
    }
    if old.get("completes") != new.get("completes") {
        let message = "other arguments are completed: calls are the same";
        changes.push(place.change(format!("{what}, completions"), "completions-changed", Verdict::None, message));
    }
}

/// Rendered messages as one text.
fn messages(example: &Json) -> String {
    let text = |message: &Json, key: &str| message.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let all = example.get("messages").and_then(Json::as_array).into_iter().flatten();
    all.map(|message| format!("{}: {}\n", text(message, "role"), text(message, "text"))).collect()
}

fn resource(place: &Place<'_>, what: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    changes.extend(text_change(place.pack, what, "title-changed", "name", old.get("name"), new.get("name")));
    let (before, after) = (old.get("mimeType"), new.get("mimeType"));
    if before != after {
        let shown = |value: Option<&Json>| value.and_then(Json::as_str).unwrap_or("not set").to_owned();
        let message =
            format!("the type of its content is {} now, it was {}: readers may refuse it", shown(after), shown(before));
        changes.push(place.change(format!("{what}, `mimeType`"), "mime-type-changed", Verdict::Breaking, message));
    }
    let subscribes = |resource: &Json| resource.get("subscribe") == Some(&Json::Bool(true));
    let (verdict, message) = match (subscribes(old), subscribes(new)) {
        (true, false) => (Verdict::Breaking, "clients can no longer subscribe: they are not notified of changes"),
        (false, true) => (Verdict::Compatible, "clients can subscribe now: reads are the same"),
        _ => return,
    };
    changes.push(place.change(format!("{what}, `subscribe`"), "subscribe-changed", verdict, message));
}
