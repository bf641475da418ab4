//! The one way in: a head and a body become a request that was checked, and nothing else does. Both ways of an answer take
//! only that.

use super::authority::{Authority, Origin};
use super::refusal::{Refusal, quoted};
use super::{Gate, PATH};
use crate::mcp::http::arrival;
use crate::mcp::http::connections::{Charge, Seat};
use crate::mcp::http::head_scan::HeadFault;
use crate::mcp::{LARGE, Place, error_message, id_of, read_json};
use crate::value::Json;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};

/// The fields that decide something, and that therefore stand there once.
const SINGLE: [HeaderName; 6] = [
    HOST,
    ORIGIN,
    AUTHORIZATION,
    CONTENT_TYPE,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
];

/// So many bytes a value takes while a message is read and worked on, as measured: a number of two letters takes as much as a
/// list of none.
const PER_VALUE: usize = 256;

/// What the values of a message take beyond its bytes, about.
fn spread(body: &[u8]) -> usize {
    let before = |letter: &u8| matches!(letter, b',' | b':' | b'[' | b'{');
    body.iter().filter(|letter| before(letter)).count().saturating_mul(PER_VALUE)
}

/// The head of a request for this server, from where it may come.
pub(crate) struct Reached {
    parts: Parts,
}

/// The head of a request of somebody who may come in.
pub(crate) struct Entered {
    parts: Parts,
}

/// A request that was checked, and its message if it has one.
pub(crate) struct Checked<'a> {
    parts: Parts,
    body: Bytes,
    message: Json,
    /// Its body is counted until it is answered.
    _charge: Charge<'a>,
}

impl Gate {
    /// Checks who is asked and from where, before anything is said.
    pub(crate) fn reach(&self, parts: Parts, fault: Option<HeadFault>) -> Result<Reached, Refusal> {
        //= docs/spec.md#http
        //# A request whose head can be read in two ways MUST be refused with status 400.
        if let Some(fault) = fault {
            return Err(match fault.status {
                StatusCode::BAD_REQUEST => Refusal::bad(fault.text),
                status => Refusal::new(status, fault.text),
            });
        }
        for name in SINGLE {
            one(&parts.headers, &name)?;
        }
        if parts.uri.path() != PATH {
            return Err(Refusal::new(StatusCode::NOT_FOUND, format!("Not Found: the protocol is served at {PATH}")));
        }
        let host = named_host(&parts)?;
        //= docs/spec.md#http
        //# A request that names another host, or comes from another origin, than those allowed MUST be refused with status 403.
        if !self.hosts.iter().any(|allowed| host.is_of(allowed)) {
            let text = "Forbidden: this host is not one of the server's; `--allow-host` names others";
            return Err(Refusal::new(StatusCode::FORBIDDEN, text));
        }
        if let Some(origin) = one(&parts.headers, &ORIGIN)? {
            let origin = Origin::read(origin);
            let is_allowed = |origin: Origin| self.origins.iter().any(|allowed| origin.is_of(allowed));
            if !origin.is_some_and(is_allowed) {
                let text = "Forbidden: pages of this origin may not use the server; `--allow-origin` names others";
                return Err(Refusal::new(StatusCode::FORBIDDEN, text));
            }
        }
        Ok(Reached { parts })
    }
}

impl Reached {
    /// The origin, of which a page may read the answer.
    pub(crate) fn origin(&self) -> Option<HeaderValue> {
        self.parts.headers.get(ORIGIN).cloned()
    }

    /// Whether a page asks beforehand what it may send: it does so without its token.
    pub(crate) fn asks_beforehand(&self) -> bool {
        self.parts.method == Method::OPTIONS && self.parts.headers.contains_key(ORIGIN)
    }

    /// Checks the token.
    pub(crate) fn enter(self, gate: &Gate) -> Result<Entered, Refusal> {
        if gate.lets_in(&self.parts.headers) {
            return Ok(Entered { parts: self.parts });
        }
        let text = "Unauthorized: bring the bearer token of this server";
        Err(Refusal::new(StatusCode::UNAUTHORIZED, text))
    }
}

impl Entered {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Whether it has a body that counts.
    pub(crate) fn is_post(&self) -> bool {
        self.parts.method == Method::POST
    }

    /// Whether it ends a session.
    pub(crate) fn is_delete(&self) -> bool {
        self.parts.method == Method::DELETE
    }

    /// A request without a message: its body is not read.
    pub(crate) fn bodiless(self) -> Request<Full<Bytes>> {
        Request::from_parts(self.parts, Full::default())
    }

