//! Two surfaces as a whole: packs that were added, removed or renamed, and what each pack publishes besides its items.

use super::change::{Change, Verdict};
use super::grants::compare_permissions;
use super::items::compare_items;
use super::schema::{Role, compare_schemas};
use super::wording::text_change;
use crate::value::Json;
use serde_json::{Map, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// Compares two surfaces. The changes are sorted by pack, the worst of each pack first, then by place.
pub fn compare(old: &Json, new: &Json) -> Vec<Change> {
    let none = Map::new();
    let packs =
        |surface: &Json| surface.get("packs").and_then(Json::as_object).cloned().unwrap_or_else(|| none.clone());
    let (before, after) = (packs(old), packs(new));
    let renamed = renamed_packs(&before, &after);
    let mut changes = compare_items(old, new, &renamed);
    for (name, pack) in &before {
        let new_name = renamed.get(name.as_str()).copied().unwrap_or(name);
        match after.get(new_name) {
            Some(successor) => {
                if new_name != name {
                    let message = format!("the pack is called {new_name} now: settings and overrides name the old one");
                    changes.push(Change::new(
                        new_name,
                        format!("pack `{name}`"),
                        "pack-renamed",
                        Verdict::Breaking,
                        message,
                    ));
                }
                compare_pack(new_name, pack, successor, &mut changes);
            }
            None => {
                let message = "the pack was removed: settings and overrides of it have no effect";
                changes.push(Change::new(name, "pack", "pack-removed", Verdict::Breaking, message));
            }
        }
    }
    for (name, pack) in after.iter().filter(|(name, _)| !before.contains_key(*name)) {
        if !renamed.values().any(|known| known == name) {
            let message = "the pack is new: nothing that existed changes";
            changes.push(Change::new(name, "pack", "pack-added", Verdict::Compatible, message));
            changes.extend(compare_permissions(name, &json!({}), &pack["permissions"]));
        }
    }
    if let Some(name) =
        before.keys().find(|name| after.get(*name).is_some_and(|pack| is_reordered(&before[*name], pack)))
    {
        let message = "the order of items or keys changed: prompt caches of clients begin again";
        changes.push(Change::new(name, "order", "order-changed", Verdict::None, message));
    }
    changes.sort_by(|one, other| {
        let key = |change: &Change| (change.pack.clone(), Reverse(change.verdict), change.what.clone(), change.kind);
        key(one).cmp(&key(other))
    });
    changes
}

/// Packs that have another name now: all items are the same, or all behaviour.
fn renamed_packs<'a>(before: &'a Map<String, Json>, after: &'a Map<String, Json>) -> BTreeMap<&'a str, &'a str> {
    let names = |pack: &Json| -> BTreeSet<String> {
        let of = |key: &str| pack.get(key).and_then(Json::as_object).cloned().unwrap_or_default();
        ["tools", "prompts", "resources"]
            .into_iter()
            .flat_map(|key| of(key).into_iter().map(move |(name, _)| format!("{key} {name}")))
            .collect()
    };
    let is_same = |old: &Json, new: &Json| {
        let items = names(old);
        let behaviour = old.get("behaviour").filter(|hash| Some(*hash) == new.get("behaviour"));
        (!items.is_empty() && items == names(new)) || (items.is_empty() && behaviour.is_some())
    };
    let mut renamed = BTreeMap::new();
    for (name, pack) in before.iter().filter(|(name, _)| !after.contains_key(*name)) {
        let mut new = after.iter().filter(|(new, _)| !before.contains_key(*new));
        if let Some((new, _)) =
            new.find(|(new, other)| is_same(pack, other) && !renamed.values().any(|known| known == new))
        {
            renamed.insert(name.as_str(), new.as_str());
        }
    }
    renamed
}

fn compare_pack(name: &str, old: &Json, new: &Json, changes: &mut Vec<Change>) {
    let (before, after) = (old.get("instructions"), new.get("instructions"));
    changes.extend(text_change(name, "instructions", "instructions-changed", "text", before, after));
    paths(name, "activate_if_exists", ["activation-narrowed", "activation-widened"], [old, new], changes);
    paths(name, "root", ["root-narrowed", "root-widened"], [old, new], changes);
    let nothing = json!({});
    let permissions = |pack: &Json| pack.get("permissions").unwrap_or(&nothing).clone();
    changes.extend(compare_permissions(name, &permissions(old), &permissions(new)));
    let without = json!({ "type": "object", "additionalProperties": false });
    let config = |pack: &Json| pack.get("config").unwrap_or(&without).clone();
    changes.extend(compare_schemas(name, "configuration", Role::Settings, &config(old), &config(new)));
    if old.get("behaviour") != new.get("behaviour") {
        let message = "scripts, templates or data changed: behaviour was not compared";
        changes.push(Change::new(name, "behaviour", "behaviour-changed", Verdict::None, message));
    }
}

/// A list of paths of which one must exist; without a list of `activate_if_exists` the pack is always active.
fn paths(name: &str, key: &str, kinds: [&'static str; 2], packs: [&Json; 2], changes: &mut Vec<Change>) {
    let usual = if key == "root" { Some(BTreeSet::from(["."])) } else { None };
    let [before, after] = packs.map(|pack| match pack.get(key).and_then(Json::as_array) {
        Some(list) => Some(list.iter().filter_map(Json::as_str).collect::<BTreeSet<_>>()),
        None => usual.clone(),
    });
    if before == after {
        return;
    }
    let is_wider = match (&before, &after) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(before), Some(after)) => before.is_subset(after),
    };
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

/// Whether common keys are in another order, in the items of a pack.
fn is_reordered(old: &Json, new: &Json) -> bool {
    let differs = |key: &str| old.get(key).zip(new.get(key)).is_some_and(|(old, new)| has_other_order(old, new));
    ["tools", "prompts", "resources"].into_iter().any(differs)
}

fn has_other_order(old: &Json, new: &Json) -> bool {
    match (old, new) {
        (Json::Object(old), Json::Object(new)) => {
            let before = old.keys().filter(|key| new.contains_key(*key));
            let after = new.keys().filter(|key| old.contains_key(*key));
            !before.eq(after)
                || old.iter().any(|(key, value)| new.get(key).is_some_and(|new| has_other_order(value, new)))
        }
        (Json::Array(old), Json::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).any(|(old, new)| has_other_order(old, new))
        }
        _ => false,
    }
}
