//! One request over HTTP: who sent it, what it says, and what rmcp leaves to us in the answer.

use super::straight::Straight;
use super::{BODY, Gate, LocalSessionManager, PATH, Service, misread_cursor, read_refused, sessions};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Method, Request, Response, StatusCode};
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

/// How long the body of a request may take to arrive.
const ARRIVAL: Duration = Duration::from_secs(60);

/// An answer, whose body may be a stream.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The way in.
pub(crate) struct Door {
    pub(crate) gate: Gate,
    pub(crate) service: Service,
    pub(crate) sessions: Arc<LocalSessionManager>,
    pub(crate) straight: Straight,
}

impl Door {
    /// Answers a request.
    pub(crate) async fn answer(&self, request: Request<Incoming>) -> Answer {
        if request.uri().path() != PATH {
            return plain(StatusCode::NOT_FOUND, "Not Found: the protocol is served at /mcp");
        }
        let origin = request.headers().get(header::ORIGIN).cloned();
        let asks_beforehand = request.method() == Method::OPTIONS && origin.is_some();
        // A page asks beforehand without its token, and learns nothing but that it may ask.
        if !asks_beforehand && !self.gate.lets_in(request.headers()) {
            let mut refused = plain(StatusCode::UNAUTHORIZED, "Unauthorized: bring the bearer token of this server");
            refused.headers_mut().insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            return refused;
        }
        let mut answer = match *request.method() {
            Method::POST => self.post(request).await,
            // rmcp checks host and origin before all else: what is not forbidden comes from an origin that may.
            _ => self.service.handle(request.map(|_| Full::<Bytes>::default())).await,
        };
        if let Some(origin) = origin.filter(|_| answer.status() != StatusCode::FORBIDDEN) {
            if asks_beforehand {
                answer = allowance();
            }
            allow(answer.headers_mut(), origin);
        }
        answer
    }

    async fn post(&self, request: Request<Incoming>) -> Answer {
        let (parts, body) = request.into_parts();
        //= docs/spec.md#http
        //# When too many sessions are open another MUST be refused with status 503, until one ends.
        if !parts.headers.contains_key("mcp-session-id")
            && !is_stateless(&parts.headers)
            && !sessions::has_room(&self.sessions).await
        {
            let mut full = plain(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: too many sessions are open");
            full.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            return full;
        }
        //= docs/spec.md#http
        //# A request whose head or body is too large MUST be refused, and the server MUST go on.
        // Of the head it is hyper that says so.
        let body = match tokio::time::timeout(ARRIVAL, Limited::new(body, BODY).collect()).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => {
                let message = format!(
                    "Payload Too Large: a request has at most {BODY} bytes, pass large inputs as paths or URIs"
                );
                return plain(StatusCode::PAYLOAD_TOO_LARGE, &message);
            }
            Ok(Err(_)) => return plain(StatusCode::BAD_REQUEST, "Bad Request: the body broke off"),
            Err(_) => return plain(StatusCode::REQUEST_TIMEOUT, "Request Timeout: the body did not arrive"),
        };
        let says_json = is_json(&parts.headers);
        //= docs/spec.md#http
        //# A call that goes the straight way MUST get the answer that it gets on the way round.
        if says_json && let Some((status, message)) = self.straight.answer(&parts.headers, &body).await {
            return told(status, &message);
        }
        let answer = self.service.handle(Request::from_parts(parts, Full::new(body.clone()))).await;
        // rmcp says of a body that it cannot read that its type were wrong, and to nobody in particular.
        match answer.status() {
            //= docs/spec.md#http
            //# A body that is no message MUST be answered with status 400 and an error of the protocol.
            StatusCode::UNSUPPORTED_MEDIA_TYPE if says_json => told(StatusCode::BAD_REQUEST, &read_refused(&body)),
            StatusCode::OK => match misread_cursor(&body) {
                Some(error) => {
                    // The page that nobody gets is on its way: let go too early, it would go to the next request with
                    // this id.
                    let _page = answer.into_body().collect().await;
                    told(StatusCode::OK, &error)
                }
                None => answer,
            },
            _ => answer,
        }
    }
}

fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("application/json")
}

/// A message of the protocol.
fn told(status: StatusCode, message: &impl Serialize) -> Answer {
    let mut answer = plain(status, &serde_json::to_string(message).unwrap_or_default());
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

fn plain(status: StatusCode, text: &str) -> Answer {
    let mut answer = Response::new(Full::from(text.to_owned()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// What a page may send, for browsers that ask before they send it.
fn allowance() -> Answer {
    let mut answer = Response::new(Full::default().boxed());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    // `*` does not stand for `authorization`, which must be named.
    let names = HeaderValue::from_static("authorization, *");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
    answer
}

/// Lets a page of an allowed origin read the answer.
fn allow(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
}
