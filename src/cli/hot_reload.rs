//! Hot reload of a running server: the watched files and the effects of a change, and graphs that are refreshed in the
//! background.

use super::context::{CommandContext, trust_record_path};
use crate::call::{HostChange, RefreshSchedule, Service};
use crate::definition::SETTINGS_FILE;
use crate::distribution::LOCK_FILE;
use crate::guard::CancelFlag;
use crate::registry::{FOLDERS, PackChoice, Registry, WORKSPACE_FOLDER, expand_places};
use crate::script::STACK_BYTES;
use crate::surface::SURFACE_FILE;
use crate::watch::{Reach, WantedPaths, Watcher, concerns, shortage};
use crate::world::disk::{config_folder, home_folder};
use crate::world::path;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The watcher of a running server; watching ends when this is dropped.
pub struct HotReload {
    _watcher: Option<Watcher>,
    _refresher: GraphRefresher,
}

impl HotReload {
    /// Watches the layers of packs, what other packs wait for, and the workspace if something that clients see depends
    /// on it.
    pub fn start(context: &CommandContext, service: &Arc<Service>) -> Self {
        let refresher = GraphRefresher::start(service);
        let (packs, root, layers) = (refresher.sender(), context.workspace.root().to_owned(), layer_paths(context));
        let (wanting, telling) = (Arc::clone(service), Arc::clone(service));
        let worlds = context.pack_source(PackChoice::ByMarkers).ok().map(Arc::new);
        let pack_paths = move |registry: &Registry| {
            let expand = |(_, markers): &(String, Vec<String>)| {
                worlds.as_ref().map_or_else(Vec::new, |worlds| expand_places(markers, &root, worlds.as_ref()))
            };
            let markers = registry.dormant.iter().flat_map(expand);
            let markers = markers.map(|marker| (PathBuf::from(place_of_marker(&root, &marker)), Reach::Itself));
            (PathBuf::from(&root), markers.chain(layers.clone()).collect::<WantedPaths>())
        };
        let wanted_paths = pack_paths.clone();
        let wanted = move || {
            let registry = wanting.registry();
            let (root, mut wanted) = wanted_paths(&registry);
            if shows_files(&registry) {
                wanted.insert(root, Reach::Unignored);
            }
            wanted
        };
        let watcher = watch(service, wanted, move |paths| {
            let (_, of_packs) = pack_paths(&telling.registry());
            if paths.iter().any(|path| concerns(&of_packs, path)) {
                telling.reload();
                // The receiver lives as long as this watcher.
                let _ = packs.send(RefreshMessage::Packs);
            }
            if shows_files(&telling.registry()) {
                telling.changes().announce(&HostChange::Files(with_parent_folders(&paths)));
                telling.describe();
                telling.compare_resources(false);
            }
        });
        if shows_files(&service.registry()) {
            // Followed resources may have changed before the watch: no list did, but all of them are read again.
            service.changes().announce(&HostChange::Lists { tools: false, prompts: false, resources: false });
        }
        Self { _watcher: watcher, _refresher: refresher }
    }
}

/// Where a dormant pack looks for a marker.
fn place_of_marker(root: &str, marker: &str) -> String {
    match (marker.strip_prefix("~/"), home_folder()) {
        (Some(rest), Some(home)) => path::join(&home, rest),
        _ => path::join(root, marker),
    }
}

/// Whether clients see something that a change of the workspace may change.
fn shows_files(registry: &Registry) -> bool {
    registry.resources.iter().any(|one| one.definition.subscribe || one.definition.list.is_some())
        || registry.tools.iter().any(|one| one.definition.describe.is_some())
}

/// Watches. Without a thread for it, that is logged: packs then stay as they are, while graphs and files are fresh all
/// the same.
fn watch(
    service: &Service,
    wanted: impl Fn() -> WantedPaths + Send + 'static,
    changed: impl Fn(BTreeSet<PathBuf>) + Send + 'static,
) -> Option<Watcher> {
    let was_short = shortage().is_some();
    let watcher = Watcher::new(wanted, changed);
    if !was_short && shortage().is_some() {
        // It is one of the errors of the packs, which are collected when they are loaded.
        service.reload();
    }
    watcher.map_err(|diagnostic| tracing::warn!("no hot reload: {diagnostic}")).ok()
}

/// The paths of everything that packs and settings are made of.
fn layer_paths(context: &CommandContext) -> WantedPaths {
    let mut paths = Vec::new();
    let workspace = context.workspace.root();
    paths.push(path::join(workspace, SETTINGS_FILE));
    paths.push(path::join(workspace, LOCK_FILE));
    paths.push(path::join(workspace, SURFACE_FILE));
    paths.push(path::join(workspace, WORKSPACE_FOLDER));
    for layer in context.options.dirs.iter().cloned().chain(config_folder()) {
        paths.extend(FOLDERS.map(|folder| path::join(&layer, folder)));
    }
    paths.extend(trust_record_path());
    paths.into_iter().map(|path| (PathBuf::from(path), Reach::Below)).collect()
}

