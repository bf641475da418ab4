//! Graphs that are refreshed beside the calls: one thread that knows the clock, and watchers of what they were made of.

use crate::call::{RefreshSchedule, Service};
use crate::guard::CancelFlag;
use crate::script::STACK_BYTES;
use crate::watch::Watcher;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// So long is waited where no clock counts: until a message comes.
const LONG: Duration = Duration::from_secs(3_600);

/// Refreshes for as long as it is kept.
pub struct Refreshing {
    sender: Sender<Message>,
    cancel: CancelFlag,
    thread: Option<JoinHandle<()>>,
}

/// What the thread is told.
pub enum Message {
    /// Packs may be others.
    Packs,
    /// Something that the graph of a pack was made of changed.
    Files(String),
    /// No more.
    Stop,
}

impl Refreshing {
    /// Begins. Where no thread can be had, graphs stay as they were built first, and the log says so.
    pub fn begin(service: &Arc<Service>) -> Self {
        let (sender, messages) = channel();
        let cancel = CancelFlag::default();
        let keeper =
            Keeper { service: Arc::clone(service), sender: sender.clone(), cancel: cancel.clone(), kept: Vec::new() };
        let thread = std::thread::Builder::new().name("refresh".to_owned()).stack_size(STACK_BYTES);
        let thread = thread.spawn(move || keeper.run(&messages));
        if let Err(error) = &thread {
            tracing::warn!("no graph is refreshed: {error}");
        }
        Self { sender, cancel, thread: thread.ok() }
    }

    /// Where the thread is told something.
    pub fn sender(&self) -> Sender<Message> {
        self.sender.clone()
    }
}

impl Drop for Refreshing {
    //= docs/spec.md#freshness
    //# No thread that refreshes MUST be left at the end of the process.
    fn drop(&mut self) {
        self.cancel.cancel();
        // The thread may have ended already.
        let _ = self.sender.send(Message::Stop);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Keeper {
    service: Arc<Service>,
    sender: Sender<Message>,
    cancel: CancelFlag,
    kept: Vec<Kept>,
}

/// A pack whose graph is refreshed.
struct Kept {
    pace: RefreshSchedule,
    due: Option<Instant>,
    watched: BTreeSet<PathBuf>,
    watcher: Option<Watcher>,
}

impl Keeper {
    fn run(mut self, messages: &Receiver<Message>) {
        self.look();
        loop {
            let next = self.kept.iter().filter_map(|kept| kept.due).min();
            let wait = next.map_or(LONG, |due| due.saturating_duration_since(Instant::now()));
            match messages.recv_timeout(wait) {
                Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                Ok(Message::Packs) => self.look(),
                Ok(Message::Files(pack)) => {
                    for kept in self.kept.iter_mut().filter(|kept| kept.pace.pack == pack) {
                        refresh(&self.service, &self.cancel, &self.sender, kept);
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    let now = Instant::now();
                    for kept in self.kept.iter_mut().filter(|kept| kept.due.is_some_and(|due| due <= now)) {
                        refresh(&self.service, &self.cancel, &self.sender, kept);
                        kept.due = kept.pace.every.map(|every| Instant::now() + every);
                    }
                }
            }
        }
    }

    /// Begins with packs that are new, and ends with those that are gone or have another pace.
    fn look(&mut self) {
        let paces = self.service.refresh_schedules();
        self.kept.retain(|kept| paces.contains(&kept.pace));
        for pace in paces {
            if !self.kept.iter().any(|kept| kept.pace == pace) {
                let due = pace.every.map(|every| Instant::now() + every);
                let mut kept = Kept { pace, due, watched: BTreeSet::new(), watcher: None };
                if kept.pace.watch {
                    // Built before it is known what to watch; nothing happens if that was done.
                    refresh(&self.service, &self.cancel, &self.sender, &mut kept);
                }
                self.kept.push(kept);
            }
        }
    }
}

fn refresh(service: &Arc<Service>, cancel: &CancelFlag, sender: &Sender<Message>, kept: &mut Kept) {
    service.refresh(&kept.pace.pack, cancel.clone());
    if !kept.pace.watch {
        return;
    }
    let watched = outermost(service.touched(&kept.pace.pack));
    if watched == kept.watched && kept.watcher.is_some() {
        return;
    }
    let (pack, sender) = (kept.pace.pack.clone(), sender.clone());
    let paths = watched.iter().cloned().collect();
    let watcher = Watcher::new(paths, move |_| {
        // The thread may have ended.
        let _ = sender.send(Message::Files(pack.clone()));
    });
    kept.watcher = watcher.map_err(|fault| tracing::warn!("files are not watched: {fault}")).ok();
    kept.watched = watched;
    // What changed after the look and before the watch.
    service.refresh(&kept.pace.pack, cancel.clone());
}

/// The paths that lie below no other: a folder is watched with all that is in it.
fn outermost(paths: Vec<String>) -> BTreeSet<PathBuf> {
    let mut outermost: BTreeSet<PathBuf> = BTreeSet::new();
    for path in paths.into_iter().map(PathBuf::from).collect::<BTreeSet<_>>() {
        if !path.ancestors().any(|above| outermost.contains(above)) {
            outermost.insert(path);
        }
    }
    outermost
}
