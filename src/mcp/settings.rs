//! What the server says of itself, how much a connection may use, and the secrets it is given.

use crate::value::Json;
use std::time::Duration;

/// What the server says of itself, and how it serves.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its title for people; without one, that of the only pack that serves.
    pub title: Option<String>,
    /// Its website.
    pub website_url: Option<String>,
    /// Its icons: objects with `src`, `mimeType`, `sizes`, `theme`.
    pub icons: Vec<Json>,
    /// How many items a page of a list has; without it all, but a hundred resources.
    pub page_size: Option<usize>,
    /// How long a client may keep a list, in milliseconds, in the revision that says so.
    pub lists_ttl_ms: u64,
    /// The bounds of a connection.
    pub bounds: Bounds,
    /// The key that seals the state of suspended requests. Without it every process takes a key of its own, and only that
    /// process can resume what it began.
    pub state_key: Option<Secret>,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            name: env!("CARGO_PKG_NAME").to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            title: None,
            website_url: None,
            icons: Vec::new(),
            page_size: None,
            lists_ttl_ms: 5_000,
            bounds: Bounds::default(),
            state_key: None,
        }
    }
}

/// How much a connection may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The number of requests that run at a time.
    pub in_flight: usize,
    /// The bytes of a line.
    pub line: usize,
    /// How long calls may run on after the end of input while none of them is answered.
    pub grace: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { in_flight: 512, line: 16 << 20, grace: Duration::from_millis(500) }
    }
}

/// A text that is compared and used, and never shown: its `Debug` shows nothing of it, and comparing takes the same time
/// whatever the texts have in common.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A secret with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The bytes of the secret, to sign with.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    //= docs/spec.md#http
    //# The token MUST be compared in constant time.
    /// Whether a text is the secret. Hashes are compared, and `blake3` compares them in constant time.
    pub(crate) fn matches(&self, text: &str) -> bool {
        blake3::hash(self.bytes()) == blake3::hash(text.as_bytes())
    }
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    //= docs/spec.md#http
    //= type=test
    //# The token MUST be compared in constant time.
    // That time is not measured: what is compared are hashes, whose equality `blake3` documents as constant-time.
    #[test]
    fn a_secret_is_itself_alone_and_is_not_shown() {
        let secret = Secret::new("abc");
        assert!(secret.matches("abc"));
        for other in ["", "ab", "abcd", "ABC"] {
            assert!(!secret.matches(other), "{other}");
        }
        assert!(!format!("{secret:?}").contains("abc"));
    }
}
