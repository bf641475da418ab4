//! Hosts and origins: read strictly, compared whole.

use std::net::{Ipv4Addr, Ipv6Addr};

/// A host, and the port if one is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Authority {
    /// In lower case; an IPv6 address stands in brackets, in its canonical form.
    host: String,
    port: Option<u16>,
}

/// Where a web page comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Origin {
    scheme: String,
    authority: Authority,
}

impl Authority {
    /// Reads `host` or `host:port`: no user, no empty port (RFC 9110, sections 4.2.4 and 7.2).
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (address, rest) = rest.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                (format!("[{address}]"), if rest.is_empty() { None } else { Some(rest.strip_prefix(':')?) })
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host.to_ascii_lowercase(), Some(port)),
                None => (text.to_ascii_lowercase(), None),
            },
        };
        let port = match port {
            None => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok().filter(|port| *port > 0)?)
            }
            Some(_) => return None,
        };
        (host.starts_with('[') || is_name(&host)).then_some(Self { host, port })
    }

    /// The same with the port that a scheme has by itself.
    pub(crate) fn with_usual_port(mut self, scheme: &str) -> Self {
        self.port = self.port.or(match scheme {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        self
    }

    /// Whether it is what was allowed: this host, and this port if one was named.
    pub(crate) fn is_of(&self, allowed: &Self) -> bool {
        self.host == allowed.host && (allowed.port.is_none() || self.port == allowed.port)
    }
}

/// A name (RFC 1123; underscores occur), or an IPv4 address as it is usually written.
fn is_name(host: &str) -> bool {
    let is_made_of = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_numeric = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    !host.is_empty() && host.bytes().all(is_made_of) && (!is_numeric || host.parse::<Ipv4Addr>().is_ok())
}

impl Origin {
    /// Reads `scheme://host` or `scheme://host:port` (RFC 6454, section 6); `null` is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let is_made_of = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(is_made_of) {
            return None;
        }
        let scheme = scheme.to_ascii_lowercase();
        let authority = Authority::read(authority)?.with_usual_port(&scheme);
        Some(Self { scheme, authority })
    }

    /// What was allowed, of which `:*` stands for any port.
    pub(crate) fn read_allowed(text: &str) -> Option<Self> {
        let Some(any) = text.strip_suffix(":*") else { return Self::read(text) };
        let mut origin = Self::read(any)?;
        origin.authority.port = None;
        Some(origin)
    }

    /// Whether it is what was allowed.
    pub(crate) fn is_of(&self, allowed: &Self) -> bool {
        self.scheme == allowed.scheme && self.authority.is_of(&allowed.authority)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_read_strictly() {
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1:65535", "[::1]", "[::1]:8000", "a_b.example", "a.example:1"]
        {
            assert!(Authority::read(host).is_some(), "{host}");
        }
        for wrong in [
            "",
            ":80",
            "localhost:",
            "localhost:0",
            "localhost:65536",
            "localhost:+80",
            "localhost:8a",
            "a:1:2",
            "user@localhost",
            "user:pass@localhost",
            "localhost,evil",
            "local host",
            "localhost/",
            "localhost#",
            "::1",
            "[::1",
            "[::1]80",
            "[::1]:",
            "[a]",
            "127.1",
            "2130706433",
            "0x7f.0.0.1.1",
            "256.0.0.1",
            "ä.example",
        ] {
            assert_eq!(Authority::read(wrong), None, "{wrong}");
        }
        assert_eq!(Authority::read("[0:0:0::1]"), Authority::read("[::1]"));
    }

    #[test]
    fn an_origin_is_compared_whole() {
        let is_of = |origin: &str, allowed: &str| match (Origin::read(origin), Origin::read_allowed(allowed)) {
            (Some(origin), Some(allowed)) => origin.is_of(&allowed),
            _ => false,
        };
        assert!(
            is_of("http://localhost:6274", "http://localhost:*") && is_of("http://localhost", "http://localhost:*")
        );
        assert!(
            is_of("https://app.example", "https://app.example:443")
                && is_of("HTTPS://APP.example:443", "https://app.example")
        );
        for other in
            ["https://app.example:8443", "http://app.example", "https://app.example.evil", "https://x.app.example"]
        {
            assert!(!is_of(other, "https://app.example:443"), "{other}");
        }
        for wrong in ["null", "", "localhost", "http://", "http://localhost/", "http://u@localhost", "://localhost"] {
            assert_eq!(Origin::read(wrong), None, "{wrong}");
        }
    }
}
