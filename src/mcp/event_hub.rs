//! Events outside of requests, broadcast to every client: changed lists, updated resources, log lines.

use super::lists::STATUS;
use crate::call::{
    Answer, AskMode, Caller, ChangeSubscription, HostChange, Peer, Request, RequestHandler, ResourceAnswer,
};
use crate::content::ResourceBody;
use crate::guard::CancelFlag;
use crate::primitive_api::LogLevel;
use crate::value::Json;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::{broadcast, mpsc, oneshot};

/// The maximum number of queued events per client. After missing some, a client is notified that everything may have
/// changed.
const EVENT_CAPACITY: usize = 256;

/// An event that clients may subscribe to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Event {
    /// The list of tools changed.
    Tools,
    /// The list of prompts changed.
    Prompts,
    /// The list of resources or of templates changed.
    Resources,
    /// The contents of a resource changed.
    Updated(String),
    /// A log line.
    Log(LogLevel, Json),
}

/// Broadcasts the events of a service to all connections, and detects changes of followed resources.
pub(crate) struct EventHub {
    events: broadcast::Sender<Event>,
    followed: Mutex<HashMap<String, FollowedResource>>,
    /// Dropping it closes the channel of the task that reads followed resources, and so ends that task.
    _listener: ChangeSubscription,
}

/// A resource that clients subscribed to.
struct FollowedResource {
    /// The number of subscriptions.
    clients: usize,
    /// The files and folders that its contents were made from.
    source_paths: HashSet<String>,
    /// The fingerprint of its contents; `None` if it could not be read.
    fingerprint: Option<blake3::Hash>,
}

impl EventHub {
    /// Starts listening to the changes of a service. As long as the hub lives, a task reads followed resources again.
    pub(crate) fn start(service: &Arc<dyn RequestHandler>) -> Arc<Self> {
        let (sender, changes) = mpsc::unbounded_channel();
        let hub = Arc::new_cyclic(|hub: &Weak<Self>| {
            let listening_hub = Weak::clone(hub);
            let listener = service.changes().subscribe(move |change| {
                if let Some(hub) = listening_hub.upgrade() {
                    hub.announce(change);
                    // The task ends with the hub; later changes are dropped.
                    let _ = sender.send(change.clone());
                }
            });
            Self { events: broadcast::channel(EVENT_CAPACITY).0, followed: Mutex::default(), _listener: listener }
        });
        tokio::spawn(refresh_followed(Arc::downgrade(&hub), Arc::clone(service), changes));
        hub
    }

    /// All events from now on.
    pub(crate) fn events(&self) -> broadcast::Receiver<Event> {
        self.events.subscribe()
    }

    fn send(&self, event: Event) {
        // Sending fails without a receiver, which is not an error here.
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

    fn followed(&self) -> MutexGuard<'_, HashMap<String, FollowedResource>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a subscription to a resource. `contents` are its present contents, if they are known.
    pub(crate) fn follow(&self, uri: &str, contents: Option<&ResourceAnswer>) {
        let mut all = self.followed();
        let entry = all.entry(uri.to_owned()).or_insert_with(|| FollowedResource {
            clients: 0,
            source_paths: HashSet::new(),
            fingerprint: None,
        });
        entry.clients += 1;
        if let Some(contents) = contents {
            entry.source_paths = source_paths(contents);
            entry.fingerprint = Some(fingerprint(contents));
        }
    }

    /// Removes a subscription to a resource.
    pub(crate) fn unfollow(&self, uri: &str) {
        let mut all = self.followed();
        if let Some(entry) = all.get_mut(uri) {
            entry.clients -= 1;
            if entry.clients == 0 {
                all.remove(uri);
            }
        }
    }

    /// The followed resources that a change may have affected.
    fn affected_by(&self, change: &HostChange) -> Vec<String> {
        let all = self.followed();
        let affected = all.iter().filter(|(uri, followed)| {
            uri.as_str() == STATUS
                || match change {
                    HostChange::Lists { .. } => true,
                    HostChange::Files(paths) => paths.iter().any(|path| followed.source_paths.contains(path)),
                    HostChange::Resource { .. } | HostChange::Log { .. } => false,
                }
        });
        affected.map(|(uri, _)| uri.clone()).collect()
    }

    /// Stores the fingerprint of these contents, and sends an event if it changed.
    fn update(&self, uri: &str, contents: Option<&ResourceAnswer>) {
        let new_fingerprint = contents.map(fingerprint);
        let differs = {
            let mut all = self.followed();
            let Some(followed) = all.get_mut(uri) else { return };
            if let Some(contents) = contents {
                followed.source_paths = source_paths(contents);
            }
            std::mem::replace(&mut followed.fingerprint, new_fingerprint) != new_fingerprint
        };
        if differs {
            self.send(Event::Updated(uri.to_owned()));
        }
    }
}

/// Reads followed resources again whenever something that they may be made from changes.
async fn refresh_followed(
    hub: Weak<EventHub>,
    service: Arc<dyn RequestHandler>,
    mut changes: mpsc::UnboundedReceiver<HostChange>,
) {
    while let Some(change) = changes.recv().await {
        let Some(uris) = hub.upgrade().map(|hub| hub.affected_by(&change)) else { return };
        for uri in uris {
            let contents = read_resource(&service, &uri).await;
            let Some(hub) = hub.upgrade() else { return };
            hub.update(&uri, contents.as_ref());
        }
    }
}

/// Reads a resource without a caller; `None` if it cannot be read.
pub(crate) async fn read_resource(service: &Arc<dyn RequestHandler>, uri: &str) -> Option<ResourceAnswer> {
    let (done, answered) = oneshot::channel();
    let caller = Caller {
        cancel: CancelFlag::default(),
        notices: Box::new(|_| {}),
        capabilities: Json::default(),
        asking: AskMode::Never,
        peer: Peer::default(),
    };
    let request = Request::Read { uri: uri.to_owned() };
    Arc::clone(service).submit(request, caller, Box::new(move |answer| drop(done.send(answer))));
    match answered.await {
        Ok(Answer::Contents(contents)) => Some(contents),
        _ => None,
    }
}

/// The files and folders that these contents were made from.
fn source_paths(contents: &ResourceAnswer) -> HashSet<String> {
    contents.touched.iter().flat_map(|part| part.iter()).cloned().collect()
}

fn fingerprint(contents: &ResourceAnswer) -> blake3::Hash {
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
