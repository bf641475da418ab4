//! The access policy over HTTP: the address, the allowed hosts and origins, and the token. Each request is checked
//! once, before anything else.

use super::responses::{Refusal, refusal};
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::mcp::settings::Secret;
use hyper::StatusCode;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderMap, HeaderName, ORIGIN};
use hyper::http::request::Parts;
use hyper::http::uri::Authority;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The path at which the protocol is served.
pub(super) const PATH: &str = "/mcp";

/// The options of the access policy, as the user gave them.
#[derive(Clone, Debug, Default)]
pub struct HttpOptions {
    /// An address and a port: `127.0.0.1:8000`, `[::1]:8000`, `localhost:8000`; port 0 takes a free one.
    pub address: String,
    /// The bearer token that clients must send.
    pub token: Option<Secret>,
    /// Names of hosts by which clients reach this server, in addition to the loopback names.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use this server, in addition to those of this machine.
    pub origins: Vec<String>,
}

/// The access policy: checked options.
#[derive(Clone, Debug)]
pub struct AccessPolicy {
    address: SocketAddr,
    token: Option<Secret>,
    hosts: Vec<HttpHost>,
    origins: Vec<WebOrigin>,
}

/// The header fields that decisions depend on, and that may therefore occur only once.
const SINGLE_FIELDS: [HeaderName; 6] = [
    HOST,
    ORIGIN,
    AUTHORIZATION,
    CONTENT_TYPE,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
];

/// The loopback names.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl AccessPolicy {
    /// Checks options.
    ///
    /// # Errors
    /// The address, a host or an origin is malformed; the token cannot be sent in a header; there is no token although
    /// other machines can reach the address.
    pub fn new(options: HttpOptions) -> Result<Self> {
        let address = parse_address(&options.address)?;
        if let Some(token) = &options.token {
            let fits = !token.bytes().is_empty() && token.bytes().iter().all(u8::is_ascii_graphic);
            if !fits {
                return Err(usage("the token is empty, or has characters that a header cannot carry")
                    .help("a token consists of visible ASCII characters"));
            }
        //= docs/spec.md#http
        //# An address that other machines can reach MUST be refused without a token.
        } else if !address.ip().is_loopback() {
            return Err(usage(format!("other machines can reach `{address}`, and there is no token"))
                .help("pass a token with `--token-file` or the variable `TOOLSD_HTTP_TOKEN`, or serve `127.0.0.1`"));
        }
        let mut hosts: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
        match address.ip() {
            ip if ip.is_unspecified() || ip.is_loopback() => {}
            IpAddr::V4(ip) => hosts.push(ip.to_string()),
            IpAddr::V6(ip) => hosts.push(format!("[{ip}]")),
        }
        hosts.extend(options.hosts);
        let hosts = hosts.iter().map(|host| parse_host(host)).collect::<Result<_>>()?;
        let loopback = LOOPBACK.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let origins: Vec<String> = loopback.chain(options.origins).collect();
        let origins = origins.iter().map(|origin| parse_origin(origin)).collect::<Result<_>>()?;
        Ok(Self { address, token: options.token, hosts, origins })
    }

    /// The address to listen at.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The requested address and port.
    pub(crate) fn requested_address(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// Whether clients must send a token.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Checks the head of a request. The token is another matter: see [`Self::is_authorized`].
    ///
    /// # Errors
    /// The refusal of a malformed head, or of a host or an origin that is not allowed.
    pub(super) fn check(&self, parts: &Parts) -> std::result::Result<(), Refusal> {
        for name in SINGLE_FIELDS {
            single_field(&parts.headers, &name)?;
        }
        let named = single_field(&parts.headers, &HOST)?.ok_or_else(|| bad_request("no host field"))?;
        for host in [Some(named), parts.uri.authority().map(Authority::as_str)].into_iter().flatten() {
            let host = HttpHost::parse(host)
                .ok_or_else(|| bad_request("the host must be a name or an address, with or without a port"))?;
            //= docs/spec.md#http
            //# A request for a host or from an origin that is not allowed MUST be refused with status 403.
            if !self.hosts.iter().any(|allowed| host.is_within(allowed)) {
                let why = "Forbidden: this host is not one of the server's; `--allow-host` adds one";
                return Err(refusal(StatusCode::FORBIDDEN, why));
            }
        }
        if let Some(origin) = single_field(&parts.headers, &ORIGIN)?
            && !WebOrigin::parse(origin).is_some_and(|origin| self.allows_origin(&origin))
        {
            let why = "Forbidden: pages of this origin may not use the server; `--allow-origin` adds one";
            return Err(refusal(StatusCode::FORBIDDEN, why));
        }
        Ok(())
    }

    /// Whether pages of this origin may use the server.
    fn allows_origin(&self, origin: &WebOrigin) -> bool {
        self.origins.iter().any(|allowed| origin.is_within(allowed))
    }

    /// Whether a request has the token, if one is required.
    pub(super) fn is_authorized(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let mut brought = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (brought.next().and_then(|value| value.to_str().ok()), brought.next()) else {
            return false;
        };
        //= docs/spec.md#http
        //# With a token, a request without it MUST be refused with status 401, and its connection MUST be
        //# closed.
        match value.split_once(' ') {
            Some((scheme, brought)) => scheme.eq_ignore_ascii_case("bearer") && token.matches(brought.trim()),
            None => false,
        }
    }
}

