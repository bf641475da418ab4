//! Admission: checks the head and the body of a request, and turns them into a checked request or a refusal.

use super::access::{AccessPolicy, Authority, PATH, WebOrigin};
use super::activity::{HALF_CLOSED, format_duration};
use super::connections::{ByteCharge, ConnectionHandle};
use super::head_scan::HeadFault;
use crate::mcp::message::{error_message, readable_id};
use crate::mcp::sender::{LARGE_MESSAGE, RemoteClient};
use crate::mcp::strict_json::read_json;
use crate::value::Json;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use std::borrow::Cow;
use tokio::time::{Instant, timeout, timeout_at};

/// How many bytes the body of a request may have.
pub(super) const MAX_BODY: usize = 4 << 20;

/// The header fields that decisions depend on, and that may therefore occur only once.
const SINGLE_FIELDS: [HeaderName; 6] = [
    HOST,
    ORIGIN,
    AUTHORIZATION,
    CONTENT_TYPE,
    HeaderName::from_static("mcp-session-id"),
    HeaderName::from_static("mcp-protocol-version"),
];

/// How many bytes of memory a JSON value takes while its message is read and handled. Measured: a number of two digits
/// takes as much as an empty list.
const BYTES_PER_VALUE: usize = 256;

/// Estimates the memory that the values of a message take in addition to its bytes.
fn value_bytes(body: &[u8]) -> usize {
    let before = |letter: &u8| matches!(letter, b',' | b':' | b'[' | b'{');
    body.iter().filter(|letter| before(letter)).count().saturating_mul(BYTES_PER_VALUE)
}

/// The head of a request for this server, from an allowed origin.
pub(crate) struct RoutedHead {
    parts: Parts,
}

/// The head of a request that has the token.
pub(crate) struct AuthorizedHead {
    parts: Parts,
}

/// A checked request, and its message.
pub(crate) struct CheckedRequest<'a> {
    parts: Parts,
    body: Bytes,
    message: Json,
    /// Counts its body as pending until it is answered.
    _charge: ByteCharge<'a>,
}

/// Checks the host and the origin of a request. `fault` is the fault that the head scan found.
///
/// # Errors
/// The refusal of a malformed head, another path, or a host or an origin that is not allowed.
pub(crate) fn check_head(policy: &AccessPolicy, parts: Parts, fault: Option<HeadFault>) -> Result<RoutedHead, Refusal> {
    //= docs/spec.md#http
    //# A request whose head can be read in two ways MUST be refused with status 400.
    if let Some(fault) = fault {
        return Err(match fault.status {
            StatusCode::BAD_REQUEST => Refusal::bad_request(fault.text),
            status => Refusal::new(status, fault.text),
        });
    }
    for name in SINGLE_FIELDS {
        single_field(&parts.headers, &name)?;
    }
    if parts.uri.path() != PATH {
        return Err(Refusal::new(StatusCode::NOT_FOUND, format!("Not Found: the protocol is served at {PATH}")));
    }
    let host = named_host(&parts)?;
    //= docs/spec.md#http
    //# A request that names another host, or comes from another origin, than those allowed MUST be refused with status 403.
    if !policy.allows_host(&host) {
        let text = "Forbidden: this host is not one of the server's; `--allow-host` adds one";
        return Err(Refusal::new(StatusCode::FORBIDDEN, text));
    }
    if let Some(origin) = single_field(&parts.headers, &ORIGIN)?
        && !WebOrigin::parse(origin).is_some_and(|origin| policy.allows_origin(&origin))
    {
        let text = "Forbidden: pages of this origin may not use the server; `--allow-origin` adds one";
        return Err(Refusal::new(StatusCode::FORBIDDEN, text));
    }
    Ok(RoutedHead { parts })
}

impl RoutedHead {
    /// The origin whose pages may read the answer.
    pub(crate) fn origin(&self) -> Option<HeaderValue> {
        self.parts.headers.get(ORIGIN).cloned()
    }

    /// Whether this is a preflight request of a browser, which has no token.
    pub(crate) fn is_preflight(&self) -> bool {
        self.parts.method == Method::OPTIONS && self.parts.headers.contains_key(ORIGIN)
    }

    /// Checks the token.
    ///
    /// # Errors
    /// The refusal of a request without it.
    pub(crate) fn authorize(self, policy: &AccessPolicy) -> Result<AuthorizedHead, Refusal> {
        if policy.is_authorized(&self.parts.headers) {
            return Ok(AuthorizedHead { parts: self.parts });
        }
        let text = "Unauthorized: send the bearer token of this server";
        Err(Refusal::new(StatusCode::UNAUTHORIZED, text))
    }
}

