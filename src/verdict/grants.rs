//! What a pack may touch and use, before and after: more of it widens, less of it breaks what worked.

use super::change::{Change, Verdict};
use crate::registry::Permissions;
use crate::value::Json;
use std::cmp::Ordering;

const EFFECT: &str = "effect ";
const LIMIT: &str = "limit ";

/// What `one` asks for beyond `other`, in words. What a program may is in the words of the program, where that is new.
fn beyond(one: &Permissions, other: &Permissions) -> Vec<(String, String)> {
    let more = one.exceeding(other);
    let is_included = |key: &str| {
        let program = key.strip_prefix("run-").and_then(|rest| rest.split_once(' ')?.1.split('\t').next());
        program.is_some_and(|program| more.get(&format!("run {program}")).is_some())
    };
    let keys = more.keys().filter(|key| !is_included(key));
    keys.map(|key| (key.to_owned(), words(&more, key, one))).collect()
}

/// One of some permissions in words, those of a pack that asks for `all`.
fn words(some: &Permissions, key: &str, all: &Permissions) -> String {
    some.only(key).describe_within(all).join("; ")
}

pub(super) fn compare_permissions(pack: &str, old: &Json, new: &Json) -> Vec<Change> {
    let read = |written: &Json| serde_json::from_value::<Permissions>(written.clone()).unwrap_or_default();
    let (old, new) = (read(old), read(new));
    let mut changes = effects(pack, &old, &new);
    let is_known_tool = |key: &str| key.starts_with(EFFECT) && old.get(key).is_some();
    for (key, words) in beyond(&new, &old).into_iter().filter(|(key, _)| !is_known_tool(key)) {
        let (kind, happened) = match key.starts_with(LIMIT) {
            true => ("limit-raised", "a limit was raised"),
            false => ("grant-added", "the pack may do more"),
        };
        let change = Change::new(pack, "grants", kind, Verdict::Compatible, format!("{happened}: {words}"));
        changes.push(change.widening(true));
    }
    for (key, words) in beyond(&old, &new) {
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
fn effects(pack: &str, old: &Permissions, new: &Permissions) -> Vec<Change> {
    let mut changes = Vec::new();
    for key in new.keys() {
        let (Some(tool), Some(before)) = (key.strip_prefix(EFFECT), old.get(key)) else { continue };
        let words = format!("{}, before: {}", words(new, key, new), words(old, key, old));
        let (kind, verdict, message) = match new.get(key).cmp(&Some(before)) {
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
