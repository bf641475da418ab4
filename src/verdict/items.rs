//! Tools, prompts and resources of all packs: which became which, and what was added, removed, renamed or moved.

use super::change::{Change, Verdict};
use super::contract::{compare_item, texts};
use super::wording::overlooked;
use crate::value::Json;
use std::collections::BTreeSet;

/// A kind of items: its key, its word, and the codes of what was added, removed, renamed and moved.
struct Kind(&'static str, &'static str, [&'static str; 4]);

const KINDS: [Kind; 3] = [
    Kind("tools", "tool", ["tool-added", "tool-removed", "tool-renamed", "tool-moved"]),
    Kind("prompts", "prompt", ["prompt-added", "prompt-removed", "prompt-renamed", "prompt-moved"]),
    Kind("resources", "resource", ["resource-added", "resource-removed", "resource-renamed", "resource-moved"]),
];

/// An item of a surface.
#[derive(Clone, Copy)]
struct Item<'a> {
    pack: &'a str,
    name: &'a str,
    definition: &'a Json,
}

impl<'a> Item<'a> {
    fn is(self, other: Self) -> bool {
        (self.pack, self.name) == (other.pack, other.name)
    }

    fn has_alias(self, name: &str) -> bool {
        texts(self.definition, "aliases").any(|alias| alias == name)
    }

    fn answers_to(self, name: &str) -> bool {
        self.name == name || self.has_alias(name)
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

/// Compares the items of all packs.
pub(super) fn compare_items(old: &Json, new: &Json) -> Vec<Change> {
    let mut changes = Vec::new();
    for kind in &KINDS {
        let (before, after) = (items(old, kind.0), items(new, kind.0));
        let mut known = BTreeSet::new();
        for item in &before {
            let Some(successor) = successor(kind, *item, &before, &after, &mut changes) else { continue };
            known.insert((successor.pack, successor.name));
            aliases(kind, *item, successor, &mut changes);
            let behaviour = |surface: &Json, pack: &str| surface["packs"][pack].get("behaviour").cloned();
            let same_behaviour = behaviour(old, item.pack) == behaviour(new, successor.pack);
            let what = format!("{} `{}`", kind.1, successor.name);
            let definitions = [item.definition, successor.definition];
            changes.extend(compare_item(successor.pack, &what, definitions, same_behaviour));
        }
        for item in after.iter().filter(|item| !known.contains(&(item.pack, item.name))) {
            changes.push(added(kind, *item));
        }
    }
    changes
}

/// Returns what an item became, and reports how if its place or name changed.
fn successor<'a>(
    Kind(_, noun, [_, removed, renamed, moved]): &Kind,
    item: Item<'a>,
    before: &[Item<'a>],
    after: &[Item<'a>],
    changes: &mut Vec<Change>,
) -> Option<Item<'a>> {
    if let Some(same) = after.iter().find(|other| other.is(item)) {
        return Some(*same);
    }
    let is_new = |other: &&Item<'a>| !before.iter().any(|known| known.is(**other));
    let deprecated = if item.definition.get("deprecated").is_some() { "it was deprecated; " } else { "" };
    let (other, kind, verdict, message) = if let Some(other) =
        after.iter().filter(is_new).find(|new| new.name == item.name)
    {
        let (old, new) = (item.pack, other.pack);
        let message = format!("it moved from the pack {old} to {new}: calls are the same, behaviour was not compared");
        (Some(other), moved, Verdict::None, message)
    } else if let Some(other) = after.iter().find(|other| other.has_alias(item.name)) {
        let message =
            format!("it is called `{}` now, and the old name is an alias: calls of both names work", other.name);
        (Some(other), renamed, Verdict::Compatible, message)
    } else {
        let message = format!("{deprecated}it was removed: clients that listed it before still call it, and fail");
        (None, removed, Verdict::Breaking, message)
    };
    let pack = other.map_or(item.pack, |other| other.pack);
    changes.push(Change::new(pack, format!("{noun} `{}`", item.name), kind, verdict, message));
    other.copied()
}

fn aliases(kind: &Kind, old: Item<'_>, new: Item<'_>, changes: &mut Vec<Change>) {
    let what = format!("{} `{}`, aliases", kind.1, new.name);
    for alias in texts(old.definition, "aliases").filter(|alias| !new.answers_to(alias)) {
        let message = format!("the alias `{alias}` was removed: calls of that name fail, or mean something else");
        changes.push(Change::new(new.pack, what.clone(), "alias-removed", Verdict::Breaking, message));
    }
    for alias in texts(new.definition, "aliases").filter(|alias| !old.answers_to(alias)) {
        let message = format!("the alias `{alias}` is new: it can be called and is not listed");
        changes.push(Change::new(new.pack, what.clone(), "alias-added", Verdict::Compatible, message));
    }
}

fn added(kind: &Kind, item: Item<'_>) -> Change {
    let what = format!("{} `{}`", kind.1, item.name);
    let description = item.definition.get("description").and_then(Json::as_str);
    let notice = overlooked("", description.unwrap_or_default());
    let message = format!("it is new{notice}: clients with an older list do not see it");
    let mut change = Change::new(item.pack, what, kind.2[0], Verdict::Compatible, message);
    change.after = description.map(str::to_owned);
    change
}