impl AuthorizedHead {
    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Whether the request has a message.
    pub(crate) fn is_post(&self) -> bool {
        self.parts.method == Method::POST
    }

    /// Whether the request ends a session.
    pub(crate) fn is_delete(&self) -> bool {
        self.parts.method == Method::DELETE
    }

    /// The request without its body, which is not read.
    pub(crate) fn without_body(self) -> Request<Full<Bytes>> {
        Request::from_parts(self.parts, Full::default())
    }

    /// Reads the body and its message, once.
    ///
    /// # Errors
    /// The refusal of a body that has another type, is too large, too slow or not JSON, or for which there is no room.
    pub(crate) async fn read_body<'a>(
        self,
        body: Incoming,
        handle: &'a ConnectionHandle,
    ) -> Result<CheckedRequest<'a>, Refusal> {
        check_content_type(&self.parts.headers)?;
        let mut charge = handle.charge();
        let body = collect_body(body, handle, &mut charge).await?;
        if body.len() > LARGE_MESSAGE {
            // From here on the work for this request runs beside that for other requests.
            handle.activity.set_large_body();
            tokio::task::yield_now().await;
            //= docs/spec.md#http
            //# The values of a large message MUST count among the bytes that wait, with what they take while it is worked on.
            charge.hold(value_bytes(&body));
            if !handle.connections().make_room_for_bytes() {
                return Err(Refusal::no_room());
            }
        }
        //= docs/spec.md#http
        //# A body that is no message MUST be answered with status 400 and an error of the protocol.
        let message = read_json(&body).map_err(|unreadable| {
            let id = readable_id(&unreadable);
            Refusal::Protocol(StatusCode::BAD_REQUEST, error_message(id, &unreadable.into()))
        })?;
        Ok(CheckedRequest { parts: self.parts, body, message, _charge: charge })
    }
}

impl CheckedRequest<'_> {
    /// The client that sent the request.
    pub(crate) fn remote(&self) -> Option<&RemoteClient> {
        self.parts.extensions.get()
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    pub(crate) fn message(&self) -> &Json {
        &self.message
    }

    /// Takes the message out of the request.
    pub(crate) fn take_message(&mut self) -> Json {
        self.message.take()
    }

    /// Parses the message that was taken again, from the same bytes.
    pub(crate) fn restore_message(&mut self) {
        self.message = read_json(&self.body).unwrap_or_default();
    }

    /// The request for rmcp, which parses it again: the body is the message that was read here, serialized again.
    pub(crate) fn into_rewritten(self) -> (Request<Full<Bytes>>, Json) {
        let body = serde_json::to_vec(&self.message).unwrap_or_default();
        (Request::from_parts(self.parts, Full::from(body)), self.message)
    }
}

/// The value of a header field that may occur only once.
fn single_field<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Result<Option<&'a str>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    //= docs/spec.md#http
    //# A request with two fields of which one decides who is asked, who asks, or what is sent MUST be refused with status 400.
    if values.next().is_some() {
        return Err(Refusal::bad_request(format!("more than one {} field", display_name(name))));
    }
    match value.to_str() {
        Ok(text) => Ok(Some(text)),
        Err(_) => Err(Refusal::bad_request(format!("the field {} must be visible ASCII", display_name(name)))),
    }
}

/// The name of a header field in its usual capitalization.
fn display_name(name: &HeaderName) -> String {
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
        let wrong =
            || Refusal::bad_request(format!("{} is not a host, optionally with a port from 1 to 65535", quoted(text)));
        Authority::parse(text).ok_or_else(wrong)
    };
    let Some(said) = single_field(&parts.headers, &HOST)? else { return Err(Refusal::bad_request("no Host field")) };
    let host = read(said)?;
    //= docs/spec.md#http
    //# A request target with an authority other than the field Host MUST be refused with status 400.
    if let Some(authority) = parts.uri.authority() {
        let scheme = parts.uri.scheme_str().unwrap_or("http");
        let asked = read(authority.as_str())?.with_default_port(scheme);
        if asked != host.clone().with_default_port(scheme) {
            let (target, said) = (quoted(authority.as_str()), quoted(said));
            return Err(Refusal::bad_request(format!(
                "the request target is at {target}, but the Host field says {said}"
            )));
        }
    }
    Ok(host)
}

