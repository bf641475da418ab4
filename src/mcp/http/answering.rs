//! One request over HTTP: who sent it, what it says, and what rmcp leaves to us in the answer.

use super::connections::Seat;
use super::counted::Counted;
use super::gate::{Checked, Entered, Reached, Refusal};
use super::sessions::{Answered, Sessions};
use super::straight::Straight;
use super::{Carrier, Gate, Place, Service, duplicate, long_introduction, misread_list, read_refused, removed};
use crate::value::Json;
use arc_swap::ArcSwap;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde::Serialize;
use std::convert::Infallible;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::pin::pin;
use std::sync::Arc;

/// An answer, whose body may be a stream.
pub(crate) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// The way in.
pub(crate) struct Door {
    /// Another one at SIGHUP.
    pub(crate) gate: ArcSwap<Gate>,
    pub(crate) service: Service,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) straight: Straight,
}

impl Door {
    /// Answers a request that came to a seat.
    pub(crate) async fn answer(&self, request: Request<Incoming>, seat: &Arc<Seat>) -> Response<Counted> {
        seat.activity.answers();
        let fault = seat.heads().fault();
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(place_of(seat));
        let is_chunked = parts.headers.contains_key(header::TRANSFER_ENCODING);
        let gate = self.gate.load_full();
        let mut answer = match gate.reach(parts, fault) {
            Ok(reached) => {
                let mut admitted = pin!(self.admit(&gate, reached, body, seat));
                poll_fn(|context| seat.aside_if_large(|| admitted.as_mut().poll(context))).await
            }
            Err(refusal) => refusal.answer(seat.activity.is_proven()),
        };
        if is_chunked {
            // Where such a body ends, readers have disagreed (RFC 9112, section 6.3): nothing is read behind it.
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let answered = answer.extensions_mut().remove::<Arc<Answered>>();
        answer.map(|body| Counted::new(body, Arc::clone(seat), answered))
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
        if !seat.connections().relieve() {
            return Refusal::full().answer(true);
        }
        let session = session_of(entered.headers());
        if !entered.is_post() {
            return self.serve_bodiless(entered, session).await;
        }
        let is_stateless = is_stateless(entered.headers());
        let checked = match entered.receive(body, seat).await {
            Ok(checked) => checked,
            Err(refusal) => return refusal.answer(true),
        };
        //= docs/spec.md#http
        //# A call that goes the straight way MUST get the answer that it gets on the way round.
        let checked = match self.straight.answer(checked).await {
            Ok((status, message)) => return seat.aside_if_large(|| told(status, &message)),
            Err(checked) => checked,
        };
        match session {
            Some(session) if !is_stateless => {
                //= docs/spec.md#http
                //# A request with the id of one that still runs in its session MUST be refused.
                let Some(answered) = self.sessions.begin(&session, id_of(checked.message())) else {
                    return told(StatusCode::BAD_REQUEST, &duplicate(checked.message()));
                };
                let mut answer = self.go_round(checked).await;
                if answer.status() == StatusCode::NOT_FOUND && !is_message(&answer) {
                    return no_session();
                }
                answer.extensions_mut().insert(Arc::new(answered));
                answer
            }
            None if checked.message()["method"] == "initialize" && !is_stateless => self.open(checked, seat).await,
            _ => self.go_round(checked).await,
        }
    }

    /// Answers a request without a message: a stream is asked for, or a session is over.
    async fn serve_bodiless(&self, entered: Entered, session: Option<String>) -> Answer {
        let ends = entered.is_delete();
        let answered = session.as_deref().and_then(|session| self.sessions.begin(session, None));
        let mut answer = self.service.handle(entered.bodiless()).await;
        match answer.status() {
            // Nothing goes on behind the answer, and clients ask for 200 or 204.
            StatusCode::ACCEPTED if ends => *answer.status_mut() = StatusCode::NO_CONTENT,
            StatusCode::NOT_FOUND if answered.is_some() => return no_session(),
            _ => {}
        }
        if let Some(answered) = answered {
            answer.extensions_mut().insert(Arc::new(answered));
        }
        answer
    }

    /// Opens a session.
    async fn open(&self, checked: Checked<'_>, seat: &Seat) -> Answer {
        if let Some(error) = long_introduction(checked.message()) {
            return told(StatusCode::BAD_REQUEST, &error);
        }
        let most = seat.connections().limits().sessions;
        let Some(opening) = self.sessions.open(seat.activity.address(), most).await else {
            let why = "Service Unavailable: too many sessions are open, and calls run in all of them";
            let mut full = plain(StatusCode::SERVICE_UNAVAILABLE, why);
            full.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return full;
        };
        let answer = self.go_round(checked).await;
        if let Some(session) = session_of(answer.headers()) {
            opening.opened(&session);
        }
        answer
    }

    /// Has rmcp answer.
    async fn go_round(&self, checked: Checked<'_>) -> Answer {
        let (request, message) = checked.rewritten();
        let answer = self.service.handle(request).await;
        match answer.status() {
            // rmcp says of a message that it cannot read that its type were wrong, and to nobody in particular.
            StatusCode::UNSUPPORTED_MEDIA_TYPE => told(StatusCode::BAD_REQUEST, &read_refused(message)),
            // The same words as on standard streams.
            StatusCode::NOT_FOUND => match removed(&message) {
                Some(error) => told(StatusCode::NOT_FOUND, &error),
                None => answer,
            },
            StatusCode::OK => match misread_list(&message) {
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

fn is_message(answer: &Answer) -> bool {
    answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
}

/// With whom calls from an address take turns: whoever has one address of the sixth version has 2^64 of them.
fn place_of(seat: &Arc<Seat>) -> Place {
    let mut hasher = DefaultHasher::new();
    match seat.activity.address().to_canonical() {
        IpAddr::V6(address) => address.segments()[..4].hash(&mut hasher),
        address => address.hash(&mut hasher),
    }
    let carrier: Arc<dyn Carrier> = Arc::<Seat>::clone(seat);
    Place { address: hasher.finish(), connection: seat.number(), carrier }
}

/// The session that a head names.
fn session_of(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned)
}

/// The id of a request; nothing for what is not answered.
fn id_of(message: &Json) -> Option<String> {
    let id = message.get("id").filter(|_| message.get("method").is_some())?;
    Some(id.to_string())
}

fn no_session() -> Answer {
    let why = "Not Found: there is no such session: it ended, was silent for too long, or others needed its place; begin another by `initialize`";
    plain(StatusCode::NOT_FOUND, why)
}

/// A message of the protocol.
pub(crate) fn told(status: StatusCode, message: &impl Serialize) -> Answer {
    let mut answer = plain(status, serde_json::to_vec(message).unwrap_or_default());
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

pub(crate) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Answer {
    let mut answer = Response::new(Full::new(text.into()).boxed());
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