/// The paths and all folders above them: who listed a folder wants to know of a new file in it.
fn with_parent_folders(paths: &BTreeSet<PathBuf>) -> Vec<String> {
    let all = paths.iter().flat_map(|path| path.ancestors());
    let all: BTreeSet<String> = all.map(|path| path.to_string_lossy().into_owned()).collect();
    all.into_iter().collect()
}

/// How long the thread waits for a message when no graph is due.
const MAX_MESSAGE_WAIT: Duration = Duration::from_secs(3_600);

/// The thread that refreshes graphs in the background: at intervals, and when files change. It ends when this is
/// dropped.
pub struct GraphRefresher {
    sender: Sender<RefreshMessage>,
    cancel: CancelFlag,
    thread: Option<JoinHandle<()>>,
}

/// A message to the thread.
pub enum RefreshMessage {
    /// The packs may have changed.
    Packs,
    /// Files that the graph of this pack was made of changed.
    Files(String),
    /// The thread ends.
    Stop,
}

impl GraphRefresher {
    /// Starts the thread. If that fails, graphs keep their first build, and an error is logged.
    pub fn start(service: &Arc<Service>) -> Self {
        let (sender, messages) = channel();
        let cancel = CancelFlag::default();
        let keeper = RefreshWorker {
            service: Arc::clone(service),
            sender: sender.clone(),
            cancel: cancel.clone(),
            graphs: Vec::new(),
        };
        let thread = std::thread::Builder::new().name("refresh".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || keeper.run(&messages));
        if let Err(error) = &thread {
            tracing::warn!("no graph is refreshed: {error}");
        }
        Self { sender, cancel, thread: thread.ok() }
    }

    /// A sender of messages to the thread.
    pub fn sender(&self) -> Sender<RefreshMessage> {
        self.sender.clone()
    }
}

impl Drop for GraphRefresher {
    fn drop(&mut self) {
        self.cancel.cancel();
        // The thread may have ended already.
        let _ = self.sender.send(RefreshMessage::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct RefreshWorker {
    service: Arc<Service>,
    sender: Sender<RefreshMessage>,
    cancel: CancelFlag,
    graphs: Vec<RefreshedGraph>,
}

/// A pack whose graph is refreshed.
struct RefreshedGraph {
    pace: RefreshSchedule,
    due: Option<Instant>,
    watched: BTreeSet<PathBuf>,
    watcher: Option<Watcher>,
}

impl RefreshWorker {
    fn run(mut self, messages: &Receiver<RefreshMessage>) {
        self.update_packs();
        loop {
            let next = self.graphs.iter().filter_map(|graph| graph.due).min();
            let wait = next.map_or(MAX_MESSAGE_WAIT, |due| due.saturating_duration_since(Instant::now()));
            match messages.recv_timeout(wait) {
                Ok(RefreshMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(RefreshMessage::Packs) => self.update_packs(),
                Ok(RefreshMessage::Files(pack)) => {
                    for graph in self.graphs.iter_mut().filter(|graph| graph.pace.pack == pack) {
                        refresh(&self.service, &self.cancel, &self.sender, graph);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    for graph in self.graphs.iter_mut().filter(|graph| graph.due.is_some_and(|due| due <= now)) {
                        refresh(&self.service, &self.cancel, &self.sender, graph);
                        graph.due = graph.pace.every.map(|every| Instant::now() + every);
                    }
                }
            }
        }
    }

    /// Begins with packs that are new, and ends with those that are gone or have another pace.
    fn update_packs(&mut self) {
        let paces = self.service.refresh_schedules();
        self.graphs.retain(|graph| paces.contains(&graph.pace));
        for pace in paces {
            if !self.graphs.iter().any(|graph| graph.pace == pace) {
                let due = pace.every.map(|every| Instant::now() + every);
                let mut graph = RefreshedGraph { pace, due, watched: BTreeSet::new(), watcher: None };
                if graph.pace.watch {
                    // Built before it is known what to watch; nothing happens if that was done.
                    refresh(&self.service, &self.cancel, &self.sender, &mut graph);
                }
                self.graphs.push(graph);
            }
        }
    }
}

fn refresh(service: &Arc<Service>, cancel: &CancelFlag, sender: &Sender<RefreshMessage>, graph: &mut RefreshedGraph) {
    service.refresh(&graph.pace.pack, cancel.clone());
    if !graph.pace.watch {
        return;
    }
    let watched = folders_of(service.touched(&graph.pace.pack));
    if watched == graph.watched && graph.watcher.is_some() {
        return;
    }
    let (pack, sender) = (graph.pace.pack.clone(), sender.clone());
    let wanted: WantedPaths = watched.iter().map(|path| (path.clone(), Reach::Itself)).collect();
    graph.watcher = watch(
        service,
        move || wanted.clone(),
        move |_| {
            // The thread may have ended.
            let _ = sender.send(RefreshMessage::Files(pack.clone()));
        },
    );
    graph.watched = watched;
}

/// The folders among these paths, and those that the files are in.
fn folders_of(paths: Vec<String>) -> BTreeSet<PathBuf> {
    let folder = |path: PathBuf| match path.parent() {
        Some(above) if !path.is_dir() && !path.is_symlink() => above.to_owned(),
        _ => path,
    };
    paths.into_iter().map(PathBuf::from).map(folder).collect()
}
