//! Answers one request over HTTP: directly if it is a plain call, else through rmcp.

use super::access::AccessPolicy;
use super::admission::{AuthorizedHead, CheckedRequest, Refusal, RoutedHead, check_head};
use super::connections::ConnectionHandle;
use super::sessions::{SessionRequest, Sessions};
use crate::definition::TaskSupport;
use crate::mcp::connection::Connection;
use crate::mcp::message::{
    IncomingMessage, duplicate_id_error, malformed_list_error, malformed_message_error, oversized_client_info_error,
    parse_message, removed_method_error,
};
use crate::mcp::revision::Revision;
use crate::mcp::sender::{AnswerBudget, RemoteClient, RequestSender};
use crate::mcp::tool_call::call_tool;
use crate::value::Json;
use arc_swap::ArcSwap;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, AsHeaderName, HeaderMap, HeaderValue};
use hyper::{Request, Response, StatusCode};
use rmcp::model::{
    CallToolRequestParams, ClientRequest, ErrorCode, GetMeta, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    ServerResult,
};
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use serde::Serialize;
use std::convert::Infallible;
use std::future::poll_fn;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio_util::sync::CancellationToken;

/// The service of rmcp.
pub(super) type RmcpService = StreamableHttpService<Connection, LocalSessionManager>;

/// An answer, whose body may be a stream.
type HttpResponse = Response<BoxBody<Bytes, Infallible>>;

/// Answers all requests over HTTP.
pub(crate) struct HttpEndpoint {
    /// Replaced at SIGHUP.
    pub(crate) access: ArcSwap<AccessPolicy>,
    pub(crate) rmcp: RmcpService,
    pub(crate) sessions: Arc<Sessions>,
    pub(crate) direct_calls: DirectCalls,
}

