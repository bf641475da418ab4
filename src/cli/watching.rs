//! Hot reload of a running server: what is watched, and what a change of it leads to.

use super::Session;
use super::record::record_path;
use super::refreshing::{Message, Refreshing};
use crate::call::{HostChange, Service};
use crate::definition::SETTINGS_FILE;
use crate::registry::{FOLDERS, WORKSPACE_FOLDER};
use crate::watch::Watcher;
use crate::world::disk::config_folder;
use crate::world::path;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Watches for as long as it is kept.
pub struct Watching {
    _watchers: Vec<Watcher>,
    _refreshing: Refreshing,
}

impl Watching {
    /// Watches the layers of packs, and the workspace if something is subscribed to or described by it. What cannot be
    /// watched is logged: the server then serves what it began with, graphs and files are fresh all the same.
    pub fn begin(session: &Session, service: &Arc<Service>) -> Self {
        let mut watchers = Vec::new();
        let reloading = Arc::clone(service);
        let refreshing = Refreshing::begin(service);
        let packs = refreshing.sender();
        watchers.extend(watch(layers(session), move |_| {
            reloading.reload();
            // It listens for as long as this watcher is kept.
            let _ = packs.send(Message::Packs);
        }));
        // What was written after the packs were read and before they were watched.
        service.reload();
        let registry = service.registry();
        let subscribes = registry.resources.iter().any(|one| one.resource.subscribe);
        let describes = registry.tools.iter().any(|one| one.tool.describe.is_some());
        if subscribes || describes {
            let telling = Arc::clone(service);
            let workspace = session.workspace.root().to_owned();
            watchers.extend(watch(vec![PathBuf::from(&workspace)], move |paths| {
                telling.changes().announce(&HostChange::Files(with_folders(&paths)));
                telling.describe();
            }));
            // What is followed already may have changed before it was watched: no list did, but all of it is read again.
            service.changes().announce(&HostChange::Lists { tools: false, prompts: false, resources: false });
        }
        Self { _watchers: watchers, _refreshing: refreshing }
    }
}

fn watch(paths: Vec<PathBuf>, changed: impl Fn(BTreeSet<PathBuf>) + Send + 'static) -> Option<Watcher> {
    match Watcher::new(paths, changed) {
        Ok(watcher) => Some(watcher),
        Err(fault) => {
            tracing::warn!("no hot reload: {fault}");
            None
        }
    }
}

/// Everything that packs and settings are made of.
fn layers(session: &Session) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    let workspace = session.workspace.root();
    paths.push(path::join(workspace, SETTINGS_FILE));
    paths.push(path::join(workspace, WORKSPACE_FOLDER));
    for layer in session.shared.dirs.iter().cloned().chain(config_folder()) {
        paths.extend(FOLDERS.map(|folder| path::join(&layer, folder)));
    }
    paths.extend(record_path());
    paths.into_iter().map(PathBuf::from).collect()
}

/// The paths and the folders they lie in: who looked into a folder wants to know of a new file there.
fn with_folders(paths: &BTreeSet<PathBuf>) -> Vec<String> {
    let all = paths.iter().flat_map(|path| path.ancestors());
    let all: BTreeSet<String> = all.map(|path| path.to_string_lossy().into_owned()).collect();
    all.into_iter().collect()
}
