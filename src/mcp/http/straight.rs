//! The straight way of a call over HTTP: for one that needs nothing but its answer, rmcp would make a connection of its
//! own, two tasks and several copies. What is not plainly right, or more than that, goes the long way: there all that
//! can be wrong with a request is told.

use super::{Connection, Incoming, Revision, Sender, read_message};
use crate::definition::Task;
use hyper::StatusCode;
use hyper::header::{ACCEPT, AsHeaderName, HOST, HeaderMap, ORIGIN};
use hyper::http::uri::Authority;
use rmcp::model::{
    CallToolRequestParams, ClientRequest, ErrorCode, GetMeta, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    ServerResult,
};
use tokio_util::sync::CancellationToken;

/// What begins the name of a header that repeats an argument.
const PARAMETER: &str = "mcp-param-";

/// Those who come this way, which remembers nothing of them.
pub(crate) struct Straight {
    connection: Connection,
    hosts: Vec<String>,
}

/// A call that is plainly right.
struct Plain {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
}

impl Straight {
    pub(crate) fn new(connection: Connection, hosts: Vec<String>) -> Self {
        Self { connection, hosts }
    }

    /// The status and the message that answer a request; nothing if it goes the long way.
    pub(crate) async fn answer(&self, headers: &HeaderMap, body: &[u8]) -> Option<(StatusCode, ServerJsonRpcMessage)> {
        let name = self.may_come(headers)?;
        let Plain { id, params, meta } = self.plain(name, body)?;
        let gone = CancellationToken::new();
        let sender = Sender { meta: &meta, peer: None, gone: &gone, headers: Some(headers) };
        Some(match self.connection.call(params, sender, Revision::Stateless).await {
            Ok(response) => (StatusCode::OK, ServerJsonRpcMessage::response(ServerResult::from(response), id)),
            Err(error) => (status_of(error.code), ServerJsonRpcMessage::error(error, Some(id))),
        })
    }

    /// The tool that the headers name, if each stands there once and says what it should.
    fn may_come<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let revision = one(headers, "mcp-protocol-version")?;
        let is_call = revision == Revision::Stateless.name() && one(headers, "mcp-method")? == "tools/call";
        let is_special = headers.contains_key(ORIGIN)
            || headers.contains_key("mcp-session-id")
            || headers.keys().any(|name| name.as_str().starts_with(PARAMETER));
        let accepted = one(headers, ACCEPT)?;
        let accepts = |kind: &str| accepted.split(',').any(|one| one.trim().eq_ignore_ascii_case(kind));
        let takes_both = accepts("application/json") && accepts("text/event-stream");
        let host: Authority = one(headers, HOST)?.parse().ok()?;
        let is_ours = self.hosts.iter().any(|known| known.eq_ignore_ascii_case(host.host()));
        if is_call && !is_special && takes_both && is_ours { one(headers, "mcp-name") } else { None }
    }

    /// A call of the tool `name` that wants to hear nothing before its answer, of a tool that is no task and repeats
    /// no argument in a header.
    fn plain(&self, name: &str, body: &[u8]) -> Option<Plain> {
        let calls = self.connection.lists(Revision::Stateless).calls(name)?;
        // Before the body is read: on the long way it is read again.
        if calls.tasking.task != Task::Never || calls.asks_headers {
            return None;
        }
        let Incoming::Request { id, mut request, opens: true } = read_message(body.trim_ascii()) else { return None };
        let meta = std::mem::take(request.get_meta_mut());
        let ClientRequest::CallToolRequest(request) = *request else { return None };
        let revision = meta.protocol_version()?;
        let is_silent = meta.get_progress_token().is_none() && meta.log_level().is_none();
        let is_plain = revision.as_str() == Revision::Stateless.name() && is_silent && request.params.name == name;
        is_plain.then_some(Plain { id, params: request.params, meta })
    }
}

/// The value of a header that stands there once.
fn one(headers: &HeaderMap, name: impl AsHeaderName) -> Option<&str> {
    let mut values = headers.get_all(name).iter();
    let value = values.next()?.to_str().ok()?;
    values.next().is_none().then_some(value)
}

/// The status of an error, as on the long way (the transport's part of revision 2026-07-28).
fn status_of(code: ErrorCode) -> StatusCode {
    match code {
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
        | ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
        | ErrorCode::HEADER_MISMATCH => StatusCode::BAD_REQUEST,
        ErrorCode::METHOD_NOT_FOUND => StatusCode::NOT_FOUND,
        _ => StatusCode::OK,
    }
}
