//! The settings of the server: how it describes itself, how much a connection may use, and its secrets.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use crate::value::Json;
use std::time::Duration;

/// How the server describes itself, and how it serves.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    pub name: String,
    pub version: String,
    /// Its title for people. The default is the title of the only pack that serves, if there is one.
    pub title: Option<String>,
    pub website_url: Option<String>,
    /// Its icons: objects with `src`, `mimeType`, `sizes`, `theme`.
    pub icons: Vec<Json>,
    /// How many items a page of a list has. By default a list has one page, but resources have pages of a hundred.
    pub page_size: Option<usize>,
    /// How long a client may cache a list, in milliseconds, in the revision that has cache hints.
    pub lists_ttl_ms: u64,
    /// Whether the list of tools leaves out what a model does not choose and call by.
    pub lean_lists: bool,
    /// Whether a result repeats only the beginning of its data as text.
    pub short_text: bool,
    /// The limits of a connection.
    pub bounds: Bounds,
    /// The key that seals the state of suspended requests. Without it, each process makes a key of its own, and only
    /// that process can resume its requests.
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
            lean_lists: false,
            short_text: false,
            bounds: Bounds::default(),
            state_key: None,
        }
    }
}

/// How much a connection may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// How many requests run at a time.
    pub in_flight: usize,
    /// How many bytes a line may have.
    pub line: usize,
    /// How long calls may continue after the end of input. Each response restarts this time.
    pub grace: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { in_flight: 512, line: 32 << 20, grace: Duration::from_millis(500) }
    }
}

/// A text that is never shown: its `Debug` reveals nothing, and comparing it takes the same time whatever the texts
/// have in common.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// A secret with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The bytes of the secret, as key material.
    pub fn bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    //= docs/spec.md#http
    //# Host, origin and token MUST be checked before anything else of a request, and the token in constant
    //# time.
    /// Whether a text equals the secret. Compares their hashes, which `blake3` does in constant time.
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
    //# Host, origin and token MUST be checked before anything else of a request, and the token in constant
    //# time.
    // The time is not measured: `blake3` documents the comparison of its hashes as constant-time.
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
