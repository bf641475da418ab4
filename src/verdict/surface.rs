//! Two surfaces as a whole: packs that were added or removed, and what each pack publishes besides its items.

use super::change::{Change, Verdict};
use super::contract::texts;
use super::grants::compare_permissions;
use super::items::compare_items;
use super::schema::{Role, compare_schemas};
use super::wording::text_change;
use crate::value::Json;
use serde_json::{Map, json};
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// Compares two surfaces. The changes are sorted by pack, the worst of each pack first, then by place.
pub fn compare(old: &Json, new: &Json) -> Vec<Change> {
    let none = Map::new();
    let [before, after] = [old, new].map(|surface| surface.get("packs").and_then(Json::as_object).unwrap_or(&none));
    let mut changes = compare_items(old, new);
    for (name, pack) in before {
        if let Some(successor) = after.get(name) {
            compare_pack(name, pack, successor, &mut changes);
        } else {
            let message = "the pack was removed: settings and overrides of it have no effect";
            changes.push(Change::new(name, "pack", "pack-removed", Verdict::Breaking, message));
        }
    }
    for (name, pack) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        let message = "the pack is new: nothing that existed changes";
        changes.push(Change::new(name, "pack", "pack-added", Verdict::Compatible, message));
        changes.extend(compare_permissions(name, &json!({}), &pack["permissions"]));
    }
    let is_reordered = |(name, pack): &(&String, &Json)| {
        let items = ["tools", "prompts", "resources"];
        after.get(*name).is_some_and(|new| items.iter().any(|key| has_other_order(&pack[*key], &new[*key])))
    };
    if let Some((name, _)) = before.iter().find(is_reordered) {
        let message = "the order of items or keys changed: prompt caches of clients begin again";
        changes.push(Change::new(name, "order", "order-changed", Verdict::None, message));
    }
    changes
        .sort_by_cached_key(|change| (change.pack.clone(), Reverse(change.verdict), change.what.clone(), change.kind));
    changes
}

fn compare_pack(name: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    changes.extend(text_change(name, "pack", "title-changed", "title", old.get("title"), new.get("title")));
    let [before, after] = [old, new].map(|pack| pack.get("instructions"));
    changes.extend(text_change(name, "instructions", "instructions-changed", "text", before, after));
    paths(name, "activate_if_exists", ["activation-narrowed", "activation-widened"], [old, new], changes);
    paths(name, "root", ["root-narrowed", "root-widened"], [old, new], changes);
    changes.extend(compare_permissions(name, &old["permissions"], &new["permissions"]));
    let without = json!({ "type": "object", "additionalProperties": false });
    let [before, after] = [old, new].map(|pack| pack.get("config").unwrap_or(&without));
    changes.extend(compare_schemas(name, "configuration", Role::Settings, before, after));
    compare_texts(name, &old["texts"], &new["texts"], changes);
    if old.get("behaviour") != new.get("behaviour") {
        let message = "scripts, templates or data changed: behaviour was not compared";
        changes.push(Change::new(name, "behaviour", "behaviour-changed", Verdict::None, message));
    }
}

/// Templates and prompts by their paths. A file that is new or gone changes nothing by itself.
fn compare_texts(name: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let paths = [old, new].map(|texts| texts.as_object().into_iter().flat_map(Map::keys));
    for path in paths.into_iter().flatten().collect::<BTreeSet<_>>() {
        let (before, after) = (old.get(path), new.get(path));
        let (kind, verdict) = match (before, after) {
            (None, _) => ("text-added", Verdict::None),
            (_, None) => ("text-removed", Verdict::None),
            _ => ("text-changed", Verdict::Wording),
        };
        let change = text_change(name, &format!("text `{path}`"), kind, "text", before, after);
        changes.extend(change.map(|change| Change { verdict, ..change }));
    }
}

/// A list of paths of which one must exist; without a list of `activate_if_exists` the pack is always active.
fn paths(name: &str, key: &str, kinds: [&'static str; 2], packs: [&Json; 2], changes: &mut Vec<Change>) {
    let [before, after] = packs.map(|pack| match pack.get(key) {
        Some(_) => Some(texts(pack, key).collect::<BTreeSet<_>>()),
        None => (key == "root").then(|| BTreeSet::from(["."])),
    });
    if before == after {
        return;
    }
    let is_wider = after.as_ref().is_none_or(|after| before.as_ref().is_some_and(|before| before.is_subset(after)));
    let shown = |paths: Option<BTreeSet<&str>>| {
        paths.map_or_else(|| "not set".to_owned(), |paths| paths.into_iter().collect::<Vec<_>>().join(", "))
    };
    let (kind, verdict, meaning) = match is_wider {
        true => (kinds[1], Verdict::Compatible, "where the pack was active it still is"),
        false => (kinds[0], Verdict::Breaking, "the pack may be inactive where it was active"),
    };
    let message = format!("it is {} now, it was {}: {meaning}", shown(after), shown(before));
    changes.push(Change::new(name, format!("`{key}`"), kind, verdict, message));
}

/// Whether common keys are in another order.
fn has_other_order(old: &Json, new: &Json) -> bool {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => {
            let before = old.keys().filter(|key| new.contains_key(*key));
            !before.eq(new.keys().filter(|key| old.contains_key(*key)))
                || old.iter().any(|(key, value)| new.get(key).is_some_and(|new| has_other_order(value, new)))
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).any(|(old, new)| has_other_order(old, new))
        }
        _ => false,
    }
}
