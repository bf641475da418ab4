//! Answers one request over HTTP: access is checked first, then a plain call is answered directly, and anything else
//! through rmcp.

use super::access::{AccessPolicy, PATH};
use super::body::MessageRequest;
use super::connections::{Connections, OpenConnection};
use super::direct_calls::DirectCalls;
use super::responses::{HttpResponse, allow_origin, json_response, preflight_response, refusal, text_response};
use super::sessions::{SessionRequest, Sessions};
use crate::mcp::connection::{Connection, McpServer};
use crate::mcp::message::{
    duplicate_id_error, malformed_list_error, malformed_message_error, oversized_client_info_error,
    removed_method_error,
};
use crate::mcp::sender::run_blocking;
use crate::script::CallerId;
use crate::value::Json;
use arc_swap::ArcSwap;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{self, HeaderMap};
use hyper::http::request::Parts;
use hyper::{Method, Request, StatusCode};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::pin::pin;
use std::sync::Arc;

pub(super) type RmcpService = StreamableHttpService<Connection, LocalSessionManager>;

/// Answers all requests over HTTP.
pub(super) struct HttpEndpoint {
    /// Replaced at SIGHUP.
    pub(super) access: ArcSwap<AccessPolicy>,
    pub(super) connections: Arc<Connections>,
    pub(super) rmcp: RmcpService,
    pub(super) sessions: Arc<Sessions>,
    pub(super) direct_calls: DirectCalls,
    pub(super) server: Arc<McpServer>,
}

impl HttpEndpoint {
    pub(super) async fn answer(&self, request: Request<Incoming>, connection: &Arc<OpenConnection>) -> HttpResponse {
        let (mut parts, body) = request.into_parts();
        let declares_length = connection.take_head_with_length();
        if let Some(answer) = self.answer_probe(&parts) {
            return answer;
        }
        let policy = self.access.load_full();
        let origin = parts.headers.get(header::ORIGIN).cloned();
        //= docs/spec.md#http
        //# Host, origin and token MUST be checked before anything else of a request, and the token in
        //# constant time.
        if let Err(refusal) = policy.check(&parts) {
            return *refusal;
        }
        //= docs/spec.md#http
        //# A request with ambiguous headers, or with a body that is not a message, MUST be refused with status
        //# 400.
        // hyper drops the length, and closes the connection after the answer.
        if declares_length && parts.headers.contains_key(header::TRANSFER_ENCODING) {
            let why = "Bad Request: Content-Length together with Transfer-Encoding";
            return *refusal(StatusCode::BAD_REQUEST, why);
        }
        // A preflight request has no token, and its sender learns only that it may send requests.
        let is_preflight = origin.is_some() && parts.method == Method::OPTIONS;
        let (answering, mut answer) = if is_preflight {
            (None, preflight_response())
        } else if !policy.is_authorized(&parts.headers) {
            (None, *refusal(StatusCode::UNAUTHORIZED, "Unauthorized: send the bearer token of this server"))
        } else {
            let answering = connection.begin_answer();
            let caller = session_caller(&parts.headers).unwrap_or_else(|| connection.caller_id());
            parts.extensions.insert(caller);
            (Some(answering), self.answer_authorized(parts, body).await)
        };
        if let Some(origin) = origin {
            allow_origin(answer.headers_mut(), origin);
        }
        // Until the body ends, its request counts as being answered: the closure holds what says that.
        let held = (answering, answer.extensions_mut().remove::<Arc<SessionRequest>>());
        let keep = move |never| {
            let _held = &held;
            never
        };
        answer.map(|body| body.map_err(keep).boxed())
    }

    //= docs/spec.md#http
    //# `GET /healthz` and `GET /readyz` MUST be answered without a token and for any host, and MUST NOT reveal more than
    //# whether calls are answered.
    /// Answers a balancer or a container, which has no token and knows the server by an address of its own.
    fn answer_probe(&self, parts: &Parts) -> Option<HttpResponse> {
        let unready = match (parts.method.as_str(), parts.uri.path()) {
            ("GET" | "HEAD", "/healthz") => None,
            ("GET" | "HEAD", "/readyz") => self.server.service.unready(),
            _ => return None,
        };
        Some(match unready {
            None => text_response(StatusCode::OK, "ok\n"),
            Some(why) => *refusal(StatusCode::SERVICE_UNAVAILABLE, format!("Service Unavailable: {why}\n")),
        })
    }

    /// Answers a request that was let in.
    async fn answer_authorized(&self, mut parts: Parts, body: Incoming) -> HttpResponse {
        name_accepted(&mut parts.headers);
        if parts.uri.path() != PATH {
            return *refusal(StatusCode::NOT_FOUND, format!("Not Found: the protocol is served at {PATH}"));
        }
        if parts.method != Method::POST {
            return self.answer_bodiless(parts).await;
        }
        let request = match MessageRequest::read(parts, body, self.connections.limits().body_time).await {
            Ok(request) => request,
            Err(refusal) => return *refusal,
        };
        //= docs/spec.md#http
        //# Large requests and responses MUST NOT delay those of other clients.
        let is_large = request.is_large();
        let mut answered = pin!(self.answer_message(request));
        poll_fn(|context| {
            let mut poll = || answered.as_mut().poll(context);
            if is_large { run_blocking(poll) } else { poll() }
        })
        .await
    }

