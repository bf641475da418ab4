//! One request over HTTP: who sent it, what it says, and what rmcp leaves to us in the answer.

use super::connections::Seat;
use super::counted::Counted;
use super::gate::{Checked, Entered, Reached, Refusal};
use super::straight::Straight;
use super::{Gate, LocalSessionManager, Service, misread_cursor, read_refused, sessions};
use arc_swap::ArcSwap;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;

/// An answer, whose body may be a stream.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The way in.
pub(crate) struct Door {
    /// Another one at SIGHUP.
    pub(crate) gate: ArcSwap<Gate>,
    pub(crate) service: Service,
    pub(crate) sessions: Arc<LocalSessionManager>,
    pub(crate) straight: Straight,
}

impl Door {
    /// Answers a request that came to a seat.
    pub(crate) async fn answer(&self, request: Request<Incoming>, seat: &Arc<Seat>) -> Response<Counted> {
        seat.activity.answers();
        let fault = seat.heads().fault();
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(seat.activity.address());
        let is_chunked = parts.headers.contains_key(header::TRANSFER_ENCODING);
        let gate = self.gate.load_full();
        let mut answer = match gate.reach(parts, fault) {
            Ok(reached) => self.admit(&gate, reached, body, seat).await,
            Err(refusal) => refusal.answer(seat.activity.is_proven()),
        };
        if is_chunked {
            // Where such a body ends, readers have disagreed (RFC 9112, section 6.3): nothing is read behind it.
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        answer.map(|body| Counted::new(body, Arc::clone(seat)))
    }

    /// Answers a request for this server.
    async fn admit(&self, gate: &Gate, reached: Reached, body: Incoming, seat: &Seat) -> Answer {
        let origin = reached.origin();
        // A page asks beforehand without its token, and learns nothing but that it may ask.
        let mut answer = match reached.asks_beforehand() {
            true => allowance(),
            false => match reached.enter(gate) {
                Ok(entered) => {
                    seat.prove();
                    self.serve(entered, body, seat).await
                }
                Err(refusal) => refusal.answer(false),
            },
        };
        if let Some(origin) = origin.filter(|_| answer.status() != StatusCode::FORBIDDEN) {
            allow(answer.headers_mut(), origin);
        }
        answer
    }

    /// Answers a request of somebody who may come in.
    async fn serve(&self, entered: Entered, body: Incoming, seat: &Seat) -> Answer {
        if seat.connections().is_full() {
            return Refusal::full().answer(true);
        }
        if !entered.is_post() {
            return self.service.handle(entered.bodiless()).await;
        }
        //= docs/spec.md#http
        //# When too many sessions are open another MUST be refused with status 503, until one ends.
        let headers = entered.headers();
        if !headers.contains_key("mcp-session-id")
            && !is_stateless(headers)
            && !sessions::has_room(&self.sessions).await
        {
            let mut full = plain(StatusCode::SERVICE_UNAVAILABLE, "Service Unavailable: too many sessions are open");
            full.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("60"));
            return full;
        }
        let checked = match entered.receive(body, seat).await {
            Ok(checked) => checked,
            Err(refusal) => return refusal.answer(true),
        };
        //= docs/spec.md#http
        //# A call that goes the straight way MUST get the answer that it gets on the way round.
        match self.straight.answer(checked).await {
            Ok((status, message)) => told(status, &message),
            Err(checked) => self.go_round(checked).await,
        }
    }

    /// Has rmcp answer.
    async fn go_round(&self, checked: Checked<'_>) -> Answer {
        let (request, message) = checked.rewritten();
        let answer = self.service.handle(request).await;
        match answer.status() {
            // rmcp says of a message that it cannot read that its type were wrong, and to nobody in particular.
            StatusCode::UNSUPPORTED_MEDIA_TYPE => told(StatusCode::BAD_REQUEST, &read_refused(message)),
            StatusCode::OK => match misread_cursor(&message) {
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

/// A message of the protocol.
pub(crate) fn told(status: StatusCode, message: &impl Serialize) -> Answer {
    let mut answer = plain(status, &serde_json::to_string(message).unwrap_or_default());
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

pub(crate) fn plain(status: StatusCode, text: &str) -> Answer {
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
