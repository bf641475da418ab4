//! Sessions, which the revisions up to 2025-11-25 have: how long they last, and how many there are.

use super::LocalSessionManager;
use rmcp::transport::streamable_http_server::session::local::SessionConfig;
use std::time::Duration;

/// So many sessions are open at a time.
const SESSIONS: usize = 1_000;
/// A session that is not heard of for so long is closed; its client begins another.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// A client whose connection broke can ask for so long for what it missed of an answer.
const MISSED: Duration = Duration::from_secs(10);

//= docs/spec.md#http
//# A session that is over MUST be answered with status 404.
/// What keeps them; a session that it does not know, rmcp answers with that status.
pub(crate) fn manager() -> LocalSessionManager {
    let mut config = SessionConfig::default();
    config.keep_alive = Some(IDLE);
    config.completed_cache_ttl = MISSED;
    let mut manager = LocalSessionManager::default();
    manager.session_config = config;
    manager
}

/// Whether another session can be opened.
pub(crate) async fn has_room(manager: &LocalSessionManager) -> bool {
    manager.sessions.read().await.len() < SESSIONS
}
