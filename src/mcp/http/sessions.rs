//! Sessions, which the revisions up to 2025-11-25 have: how long they last, how many there may be, and which one is closed
//! when there are too many.

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a session may be silent before it is closed; its client begins another.
const IDLE_TIME: Duration = Duration::from_secs(30 * 60);

/// How long a client whose connection broke can ask for what it missed of an answer.
const RESUME_TIME: Duration = Duration::from_secs(10);

/// How many messages of a session wait to be taken; as many are kept to be sent again.
const MESSAGE_CAPACITY: usize = 4;

//= docs/spec.md#http
//# A session that is over MUST be answered with status 404.
/// The session manager of rmcp, which answers a session that it does not know with that status.
pub(crate) fn manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE_TIME);
    config.completed_cache_ttl = RESUME_TIME;
    config.channel_capacity = MESSAGE_CAPACITY;
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

/// All sessions.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    state: Mutex<SessionTable>,
}

#[derive(Default)]
struct SessionTable {
    open: HashMap<String, SessionEntry>,
    /// The number of sessions that are being opened, by address.
    opening: HashMap<IpAddr, usize>,
}

/// What is known of a session.
struct SessionEntry {
    address: IpAddr,
    last_heard: Instant,
    /// The ids of its running requests.
    running: HashSet<String>,
    /// The number of its open streams.
    streams: usize,
}

/// The place of a session that is being opened.
pub(crate) struct OpeningSession<'a> {
    sessions: &'a Sessions,
    address: IpAddr,
}

/// A running request of a session, until this is dropped.
pub(crate) struct SessionRequest {
    sessions: Arc<Sessions>,
    session: String,
    /// Its id; nothing if it is a stream.
    id: Option<String>,
}

impl Sessions {
    pub(crate) fn new(manager: Arc<LocalSessionManager>) -> Arc<Self> {
        Arc::new(Self { manager, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, SessionTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#http
    //# When too many sessions are open, the one that has been silent longest MUST be closed, of the address that has the most; one whose call runs MUST NOT.
    /// Makes room for a session of an address; nothing if calls run in as many as there may be.
    pub(crate) async fn open(&self, address: IpAddr, most: usize) -> Option<OpeningSession<'_>> {
        let alive: HashSet<String> = self.manager.sessions.read().await.keys().map(|id| id.to_string()).collect();
        let leaving = self.state().make_room(&alive, address, most)?;
        for id in leaving {
            tracing::debug!("a session is closed: too many are open, and it has been silent longest");
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::debug!(%error, "a session was over already");
            }
        }
        Some(OpeningSession { sessions: self, address })
    }

    /// Begins a request of a session; nothing if one with this id still runs.
    pub(crate) fn begin(self: &Arc<Self>, session: &str, id: Option<String>) -> Option<SessionRequest> {
        if let Some(entry) = self.state().open.get_mut(session) {
            entry.last_heard = Instant::now();
            match &id {
                Some(id) if !entry.running.insert(id.clone()) => return None,
                Some(_) => {}
                None => entry.streams += 1,
            }
        }
        Some(SessionRequest { sessions: Arc::clone(self), session: session.to_owned(), id })
    }
}

impl SessionTable {
    /// Chooses the sessions that are closed for another one, which counts from then on; nothing if none may be closed.
    fn make_room(&mut self, alive: &HashSet<String>, address: IpAddr, most: usize) -> Option<Vec<String>> {
        self.open.retain(|id, _| alive.contains(id));
        let mut leaving = Vec::new();
        while self.open.len() + self.opening.values().sum::<usize>() >= most.max(1) {
            let mut counts: HashMap<IpAddr, usize> = self.opening.clone();
            *counts.entry(address).or_default() += 1;
            for entry in self.open.values() {
                *counts.entry(entry.address).or_default() += 1;
            }
            let quiet = self.open.iter().filter(|(_, entry)| entry.running.is_empty());
            let first = quiet.min_by_key(|(_, entry)| {
                (Reverse(counts.get(&entry.address).copied()), entry.streams > 0, entry.last_heard)
            });
            let id = first.map(|(id, _)| id.clone())?;
            self.open.remove(&id);
            leaving.push(id);
        }
        *self.opening.entry(address).or_default() += 1;
        Some(leaving)
    }
}

impl OpeningSession<'_> {
    /// Notes that the session is open, under this id.
    pub(crate) fn opened(self, id: &str) {
        let entry =
            SessionEntry { address: self.address, last_heard: Instant::now(), running: HashSet::new(), streams: 0 };
        self.sessions.state().open.insert(id.to_owned(), entry);
    }
}

impl Drop for OpeningSession<'_> {
    fn drop(&mut self) {
        let mut state = self.sessions.state();
        if let Some(count) = state.opening.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                state.opening.remove(&self.address);
            }
        }
    }
}

impl Drop for SessionRequest {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.state().open.get_mut(&self.session) {
            entry.last_heard = Instant::now();
            match &self.id {
                Some(id) => drop(entry.running.remove(id)),
                None => entry.streams = entry.streams.saturating_sub(1),
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 1));
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(127, 0, 0, 2));

    /// Opens a session with this id; returns the ids of those that were closed for it.
    fn open(state: &mut SessionTable, address: IpAddr, most: usize, id: &str) -> Option<Vec<String>> {
        let alive = state.open.keys().cloned().collect();
        let leaving = state.make_room(&alive, address, most)?;
        state.opening.clear();
        let entry = SessionEntry { address, last_heard: Instant::now(), running: HashSet::new(), streams: 0 };
        state.open.insert(id.to_owned(), entry);
        Some(leaving)
    }

    //= docs/spec.md#http
    //= type=test
    //# When too many sessions are open, the one that has been silent longest MUST be closed, of the address that has the most; one whose call runs MUST NOT.
    #[test]
    fn the_most_silent_one_of_the_largest_crowd_goes() {
        let mut state = SessionTable::default();
        for (address, id) in [(THERE, "other"), (HERE, "first"), (HERE, "second"), (HERE, "third")] {
            assert_eq!(open(&mut state, address, 4, id), Some(vec![]));
        }
        state.open.get_mut("first").unwrap().last_heard = Instant::now();
        assert_eq!(open(&mut state, HERE, 4, "fourth"), Some(vec!["second".to_owned()]));
        state.open.get_mut("third").unwrap().running.insert("1".to_owned());
        state.open.get_mut("first").unwrap().streams = 1;
        assert_eq!(open(&mut state, THERE, 4, "another"), Some(vec!["fourth".to_owned()]), "a stream and a call run");
        assert_eq!(
            open(&mut state, THERE, 4, "more"),
            Some(vec!["other".to_owned()]),
            "as many of each: its own crowd"
        );
        assert_eq!(open(&mut state, HERE, 4, "last"), Some(vec!["first".to_owned()]), "streams go before calls");
        for entry in state.open.values_mut() {
            entry.running.insert("1".to_owned());
        }
        assert_eq!(open(&mut state, HERE, 4, "none"), None);
        assert_eq!(state.open.len(), 4);
    }
}
