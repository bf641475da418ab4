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

/// The folders from the workspace up to that of its repository; the workspace alone if it is in none.
fn folders_up(workspace: &str, worlds: &dyn WorldOpener) -> Vec<String> {
    let mut found = vec![workspace.to_owned()];
    while let Some(folder) = found.last().filter(|folder| folder.len() > 1)
        && let Ok(world) = worlds.open(folder, &[], &[])
    {
        if matches!(world.stat(".git"), Ok(Some(_))) {
            return found;
        }
        found.push(path::folder(folder).to_owned());
    }
    vec![workspace.to_owned()]
}

//= docs/spec.md#definitions
//# A grant to read `.../PATH` MUST cover that path in each folder from the workspace up to that of its repository, and
//# `PATH@` also what the path and the links directly in it lead to.
/// The places that a path of a definition means: `.../PATH` is one in each folder up to that of the repository, and
/// `PATH@` also what the path leads to, and what the links directly in it lead to.
pub fn expand_places(paths: &[String], workspace: &str, worlds: &dyn WorldOpener) -> Vec<String> {
    let mut found = Vec::new();
    for written in paths {
        if let Some(rest) = written.strip_prefix(".../") {
            found.extend(folders_up(workspace, worlds).iter().map(|folder| path::join(folder, rest)));
            continue;
        }
        let Some(folder) = written.strip_suffix('@') else {
            found.push(written.clone());
            continue;
        };
        found.push(folder.to_owned());
        // Only a world that the folder does not belong to sees where its links lead.
        let worlds = worlds
            .open(workspace, &[], &[folder.to_owned()])
            .and_then(|world| Ok((world, worlds.open(workspace, &[], &[])?)));
        let Ok((world, outside)) = worlds else { continue };
        let real = world.real_place(folder);
        let linked = world.list(folder).unwrap_or_default().into_iter().filter(|entry| entry.link.is_some());
        found.extend(linked.map(|entry| outside.real_place(&path::join(&real, &entry.name))));
        found.push(real);
    }
    found
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
    worlds: &dyn WorldOpener,
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
            let sought = expand_places(markers, workspace.root(), worlds);
            match sought.iter().any(|marker| exists(workspace, marker) || exists(root, marker)) {
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
