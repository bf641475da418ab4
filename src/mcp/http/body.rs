//! The body of a request: it is read within limits of size and time, and its message is parsed once.

use super::access::single_field;
use super::responses::{Refusal, json_response, refusal};
use crate::mcp::message::{error_message, read_message, readable_id};
use crate::mcp::sender::{LARGE_MESSAGE_BYTES, run_blocking};
use crate::script::CallerId;
use crate::value::Json;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::body::{Body, Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Request, StatusCode};
use std::time::Duration;
use tokio::time::timeout;

/// The limit of a body, in bytes.
pub(super) const MAX_BODY: usize = 4 << 20;

/// How long a refused body is read and discarded: a client that is still sending would not see the refusal if nothing
/// were read.
const DISCARD_TIMEOUT: Duration = Duration::from_secs(1);

/// A request that was let in, and its message.
pub(super) struct MessageRequest {
    parts: Parts,
    body: Bytes,
    message: Json,
}

impl MessageRequest {
    /// Reads the body and its message.
    ///
    /// # Errors
    /// The refusal of a body that has another type, is too large, too slow or not a message.
    pub(super) async fn read(parts: Parts, body: Incoming, body_time: Duration) -> Result<Self, Refusal> {
        check_content_type(&parts.headers)?;
        let body = collect_body(body, body_time).await?;
        //= docs/spec.md#http
        //# A request with ambiguous headers, or with a body that is not a message, MUST be refused with
        //# status 400.
        let read = || read_message(&body);
        let message =
            if body.len() > LARGE_MESSAGE_BYTES { run_blocking(read) } else { read() }.map_err(|unreadable| {
                let id = readable_id(&body);
                Box::new(json_response(StatusCode::BAD_REQUEST, &error_message(id, &unreadable.into())))
            })?;
        Ok(Self { parts, body, message })
    }

    /// The connection whose turn the request takes.
    pub(super) fn caller_id(&self) -> CallerId {
        self.parts.extensions.get().copied().unwrap_or_default()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    pub(super) fn message(&self) -> &Json {
        &self.message
    }

    /// Whether the message takes longer to handle than other requests should wait.
    pub(super) fn is_large(&self) -> bool {
        self.body.len() > LARGE_MESSAGE_BYTES
    }

    /// Takes the message out of the request.
    pub(super) fn take_message(&mut self) -> Json {
        self.message.take()
    }

    /// Parses the message that was taken again, from the same bytes.
    pub(super) fn restore_message(&mut self) {
        self.message = read_message(&self.body).unwrap_or_default();
    }

    /// The request for rmcp, which parses it again: the body is the message that was read here, serialized again.
    pub(super) fn into_rewritten(self) -> (Request<Full<Bytes>>, Json) {
        let body = serde_json::to_vec(&self.message).unwrap_or_default();
        (Request::from_parts(self.parts, Full::from(body)), self.message)
    }
}

//= docs/spec.md#http
//# A body that is not `application/json` in UTF-8, or that is encoded, MUST be refused with status 415.
fn check_content_type(headers: &HeaderMap) -> Result<(), Refusal> {
    let refused = |why: &str| refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, format!("Unsupported Media Type: {why}"));
    if headers.contains_key(CONTENT_ENCODING) {
        return Err(refused("send the body without Content-Encoding"));
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
        (true, false) => Err(refused("JSON must be UTF-8, without other parameters")),
        (false, _) => Err(refused("Content-Type must be application/json")),
    }
}

//= docs/spec.md#http
//# A request whose head, body or declared length is too large MUST be refused, and the server MUST continue.
// hyper refuses a head that is too large.
async fn collect_body(mut body: Incoming, time: Duration) -> Result<Bytes, Refusal> {
    let is_announced_too_large = body.size_hint().lower() > MAX_BODY as u64;
    if !is_announced_too_large {
        //= docs/spec.md#http
        //# A client that does not send a request or read a response in time MUST be disconnected.
        match timeout(time, Limited::new(&mut body, MAX_BODY).collect()).await {
            Ok(Ok(collected)) => return Ok(collected.to_bytes()),
            Ok(Err(error)) if !error.is::<LengthLimitError>() => {
                let why = "Bad Request: the body is incomplete, or its chunks are malformed";
                return Err(refusal(StatusCode::BAD_REQUEST, why));
            }
            Err(_) => {
                let why = format!("Request Timeout: the body did not arrive in {time:?}");
                return Err(refusal(StatusCode::REQUEST_TIMEOUT, why));
            }
            Ok(Err(_)) => {}
        }
    }
    tokio::spawn(timeout(DISCARD_TIMEOUT, async move { while let Some(Ok(_)) = body.frame().await {} }));
    let why =
        format!("Payload Too Large: a request may have at most {MAX_BODY} bytes: pass large inputs as paths or URIs");
    Err(refusal(StatusCode::PAYLOAD_TOO_LARGE, why))
}