impl HttpEndpoint {
    /// Answers a request of a connection.
    pub(crate) async fn answer(
        &self,
        request: Request<Incoming>,
        handle: &Arc<ConnectionHandle>,
    ) -> Response<CountedBody> {
        handle.activity.begin_answer();
        let fault = handle.heads().next_fault();
        let (mut parts, body) = request.into_parts();
        parts.extensions.insert(remote_client(handle));
        let is_chunked = parts.headers.contains_key(header::TRANSFER_ENCODING);
        let policy = self.access.load_full();
        let mut answer = match check_head(&policy, parts, fault) {
            Ok(head) => {
                let mut admitted = pin!(self.answer_head(&policy, head, body, handle));
                poll_fn(|context| handle.run_aside_if_large(|| admitted.as_mut().poll(context))).await
            }
            Err(refusal) => refuse(refusal, handle.activity.is_proven()),
        };
        if is_chunked {
            // Readers disagree where such a body ends (RFC 9112, section 6.3): nothing after it is read.
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        let answered = answer.extensions_mut().remove::<Arc<SessionRequest>>();
        answer.map(|body| CountedBody::new(body, Arc::clone(handle), answered))
    }

    /// Answers a request for this server.
    async fn answer_head(
        &self,
        policy: &AccessPolicy,
        head: RoutedHead,
        body: Incoming,
        handle: &ConnectionHandle,
    ) -> HttpResponse {
        let origin = head.origin();
        // A preflight request has no token, and its sender learns only that it may send requests.
        let mut answer = match head.is_preflight() {
            true => preflight_response(),
            false => match head.authorize(policy) {
                Ok(head) => {
                    handle.prove();
                    self.answer_authorized(head, body, handle).await
                }
                Err(refusal) => refuse(refusal, false),
            },
        };
        if let Some(origin) = origin.filter(|_| answer.status() != StatusCode::FORBIDDEN) {
            allow_origin(answer.headers_mut(), origin);
        }
        answer
    }

    /// Answers a request that has the token.
    async fn answer_authorized(&self, head: AuthorizedHead, body: Incoming, handle: &ConnectionHandle) -> HttpResponse {
        if !handle.connections().make_room_for_bytes() {
            return refuse(Refusal::no_room(), true);
        }
        let session = session_id(head.headers());
        if !head.is_post() {
            return self.answer_bodiless(head, session).await;
        }
        let is_stateless = is_stateless(head.headers());
        let checked = match head.read_body(body, handle).await {
            Ok(checked) => checked,
            Err(refusal) => return refuse(refusal, true),
        };
        //= docs/spec.md#http
        //# A call that goes the straight way MUST get the answer that it gets on the way round.
        let checked = match self.direct_calls.answer(checked).await {
            Ok((status, message)) => return handle.run_aside_if_large(|| json_response(status, &message)),
            Err(checked) => checked,
        };
        match session {
            Some(session) if !is_stateless => {
                //= docs/spec.md#http
                //# A request with the id of one that still runs in its session MUST be refused.
                let Some(answered) = self.sessions.begin(&session, request_id(checked.message())) else {
                    return json_response(StatusCode::BAD_REQUEST, &duplicate_id_error(checked.message()));
                };
                let mut answer = self.answer_by_rmcp(checked).await;
                if answer.status() == StatusCode::NOT_FOUND && !is_json(&answer) {
                    return no_session_response();
                }
                answer.extensions_mut().insert(Arc::new(answered));
                answer
            }
            None if checked.message()["method"] == "initialize" && !is_stateless => {
                self.open_session(checked, handle).await
            }
            _ => self.answer_by_rmcp(checked).await,
        }
    }

    /// Answers a request without a message: it asks for a stream, or ends a session.
    async fn answer_bodiless(&self, head: AuthorizedHead, session: Option<String>) -> HttpResponse {
        let ends = head.is_delete();
        let answered = session.as_deref().and_then(|session| self.sessions.begin(session, None));
        let mut answer = self.rmcp.handle(head.without_body()).await;
        match answer.status() {
            // Nothing continues after the answer, and clients expect 200 or 204.
            StatusCode::ACCEPTED if ends => *answer.status_mut() = StatusCode::NO_CONTENT,
            StatusCode::NOT_FOUND if answered.is_some() => return no_session_response(),
            _ => {}
        }
        if let Some(answered) = answered {
            answer.extensions_mut().insert(Arc::new(answered));
        }
        answer
    }

    /// Opens a session.
    async fn open_session(&self, checked: CheckedRequest<'_>, handle: &ConnectionHandle) -> HttpResponse {
        if let Some(error) = oversized_client_info_error(checked.message()) {
            return json_response(StatusCode::BAD_REQUEST, &error);
        }
        let most = handle.connections().limits().sessions;
        let Some(opening) = self.sessions.open(handle.activity.address(), most).await else {
            let why = "Service Unavailable: too many sessions are open, and calls run in all of them";
            let mut full = text_response(StatusCode::SERVICE_UNAVAILABLE, why);
            full.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            return full;
        };
        let answer = self.answer_by_rmcp(checked).await;
        if let Some(session) = session_id(answer.headers()) {
            opening.opened(&session);
        }
        answer
    }

    /// Answers a request through rmcp.
    async fn answer_by_rmcp(&self, checked: CheckedRequest<'_>) -> HttpResponse {
        let (request, message) = checked.into_rewritten();
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

fn is_stateless(headers: &HeaderMap) -> bool {
    headers.get("mcp-protocol-version").is_some_and(|version| version.as_bytes() >= b"2026-07-28".as_slice())
}

fn is_json(answer: &HttpResponse) -> bool {
    answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json")
}

/// The client of a connection. Of an IPv6 address only the first 64 bits count: its owner has 2^64 such addresses.
fn remote_client(handle: &Arc<ConnectionHandle>) -> RemoteClient {
    let mut hasher = DefaultHasher::new();
    match handle.activity.address().to_canonical() {
        IpAddr::V6(address) => address.segments()[..4].hash(&mut hasher),
        address => address.hash(&mut hasher),
    }
    let budget: Arc<dyn AnswerBudget> = Arc::<ConnectionHandle>::clone(handle);
    RemoteClient { address: hasher.finish(), connection: handle.number(), budget }
}

/// The session id in the headers.
fn session_id(headers: &HeaderMap) -> Option<String> {
    headers.get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned)
}

/// The id of a request; `None` for a notification or an answer.
fn request_id(message: &Json) -> Option<String> {
    let id = message.get("id").filter(|_| message.get("method").is_some())?;
    Some(id.to_string())
}

fn no_session_response() -> HttpResponse {
    let why = "Not Found: there is no such session: it ended, was silent for too long, or was closed for others; open another with `initialize`";
    text_response(StatusCode::NOT_FOUND, why)
}

/// A response with a message of the protocol.
fn json_response(status: StatusCode, message: &impl Serialize) -> HttpResponse {
    let mut answer = text_response(status, serde_json::to_vec(message).unwrap_or_default());
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    answer
}

/// A response with a text.
fn text_response(status: StatusCode, text: impl Into<Bytes>) -> HttpResponse {
    let mut answer = Response::new(Full::new(text.into()).boxed());
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    answer
}

/// The answer for a refusal. `is_proven` says whether the connection has shown the token.
fn refuse(refusal: Refusal, is_proven: bool) -> HttpResponse {
    let (status, mut answer) = match refusal {
        Refusal::Text(status, text) => (status, text_response(status, text.into_owned())),
        Refusal::Protocol(status, message) => (status, json_response(status, &message)),
    };
    let headers = answer.headers_mut();
    let keeps = [StatusCode::NOT_FOUND, StatusCode::FORBIDDEN, StatusCode::UNSUPPORTED_MEDIA_TYPE];
    //= docs/spec.md#http
    //# After status 401 the connection MUST be closed.
    // A client without the token gets only one answer. After a request that was not read to its end, nothing can be
    // read.
    let is_protocol = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_proven || !(keeps.contains(&status) || is_protocol) {
        headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    add_refusal_headers(status, headers);
    answer
}

fn add_refusal_headers(status: StatusCode, headers: &mut HeaderMap) {
    match status {
        StatusCode::UNAUTHORIZED => headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer")),
        StatusCode::SERVICE_UNAVAILABLE => headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1")),
        _ => None,
    };
}

/// The answer to a preflight request: what pages may send.
fn preflight_response() -> HttpResponse {
    let mut answer = Response::new(Full::default().boxed());
    *answer.status_mut() = StatusCode::NO_CONTENT;
    let headers = answer.headers_mut();
    let methods = HeaderValue::from_static("GET, POST, DELETE");
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, methods);
    // `*` does not include `authorization`, which must be named.
    let names = HeaderValue::from_static("authorization, *");
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, names);
    answer
}

/// Lets a page of an allowed origin read the answer.
fn allow_origin(headers: &mut HeaderMap, origin: HeaderValue) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("mcp-session-id"));
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
}