//= docs/spec.md#http
//# A body that is not `application/json` in UTF-8, or that is encoded, MUST be refused with status 415.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = |text: &'static str| Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text);
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(refused("Unsupported Media Type: send the body without Content-Encoding"));
    }
    let kind = single_field(headers, &CONTENT_TYPE)?.unwrap_or_default();
    let mut parts = kind.split(';').map(str::trim);
    let is_json = parts.next().is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = parts.filter(|part| !part.is_empty()).all(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        name.eq_ignore_ascii_case("charset") && value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    match (is_json, is_utf8) {
        (true, true) => Ok(()),
        (true, false) => Err(refused("Unsupported Media Type: JSON must be UTF-8, without other parameters")),
        (false, _) => Err(refused("Unsupported Media Type: Content-Type must be application/json")),
    }
}

//= docs/spec.md#http
//# A request whose head or body is too large MUST be refused, and the server MUST go on.
// The head scan and hyper refuse a head that is too large.
/// Collects a body. The bytes that have arrived count as pending.
async fn collect_body(
    mut body: Incoming,
    handle: &ConnectionHandle,
    charge: &mut ByteCharge<'_>,
) -> Result<Bytes, Refusal> {
    //= docs/spec.md#http
    //# A body whose length is said to be too large MUST be refused before it comes.
    if body.size_hint().lower() > MAX_BODY as u64 {
        tokio::spawn(discard(body));
        return Err(too_large());
    }
    let limits = handle.connections().limits();
    let end = Instant::now() + limits.body_time;
    let (mut first, mut more) = (Bytes::new(), Vec::new());
    loop {
        let pause = Instant::now() + limits.body_pause;
        //= docs/spec.md#http
        //# A body that does not arrive in time, or that pauses for too long, MUST be answered with status 408.
        let Ok(frame) = timeout_at(end.min(pause), body.frame()).await else {
            let why = match end <= pause {
                true => format!("Request Timeout: the body did not arrive in {}", format_duration(limits.body_time)),
                false => {
                    format!("Request Timeout: nothing of the body arrived for {}", format_duration(limits.body_pause))
                }
            };
            return Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, why));
        };
        let Some(frame) = frame else { break };
        let Ok(frame) = frame else {
            return Err(Refusal::bad_request("the body is incomplete, or its chunks are malformed"));
        };
        let Ok(data) = frame.into_data() else { continue };
        if first.len() + more.len() + data.len() > MAX_BODY {
            return Err(too_large());
        }
        charge.add(data.len());
        if !handle.connections().make_room_for_bytes() {
            return Err(Refusal::no_room());
        }
        if first.is_empty() {
            first = data;
        } else {
            more.extend_from_slice(&data);
        }
    }
    handle.activity.end_body();
    if more.is_empty() {
        return Ok(first);
    }
    Ok([&first, more.as_slice()].concat().into())
}

/// Reads and discards a part of a refused body: a client that is still sending would not see the refusal if nothing
/// were read.
async fn discard(mut body: Incoming) {
    let mut taken = 0;
    let taking = async {
        while let Some(Ok(frame)) = body.frame().await
            && taken <= 2 * MAX_BODY
        {
            taken += frame.data_ref().map_or(0, Bytes::len);
        }
    };
    // A client that takes longer sees the refusal late, or not at all.
    let _ended = timeout(HALF_CLOSED, taking).await;
}

fn too_large() -> Refusal {
    let why =
        format!("Payload Too Large: a request may have at most {MAX_BODY} bytes: pass large inputs as paths or URIs");
    Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, why)
}

/// The refusal of a request. It has at most a kilobyte.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// Answered with plain text.
    Text(StatusCode, Cow<'static, str>),
    /// Answered with an error of the protocol.
    Protocol(StatusCode, Json),
}

/// How many bytes of a client's text a message quotes.
const MAX_QUOTED: usize = 100;

impl Refusal {
    pub(crate) fn new(status: StatusCode, text: impl Into<Cow<'static, str>>) -> Self {
        Self::Text(status, text.into())
    }

    /// The refusal of a request that violates HTTP.
    pub(crate) fn bad_request(text: impl AsRef<str>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, format!("Bad Request: {}", text.as_ref()))
    }

    /// The refusal of a request while too many bytes wait.
    pub(crate) fn no_room() -> Self {
        let text = "Service Unavailable: too many bytes wait to be read by clients, or are being sent by them";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }
}

/// A client's text, quoted in a message and truncated.
fn quoted(text: &str) -> String {
    let end = text.floor_char_boundary(MAX_QUOTED);
    format!("`{}{}`", &text[..end], if end < text.len() { "…" } else { "" })
}
