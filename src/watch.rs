//! Turns file events into debounced sets of changed paths.

use crate::diagnostic::{Code, Diagnostic, Result};
use crate::script::STACK_BYTES;
use ignore::WalkBuilder;
use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{Config, ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Time without another change before a change is reported. Editors write, rename and touch in quick succession.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(100);
/// The time after which a change is reported even if further changes keep coming.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// How often folders are polled that the system does not report on.
const POLL_INTERVAL: Duration = Duration::from_secs(2);
/// How many times longer than a poll the pause after it is, at least.
const POLL_PAUSE: u32 = 50;
/// How long the thread waits for a change when nothing is polled.
const MAX_WAIT: Duration = Duration::from_secs(3_600);

/// Whether this process polls folders because it could not watch them.
static POLLS: AtomicBool = AtomicBool::new(false);

/// How much of a path is watched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// The file, or the entries of the folder.
    Itself,
    /// Everything below it.
    Below,
    /// Everything below it but `.git` and what `.gitignore` and `.ignore` files ignore.
    Unignored,
}

/// Paths of files and folders, which need not exist yet.
pub type WantedPaths = BTreeMap<PathBuf, Reach>;

/// Whether a path is at, below or above a wanted path. When a folder disappears, its contents disappear with it.
pub fn concerns(wanted: &WantedPaths, path: &Path) -> bool {
    path.ancestors().any(|above| wanted.contains_key(above))
        || wanted.range(path.to_owned()..).next().is_some_and(|(below, _)| below.starts_with(path))
}

/// What is wrong if folders are polled.
pub fn shortage() -> Option<Diagnostic> {
    POLLS.load(Ordering::Relaxed).then(describe_shortage)
}

/// What is wrong if the system would not report on changes in a folder.
pub fn probe(folder: &Path) -> Option<Diagnostic> {
    let mut watcher = RecommendedWatcher::new(|_| {}, Config::default()).ok();
    let watches = watcher.as_mut().is_some_and(|watcher| watcher.watch(folder, RecursiveMode::NonRecursive).is_ok());
    (!watches).then(describe_shortage)
}

