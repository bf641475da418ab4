//! The straight way of a call over HTTP: for one that needs nothing but its answer, rmcp would make a connection of its
//! own, two tasks and several copies. What is not plainly right, or more than that, goes the long way: there all that
//! can be wrong with a request is told.

use super::gate::Checked;
use super::{Connection, Incoming, Revision, Sender, message_of};
use crate::definition::TaskSupport;
use hyper::StatusCode;
use hyper::header::{ACCEPT, AsHeaderName, HeaderMap, ORIGIN};
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
}

/// A call that is plainly right.
struct Plain {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
}

impl Straight {
    pub(crate) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// The status and the message that answer a request; the request itself if it goes the long way.
    pub(crate) async fn answer<'a>(
        &self,
        mut checked: Checked<'a>,
    ) -> Result<(StatusCode, ServerJsonRpcMessage), Checked<'a>> {
        let Some(Plain { id, params, meta }) = self.plain(&mut checked) else { return Err(checked) };
        let gone = CancellationToken::new();
        let sender =
            Sender { meta: &meta, peer: None, gone: &gone, headers: Some(checked.headers()), place: checked.place() };
        Ok(match self.connection.call(params, sender, Revision::Stateless).await {
            Ok(response) => (StatusCode::OK, ServerJsonRpcMessage::response(ServerResult::from(response), id)),
            Err(error) => (status_of(error.code), ServerJsonRpcMessage::error(error, Some(id))),
        })
    }

    /// A call that wants to hear nothing before its answer, of a tool that is no task and repeats no argument in a
    /// header. Any other request stays as it is.
    fn plain(&self, checked: &mut Checked<'_>) -> Option<Plain> {
        let name = may_come(checked.headers())?;
        let params = checked.message().get("params")?;
        let is_named = checked.message().get("method")? == "tools/call" && params.get("name")? == name;
        if !is_named || params.get("_meta")?.get("progressToken").is_some() {
            return None;
        }
        let calls = self.connection.lists(Revision::Stateless).calls(name)?;
        if calls.task_policy.task != TaskSupport::Never || calls.asks_headers {
            return None;
        }
        let plain = plain_call(message_of(checked.take()));
        if plain.is_none() {
            checked.restore();
        }
        plain
    }
}

/// The tool that the headers name, if each stands there once and says what it should.
fn may_come(headers: &HeaderMap) -> Option<&str> {
    let revision = one(headers, "mcp-protocol-version")?;
    let is_call = revision == Revision::Stateless.name() && one(headers, "mcp-method")? == "tools/call";
    let is_special = headers.contains_key(ORIGIN)
        || headers.contains_key("mcp-session-id")
        || headers.keys().any(|name| name.as_str().starts_with(PARAMETER));
    let accepted = one(headers, ACCEPT)?;
    let accepts = |kind: &str| accepted.split(',').any(|one| one.trim().eq_ignore_ascii_case(kind));
    let takes_both = accepts("application/json") && accepts("text/event-stream");
    if is_call && !is_special && takes_both { one(headers, "mcp-name") } else { None }
}

fn plain_call(incoming: Incoming) -> Option<Plain> {
    let Incoming::Request { id, mut request, opens: true } = incoming else { return None };
    let meta = std::mem::take(request.get_meta_mut());
    let ClientRequest::CallToolRequest(request) = *request else { return None };
    let revision = meta.protocol_version()?;
    let is_silent = meta.get_progress_token().is_none() && meta.log_level().is_none();
    let is_plain = revision.as_str() == Revision::Stateless.name() && is_silent;
    is_plain.then_some(Plain { id, params: request.params, meta })
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
