//! What connections may use: how many there are, how long each may take for what, how much waits to be sent.

use std::time::Duration;

/// Limits of connections over HTTP: `[http]` of `toolsd.toml`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Connections that have not shown the token yet.
    pub unproven: usize,
    /// Of these, connections from one address.
    pub unproven_per_address: usize,
    /// How long a connection may take until it has shown the token.
    pub unproven_time: Duration,
    /// Connections that have shown the token; without a token, all.
    pub connections: usize,
    /// How long the head of a request may take from its first byte.
    pub head_time: Duration,
    /// How long the body of a request may take.
    pub body_time: Duration,
    /// How long a body may pause.
    pub body_pause: Duration,
    /// How long a client may take nothing of what is sent to it.
    pub write_time: Duration,
    /// How long a connection may be silent between requests.
    pub idle_time: Duration,
    /// Bytes of bodies that are arriving and of answers that clients have not taken yet, of all connections together.
    pub pending_bytes: usize,
    /// Sessions, of the revisions that have them.
    pub sessions: usize,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            unproven: 256,
            unproven_per_address: 64,
            unproven_time: Duration::from_secs(5),
            connections: 1_024,
            head_time: Duration::from_secs(10),
            body_time: Duration::from_secs(60),
            body_pause: Duration::from_secs(10),
            write_time: Duration::from_secs(20),
            idle_time: Duration::from_secs(75),
            pending_bytes: 256 << 20,
            sessions: 1_000,
        }
    }
}

impl ConnectionLimits {
    /// The pause between two looks at all connections: a limit of time is kept that exactly.
    pub(crate) fn look(&self) -> Duration {
        let times = [self.unproven_time, self.head_time, self.write_time, self.idle_time];
        let least = times.into_iter().min().unwrap_or_default();
        (least / 4).clamp(Duration::from_millis(10), Duration::from_millis(250))
    }

    /// The same with so many connections at most, of both kinds together.
    pub(crate) fn within(self, most: usize) -> Self {
        let connections = self.connections.min((most * 4 / 5).max(1));
        Self { connections, unproven: self.unproven.min(most.saturating_sub(connections).max(1)), ..self }
    }
}

/// A time as messages tell it.
pub(crate) fn told(time: Duration) -> String {
    match time.as_millis() {
        whole if whole % 1_000 == 0 => format!("{} s", whole / 1_000),
        odd => format!("{odd} ms"),
    }
}
