//! Tools, prompts and resources of all packs: which became which, and what was added, removed, renamed or moved.

use super::change::{Change, Verdict};
use super::contract;
use super::wording::overlooked;
use crate::value::Json;
use std::collections::{BTreeMap, BTreeSet};

/// A kind of items: its key, its word, and the codes of its changes.
struct Kind {
    key: &'static str,
    noun: &'static str,
    added: &'static str,
    removed: &'static str,
    renamed: &'static str,
    moved: &'static str,
}

const KINDS: [Kind; 3] = [
    Kind {
        key: "tools",
        noun: "tool",
        added: "tool-added",
        removed: "tool-removed",
        renamed: "tool-renamed",
        moved: "tool-moved",
    },
    Kind {
        key: "prompts",
        noun: "prompt",
        added: "prompt-added",
        removed: "prompt-removed",
        renamed: "prompt-renamed",
        moved: "prompt-moved",
    },
    Kind {
        key: "resources",
        noun: "resource",
        added: "resource-added",
        removed: "resource-removed",
        renamed: "resource-renamed",
        moved: "resource-moved",
    },
];

/// An item of a surface.
#[derive(Clone, Copy)]
struct Item<'a> {
    pack: &'a str,
    name: &'a str,
    definition: &'a Json,
}

impl<'a> Item<'a> {
    fn aliases(self) -> BTreeSet<&'a str> {
        self.definition.get("aliases").and_then(Json::as_array).into_iter().flatten().filter_map(Json::as_str).collect()
    }

    fn answers_to(self, name: &str) -> bool {
        self.name == name || self.aliases().contains(name)
    }
}

fn items<'a>(surface: &'a Json, key: &str) -> Vec<Item<'a>> {
    let packs = surface.get("packs").and_then(Json::as_object).into_iter().flatten();
    let of = |(pack, content): (&'a String, &'a Json)| {
        let all = content.get(key).and_then(Json::as_object).into_iter().flatten();
        all.map(move |(name, definition)| Item { pack, name, definition })
    };
    packs.flat_map(of).collect()
}

/// Compares the items of all packs; `renamed` has the new names of renamed packs.
pub(super) fn compare_items(old: &Json, new: &Json, renamed: &BTreeMap<&str, &str>) -> Vec<Change> {
    let mut changes = Vec::new();
    for kind in &KINDS {
        let (before, after) = (items(old, kind.key), items(new, kind.key));
        let mut known = BTreeSet::new();
        for item in &before {
            let home = renamed.get(item.pack).copied().unwrap_or(item.pack);
            if let Some(successor) = successor(kind, *item, home, &before, &after, &mut changes) {
                known.insert((successor.pack, successor.name));
                aliases(kind, *item, successor, &after, &mut changes);
                let behaviour = |surface: &Json, pack: &str| surface["packs"][pack].get("behaviour").cloned();
                let same_behaviour = behaviour(old, item.pack) == behaviour(new, successor.pack);
                let place = contract::Place { pack: successor.pack, name: successor.name, same_behaviour };
                contract::compare_item(kind.key, &place, item.definition, successor.definition, &mut changes);
            }
        }
        for item in after.iter().filter(|item| !known.contains(&(item.pack, item.name))) {
            changes.push(added(kind, *item, &after));
        }
    }
    changes
}

/// Returns what an item became, and reports how if its place or name changed.
fn successor<'a>(
    kind: &Kind,
    item: Item<'a>,
    home: &str,
    before: &[Item<'a>],
    after: &[Item<'a>],
    changes: &mut Vec<Change>,
) -> Option<Item<'a>> {
    if let Some(same) = after.iter().find(|other| other.name == item.name && other.pack == home) {
        return Some(*same);
    }
    let what = format!("{} `{}`", kind.noun, item.name);
    let is_new = |other: &&Item<'a>| !before.iter().any(|known| known.name == other.name && known.pack == other.pack);
    if let Some(moved) = after.iter().filter(is_new).find(|other| other.name == item.name) {
        let message = format!(
            "it moved from the pack {} to {}: calls are the same, behaviour was not compared",
            item.pack, moved.pack
        );
        changes.push(Change::new(moved.pack, what, kind.moved, Verdict::None, message));
        return Some(*moved);
    }
    if let Some(other) = after.iter().find(|other| other.aliases().contains(item.name)) {
        let message =
            format!("it is called `{}` now, and the old name is an alias: calls of both names work", other.name);
        changes.push(Change::new(other.pack, what, kind.renamed, Verdict::Compatible, message));
        return Some(*other);
    }
    let resembles = |other: &&Item<'a>| {
        let same = |key: &str| item.definition.get(key).is_some_and(|value| other.definition.get(key) == Some(value));
        !before.iter().any(|known| known.name == other.name)
            && (item.definition == other.definition || same("description"))
    };
    let renamed = after.iter().filter(|other| other.pack == home).find(resembles);
    let deprecated = if item.definition.get("deprecated").is_some() { "it was deprecated; " } else { "" };
    let (code, happened) = match renamed {
        Some(other) => (kind.renamed, format!("it is called `{}` now, without an alias", other.name)),
        None => (kind.removed, "it was removed".to_owned()),
    };
    let message = format!("{deprecated}{happened}: clients that listed it before still call it, and fail");
    changes.push(Change::new(home, what, code, Verdict::Breaking, message));
    renamed.copied()
}

fn aliases(kind: &Kind, old: Item<'_>, new: Item<'_>, after: &[Item<'_>], changes: &mut Vec<Change>) {
    for alias in old.aliases().into_iter().filter(|alias| !new.answers_to(alias)) {
        let message = format!("the alias `{alias}` was removed: calls of that name fail, or mean something else");
        let what = format!("{} `{}`, aliases", kind.noun, new.name);
        changes.push(Change::new(new.pack, what, "alias-removed", Verdict::Breaking, message));
    }
    for alias in new.aliases().into_iter().filter(|alias| !old.answers_to(alias)) {
        let is_taken = |other: &&Item<'_>| (other.pack, other.name) != (new.pack, new.name) && other.answers_to(alias);
        let what = format!("{} `{}`, aliases", kind.noun, new.name);
        changes.push(match after.iter().find(is_taken) {
            Some(other) => clash(kind, new.pack, what, alias, *other),
            None => {
                let message = format!("the alias `{alias}` is new: it can be called and is not listed");
                Change::new(new.pack, what, "alias-added", Verdict::Compatible, message)
            }
        });
    }
}

fn clash(kind: &Kind, pack: &str, what: String, name: &str, other: Item<'_>) -> Change {
    let message = format!(
        "the {} `{}` of the pack {} has the name `{name}` too: a call may reach the other one",
        kind.noun, other.name, other.pack
    );
    Change::new(pack, what, "name-clash", Verdict::Breaking, message)
}

fn added(kind: &Kind, item: Item<'_>, after: &[Item<'_>]) -> Change {
    let what = format!("{} `{}`", kind.noun, item.name);
    let is_other = |other: &&Item<'_>| (other.pack, other.name) != (item.pack, item.name);
    let names =
        |other: &&Item<'_>| other.answers_to(item.name) || item.aliases().iter().any(|alias| other.answers_to(alias));
    if let Some(other) = after.iter().filter(is_other).find(names) {
        return clash(kind, item.pack, what, item.name, *other);
    }
    let description = item.definition.get("description").and_then(Json::as_str);
    let notice = overlooked("", description.unwrap_or_default());
    let message = format!("it is new{notice}: clients with an older list do not see it");
    let mut change = Change::new(item.pack, what, kind.added, Verdict::Compatible, message);
    change.after = description.map(str::to_owned);
    change
}
