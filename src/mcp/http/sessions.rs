//! Sessions, which the revisions up to 2025-11-25 have: how long they last, how many there may be, and which one is closed
//! when there are too many.

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use std::collections::{HashMap, HashSet};
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
pub(super) fn manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE_TIME);
    config.completed_cache_ttl = RESUME_TIME;
    config.channel_capacity = MESSAGE_CAPACITY;
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

/// All sessions.
pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    state: Mutex<SessionTable>,
}

#[derive(Default)]
struct SessionTable {
    open: HashMap<String, SessionEntry>,
    /// The number of sessions that are being opened.
    opening: usize,
}

/// What is known of a session.
struct SessionEntry {
    last_heard: Instant,
    /// The ids of its running requests.
    running: HashSet<String>,
    /// The number of its open streams.
    streams: usize,
}

/// The place of a session that is being opened.
pub(super) struct OpeningSession<'a> {
    sessions: &'a Sessions,
}

/// A running request of a session, until this is dropped.
pub(super) struct SessionRequest {
    sessions: Arc<Sessions>,
    session: String,
    /// Its id; nothing if it is a stream.
    id: Option<String>,
}

impl Sessions {
    pub(super) fn new(manager: Arc<LocalSessionManager>) -> Arc<Self> {
        Arc::new(Self { manager, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, SessionTable> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#http
    //# When too many sessions are open, the one that has been silent longest MUST be closed; one whose call runs MUST NOT.
    /// Makes room for a session; nothing if calls run in as many as there may be.
    pub(super) async fn open(&self, most: usize) -> Option<OpeningSession<'_>> {
        let alive: HashSet<String> = self.manager.sessions.read().await.keys().map(|id| id.to_string()).collect();
        let leaving = self.state().make_room(&alive, most)?;
        for id in leaving {
            tracing::debug!("a session is closed: too many are open, and it has been silent longest");
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::debug!(%error, "a session was over already");
            }
        }
        Some(OpeningSession { sessions: self })
    }

    /// Begins a request of a session; nothing if one with this id still runs.
    pub(super) fn begin(self: &Arc<Self>, session: &str, id: Option<String>) -> Option<SessionRequest> {
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
    fn make_room(&mut self, alive: &HashSet<String>, most: usize) -> Option<Vec<String>> {
        self.open.retain(|id, _| alive.contains(id));
        let mut leaving = Vec::new();
        while self.open.len() + self.opening >= most.max(1) {
            let quiet = self.open.iter().filter(|(_, entry)| entry.running.is_empty());
            let id = quiet.min_by_key(|(_, entry)| (entry.streams > 0, entry.last_heard)).map(|(id, _)| id.clone())?;
            self.open.remove(&id);
            leaving.push(id);
        }
        self.opening += 1;
        Some(leaving)
    }
}

impl OpeningSession<'_> {
    /// Notes that the session is open, under this id.
    pub(super) fn opened(self, id: &str) {
        let entry = SessionEntry { last_heard: Instant::now(), running: HashSet::new(), streams: 0 };
        self.sessions.state().open.insert(id.to_owned(), entry);
    }
}

impl Drop for OpeningSession<'_> {
    fn drop(&mut self) {
        self.sessions.state().opening -= 1;
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

    /// Opens a session with this id; returns the ids of those that were closed for it.
    fn open(state: &mut SessionTable, most: usize, id: &str) -> Option<Vec<String>> {
        let alive = state.open.keys().cloned().collect();
        let leaving = state.make_room(&alive, most)?;
        state.opening = 0;
        let entry = SessionEntry { last_heard: Instant::now(), running: HashSet::new(), streams: 0 };
        state.open.insert(id.to_owned(), entry);
        Some(leaving)
    }

    //= docs/spec.md#http
    //= type=test
    //# When too many sessions are open, the one that has been silent longest MUST be closed; one whose call runs MUST NOT.
    #[test]
    fn the_most_silent_one_goes() {
        let mut state = SessionTable::default();
        for id in ["first", "second", "third"] {
            assert_eq!(open(&mut state, 3, id), Some(vec![]));
        }
        state.open.get_mut("first").unwrap().last_heard = Instant::now();
        assert_eq!(open(&mut state, 3, "fourth"), Some(vec!["second".to_owned()]));
        state.open.get_mut("third").unwrap().running.insert("1".to_owned());
        state.open.get_mut("first").unwrap().streams = 1;
        assert_eq!(open(&mut state, 3, "another"), Some(vec!["fourth".to_owned()]), "a stream and a call run");
        state.open.get_mut("another").unwrap().running.insert("1".to_owned());
        assert_eq!(open(&mut state, 3, "last"), Some(vec!["first".to_owned()]), "streams go before calls");
        state.open.get_mut("last").unwrap().running.insert("1".to_owned());
        assert_eq!(open(&mut state, 3, "none"), None);
        assert_eq!(state.open.len(), 3);
    }
}
