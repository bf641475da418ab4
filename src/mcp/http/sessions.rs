//! Sessions, which the revisions up to 2025-11-25 have: how long they last, how many there are, and which one goes when
//! there are too many.

use super::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::SessionManager;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A session that is not heard of for so long is closed; its client begins another.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// A client whose connection broke can ask for so long for what it missed of an answer.
const MISSED: Duration = Duration::from_secs(10);
/// So many messages of a session wait for whoever takes them; as many are kept to be sent again.
const MESSAGES: usize = 4;

//= docs/spec.md#http
//# A session that is over MUST be answered with status 404.
/// What keeps them; a session that it does not know, rmcp answers with that status.
pub(crate) fn manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE);
    config.completed_cache_ttl = MISSED;
    config.channel_capacity = MESSAGES;
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

/// All sessions, and what is known of each.
pub(crate) struct Sessions {
    manager: Arc<LocalSessionManager>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    open: HashMap<String, Known>,
    /// Those that are being opened, by address.
    opening: HashMap<IpAddr, usize>,
}

/// What is known of a session.
struct Known {
    place: IpAddr,
    heard: Instant,
    /// The ids of its requests that are worked on.
    running: HashSet<String>,
    /// How many other requests of it are answered: streams, which last.
    others: usize,
}

/// The place of a session that is being opened.
pub(crate) struct Opening<'a> {
    sessions: &'a Sessions,
    place: IpAddr,
}

/// A request of a session, as long as it is answered.
pub(crate) struct Answered {
    sessions: Arc<Sessions>,
    session: String,
    /// Its id, if it is one that is answered.
    id: Option<String>,
}

impl Sessions {
    pub(crate) fn new(manager: Arc<LocalSessionManager>) -> Arc<Self> {
        Arc::new(Self { manager, state: Mutex::default() })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    //= docs/spec.md#http
    //# When too many sessions are open, the one that has been silent longest MUST be closed, of the address that has the most; one whose call runs MUST NOT.
    /// Makes room for a session from a place; nothing if calls run in all there may be.
    pub(crate) async fn open(&self, place: IpAddr, most: usize) -> Option<Opening<'_>> {
        let alive: HashSet<String> = self.manager.sessions.read().await.keys().map(|id| id.to_string()).collect();
        let leaving = self.state().make_room(&alive, place, most)?;
        for id in leaving {
            tracing::debug!("a session is closed: too many are open, and it has been silent longest");
            if let Err(error) = self.manager.close_session(&id.into()).await {
                tracing::debug!(%error, "a session was over already");
            }
        }
        Some(Opening { sessions: self, place })
    }

    /// A request of a session begins; `false` if one with this id is worked on still.
    pub(crate) fn begin(self: &Arc<Self>, session: &str, id: Option<String>) -> Option<Answered> {
        if let Some(known) = self.state().open.get_mut(session) {
            known.heard = Instant::now();
            match &id {
                Some(id) if !known.running.insert(id.clone()) => return None,
                Some(_) => {}
                None => known.others += 1,
            }
        }
        Some(Answered { sessions: Arc::clone(self), session: session.to_owned(), id })
    }
}

impl State {
    /// The sessions that are to be closed so that another has room, which then counts; nothing if none may be.
    fn make_room(&mut self, alive: &HashSet<String>, place: IpAddr, most: usize) -> Option<Vec<String>> {
        self.open.retain(|id, _| alive.contains(id));
        let mut leaving = Vec::new();
        while self.open.len() + self.opening.values().sum::<usize>() >= most.max(1) {
            let mut counts: HashMap<IpAddr, usize> = self.opening.clone();
            *counts.entry(place).or_default() += 1;
            for known in self.open.values() {
                *counts.entry(known.place).or_default() += 1;
            }
            let quiet = self.open.iter().filter(|(_, known)| known.running.is_empty());
            let first = quiet
                .min_by_key(|(_, known)| (Reverse(counts.get(&known.place).copied()), known.others > 0, known.heard));
            let id = first.map(|(id, _)| id.clone())?;
            self.open.remove(&id);
            leaving.push(id);
        }
        *self.opening.entry(place).or_default() += 1;
        Some(leaving)
    }
}

impl Opening<'_> {
    /// It is open now, under this id.
    pub(crate) fn opened(self, id: &str) {
        let known = Known { place: self.place, heard: Instant::now(), running: HashSet::new(), others: 0 };
        self.sessions.state().open.insert(id.to_owned(), known);
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        let mut state = self.sessions.state();
        if let Some(count) = state.opening.get_mut(&self.place) {
            *count -= 1;
            if *count == 0 {
                state.opening.remove(&self.place);
            }
        }
    }
}

impl Drop for Answered {
    fn drop(&mut self) {
        if let Some(known) = self.sessions.state().open.get_mut(&self.session) {
            known.heard = Instant::now();
            match &self.id {
                Some(id) => drop(known.running.remove(id)),
                None => known.others = known.others.saturating_sub(1),
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

    /// Opens one under the next id; what had to leave for it.
    fn open(state: &mut State, place: IpAddr, most: usize, id: &str) -> Option<Vec<String>> {
        let alive = state.open.keys().cloned().collect();
        let leaving = state.make_room(&alive, place, most)?;
        state.opening.clear();
        let known = Known { place, heard: Instant::now(), running: HashSet::new(), others: 0 };
        state.open.insert(id.to_owned(), known);
        Some(leaving)
    }

    //= docs/spec.md#http
    //= type=test
    //# When too many sessions are open, the one that has been silent longest MUST be closed, of the address that has the most; one whose call runs MUST NOT.
    #[test]
    fn the_most_silent_one_of_the_largest_crowd_goes() {
        let mut state = State::default();
        for (place, id) in [(THERE, "other"), (HERE, "first"), (HERE, "second"), (HERE, "third")] {
            assert_eq!(open(&mut state, place, 4, id), Some(vec![]));
        }
        state.open.get_mut("first").unwrap().heard = Instant::now();
        assert_eq!(open(&mut state, HERE, 4, "fourth"), Some(vec!["second".to_owned()]));
        state.open.get_mut("third").unwrap().running.insert("1".to_owned());
        state.open.get_mut("first").unwrap().others = 1;
        assert_eq!(open(&mut state, THERE, 4, "another"), Some(vec!["fourth".to_owned()]), "a stream and a call run");
        assert_eq!(
            open(&mut state, THERE, 4, "more"),
            Some(vec!["other".to_owned()]),
            "as many of each: its own crowd"
        );
        assert_eq!(open(&mut state, HERE, 4, "last"), Some(vec!["first".to_owned()]), "streams go before calls");
        for known in state.open.values_mut() {
            known.running.insert("1".to_owned());
        }
        assert_eq!(open(&mut state, HERE, 4, "none"), None);
        assert_eq!(state.open.len(), 4);
    }
}
