//! What a pack may touch and use, before and after: more of it widens, less of it breaks what worked.

use super::change::{Change, Verdict};
use crate::registry::Permissions;
use crate::value::Json;
use serde_json::{Map, json};
use std::cmp::Ordering;

const EFFECT: &str = "effect ";
const LIMIT: &str = "limit ";

/// Permissions as they are written, and what they mean.
struct Asked {
    levels: Map<String, Json>,
    permissions: Permissions,
}

impl Asked {
    fn of(written: &Json) -> Self {
        let permissions = serde_json::from_value(written.clone()).unwrap_or_default();
        Self { levels: written.as_object().cloned().unwrap_or_default(), permissions }
    }

    /// What this asks for beyond `other`, in words. What a program may is in the words of the program, where that is new.
    fn beyond(&self, other: &Self) -> Vec<(String, String)> {
        let more = serde_json::to_value(self.permissions.exceeding(&other.permissions)).unwrap_or_default();
        let more = more.as_object().cloned().unwrap_or_default();
        let is_included = |key: &str| {
            let program = key.strip_prefix("run-").and_then(|rest| rest.split_once(' ')?.1.split('\t').next());
            program.is_some_and(|program| more.contains_key(&format!("run {program}")))
        };
        let levels = more.iter().filter(|(key, _)| !is_included(key));
        levels.map(|(key, level)| (key.clone(), self.words(key, level))).collect()
    }

    fn words(&self, key: &str, level: &Json) -> String {
        let one: Permissions = serde_json::from_value(json!({ (key): level })).unwrap_or_default();
        one.describe_within(&self.permissions).join("; ")
    }

    /// Whether the tool or graph that a limit is for still exists.
    fn has_owner(&self, key: &str) -> bool {
        match key.strip_prefix(LIMIT).and_then(|limit| limit.rsplit_once(' ')) {
            None => true,
            Some(("[graph]", _)) => self.levels.contains_key("graph"),
            Some((owner, _)) => self.levels.contains_key(&format!("{EFFECT}{owner}")),
        }
    }
}

/// Compares the permissions of a pack.
pub(super) fn compare_permissions(pack: &str, old: &Json, new: &Json) -> Vec<Change> {
    let (old, new) = (Asked::of(old), Asked::of(new));
    let mut changes = effects(pack, &old, &new);
    let is_known_tool = |key: &str| key.starts_with(EFFECT) && old.levels.contains_key(key);
    for (key, words) in new.beyond(&old).into_iter().filter(|(key, _)| !is_known_tool(key)) {
        let (kind, happened) = match key.starts_with(LIMIT) {
            true => ("limit-raised", "a limit was raised"),
            false => ("grant-added", "the pack may do more"),
        };
        let change = Change::new(pack, "grants", kind, Verdict::Compatible, format!("{happened}: {words}"));
        changes.push(change.widening(true));
    }
    for (key, words) in old.beyond(&new) {
        let (kind, message) = match key.starts_with(LIMIT) {
            _ if key.starts_with(EFFECT) || key.starts_with("root-marker ") || !new.has_owner(&key) => continue,
            true => ("limit-lowered", format!("a limit was lowered, from {words}: a call that worked may be stopped")),
            false => ("grant-narrowed", format!("a grant was removed or narrowed: {words}: what worked is refused")),
        };
        changes.push(Change::new(pack, "grants", kind, Verdict::Breaking, message));
    }
    changes
}

/// The effects of tools that exist before and after.
fn effects(pack: &str, old: &Asked, new: &Asked) -> Vec<Change> {
    let mut changes = Vec::new();
    for (key, after) in &new.levels {
        let (Some(tool), Some(before)) = (key.strip_prefix(EFFECT), old.levels.get(key)) else { continue };
        let words = format!("{}, before: {}", new.words(key, after), old.words(key, before));
        let (kind, verdict, message) = match after.as_u64().cmp(&before.as_u64()) {
            Ordering::Equal => continue,
            Ordering::Greater => {
                let message = format!("the effect goes further ({words}): a client that allows less stops or asks");
                ("effect-raised", Verdict::Breaking, message)
            }
            Ordering::Less => {
                ("effect-lowered", Verdict::Compatible, format!("the effect goes less far ({words}): calls still work"))
            }
        };
        let change = Change::new(pack, format!("tool `{tool}`, effect"), kind, verdict, message);
        changes.push(change.widening(verdict == Verdict::Breaking));
    }
    changes
}