/// The value of a header field that may occur only once.
///
/// # Errors
/// The refusal of a request in which it occurs more than once, or is not visible ASCII.
pub(super) fn single_field<'a>(
    headers: &'a HeaderMap,
    name: &HeaderName,
) -> std::result::Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    //= docs/spec.md#http
    //# A request with ambiguous headers, or with a body that is not a message, MUST be refused with status
    //# 400.
    if values.next().is_some() {
        return Err(bad_request(format!("more than one {name} field")));
    }
    value.to_str().map(Some).map_err(|_| bad_request(format!("the field {name} must be visible ASCII")))
}

fn bad_request(why: impl std::fmt::Display) -> Refusal {
    refusal(StatusCode::BAD_REQUEST, format!("Bad Request: {why}"))
}

fn usage(message: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code("usage"), message)
}

/// Parses an address with a port. Names are not resolved: `localhost` is known, anything else must be an address.
fn parse_address(text: &str) -> Result<SocketAddr> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    if let Some(port) = local {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| {
        usage(format!("`{text}` is not an address with a port"))
            .help("for example `127.0.0.1:8000`, `[::1]:8000`, `localhost:8000`")
    })
}

fn parse_host(text: &str) -> Result<HttpHost> {
    HttpHost::parse(text).ok_or_else(|| {
        usage(format!("`{text}` is not a host")).help("a host is a name or an address, with or without a port")
    })
}

fn parse_origin(text: &str) -> Result<WebOrigin> {
    WebOrigin::parse_allowed(text.trim_end_matches('/')).ok_or_else(|| {
        usage(format!("`{text}` is not an origin"))
            .help("an origin is a scheme, a host and optionally a port, for example `https://app.example.com`")
    })
}

/// A host, with an optional port.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HttpHost {
    /// In lower case; an IPv6 address is in brackets.
    name: String,
    port: Option<u16>,
}

/// The origin of a web page.
#[derive(Clone, Debug, PartialEq, Eq)]
struct WebOrigin {
    scheme: String,
    host: HttpHost,
}

impl HttpHost {
    /// Parses `host` or `host:port`, without a user or an empty port (RFC 9110, sections 4.2.4 and 7.2).
    fn parse(text: &str) -> Option<Self> {
        let authority: Authority = text.parse().ok().filter(|_| !text.contains('@'))?;
        let name = authority.host().to_ascii_lowercase();
        let rest = text.get(name.len()..)?;
        let port = match rest.strip_prefix(':') {
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok().filter(|port| *port > 0)?)
            }
            None if rest.is_empty() => None,
            _ => return None,
        };
        // A pattern such as `*.example.com` is not a host, so that it is not allowed in vain.
        let is_made_of = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
        let is_name = !name.is_empty() && (name.starts_with('[') || name.bytes().all(is_made_of));
        is_name.then_some(Self { name, port })
    }

    /// Whether this is the allowed host, at the allowed port if one is named.
    fn is_within(&self, allowed: &Self) -> bool {
        self.name == allowed.name && (allowed.port.is_none() || self.port == allowed.port)
    }
}

impl WebOrigin {
    /// Parses `scheme://host` or `scheme://host:port` (RFC 6454, section 6); `null` is not an origin.
    fn parse(text: &str) -> Option<Self> {
        let (scheme, host) = text.split_once("://").filter(|(scheme, _)| !scheme.is_empty())?;
        let scheme = scheme.to_ascii_lowercase();
        let mut host = HttpHost::parse(host)?;
        host.port = host.port.or(match scheme.as_str() {
            "http" => Some(80),
            "https" => Some(443),
            _ => None,
        });
        Some(Self { scheme, host })
    }