/// The prefix of headers that repeat an argument.
const PARAMETER_PREFIX: &str = "mcp-param-";

/// Answers plain calls directly. For a call that needs nothing but its answer, rmcp would make a connection of its own,
/// two tasks and several copies. A request that may be wrong, or needs more, is left to rmcp, which reports everything
/// that can be wrong with a request.
pub(crate) struct DirectCalls {
    connection: Connection,
}

/// A well-formed call that needs nothing but its answer.
struct DirectCall {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
}

impl DirectCalls {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Answers a request with a status and a message.
    ///
    /// # Errors
    /// The request itself, if rmcp must answer it.
    pub(crate) async fn answer<'a>(
        &self,
        mut checked: CheckedRequest<'a>,
    ) -> Result<(StatusCode, ServerJsonRpcMessage), CheckedRequest<'a>> {
        let Some(DirectCall { id, params, meta }) = self.take_call(&mut checked) else { return Err(checked) };
        let gone = CancellationToken::new();
        let sender = RequestSender {
            meta: &meta,
            peer: None,
            cancelled: &gone,
            headers: Some(checked.headers()),
            remote: checked.remote(),
        };
        Ok(match call_tool(&self.connection, params, sender, Revision::Stateless).await {
            Ok(response) => (StatusCode::OK, ServerJsonRpcMessage::response(ServerResult::from(response), id)),
            Err(error) => (status_of(error.code), ServerJsonRpcMessage::error(error, Some(id))),
        })
    }

    /// Takes the call out of a request that wants no notices before its answer, if the tool does not run as a task and
    /// repeats no argument in a header. Any other request stays as it is.
    fn take_call(&self, checked: &mut CheckedRequest<'_>) -> Option<DirectCall> {
        let name = direct_tool_name(checked.headers())?;
        let params = checked.message().get("params")?;
        let is_named = checked.message().get("method")? == "tools/call" && params.get("name")? == name;
        if !is_named || params.get("_meta")?.get("progressToken").is_some() {
            return None;
        }
        let calls = self.connection.lists(Revision::Stateless).tool_traits(name)?;
        if calls.task_policy.task != TaskSupport::Never || calls.asks_headers {
            return None;
        }
        let plain = to_direct_call(parse_message(checked.take_message()));
        if plain.is_none() {
            checked.restore_message();
        }
        plain
    }
}