fn describe_shortage() -> Diagnostic {
    let seconds = POLL_INTERVAL.as_secs();
    let message =
        format!("the system watches no more files for this user: changes are found every {seconds} s or later");
    *Diagnostic::new(Code::WORLD, message)
        .warning()
        .help("raise `fs.inotify.max_user_watches` and `fs.inotify.max_user_instances`, and start the server again")
}

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
    /// Watches what `wanted` returns, including what does not exist yet, or disappears and comes back. `changed` is
    /// called on a thread of the watcher with the absolute paths that changed: once at the beginning, for what changed
    /// before, and again for what is wanted only after a change.
    ///
    /// # Errors
    /// There is no thread for it.
    pub fn new(
        wanted: impl Fn() -> WantedPaths + Send + 'static,
        changed: impl Fn(BTreeSet<PathBuf>) + Send + 'static,
    ) -> Result<Self> {
        let (sender, events) = channel();
        let mut watched_paths = WatchedPaths {
            watcher: create_watcher(&sender),
            wanted: WantedPaths::new(),
            watched: BTreeSet::new(),
            polled: BTreeMap::new(),
            next_poll: Instant::now() + POLL_INTERVAL,
        };
        let first = watched_paths.want(wanted());
        let thread = std::thread::Builder::new()
            .name("watch".into())
            // `changed` may run scripts.
            .stack_size(STACK_BYTES)
            .spawn(move || watched_paths.run(&events, first, &wanted, &changed))
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

/// Creates a watcher that uses the file events of the system, if it can give them.
fn create_watcher(sender: &Sender<WatchMessage>) -> Option<RecommendedWatcher> {
    let sender = sender.clone();
    let listener = move |event: notify::Result<Event>| {
        if let Ok(event) = event
            && is_change(&event)
        {
            // There is no receiver any more once the watcher stops.
            let _ = sender.send(WatchMessage::Event(event));
        }
    };
    RecommendedWatcher::new(listener, Config::default()).ok()
}

/// Whether an event is a change. Reading a file is also an event, but a server must not be triggered by its own reads.
fn is_change(event: &Event) -> bool {
    !matches!(event.kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

/// The entries of a folder, each with its size and the time of its last change.
type FolderEntries = BTreeMap<PathBuf, (u64, Option<Duration>)>;

/// The watched paths and the underlying watcher.
struct WatchedPaths {
    watcher: Option<RecommendedWatcher>,
    wanted: WantedPaths,
    /// The folders that are watched, each without those in it.
    watched: BTreeSet<PathBuf>,
    /// The folders that would be watched if the system could, as they were at the last poll.
    polled: BTreeMap<PathBuf, FolderEntries>,
    next_poll: Instant,
}

impl WatchedPaths {
    fn run(
        mut self,
        events: &Receiver<WatchMessage>,
        first: BTreeSet<PathBuf>,
        wanted: &dyn Fn() -> WantedPaths,
        changed: &dyn Fn(BTreeSet<PathBuf>),
    ) {
        let mut relevant = first;
        loop {
            while !relevant.is_empty() {
                changed(relevant);
                relevant = self.want(wanted());
            }
            let wait = match self.polled.is_empty() {
                true => MAX_WAIT,
                false => self.next_poll.saturating_duration_since(Instant::now()),
            };
            let Some(mut paths) = next_batch(events, wait) else { return };
            paths.extend(self.poll());
            if paths.iter().any(|path| self.changes_folders(path)) {
                self.update_watches(&paths);
            }
            relevant = paths.into_iter().filter(|path| concerns(&self.wanted, path)).collect();
        }
    }

    /// Watches these paths from now on. Returns those that are new.
    fn want(&mut self, wanted: WantedPaths) -> BTreeSet<PathBuf> {
        if wanted == self.wanted {
            return BTreeSet::new();
        }
        let before = std::mem::replace(&mut self.wanted, wanted);
        self.update_watches(&BTreeSet::new());
        self.wanted.keys().filter(|path| !before.contains_key(*path)).cloned().collect()
    }

    /// Whether other folders may have to be watched after a change of this path.
    fn changes_folders(&self, path: &Path) -> bool {
        let is_ignore_file = path.file_name().is_some_and(|name| name == ".gitignore" || name == ".ignore");
        is_ignore_file || path.is_dir() || self.watched.contains(path) || self.polled.contains_key(path)
    }

    /// Watches the folders that are needed now. Those at and below touched paths are watched again, because a new
    /// folder may have replaced one of the same name.
    fn update_watches(&mut self, touched: &BTreeSet<PathBuf>) {
        let needed = needed_folders(&self.wanted);
        let is_stale = |path: &PathBuf| !needed.contains(path) || path.ancestors().any(|above| touched.contains(above));
        let stale: Vec<PathBuf> = self.watched.iter().filter(|path| is_stale(path)).cloned().collect();
        self.polled.retain(|path, _| needed.contains(path));
        let mut watches = self.watcher.as_mut().map(|watcher| watcher.paths_mut());
        for path in stale {
            // The path may have disappeared, and its watch with it.
            let _ = watches.as_mut().map(|watches| watches.remove(&path));
            self.watched.remove(&path);
        }
        let mut is_short = false;
        for path in needed.into_iter().filter(|path| !self.watched.contains(path)).collect::<Vec<_>>() {
            let added = match &mut watches {
                Some(watches) if !is_short => watches.add(&path, RecursiveMode::NonRecursive),
                _ => Err(notify::Error::new(ErrorKind::MaxFilesWatch)),
            };
            match added {
                Ok(()) => {
                    self.polled.remove(&path);
                    self.watched.insert(path);
                }
                Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => {
                    is_short = true;
                    POLLS.store(true, Ordering::Relaxed);
                    self.polled.entry(path).or_insert_with_key(|path| entries(path));
                }
                // It has disappeared, or this user may not read it.
                Err(_) => {}
            }
        }
        let _ = watches.map(notify::PathsMut::commit);
    }

    /// Returns what changed in polled folders since the last time, if it is time to look.
    fn poll(&mut self) -> BTreeSet<PathBuf> {
        let (begun, mut changed) = (Instant::now(), BTreeSet::new());
        if begun < self.next_poll {
            return changed;
        }
        for (folder, before) in &mut self.polled {
            let now = entries(folder);
            let differs = |path: &&PathBuf| before.get(*path) != now.get(*path);
            changed.extend(before.keys().chain(now.keys()).filter(differs).cloned());
            *before = now;
        }
        self.next_poll = Instant::now() + POLL_INTERVAL.max(begun.elapsed() * POLL_PAUSE);
        changed
    }
}

/// The folders that show every change of wanted paths: each path and those below it as far as it reaches, and the nearest
/// existing folder above, which shows when the path appears or disappears.
fn needed_folders(wanted: &WantedPaths) -> BTreeSet<PathBuf> {
    let mut needed = BTreeSet::new();
    for (path, reach) in wanted {
        needed.extend(path.ancestors().skip(1).find(|above| above.is_dir()).map(Path::to_owned));
        // Of a link, the folder above shows no changes of what it leads to.
        if path.is_dir() || path.is_symlink() {
            needed.insert(path.clone());
        }
        if *reach != Reach::Itself {
            let ignores = *reach == Reach::Unignored;
            let mut walk = WalkBuilder::new(path);
            walk.standard_filters(false).git_ignore(ignores).ignore(ignores).require_git(false).follow_links(true);
            walk.filter_entry(move |entry| !ignores || entry.file_name() != ".git");
            let folders = walk.build().flatten().filter(|entry| entry.file_type().is_some_and(|kind| kind.is_dir()));
            needed.extend(folders.map(ignore::DirEntry::into_path));
        }
    }
    needed
}

fn entries(folder: &Path) -> FolderEntries {
    let entry = |path: PathBuf| {
        let known = path.metadata().ok()?;
        let modified = known.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        Some((path, (known.len(), modified)))
    };
    folder.read_dir().into_iter().flatten().flatten().filter_map(|found| entry(found.path())).collect()
}

/// Waits for a change and then for quiet. Returns the changed paths, none if this time passes, or `None` once the watcher
/// stops.
fn next_batch(events: &Receiver<WatchMessage>, wait: Duration) -> Option<BTreeSet<PathBuf>> {
    let mut paths = BTreeSet::new();
    match events.recv_timeout(wait) {
        Ok(WatchMessage::Event(first)) => paths.extend(first.paths),
        Ok(WatchMessage::Stop) | Err(RecvTimeoutError::Disconnected) => return None,
        Err(RecvTimeoutError::Timeout) => return Some(paths),
    }
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

    fn only(path: &Path, reach: Reach) -> impl Fn() -> WantedPaths + Send + use<> {
        let wanted = WantedPaths::from([(path.to_owned(), reach)]);
        move || wanted.clone()
    }

    #[test]
    fn ignored_folders_are_not_watched_until_they_are_not_ignored() {
        let folder = tempfile::tempdir().expect("a folder");
        for path in [".git/objects", "src/deep", "target/deep", "src/dist"] {
            fs::create_dir_all(folder.path().join(path)).expect("created");
        }
        fs::write(folder.path().join(".gitignore"), "target/\ndist\n").expect("written");
        let needed = |path: &Path| {
            let needed = needed_folders(&only(path, Reach::Unignored)());
            let below = needed.iter().filter_map(|one| one.strip_prefix(folder.path()).ok());
            below.map(|path| path.to_string_lossy().into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(needed(folder.path()), ["", "src", "src/deep"]);
        let (sender, changes) = channel();
        let _watcher = Watcher::new(only(folder.path(), Reach::Unignored), move |paths| {
            let _ = sender.send(paths);
        })
        .expect("a watcher");
        expect_change(&changes, folder.path());
        fs::write(folder.path().join("target/deep/a"), "1").expect("written");
        assert!(changes.recv_timeout(Duration::from_millis(400)).is_err());
        fs::write(folder.path().join(".gitignore"), "dist\n").expect("written");
        expect_change(&changes, &folder.path().join(".gitignore"));
        fs::write(folder.path().join("target/deep/a"), "2").expect("written");
        expect_change(&changes, &folder.path().join("target/deep/a"));
    }

    #[test]
    fn changes_of_recreated_folders_are_reported() {
        let folder = tempfile::tempdir().expect("a folder");
        let watched = folder.path().join("tools.d");
        let file = watched.join("deep/a.toml");
        let (sender, changes) = channel();
        let _watcher = Watcher::new(only(&watched, Reach::Below), move |paths| {
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
        let _watcher = Watcher::new(only(folder.path(), Reach::Below), move |paths| {
            let _ = sender.send(paths);
        })
        .expect("a watcher");
        expect_change(&changes, folder.path());
        fs::read(folder.path().join("a")).expect("read");
        assert!(changes.recv_timeout(Duration::from_millis(400)).is_err());
    }
}
