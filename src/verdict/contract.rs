//! One tool, prompt or resource before and after: its texts, its schemas, and what it demands of clients.

use super::change::{Change, Verdict};
use super::schema::{Role, compare_schemas};
use super::wording::text_change;
use crate::value::Json;
use serde_json::json;

/// Texts of items: the key, the code of its change, and its word.
const TEXTS: [(&str, &str, &str); 14] = [
    ("name", "title-changed", "name"),
    ("title", "title-changed", "title"),
    ("description", "description-changed", "description"),
    ("description_by", "description-changed", "function of the description"),
    ("text", "text-changed", "text"),
    ("questions", "text-changed", "text of its questions"),
    ("listed_by", "listing-changed", "function that lists"),
    ("icons", "icons-changed", "icons"),
    ("deprecated", "deprecation-changed", "deprecation"),
    ("_meta", "meta-changed", "metadata"),
    ("pinned", "meta-changed", "setting `pinned`"),
    ("keywords", "meta-changed", "setting `keywords`"),
    ("code_mode", "meta-changed", "setting `code_mode`"),
    ("max_result_chars", "meta-changed", "setting `max_result_chars`"),
];

/// Questions to users and features that a client must have: the key, its word, codes, and what one more means.
const DEMANDS: [(&str, &str, [&str; 2], &str); 2] = [
    ("asks", "question", ["question-added", "question-removed"], "a client that cannot ask its user fails"),
    ("requires", "demand on clients", ["requirement-added", "requirement-removed"], "a client without it fails"),
];

/// Hints of tools: the key, the code, the value without it, the value that is a risk, what risk and safety mean.
const HINTS: [(&str, &str, bool, bool, &str, &str); 4] = [
    ("readOnlyHint", "read-only-hint-changed", false, false, "does more than read", "only reads"),
    ("destructiveHint", "destructive-hint-changed", true, true, "may destroy", "does not destroy"),
    ("idempotentHint", "idempotent-hint-changed", false, false, "changes more when repeated", "can be repeated"),
    ("openWorldHint", "open-world-hint-changed", true, true, "reaches an open world", "reaches a closed world"),
];

/// The texts of a list.
pub(super) fn texts<'a>(item: &'a Json, key: &str) -> impl Iterator<Item = &'a str> {
    item.get(key).and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str)
}

/// An item before and after.
struct Pair<'a> {
    pack: &'a str,
    what: &'a str,
    old: &'a Json,
    new: &'a Json,
    /// Whether scripts, templates and data are the same.
    same_behaviour: bool,
    changes: Vec<Change>,
}

/// Compares an item with what it became; `what` names it. An item has only the keys of its kind.
pub(super) fn compare_item(pack: &str, what: &str, [old, new]: [&Json; 2], same_behaviour: bool) -> Vec<Change> {
    if old == new {
        return Vec::new();
    }
    let mut pair = Pair { pack, what, old, new, same_behaviour, changes: Vec::new() };
    for (key, kind, noun) in TEXTS {
        pair.changes.extend(text_change(pack, what, kind, noun, old.get(key), new.get(key)));
    }
    let [before, after] = [old, new].map(messages);
    pair.changes.extend(compare_messages(pack, what, before.as_ref(), after.as_ref()));
    pair.schemas();
    pair.demands();
    pair.hints();
    pair.switches();
    pair.changes
}

/// The change of what a prompt says: the messages of each side are one text.
pub fn compare_messages(pack: &str, what: &str, before: Option<&Json>, now: Option<&Json>) -> Option<Change> {
    text_change(pack, what, "messages-changed", "text of its messages", before, now)
}

/// The messages of a prompt as one text.
fn messages(prompt: &Json) -> Option<Json> {
    let text = |message: &Json, key: &str| message.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
    let all = prompt.get("messages")?.as_array()?.iter();
    let lines: String = all.map(|message| format!("{}: {}\n", text(message, "role"), text(message, "says"))).collect();
    Some(json!(lines))
}

/// The schema of the arguments of a tool or a prompt.
fn arguments(item: &Json) -> Json {
    item.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object", "additionalProperties": false }))
}

