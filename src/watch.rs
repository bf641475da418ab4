//! Turns file events into debounced sets of changed paths.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::script::STACK_BYTES;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Config, Event, PollWatcher, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time without another change before a change is reported. Editors write, rename and touch in quick succession.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(100);
/// The time after which a change is reported even if further changes keep coming.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// How often a file system without events is polled.
const POLL_INTERVAL: Duration = Duration::from_secs(2);

/// Watches files and folders until it is dropped.
pub struct Watcher {
    stop: Option<Sender<WatchMessage>>,
    thread: Option<JoinHandle<()>>,
}

/// A message to the thread of a watcher.
enum WatchMessage {
    Event(Event),
    Stop,
}

impl Watcher {
    /// Watches files and folders (folders recursively), including those that do not exist yet, or that disappear and
    /// come back. `changed` is called on a thread of the watcher with the absolute paths that changed.
    ///
    /// # Errors
    /// Neither file events nor polling can be set up.
    pub fn new(paths: Vec<PathBuf>, changed: impl Fn(BTreeSet<PathBuf>) + Send + 'static) -> Result<Self> {
        let (sender, events) = channel();
        let mut watched_paths =
            WatchedPaths { watcher: create_watcher(&sender)?, wanted: paths, watched: BTreeMap::new() };
        watched_paths.update_watches(&BTreeSet::new());
        let thread = std::thread::Builder::new()
            .name("watch".into())
            // `changed` may run scripts.
            .stack_size(STACK_BYTES)
            .spawn(move || watched_paths.run(&events, &changed))
            .map_err(|error| {
                Diagnostic::new(Code::WORLD, format!("cannot start the thread that watches files: {error}"))
            })?;
        Ok(Self { stop: Some(sender), thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // If the thread has already ended, there is no receiver and nothing to stop.
            let _ = stop.send(WatchMessage::Stop);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Creates a watcher that uses file events if the system has them, and otherwise polls.
fn create_watcher(sender: &Sender<WatchMessage>) -> Result<Box<dyn notify::Watcher + Send>> {
    let listener = || {
        let sender = sender.clone();
        move |event: notify::Result<Event>| {
            if let Ok(event) = event
                && is_change(&event)
            {
                // There is no receiver any more once the watcher stops.
                let _ = sender.send(WatchMessage::Event(event));
            }
        }
    };
    if let Ok(watcher) = RecommendedWatcher::new(listener(), Config::default()) {
        return Ok(Box::new(watcher));
    }
    PollWatcher::new(listener(), Config::default().with_poll_interval(POLL_INTERVAL))
        .map(|watcher| Box::new(watcher) as Box<dyn notify::Watcher + Send>)
        .map_err(|error| Diagnostic::new(Code::WORLD, format!("cannot watch files: {error}")))
}

/// Whether an event is a change. Reading a file is also an event, but a server must not be triggered by its own reads.
fn is_change(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

/// The watched paths and the underlying watcher.
struct WatchedPaths {
    watcher: Box<dyn notify::Watcher + Send>,
    wanted: Vec<PathBuf>,
    /// The paths that are currently watched, and whether recursively.
    watched: BTreeMap<PathBuf, RecursiveMode>,
}

impl WatchedPaths {
    fn run(mut self, events: &Receiver<WatchMessage>, changed: &dyn Fn(BTreeSet<PathBuf>)) {
        while let Some(paths) = next_batch(events) {
            self.update_watches(&paths);
            let relevant: BTreeSet<PathBuf> = paths.into_iter().filter(|path| self.is_relevant(path)).collect();
            if !relevant.is_empty() {
                changed(relevant);
            }
        }
    }

    /// Whether a path is at, below or above a wanted path. When a folder disappears, its contents disappear with it.
    fn is_relevant(&self, path: &Path) -> bool {
        self.wanted.iter().any(|wanted| path.starts_with(wanted) || wanted.starts_with(path))
    }

    /// Watches each wanted path, and the nearest existing folder above it, which reports when the path appears or
    /// disappears. Touched paths are watched again, because a new folder may have replaced one of the same name.
    fn update_watches(&mut self, touched: &BTreeSet<PathBuf>) {
        let mut needed: BTreeMap<PathBuf, RecursiveMode> = BTreeMap::new();
        for wanted in &self.wanted {
            if let Some(above) = wanted.ancestors().skip(1).find(|above| above.is_dir()) {
                needed.entry(above.to_owned()).or_insert(RecursiveMode::NonRecursive);
            }
            if wanted.exists() {
                needed.insert(wanted.clone(), RecursiveMode::Recursive);
            }
        }
        let stale: Vec<PathBuf> = self
            .watched
            .iter()
            .filter(|(path, mode)| needed.get(*path) != Some(*mode) || touched.contains(*path))
            .map(|(path, _)| path.clone())
            .collect();
        for path in stale {
            // The path may have disappeared, and its watch with it.
            let _ = self.watcher.unwatch(&path);
            self.watched.remove(&path);
        }
        for (path, mode) in needed {
            if !self.watched.contains_key(&path) && self.watcher.watch(&path, mode).is_ok() {
                self.watched.insert(path, mode);
            }
        }
    }
}

/// Waits for a change and then for quiet. Returns the changed paths, or `None` once the watcher stops.
fn next_batch(events: &Receiver<WatchMessage>) -> Option<BTreeSet<PathBuf>> {
    let mut paths = BTreeSet::new();
    let Ok(WatchMessage::Event(first)) = events.recv() else { return None };
    paths.extend(first.paths);
    let begun = Instant::now();
    while begun.elapsed() < MAX_DELAY {
        match events.recv_timeout(DEBOUNCE_INTERVAL) {
            Ok(WatchMessage::Event(event)) => paths.extend(event.paths),
            Ok(WatchMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn expect_change(changes: &Receiver<BTreeSet<PathBuf>>, path: &Path) {
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            match changes.recv_timeout(Duration::from_millis(200)) {
                Ok(paths) if paths.iter().any(|one| one.starts_with(path) || path.starts_with(one)) => return,
                _ => {}
            }
        }
        panic!("no event reported {}", path.display());
    }

    #[test]
    fn changes_of_recreated_folders_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let watched = folder.path().join("tools.d");
        let file = watched.join("deep/a.toml");
        let (sender, changes) = channel();
        let _watcher = Watcher::new(vec![watched.clone()], move |paths| {
            let _ = sender.send(paths);
        })
        .expect("a watcher");
        fs::create_dir_all(watched.join("deep")).expect("created");
        expect_change(&changes, &watched);
        fs::write(&file, "1").expect("written");
        expect_change(&changes, &file);
        fs::write(watched.join("b.tmp"), "2").expect("written");
        fs::rename(watched.join("b.tmp"), &file).expect("renamed");
        expect_change(&changes, &file);
        fs::remove_dir_all(&watched).expect("removed");
        expect_change(&changes, &watched);
        fs::create_dir_all(watched.join("deep")).expect("created");
        expect_change(&changes, &watched);
        fs::write(&file, "3").expect("written");
        expect_change(&changes, &file);
    }

    #[test]
    fn reading_is_no_change() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("a"), "1").expect("written");
        let (sender, changes) = channel();
        let _watcher = Watcher::new(vec![folder.path().to_owned()], move |paths| {
            let _ = sender.send(paths);
        })
        .expect("a watcher");
        std::thread::sleep(Duration::from_millis(50));
        fs::read(folder.path().join("a")).expect("read");
        assert!(changes.recv_timeout(Duration::from_millis(400)).is_err());
    }
}