    async fn answer_message(&self, request: MessageRequest) -> HttpResponse {
        let session = session_id(request.headers());
        let is_stateless = is_stateless(request.headers());
        let request = match self.direct_calls.answer(request).await {
            Ok((status, message)) => return json_response(status, &message),
            Err(request) => request,
        };
        match session {
            Some(session) if !is_stateless => {
                let Some(begun) = self.sessions.begin(&session, request_id(request.message())) else {
                    return json_response(StatusCode::BAD_REQUEST, &duplicate_id_error(request.message()));
                };
                let mut answer = self.answer_by_rmcp(request).await;
                if answer.status() == StatusCode::NOT_FOUND && !is_json(&answer) {
                    return no_session_response();
                }
                answer.extensions_mut().insert(Arc::new(begun));
                answer
            }
            None if request.message()["method"] == "initialize" && !is_stateless => self.open_session(request).await,
            _ => self.answer_by_rmcp(request).await,
        }
    }

    /// Answers a request without a message: it asks for a stream, or ends a session.
    async fn answer_bodiless(&self, parts: Parts) -> HttpResponse {
        let ends = parts.method == Method::DELETE;
        let begun = session_id(&parts.headers).and_then(|session| self.sessions.begin(&session, None));
        let mut answer = self.rmcp.handle(Request::from_parts(parts, Full::<Bytes>::default())).await;
        match answer.status() {
            // Nothing continues after the answer, and clients expect 200 or 204.
            StatusCode::ACCEPTED if ends => *answer.status_mut() = StatusCode::NO_CONTENT,
            StatusCode::NOT_FOUND if begun.is_some() => return no_session_response(),
            _ => {}
        }
        if let Some(begun) = begun {
            answer.extensions_mut().insert(Arc::new(begun));
        }
        answer
    }

    async fn open_session(&self, request: MessageRequest) -> HttpResponse {
        if let Some(error) = oversized_client_info_error(request.message()) {
            return json_response(StatusCode::BAD_REQUEST, &error);
        }
        if !self.sessions.make_room(self.connections.limits().sessions).await {
            let why = "Service Unavailable: too many sessions are open, and calls run in all of them";
            return *refusal(StatusCode::SERVICE_UNAVAILABLE, why);
        }
        let answer = self.answer_by_rmcp(request).await;
        if let Some(session) = session_id(answer.headers()) {
            self.sessions.add(session);
        }
        answer
    }

    /// Answers a request through rmcp.
    async fn answer_by_rmcp(&self, request: MessageRequest) -> HttpResponse {
        let (request, message) = request.into_rewritten();
        let answer = self.rmcp.handle(request).await;
        match answer.status() {
            // rmcp answers a message that it cannot read as if its media type were wrong, and without its id.
            StatusCode::UNSUPPORTED_MEDIA_TYPE => {
                json_response(StatusCode::BAD_REQUEST, &malformed_message_error(message))
            }
            // The same error as on standard streams.
            StatusCode::NOT_FOUND => match removed_method_error(&message) {
                Some(error) => json_response(StatusCode::NOT_FOUND, &error),
                None => answer,
            },
            StatusCode::OK => match malformed_list_error(&message) {
                Some(error) => {
                    // The page that rmcp sends is read and dropped. Otherwise it would go to the next request with this
                    // id.
                    let _page = answer.into_body().collect().await;
                    json_response(StatusCode::OK, &error)
                }
                None => answer,
            },
            _ => answer,
        }
    }
}

//= docs/spec.md#http
//# A client that accepts ranges of media types, or does not say what it accepts, MUST be served.
/// Names the media types of the protocol that ranges include: rmcp knows no ranges.
fn name_accepted(headers: &mut HeaderMap) {
    let given = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let mut accepted = given.collect::<Vec<_>>().join(",").to_ascii_lowercase();
    let ranges = if accepted.is_empty() { "*/*".to_owned() } else { accepted.clone() };
    let includes = |wanted: &str| {
        ranges.split(',').any(|range| {
            let (range, quality) = range.split_once(";q=").unwrap_or((range, "1"));
            range.trim() == wanted && quality.parse() != Ok(0.0)
        })
    };
    for (kind, range) in [("application/json", "application/*"), ("text/event-stream", "text/*")] {
        if !ranges.contains(kind) && (includes(range) || includes("*/*")) {
            accepted.extend([",", kind]);
        }
    }
    if let Ok(accepted) = accepted.parse() {
        headers.insert(header::ACCEPT, accepted);
    }
}

fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice())
}

fn is_json(answer: &HttpResponse) -> bool {
    answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
}

fn session_id(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned)
}

/// Identifies the caller if it is a session: whatever connections it uses, its calls take one turn.
fn session_caller(headers: &HeaderMap) -> Option<CallerId> {
    let session = session_id(headers).filter(|_| !is_stateless(headers))?;
    let mut hasher = DefaultHasher::new();
    session.hash(&mut hasher);
    Some(CallerId(hasher.finish()))
}

/// The id of a request; `None` for a notification or an answer.
fn request_id(message: &Json) -> Option<String> {
    let id = message.get("id").filter(|_| message.get("method").is_some())?;
    Some(id.to_string())
}

fn no_session_response() -> HttpResponse {
    let why = "Not Found: there is no such session: it ended, was silent for too long, or was closed for others; open another with `initialize`";
    *refusal(StatusCode::NOT_FOUND, why)
}
