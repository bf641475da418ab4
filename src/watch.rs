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

/// So long must it be quiet before a change is told: editors write, rename and touch in one go.
const QUIET: Duration = Duration::from_millis(100);
/// A change is told after this long even if it never gets quiet.
const AT_MOST: Duration = Duration::from_secs(1);
/// How often a file system without events is looked at.
const POLL: Duration = Duration::from_secs(2);

/// Watches until it is dropped.
pub struct Watcher {
    stop: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
}

enum Message {
    Event(Event),
    Stop,
}

impl Watcher {
    /// Watches files and folders (folders with all that is in them), also those that are not there yet, or go away and
    /// come again. `changed` is called on a thread of the watcher with the absolute paths that changed.
    ///
    /// # Errors
    /// When neither file events nor polling can be set up.
    pub fn new(paths: Vec<PathBuf>, changed: impl Fn(BTreeSet<PathBuf>) + Send + 'static) -> Result<Self> {
        let (sender, events) = channel();
        let mut armed = Armed { watcher: connect(&sender)?, wanted: paths, watched: BTreeMap::new() };
        armed.arm(&BTreeSet::new());
        let thread = std::thread::Builder::new()
            .name("watch".into())
            // What is called may run scripts.
            .stack_size(STACK_BYTES)
            .spawn(move || armed.run(&events, &changed))
            .map_err(|error| Diagnostic::new(Code::WORLD, format!("no thread to watch files with: {error}")))?;
        Ok(Self { stop: Some(sender), thread: Some(thread) })
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The thread may have ended already: then nobody listens, and nothing is left to stop.
            let _ = stop.send(Message::Stop);
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// File events where the system has them, else polling.
fn connect(sender: &Sender<Message>) -> Result<Box<dyn notify::Watcher + Send>> {
    let listener = || {
        let sender = sender.clone();
        move |event: notify::Result<Event>| {
            if let Ok(event) = event
                && is_change(&event)
            {
                // Nobody listens once the watcher stops.
                let _ = sender.send(Message::Event(event));
            }
        }
    };
    if let Ok(watcher) = RecommendedWatcher::new(listener(), Config::default()) {
        return Ok(Box::new(watcher));
    }
    PollWatcher::new(listener(), Config::default().with_poll_interval(POLL))
        .map(|watcher| Box::new(watcher) as Box<dyn notify::Watcher + Send>)
        .map_err(|error| Diagnostic::new(Code::WORLD, format!("files cannot be watched: {error}")))
}

/// Reading a file is an event too: a server that reads what it watches must not wake itself.
fn is_change(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

struct Armed {
    watcher: Box<dyn notify::Watcher + Send>,
    wanted: Vec<PathBuf>,
    /// What is watched at present, and whether with all that is in it.
    watched: BTreeMap<PathBuf, RecursiveMode>,
}

impl Armed {
    fn run(mut self, events: &Receiver<Message>, changed: &dyn Fn(BTreeSet<PathBuf>)) {
        while let Some(paths) = next_batch(events) {
            self.arm(&paths);
            let told: BTreeSet<PathBuf> = paths.into_iter().filter(|path| self.concerns(path)).collect();
            if !told.is_empty() {
                changed(told);
            }
        }
    }

    /// A path at or below a wanted one, or one above it: a folder that goes takes what is in it along.
    fn concerns(&self, path: &Path) -> bool {
        self.wanted.iter().any(|wanted| path.starts_with(wanted) || wanted.starts_with(path))
    }

    /// Watches each wanted path, and the nearest folder above it that is there, which sees it come and go. What was
    /// touched itself is watched anew: it may be another folder of the same name.
    fn arm(&mut self, touched: &BTreeSet<PathBuf>) {
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
            // It may be gone already, and its watch with it.
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

/// Waits for a change, then until it is quiet. Nothing once the watcher stops.
fn next_batch(events: &Receiver<Message>) -> Option<BTreeSet<PathBuf>> {
    let mut paths = BTreeSet::new();
    let Ok(Message::Event(first)) = events.recv() else { return None };
    paths.extend(first.paths);
    let begun = Instant::now();
    while begun.elapsed() < AT_MOST {
        match events.recv_timeout(QUIET) {
            Ok(Message::Event(event)) => paths.extend(event.paths),
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
            Err(RecvTimeoutError::Timeout) => break,
        }
    }
    Some(paths)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn told(changes: &Receiver<BTreeSet<PathBuf>>, path: &Path) {
        let end = Instant::now() + Duration::from_secs(10);
        while Instant::now() < end {
            match changes.recv_timeout(Duration::from_millis(200)) {
                Ok(paths) if paths.iter().any(|one| one.starts_with(path) || path.starts_with(one)) => return,
                _ => {}
            }
        }
        panic!("nobody told of {}", path.display());
    }

    #[test]
    fn changes_are_told_also_of_folders_that_go_and_come() {
        let folder = tempfile::tempdir().expect("a folder");
        let watched = folder.path().join("tools.d");
        let file = watched.join("deep/a.toml");
        let (sender, changes) = channel();
        let _watcher = Watcher::new(vec![watched.clone()], move |paths| {
            let _ = sender.send(paths);
        })
        .expect("a watcher");
        fs::create_dir_all(watched.join("deep")).expect("created");
        told(&changes, &watched);
        fs::write(&file, "1").expect("written");
        told(&changes, &file);
        fs::write(watched.join("b.tmp"), "2").expect("written");
        fs::rename(watched.join("b.tmp"), &file).expect("renamed");
        told(&changes, &file);
        fs::remove_dir_all(&watched).expect("removed");
        told(&changes, &watched);
        fs::create_dir_all(watched.join("deep")).expect("created");
        told(&changes, &watched);
        fs::write(&file, "3").expect("written");
        told(&changes, &file);
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