impl Pair<'_> {
    fn change(&mut self, part: &str, kind: &'static str, verdict: Verdict, message: impl Into<String>) {
        self.changes.push(Change::new(self.pack, format!("{}, {part}", self.what), kind, verdict, message));
    }

    fn schemas(&mut self) {
        let (old, new) = (arguments(self.old), arguments(self.new));
        self.changes.extend(compare_schemas(self.pack, self.what, Role::Arguments, &old, &new));
        let (kind, verdict, message) = match (self.old.get("outputSchema"), self.new.get("outputSchema")) {
            (None, None) => return,
            (Some(old), Some(new)) => {
                return self.changes.extend(compare_schemas(self.pack, self.what, Role::Result, old, new));
            }
            (None, Some(_)) => (
                "output-schema-added",
                Verdict::Breaking,
                "an output schema is new: clients check results now, and readers of text get other text",
            ),
            (Some(_), None) if self.same_behaviour => (
                "output-schema-removed",
                Verdict::Compatible,
                "the output schema was removed, and behaviour is the same: results still fit it",
            ),
            (Some(_), None) => (
                "output-schema-removed",
                Verdict::Breaking,
                "the output schema was removed, and behaviour changed: cannot tell whether results fit it",
            ),
        };
        self.change("result", kind, verdict, message);
    }

    fn demands(&mut self) {
        let (old, new) = (self.old, self.new);
        for (key, noun, [added, removed], meaning) in DEMANDS {
            let is_in = |item: &Json, name: &str| texts(item, key).any(|known| known == name);
            for name in texts(new, key).filter(|name| !is_in(old, name)) {
                let message = format!("the {noun} `{name}` is new: {meaning}");
                self.change(&format!("`{key}`"), added, Verdict::Breaking, message);
            }
            for name in texts(old, key).filter(|name| !is_in(new, name)) {
                let message = format!("the {noun} `{name}` was removed: calls still work");
                self.change(&format!("`{key}`"), removed, Verdict::Compatible, message);
            }
        }
    }

    fn hints(&mut self) {
        for (key, kind, usual, risky, risk, safe) in HINTS {
            let hint = |item: &Json, key: &str| item.get("annotations")?.get(key)?.as_bool();
            // What only reads destroys nothing and can be repeated, whatever the other hints are.
            let may = |item: &Json| key == "openWorldHint" || hint(item, "readOnlyHint") != Some(true);
            let is_risk = |item: &Json| may(item) && hint(item, key).unwrap_or(usual) == risky;
            let part = format!("`{key}`");
            match (is_risk(self.old), is_risk(self.new)) {
                (false, true) => {
                    let message = format!("the tool {risk} now: clients that allow or retry by this hint stop or ask");
                    self.change(&part, kind, Verdict::Breaking, message);
                    self.changes.last_mut().into_iter().for_each(|change| change.widens = true);
                }
                (true, false) => {
                    self.change(&part, kind, Verdict::Compatible, format!("the tool {safe} now: calls still work"));
                }
                _ => {}
            }
        }
    }

    /// Single values that decide which requests work.
    fn switches(&mut self) {
        let (old, new) = (self.old, self.new);
        let text =
            |item: &Json, key: &str, usual: &str| item.get(key).and_then(Json::as_str).unwrap_or(usual).to_owned();
        let [before, after] = [old, new].map(|tool| text(tool, "task", "forbidden"));
        if before != after {
            let (verdict, meaning) = match after.as_str() {
                "optional" => (Verdict::Compatible, "calls with and without a task work"),
                "required" => (Verdict::Breaking, "calls without a task fail"),
                _ => (Verdict::Breaking, "calls with a task fail"),
            };
            let message = format!("a task is {after} now, it was {before}: {meaning}");
            self.change("task", "task-changed", verdict, message);
        }
        let [before, after] = [old, new].map(|resource| text(resource, "mimeType", "not set"));
        if before != after {
            let message = format!("the type of its content is {after} now, it was {before}: readers may refuse it");
            self.change("`mimeType`", "mime-type-changed", Verdict::Breaking, message);
        }
        let (verdict, message) = match [old, new].map(|resource| resource["subscribe"] == true) {
            [true, false] => (Verdict::Breaking, "clients can no longer subscribe: they are not notified of changes"),
            _ => (Verdict::Compatible, "clients can subscribe now: reads are the same"),
        };
        if old.get("subscribe") != new.get("subscribe") {
            self.change("`subscribe`", "subscribe-changed", verdict, message);
        }
        if old.get("completes") != new.get("completes") {
            let message = "other arguments are completed: calls are the same";
            self.change("completions", "completions-changed", Verdict::None, message);
        }
    }
}