    /// Reads the body and its message, once.
    pub(crate) async fn receive<'a>(self, body: Incoming, seat: &'a Seat) -> Result<Checked<'a>, Refusal> {
        check_kind(&self.parts.headers)?;
        let mut charge = seat.charge();
        let body = arrival::collect(body, seat, &mut charge).await?;
        if body.len() > LARGE {
            // What comes next is done beside others.
            seat.activity.has_to_read();
            tokio::task::yield_now().await;
            //= docs/spec.md#http
            //# The values of a large message MUST count among the bytes that wait, with what they take while it is worked on.
            charge.hold(spread(&body));
            if !seat.connections().relieve() {
                return Err(Refusal::full());
            }
        }
        //= docs/spec.md#http
        //# A body that is no message MUST be answered with status 400 and an error of the protocol.
        let message = read_json(&body).map_err(|unreadable| {
            let id = id_of(&unreadable);
            Refusal::Told(StatusCode::BAD_REQUEST, error_message(id, &unreadable.into()))
        })?;
        Ok(Checked { parts: self.parts, body, message, _charge: charge })
    }
}

impl Checked<'_> {
    /// Where it came from.
    pub(crate) fn place(&self) -> Option<&Place> {
        self.parts.extensions.get()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    pub(crate) fn message(&self) -> &Json {
        &self.message
    }

    /// Takes the message out of it.
    pub(crate) fn take(&mut self) -> Json {
        self.message.take()
    }

    /// Has the message again that was taken: read from the same bytes by the same reader.
    pub(crate) fn restore(&mut self) {
        self.message = read_json(&self.body).unwrap_or_default();
    }

    /// The request for those who read it themselves: what they read is what was read here, written anew.
    pub(crate) fn rewritten(self) -> (Request<Full<Bytes>>, Json) {
        let body = serde_json::to_vec(&self.message).unwrap_or_default();
        (Request::from_parts(self.parts, Full::from(body)), self.message)
    }
}

/// The value of a field that stands there at most once.
fn one<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    //= docs/spec.md#http
    //# A request with two fields of which one decides who is asked, who asks, or what is sent MUST be refused with status 400.
    if values.next().is_some() {
        return Err(Refusal::bad(format!("two {} fields", spelled(name))));
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Refusal::bad(format!("the field {} is no visible ASCII", spelled(name)))),
    }
}

/// The name of a field as people write it.
fn spelled(name: &HeaderName) -> String {
    let mut begins = true;
    let letters = name.as_str().chars().map(|letter| {
        let spelled = if begins { letter.to_ascii_uppercase() } else { letter };
        begins = letter == '-';
        spelled
    });
    letters.collect()
}

/// The host that a request is for.
fn named_host(parts: &Parts) -> Result<Authority, Refusal> {
    let read = |text: &str| {
        let wrong = || Refusal::bad(format!("{} is no host with a port from 1 to 65535 or none", quoted(text)));
        Authority::read(text).ok_or_else(wrong)
    };
    let Some(said) = one(&parts.headers, &HOST)? else { return Err(Refusal::bad("no Host field")) };
    let host = read(said)?;
    //= docs/spec.md#http
    //# A request target with an authority other than the field Host MUST be refused with status 400.
    if let Some(authority) = parts.uri.authority() {
        let scheme = parts.uri.scheme_str().unwrap_or("http");
        let asked = read(authority.as_str())?.with_usual_port(scheme);
        if asked != host.clone().with_usual_port(scheme) {
            let (target, said) = (quoted(authority.as_str()), quoted(said));
            return Err(Refusal::bad(format!("the request is for {target}, and its Host field says {said}")));
        }
    }
    Ok(host)
}

//= docs/spec.md#http
//# A body that is not `application/json` in UTF-8, or that is encoded, MUST be refused with status 415.
fn check_kind(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = |text: &'static str| Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(refused("Unsupported Media Type: a body is sent as it is, without Content-Encoding"));
    }
    let kind = one(headers, &CONTENT_TYPE)?.unwrap_or_default();
    let mut parts = kind.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.filter(|part| !part.is_empty()).all(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        name.eq_ignore_ascii_case("charset") && value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    match (is_json, is_utf8) {
        (true, true) => Ok(()),
        (true, false) => Err(refused("Unsupported Media Type: JSON is sent in UTF-8, without other parameters")),
        (false, _) => Err(refused("Unsupported Media Type: Content-Type must be application/json")),
    }
}
