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

    /// What this asks for beyond `other`, one permission each.
    fn beyond(&self, other: &Self) -> Vec<(String, u64)> {
        let more = serde_json::to_value(self.permissions.exceeding(&other.permissions)).unwrap_or_default();
        let levels = more.as_object().into_iter().flatten();
        levels.map(|(key, level)| (key.clone(), level.as_u64().unwrap_or_default())).collect()
    }

    fn words(&self, key: &str, level: u64) -> String {
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
    let more = without_parts(new.beyond(&old));
    for (key, level) in more.iter().filter(|(key, _)| !is_known_tool(key)) {
        let words = new.words(key, *level);
        let (kind, message) = match key.strip_prefix(LIMIT) {
            Some(_) => ("limit-raised", format!("a limit was raised: {words}")),
            None => ("grant-added", format!("the pack may do more: {words}")),
        };
        changes.push(Change::new(pack, "grants", kind, Verdict::Compatible, message).widening(true));
    }
    for (key, level) in without_parts(old.beyond(&new)) {
        let words = old.words(&key, level);
        let (kind, message) = match key.strip_prefix(LIMIT) {
            _ if key.starts_with(EFFECT) || key.starts_with("root-marker ") || !new.has_owner(&key) => continue,
            Some(_) => {
                ("limit-lowered", format!("a limit was lowered, from {words}: a call that worked may be stopped"))
            }
            None => ("grant-narrowed", format!("a grant was removed or narrowed: {words}: what worked is refused")),
        };
        changes.push(Change::new(pack, "grants", kind, Verdict::Breaking, message));
    }
    changes
}

/// Without what single programs may, where the program itself is among them: its words include that.
fn without_parts(permissions: Vec<(String, u64)>) -> Vec<(String, u64)> {
    let programs: Vec<String> =
        permissions.iter().filter_map(|(key, _)| key.strip_prefix("run ").map(str::to_owned)).collect();
    let is_included = |key: &str| {
        let program = key.strip_prefix("run-").and_then(|rest| rest.split_once(' ')).map(|(_, program)| program);
        program.is_some_and(|program| programs.iter().any(|known| program.split('\t').next() == Some(known)))
    };
    permissions.into_iter().filter(|(key, _)| !is_included(key)).collect()
}

/// The effects of tools that exist before and after.
fn effects(pack: &str, old: &Asked, new: &Asked) -> Vec<Change> {
    let mut changes = Vec::new();
    for (key, level) in &new.levels {
        let (Some(tool), Some(before)) = (key.strip_prefix(EFFECT), old.levels.get(key)) else { continue };
        let [before, after] = [before, level].map(|level| level.as_u64().unwrap_or_default());
        let what = format!("tool `{tool}`, effect");
        let words = format!("{}, before: {}", new.words(key, after), old.words(key, before));
        changes.extend(match after.cmp(&before) {
            Ordering::Equal => None,
            Ordering::Greater => {
                let message = format!("the effect goes further ({words}): a client that allows less stops or asks");
                Some(Change::new(pack, what, "effect-raised", Verdict::Breaking, message).widening(true))
            }
            Ordering::Less => {
                let message = format!("the effect goes less far ({words}): calls still work");
                Some(Change::new(pack, what, "effect-lowered", Verdict::Compatible, message))
            }
        });
    }
    changes
}
