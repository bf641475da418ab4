//! What happens outside of requests, on its way to every client: changed lists, updated resources, log lines.

use crate::call::{
    Answer, AskMode, Caller, ChangeSubscription, HostChange, Peer, Request, RequestHandler, ResourceAnswer,
};
use crate::content::ResourceBody;
use crate::guard::CancelFlag;
use crate::primitive::LogLevel;
use crate::value::Json;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{broadcast, mpsc, oneshot};

/// The resource that says what is wrong at present.
pub(crate) const STATUS: &str = "toolsd://status";

/// So many events wait for a client; one that misses some is told that everything may have changed.
const WAITING: usize = 256;

/// One thing that clients may want to know.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// The list of tools is another.
    Tools,
    /// The list of prompts is another.
    Prompts,
    /// The list of resources or of templates is another.
    Resources,
    /// A resource holds something else.
    Updated(String),
    /// A line for the log.
    Log(LogLevel, Json),
}

/// The bus.
pub(crate) struct Bus {
    events: broadcast::Sender<Event>,
    followed: Mutex<HashMap<String, Followed>>,
    /// With it goes the way on which changes reach the task that reads again, and so the task.
    _listener: ChangeSubscription,
}

/// A resource that somebody subscribed to.
struct Followed {
    /// How many did.
    clients: usize,
    /// What its contents were made from.
    touched: HashSet<String>,
    /// What they were.
    print: Option<blake3::Hash>,
}

impl Bus {
    /// Listens to the changes of a host. A task reads again what clients follow, as long as the bus lives.
    pub(crate) fn start(service: &Arc<dyn RequestHandler>) -> Arc<Self> {
        let (sender, changes) = mpsc::unbounded_channel();
        let bus = Arc::new_cyclic(|bus: &Weak<Self>| {
            let speaker = Weak::clone(bus);
            let listener = service.changes().subscribe(move |change| {
                if let Some(bus) = speaker.upgrade() {
                    bus.announce(change);
                    // The task ends with the bus; a change after that is nobody's.
                    let _ = sender.send(change.clone());
                }
            });
            Self { events: broadcast::channel(WAITING).0, followed: Mutex::default(), _listener: listener }
        });
        tokio::spawn(follow(Arc::downgrade(&bus), Arc::clone(service), changes));
        bus
    }

    /// All events from now on.
    pub(crate) fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn send(&self, event: Event) {
        // Nobody listening is no fault.
        let _ = self.events.send(event);
    }

    fn announce(&self, change: &HostChange) {
        match change {
            HostChange::Lists { tools, prompts, resources } => {
                for (changed, event) in
                    [(*tools, Event::Tools), (*prompts, Event::Prompts), (*resources, Event::Resources)]
                {
                    if changed {
                        self.send(event);
                    }
                }
            }
            HostChange::Files(_) => {}
            HostChange::Resource { uri } => self.send(Event::Updated(uri.clone())),
            HostChange::Log { level, data } => self.send(Event::Log(*level, data.clone())),
        }
    }

    fn followed(&self) -> MutexGuard<'_, HashMap<String, Followed>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client follows a resource, whose contents are these at present, if they are known.
    pub(crate) fn follow(&self, uri: &str, contents: Option<&ResourceAnswer>) {
        let mut all = self.followed();
        let entry =
            all.entry(uri.to_owned()).or_insert_with(|| Followed { clients: 0, touched: HashSet::new(), print: None });
        entry.clients += 1;
        if let Some(contents) = contents {
            entry.touched = all_of(contents);
            entry.print = Some(print_of(contents));
        }
    }

    /// It follows it no longer.
    pub(crate) fn leave(&self, uri: &str) {
        let mut all = self.followed();
        if let Some(entry) = all.get_mut(uri) {
            entry.clients -= 1;
            if entry.clients == 0 {
                all.remove(uri);
            }
        }
    }

    /// The followed resources that a change may have touched.
    fn touched_by(&self, change: &HostChange) -> Vec<String> {
        let all = self.followed();
        let touched = all.iter().filter(|(uri, followed)| {
            uri.as_str() == STATUS
                || match change {
                    HostChange::Lists { .. } => true,
                    HostChange::Files(paths) => paths.iter().any(|path| followed.touched.contains(path)),
                    HostChange::Resource { .. } | HostChange::Log { .. } => false,
                }
        });
        touched.map(|(uri, _)| uri.clone()).collect()
    }

    /// Keeps what was read, and tells the clients if it is not what it was.
    fn compare(&self, uri: &str, contents: Option<&ResourceAnswer>) {
        let print = contents.map(print_of);
        let differs = {
            let mut all = self.followed();
            let Some(followed) = all.get_mut(uri) else { return };
            if let Some(contents) = contents {
                followed.touched = all_of(contents);
            }
            std::mem::replace(&mut followed.print, print) != print
        };
        if differs {
            self.send(Event::Updated(uri.to_owned()));
        }
    }
}

/// Reads again what is followed whenever something changed that it may be made from.
async fn follow(bus: Weak<Bus>, service: Arc<dyn RequestHandler>, mut changes: mpsc::UnboundedReceiver<HostChange>) {
    while let Some(change) = changes.recv().await {
        let Some(uris) = bus.upgrade().map(|bus| bus.touched_by(&change)) else { return };
        for uri in uris {
            let contents = read_resource(&service, &uri).await;
            let Some(bus) = bus.upgrade() else { return };
            bus.compare(&uri, contents.as_ref());
        }
    }
}

/// Reads a resource for nobody in particular; nothing if it cannot be read.
pub(crate) async fn read_resource(service: &Arc<dyn RequestHandler>, uri: &str) -> Option<ResourceAnswer> {
    let (done, answered) = oneshot::channel();
    let caller = Caller {
        cancel: CancelFlag::default(),
        notices: Box::new(|_| {}),
        capabilities: Json::default(),
        asking: AskMode::Nobody,
        peer: Peer::default(),
    };
    let request = Request::Read { uri: uri.to_owned() };
    Arc::clone(service).submit(request, caller, Box::new(move |answer| drop(done.send(answer))));
    match answered.await {
        Ok(Answer::Contents(contents)) => Some(contents),
        _ => None,
    }
}

/// The files and folders that contents were made from.
fn all_of(contents: &ResourceAnswer) -> HashSet<String> {
    contents.touched.iter().flat_map(|part| part.iter()).cloned().collect()
}

fn print_of(contents: &ResourceAnswer) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    for (uri, mime_type, body) in &contents.parts {
        let (kind, body) = match body {
            ResourceBody::Text(text) => ("text", text),
            ResourceBody::Blob(blob) => ("blob", blob),
        };
        for part in [uri.as_str(), mime_type.as_deref().unwrap_or_default(), kind, body.as_str()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part.as_bytes());
        }
    }
    hasher.finalize()
}
