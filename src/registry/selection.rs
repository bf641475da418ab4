//! Which packs serve in a workspace, and the root of each: markers, names on the command line, `toolsd.toml`.

use crate::definition::PackDefinition;
use crate::diagnostic::Result;
use crate::world::{Workspace, World, path};
use std::sync::Arc;

/// Opens worlds: the disk's for people, a world of memory for cases.
pub trait WorldOpener: Send + Sync {
    /// The world rooted at an absolute folder. It reaches the roots that the user granted, and those that grants of
    /// the pack name by themselves.
    fn open(&self, folder: &str, granted: &[String], named: &[String]) -> Result<Arc<dyn World>>;
}

/// Which packs are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum PackChoice {
    /// The packs whose markers are found, and the packs without markers.
    #[default]
    ByMarkers,
    /// Exactly these.
    Named(Vec<String>),
}

/// Returns the root of a pack as an absolute path: the nearest folder, from the workspace upwards, that contains the
/// first entry of `root`, otherwise the second, and so on; the workspace if there is none.
//= docs/spec.md#definitions
//# An `activate_if_exists` path MUST also be found in a parent folder, which is then the root of the pack.
pub fn find_root(pack: &PackDefinition, workspace: &dyn Workspace, worlds: &dyn WorldOpener) -> Result<String> {
    for marker in &pack.root {
        if marker == "." || workspace.stat(marker)?.is_some() {
            return Ok(workspace.root().to_owned());
        }
        let mut folder = workspace.root().to_owned();
        while folder.len() > 1 {
            folder = match path::folder(&folder) {
                "" | "." => "/".to_owned(),
                parent => parent.to_owned(),
            };
            // A parent folder that cannot be opened ends the search.
            let Ok(world) = worlds.open(&folder, &[], &[]) else { break };
            if matches!(world.stat(marker), Ok(Some(_))) {
                return Ok(folder);
            }
        }
    }
    Ok(workspace.root().to_owned())
}

/// The folders outside of its root that the grants of a pack reach: absolute, or below `~`.
pub fn roots_outside(pack: &PackDefinition) -> Vec<String> {
    let globs = pack.grants.read.iter().chain(&pack.grants.write);
    let outside = globs.filter(|glob| glob.starts_with('/') || glob.starts_with('~') || glob.starts_with('$'));
    let mut roots: Vec<String> = outside
        .map(|glob| match glob.find(['*', '?', '[', '{']) {
            Some(special) => glob[..special].rsplit_once('/').map_or("", |(folder, _)| folder).to_owned(),
            None => glob.trim_end_matches('/').to_owned(),
        })
        .filter(|root| !root.is_empty())
        .collect();
    roots.sort();
    roots.dedup();
    roots
}

/// Decides whether a pack serves, given its root.
pub fn select_pack(
    name: &str,
    pack: &PackDefinition,
    choice: &PackChoice,
    workspace: &dyn Workspace,
    root: &dyn Workspace,
) -> PackSelection {
    match (choice, &pack.activate_if_exists) {
        //= docs/spec.md#definitions
        //# A pack that `--pack` names MUST be active in every workspace.
        (PackChoice::Named(names), when) => match names.iter().any(|known| known == name) {
            true => PackSelection::Served,
            false => PackSelection::Dormant(when.clone().unwrap_or_default()),
        },
        (PackChoice::ByMarkers, None) => PackSelection::Served,
        //= docs/spec.md#definitions
        //# A pack MUST be active by default only where one of its `activate_if_exists` paths exists.
        (PackChoice::ByMarkers, Some(markers)) => {
            let exists = |world: &dyn Workspace, marker: &str| matches!(world.stat(marker), Ok(Some(_)));
            match markers.iter().any(|marker| exists(workspace, marker) || exists(root, marker)) {
                true => PackSelection::Served,
                false => PackSelection::Dormant(markers.clone()),
            }
        }
    }
}

/// Whether a pack serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackSelection {
    /// It does.
    Served,
    /// It does not: the markers that it needs.
    Dormant(Vec<String>),
}
