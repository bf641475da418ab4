//! A connection and what it remembers: the level of its log, its subscriptions, what its client can do.

use super::{Bus, Ends, Lists, Manner, Revision, Sealing, Sender, Settings, Shelf, Tasks};
use crate::call::{Answer, Peer, Request, RequestHandler};
use crate::primitive::LogLevel;
use crate::registry::{LONGEST_URI, SkillIndex};
use crate::value::Json;
use rmcp::model::{CacheScope, ErrorData, MetaObject};
use serde_json::json;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use tokio::sync::Notify;

/// What all connections share.
pub(crate) struct Host {
    pub(crate) service: Arc<dyn RequestHandler>,
    pub(crate) settings: Settings,
    pub(crate) bus: Arc<Bus>,
    pub(crate) shelf: Shelf,
    pub(crate) sealing: Sealing,
    pub(crate) tasks: Arc<Tasks>,
    /// How many requests are worked on. How many may be is told by whoever lets them in: where the lines of standard
    /// streams are read, and by the number of connections. They wait for a thread, where each client has its turn.
    turns: AtomicUsize,
    /// None is worked on any more.
    over: Notify,
    /// Bytes of what calls said and clients did not hear yet.
    pub(crate) said: Arc<AtomicUsize>,
}

impl Host {
    pub(crate) fn new(service: Arc<dyn RequestHandler>, settings: Settings) -> Self {
        let bus = Bus::start(&service);
        let (turns, over) = (AtomicUsize::new(0), Notify::new());
        let sealing = Sealing::new(settings.state_key.as_ref());
        Self {
            service,
            settings,
            bus,
            shelf: Shelf::default(),
            sealing,
            tasks: Arc::default(),
            turns,
            over,
            said: Arc::default(),
        }
    }

    /// Counts a request as worked on, as long as the turn is kept.
    pub(crate) fn turn(&self) -> Turn<'_> {
        self.turns.fetch_add(1, Ordering::AcqRel);
        Turn(self)
    }

    /// How many requests are worked on.
    pub(crate) fn turns(&self) -> usize {
        self.turns.load(Ordering::Acquire)
    }

    /// Whether one request is worked on, and no other.
    pub(crate) fn is_alone(&self) -> bool {
        self.turns() == 1
    }

    /// Waits until nothing is worked on.
    pub(crate) async fn all_turns(&self) {
        loop {
            let over = self.over.notified();
            tokio::pin!(over);
            // Before the look, so that no end is missed.
            over.as_mut().enable();
            if self.turns.load(Ordering::Acquire) == 0 {
                return;
            }
            over.await;
        }
    }
}

/// A request that is worked on.
pub(crate) struct Turn<'a>(&'a Host);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        if self.0.turns.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.over.notify_waiters();
        }
    }
}

/// How many resources one client may follow, …
const MOST_FOLLOWED: usize = 1_000;
/// … and how long their URIs may be together, in bytes: they are kept for as long as it does.
const MOST_FOLLOWED_BYTES: usize = 128 << 10;

//= docs/spec.md#http
//# What a client subscribes to MUST be bounded in number and in bytes.
/// What a client follows, counted.
#[derive(Default)]
pub(crate) struct Followed {
    count: usize,
    bytes: usize,
}

impl Followed {
    /// Counts one more, if there is room for it.
    pub(crate) fn take(&mut self, uri: &str) -> bool {
        let (count, bytes) = (self.count + 1, self.bytes.saturating_add(uri.len()));
        let has_room = count <= MOST_FOLLOWED && bytes <= MOST_FOLLOWED_BYTES;
        if has_room {
            (self.count, self.bytes) = (count, bytes);
        }
        has_room
    }
}

/// A connection.
pub(crate) struct Connection {
    pub(crate) host: Arc<Host>,
    pub(crate) ends: Ends,
    /// The place in [`LogLevel::ALL`] of the level that the client asked for.
    pub(crate) level: AtomicU8,
    /// What the client subscribed to, in the era that has `resources/subscribe`.
    subscribed: Mutex<HashSet<String>>,
    /// What the client can do, as it said at the handshake.
    declared: OnceLock<Json>,
    /// How many subscriptions are open, in the era that has `subscriptions/listen`.
    pub(crate) listening: AtomicUsize,
    /// Whether the client is told of what happens.
    pub(crate) told: AtomicBool,
}

impl Connection {
    pub(crate) fn new(host: Arc<Host>, ends: Ends) -> Self {
        Self {
            host,
            ends,
            level: AtomicU8::new(LogLevel::Info as u8),
            subscribed: Mutex::default(),
            declared: OnceLock::new(),
            listening: AtomicUsize::new(0),
            told: AtomicBool::new(false),
        }
    }

