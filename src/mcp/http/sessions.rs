//! Sessions, which the revisions up to 2025-11-25 have: how long they last, how many there may be, and which one is
//! closed when there are too many.

use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long a session may be silent before it is closed; its client begins another.
const SESSION_IDLE_TIMEOUT: Duration = Duration::from_secs(30 * 60);

/// How long a client whose connection broke can ask for what it missed of an answer.
const RESUME_TIMEOUT: Duration = Duration::from_secs(10);

/// How many messages of a session wait to be taken; as many are kept to be sent again.
const MESSAGE_CAPACITY: usize = 4;

//= docs/spec.md#http
//# When too many sessions are open, the longest idle one without a running call MUST be closed, and its
//# requests answered with status 404.
/// The session manager of rmcp, which answers a session that it does not know with that status.
pub(super) fn manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(SESSION_IDLE_TIMEOUT);
    config.completed_cache_ttl = RESUME_TIMEOUT;
    config.channel_capacity = MESSAGE_CAPACITY;
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    open: Mutex<HashMap<String, SessionEntry>>,
}

/// What is known of a session.
struct SessionEntry {
    last_heard: Instant,
    /// The ids of its running requests.
    running: HashSet<String>,
    /// The number of its open streams.
    streams: usize,
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
        Arc::new(Self { manager, open: Mutex::default() })
    }

    fn table(&self) -> MutexGuard<'_, HashMap<String, SessionEntry>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for a session. Returns whether there is room: a session in which a call runs is not closed.
    pub(super) async fn make_room(&self, most: usize) -> bool {
        let alive: HashSet<String> = self.manager.sessions.read().await.keys().map(|id| id.to_string()).collect();
        let (leaving, has_room) = {
            let mut open = self.table();
            open.retain(|id, _| alive.contains(id));
            let leaving = take_most_silent(&mut open, most);
            (leaving, open.len() < most)
        };
        for id in leaving {
            tracing::debug!("a session is closed: too many are open, and it has been silent longest");
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::debug!(%error, "a session was over already");
            }
        }
        has_room
    }

    /// Records that a session is open.
    pub(super) fn add(&self, id: String) {
        let entry = SessionEntry { last_heard: Instant::now(), running: HashSet::new(), streams: 0 };
        self.table().insert(id, entry);
    }

    /// Begins a request of a session; nothing if one with this id still runs.
    pub(super) fn begin(self: &Arc<Self>, session: &str, id: Option<String>) -> Option<SessionRequest> {
        if let Some(entry) = self.table().get_mut(session) {
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

/// Removes sessions until there is room for another one or calls run in all of them; returns their ids.
fn take_most_silent(open: &mut HashMap<String, SessionEntry>, most: usize) -> Vec<String> {
    let mut leaving = Vec::new();
    while open.len() >= most {
        let quiet = open.iter().filter(|(_, entry)| entry.running.is_empty());
        let first = quiet.min_by_key(|(_, entry)| (entry.streams > 0, entry.last_heard));
        let Some(id) = first.map(|(id, _)| id.clone()) else { break };
        open.remove(&id);
        leaving.push(id);
    }
    leaving
}

impl Drop for SessionRequest {
    fn drop(&mut self) {
        if let Some(entry) = self.sessions.table().get_mut(&self.session) {
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
    fn open(sessions: &mut HashMap<String, SessionEntry>, most: usize, id: &str) -> Vec<String> {
        let leaving = take_most_silent(sessions, most);
        if sessions.len() < most {
            let entry = SessionEntry { last_heard: Instant::now(), running: HashSet::new(), streams: 0 };
            sessions.insert(id.to_owned(), entry);
        }
        leaving
    }

    //= docs/spec.md#http
    //= type=test
    //# When too many sessions are open, the longest idle one without a running call MUST be closed, and its
    //# requests answered with status 404.
    #[test]
    fn the_most_silent_one_goes() {
        let mut sessions = HashMap::new();
        for id in ["first", "second", "third"] {
            assert_eq!(open(&mut sessions, 3, id), Vec::<String>::new());
        }
        sessions.get_mut("first").unwrap().last_heard = Instant::now();
        assert_eq!(open(&mut sessions, 3, "fourth"), ["second"]);
        sessions.get_mut("third").unwrap().running.insert("1".to_owned());
        sessions.get_mut("first").unwrap().streams = 1;
        assert_eq!(open(&mut sessions, 3, "another"), ["fourth"], "a stream and a call run");
        sessions.get_mut("another").unwrap().running.insert("1".to_owned());
        assert_eq!(open(&mut sessions, 3, "last"), ["first"], "streams go before calls");
        sessions.get_mut("last").unwrap().running.insert("1".to_owned());
        assert_eq!(open(&mut sessions, 3, "none"), Vec::<String>::new());
        assert!(!sessions.contains_key("none"));
        assert_eq!(sessions.len(), 3);
    }
}
