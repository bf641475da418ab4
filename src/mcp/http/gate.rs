//! Who may come in: at which address, from which hosts and origins, with which token.
//!
//! `entering` is the way in: what it lets through is the only thing that an answer is made for.

mod authority;
mod entering;
mod refusal;

pub(crate) use entering::{Checked, Entered, Reached};
pub(crate) use refusal::Refusal;

use super::PATH;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::mcp::Secret;
use authority::{Authority, Origin};
use hyper::HeaderMap;
use hyper::header::AUTHORIZATION;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// How HTTP is to be served, as it was asked for.
#[derive(Clone, Debug, Default)]
pub struct Listening {
    /// An address and a port: `127.0.0.1:8000`, `[::1]:8000`, `localhost:8000`; port 0 takes a free one.
    pub address: String,
    /// What clients must bring as their bearer token.
    pub token: Option<Secret>,
    /// Names of hosts by which this server is reached, beside those of this machine.
    pub hosts: Vec<String>,
    /// Origins of web pages that may use this server, beside those of this machine.
    pub origins: Vec<String>,
}

/// How HTTP is served, checked.
#[derive(Clone, Debug)]
pub struct Gate {
    address: SocketAddr,
    token: Option<Secret>,
    hosts: Vec<Authority>,
    origins: Vec<Origin>,
}

/// The names of this machine, for itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

impl Gate {
    /// Checks how HTTP is to be served.
    ///
    /// # Errors
    /// No address, a host or an origin that is none, a token that no header can carry; an address that others
    /// reach, without a token.
    pub fn new(listening: Listening) -> Result<Self> {
        let address = address_of(&listening.address)?;
        if let Some(token) = &listening.token {
            let fits = !token.bytes().is_empty() && token.bytes().iter().all(u8::is_ascii_graphic);
            if !fits {
                return Err(usage("the token is empty, or holds what no header can carry")
                    .help("a token is made of visible ASCII characters"));
            }
        //= docs/spec.md#http
        //# An address that other machines reach MUST be refused without a token.
        } else if !address.ip().is_loopback() {
            return Err(usage(format!("`{address}` can be reached by other machines, and there is no token"))
                .help("give it by `--token-file` (or the variable `TOOLSD_HTTP_TOKEN`), or serve `127.0.0.1`"));
        }
        let mut hosts: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
        match address.ip() {
            ip if ip.is_unspecified() || ip.is_loopback() => {}
            IpAddr::V4(ip) => hosts.push(ip.to_string()),
            IpAddr::V6(ip) => hosts.push(format!("[{ip}]")),
        }
        hosts.extend(listening.hosts);
        let hosts = hosts.iter().map(|host| host_of(host)).collect::<Result<_>>()?;
        let loopback = LOOPBACK.iter().flat_map(|host| [format!("http://{host}:*"), format!("https://{host}:*")]);
        let origins: Vec<String> = loopback.chain(listening.origins).collect();
        let origins = origins.iter().map(|origin| origin_of(origin)).collect::<Result<_>>()?;
        Ok(Self { address, token: listening.token, hosts, origins })
    }

    /// Where to listen.
    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address to listen at, and the port.
    pub(crate) fn asked(&self) -> (String, u16) {
        (self.address.ip().to_string(), self.address.port())
    }

    /// Whether clients must bring a token.
    pub(crate) fn has_token(&self) -> bool {
        self.token.is_some()
    }

    /// Whether a request brings the token, if there is one.
    pub(crate) fn lets_in(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else { return true };
        let mut brought = headers.get_all(AUTHORIZATION).iter();
        let (Some(value), None) = (brought.next().and_then(|value| value.to_str().ok()), brought.next()) else {
            return false;
        };
        //= docs/spec.md#http
        //# With a token, a request that does not bring it MUST be refused with status 401.
        match value.split_once(' ') {
            Some((scheme, brought)) => scheme.eq_ignore_ascii_case("bearer") && token.is(brought.trim()),
            None => false,
        }
    }
}

fn usage(message: impl Into<String>) -> Box<Diagnostic> {
    Diagnostic::new(Code("usage"), message)
}

/// Names are not looked up: `localhost` is known, and anything else is an address.
fn address_of(text: &str) -> Result<SocketAddr> {
    let local = text.strip_prefix("localhost:").and_then(|port| port.parse().ok());
    if let Some(port) = local {
        return Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    }
    text.parse().map_err(|_| {
        usage(format!("`{text}` is no address with a port"))
            .help("for example `127.0.0.1:8000`, `[::1]:8000`, `localhost:8000`")
    })
}

fn host_of(text: &str) -> Result<Authority> {
    Authority::read(text)
        .ok_or_else(|| usage(format!("`{text}` is no host")).help("a name or an address, with a port or without"))
}

fn origin_of(text: &str) -> Result<Origin> {
    Origin::read_allowed(text.trim_end_matches('/')).ok_or_else(|| {
        usage(format!("`{text}` is no origin"))
            .help("a scheme, a host and perhaps a port, for example `https://app.example.com`")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gate(address: &str, token: Option<&str>) -> Result<Gate> {
        let address = address.to_owned();
        Gate::new(Listening { address, token: token.map(Secret::new), ..Listening::default() })
    }

    //= docs/spec.md#http
    //= type=test
    //# An address that other machines reach MUST be refused without a token.
    #[test]
    fn an_address_of_others_needs_a_token() {
        for own in ["127.0.0.1:0", "127.9.0.1:80", "[::1]:8000", "localhost:8000"] {
            assert!(gate(own, None).is_ok(), "{own}");
        }
        for other in ["0.0.0.0:8000", "[::]:8000", "192.0.2.1:8000"] {
            assert!(gate(other, None).is_err(), "{other}");
            assert!(gate(other, Some("secret")).is_ok(), "{other}");
        }
        for no_token in ["", "a b", "a\n", "ä"] {
            assert!(gate("127.0.0.1:0", Some(no_token)).is_err(), "{no_token:?}");
        }
        for no_address in ["", "8000", ":8000", "example.com:80", "127.0.0.1", "localhost:x"] {
            assert!(gate(no_address, Some("secret")).is_err(), "{no_address}");
        }
    }

    #[test]
    fn an_origin_gets_the_port_of_its_scheme() {
        let origin = |text: &str| origin_of(text).ok();
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
    //# With a token, a request that does not bring it MUST be refused with status 401.
    #[test]
    #[allow(clippy::unwrap_used)]
    fn only_the_token_lets_in() {
        let gate = gate("127.0.0.1:0", Some("secret")).unwrap();
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            gate.lets_in(&headers)
        };
        assert!(with(&["Bearer secret"]) && with(&["bearer  secret"]));
        for wrong in [&[][..], &["secret"], &["Basic secret"], &["Bearer secrets"], &["Bearer secret", "Bearer secret"]]
        {
            assert!(!with(wrong), "{wrong:?}");
        }
    }
}