    /// The level of log lines that the client wants.
    pub(crate) fn level(&self) -> LogLevel {
        LogLevel::ALL.get(usize::from(self.level.load(Ordering::Relaxed))).copied().unwrap_or(LogLevel::Info)
    }

    //= docs/spec.md#protocol
    //# A subscription to a resource that does not allow it MUST NOT be honoured.
    /// Whether the resource of a URI may be subscribed to, else why not. What no pack defines is the host's to answer.
    pub(crate) fn may_follow(&self, uri: &str) -> Result<(), String> {
        match self.host.service.registry().route(uri) {
            Some(Ok((served, _))) if !served.resource.subscribe => {
                Err(format!("`{uri}` is no resource to subscribe to"))
            }
            Some(Err(fault)) => Err(fault.message.clone()),
            _ if uri.len() > LONGEST_URI => Err(format!("the URI has {} bytes; at most {LONGEST_URI}", uri.len())),
            _ => Ok(()),
        }
    }

    /// Notes that the client follows a resource; whether it did not before.
    pub(crate) fn follow(&self, uri: &str) -> Result<bool, String> {
        let mut subscribed = self.subscribed();
        if subscribed.contains(uri) {
            return Ok(false);
        }
        let mut room = Followed::default();
        let _all_were_taken = subscribed.iter().all(|known| room.take(known));
        if !room.take(uri) {
            return Err(format!(
                "the client follows {} resources, and may follow {MOST_FOLLOWED} whose URIs have {MOST_FOLLOWED_BYTES} bytes in all: unsubscribe from some",
                subscribed.len()
            ));
        }
        Ok(subscribed.insert(uri.to_owned()))
    }

    pub(crate) fn subscribed(&self) -> MutexGuard<'_, HashSet<String>> {
        self.subscribed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The capabilities of the client: of this request, else of the handshake.
    pub(crate) fn capabilities(&self, sender: Sender<'_>) -> Json {
        if let Some(declared) = sender.meta.get("io.modelcontextprotocol/clientCapabilities") {
            return declared.clone();
        }
        let peer = sender.peer.and_then(|peer| peer.peer_info());
        match peer {
            Some(peer) => self.declared.get_or_init(|| json!(peer.capabilities)).clone(),
            None => json!({}),
        }
    }

    /// Who calls: of this request, else of the handshake.
    pub(crate) fn peer(&self, sender: Sender<'_>, revision: Revision) -> Peer {
        let client = match sender.meta.get("io.modelcontextprotocol/clientInfo") {
            Some(info) => Some(info.clone()),
            None => sender.peer.and_then(|peer| peer.peer_info()).map(|peer| json!(peer.client_info)),
        };
        let client = client.map(|info| json!({ "name": info["name"], "version": info["version"] }));
        Peer { revision: Some(revision.name().to_owned()), client, caller_id: sender.party() }
    }

    pub(crate) fn lists(&self, revision: Revision) -> Arc<Lists> {
        self.host.shelf.lists(&self.host.settings, self.host.service.as_ref(), revision)
    }

    /// The skills at present. Where a function finds them, it is a script thread that asks it.
    pub(crate) async fn skills(&self, sender: Sender<'_>, revision: Revision) -> Result<Arc<SkillIndex>, ErrorData> {
        let registry = self.host.service.registry();
        if !registry.finds_skills() {
            return Ok(Arc::clone(&registry.skills));
        }
        match self.answer(Request::ListSkills, Manner::Never, sender, revision).await? {
            Answer::Skills(skills) => Ok(skills),
            _ => Err(ErrorData::internal_error("the skills cannot be listed", None)),
        }
    }

    /// Who answers, in every result of the stateless era.
    pub(crate) fn stamp(&self, meta: &mut Option<MetaObject>, revision: Revision) {
        if revision.is_stateless() {
            let itself = self.lists(revision).itself.clone();
            meta.get_or_insert_default().insert("io.modelcontextprotocol/serverInfo".to_owned(), itself);
        }
    }

    pub(crate) fn hints(&self, revision: Revision) -> (Option<u64>, Option<CacheScope>) {
        let hinted = revision.is_stateless();
        (hinted.then_some(self.host.settings.lists_ttl_ms), hinted.then_some(CacheScope::Private))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let subscribed: Vec<String> = self.subscribed().drain().collect();
        for uri in subscribed {
            self.host.bus.leave(&uri);
        }
    }
}