    /// Parses an allowed origin, in which `:*` means any port.
    fn parse_allowed(text: &str) -> Option<Self> {
        let Some(any) = text.strip_suffix(":*") else { return Self::parse(text) };
        let mut origin = Self::parse(any)?;
        origin.host.port = None;
        Some(origin)
    }

    /// Whether this is the allowed origin.
    fn is_within(&self, allowed: &Self) -> bool {
        self.scheme == allowed.scheme && self.host.is_within(&allowed.host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(address: &str, token: Option<&str>) -> Result<AccessPolicy> {
        let address = address.to_owned();
        AccessPolicy::new(HttpOptions { address, token: token.map(Secret::new), ..HttpOptions::default() })
    }

    //= docs/spec.md#http
    //= type=test
    //# An address that other machines can reach MUST be refused without a token.
    #[test]
    fn an_address_of_others_needs_a_token() {
        for own in ["127.0.0.1:0", "127.9.0.1:80", "[::1]:8000", "localhost:8000"] {
            assert!(policy(own, None).is_ok(), "{own}");
        }
        for other in ["0.0.0.0:8000", "[::]:8000", "192.0.2.1:8000"] {
            assert!(policy(other, None).is_err(), "{other}");
            assert!(policy(other, Some("secret")).is_ok(), "{other}");
        }
        for no_token in ["", "a b", "a\n", "ä"] {
            assert!(policy("127.0.0.1:0", Some(no_token)).is_err(), "{no_token:?}");
        }
        for no_address in ["", "8000", ":8000", "example.com:80", "127.0.0.1", "localhost:x"] {
            assert!(policy(no_address, Some("secret")).is_err(), "{no_address}");
        }
    }

    #[test]
    fn an_origin_gets_the_port_of_its_scheme() {
        let origin = |text: &str| parse_origin(text).ok();
        for (short, whole) in [
            ("https://a.example", "https://a.example:443"),
            ("http://a.example/", "http://a.example:80"),
            ("https://A.example:8443", "https://a.example:8443"),
        ] {
            assert!(origin(short).is_some() && origin(short) == origin(whole), "{short}");
        }
        assert!(origin("https://a.example:*") != origin("https://a.example"));
        for wrong in ["a.example", "https://", "https://a.example/page", "*", "null", "https://*.a.example"] {
            assert_eq!(origin(wrong), None, "{wrong}");
        }
    }

    //= docs/spec.md#http
    //= type=test
    //# With a token, a request without it MUST be refused with status 401, and its connection MUST be closed.
    #[test]
    #[allow(clippy::unwrap_used)]
    fn only_the_token_lets_in() {
        let policy = policy("127.0.0.1:0", Some("secret")).unwrap();
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            policy.is_authorized(&headers)
        };
        assert!(with(&["Bearer secret"]) && with(&["bearer  secret"]));
        for wrong in [&[][..], &["secret"], &["Basic secret"], &["Bearer secrets"], &["Bearer secret", "Bearer secret"]]
        {
            assert!(!with(wrong), "{wrong:?}");
        }
    }

    #[test]
    fn a_host_is_read_strictly() {
        for host in
            ["localhost", "LocalHost:80", "127.0.0.1:65535", "[::1]", "[::1]:8000", "a_b.example", "a.example:1"]
        {
            assert!(HttpHost::parse(host).is_some(), "{host}");
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
            "local host",
            "localhost/",
            "localhost#",
            "::1",
            "[::1",
            "[::1]80",
            "[::1]:",
            "ä.example",
        ] {
            assert_eq!(HttpHost::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_origin_is_compared_whole() {
        let is_within =
            |origin: &str, allowed: &str| match (WebOrigin::parse(origin), WebOrigin::parse_allowed(allowed)) {
                (Some(origin), Some(allowed)) => origin.is_within(&allowed),
                _ => false,
            };
        assert!(
            is_within("http://localhost:6274", "http://localhost:*")
                && is_within("http://localhost", "http://localhost:*")
        );
        assert!(
            is_within("https://app.example", "https://app.example:443")
                && is_within("HTTPS://APP.example:443", "https://app.example")
        );
        for other in
            ["https://app.example:8443", "http://app.example", "https://app.example.evil", "https://x.app.example"]
        {
            assert!(!is_within(other, "https://app.example:443"), "{other}");
        }
        for wrong in ["null", "", "localhost", "http://", "http://localhost/", "http://u@localhost", "://localhost"] {
            assert_eq!(WebOrigin::parse(wrong), None, "{wrong}");
        }
    }
}