/// The tool that the headers name, if each occurs once and fits a plain call.
fn direct_tool_name(headers: &HeaderMap) -> Option<&str> {
    let revision = single_value(headers, "mcp-protocol-version")?;
    let is_call = revision == Revision::Stateless.name() && single_value(headers, "mcp-method")? == "tools/call";
    let is_special = headers.contains_key(header::ORIGIN)
        || headers.contains_key("mcp-session-id")
        || headers.keys().any(|name| name.as_str().starts_with(PARAMETER_PREFIX));
    let accepted = single_value(headers, header::ACCEPT)?;
    let accepts = |kind: &str| accepted.split(',').any(|one| one.trim().eq_ignore_ascii_case(kind));
    let takes_both = accepts("application/json") && accepts("text/event-stream");
    if is_call && !is_special && takes_both { single_value(headers, "mcp-name") } else { None }
}

fn to_direct_call(incoming: IncomingMessage) -> Option<DirectCall> {
    let IncomingMessage::Request { id, mut request, opens: true } = incoming else { return None };
    let meta = std::mem::take(request.get_meta_mut());
    let ClientRequest::CallToolRequest(request) = *request else { return None };
    let revision = meta.protocol_version()?;
    let is_silent = meta.get_progress_token().is_none() && meta.log_level().is_none();
    let is_plain = revision.as_str() == Revision::Stateless.name() && is_silent;
    is_plain.then_some(DirectCall { id, params: request.params, meta })
}

/// The value of a header that occurs once.
fn single_value(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// The status of an error, as rmcp would send it (the transport's part of revision 2026-07-28).
fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}

/// The body of an answer. Its bytes count as pending until the client has taken them.
pub(crate) struct CountedBody {
    body: BoxBody<Bytes, Infallible>,
    handle: Arc<ConnectionHandle>,
    /// The request of a session that this body answers, held until the body ends.
    _answered: Option<Arc<SessionRequest>>,
}

impl CountedBody {
    pub(crate) fn new(
        body: BoxBody<Bytes, Infallible>,
        handle: Arc<ConnectionHandle>,
        answered: Option<Arc<SessionRequest>>,
    ) -> Self {
        Self { body, handle, _answered: answered }
    }
}

impl Body for CountedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // In a session, rmcp writes the answer while this is polled.
        let handle = Arc::clone(&self.handle);
        let polled = handle.run_aside_if_large(|| Pin::new(&mut self.body).poll_frame(context));
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.handle.owe(frame.data_ref().map_or(0, Bytes::len));
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for CountedBody {
    /// The body was handed over to be written, or its client is gone.
    fn drop(&mut self) {
        self.handle.end_answer();
    }
}
