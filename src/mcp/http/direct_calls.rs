//! The direct way of a plain call: it is answered without the service of rmcp.

use super::body::MessageRequest;
use crate::definition::TaskSupport;
use crate::mcp::connection::Connection;
use crate::mcp::message::{IncomingMessage, parse_message};
use crate::mcp::revision::Revision;
use crate::mcp::sender::RequestSender;
use crate::mcp::tool_call::answer_tool_call;
use hyper::StatusCode;
use hyper::header::{self, AsHeaderName, HeaderMap};
use rmcp::model::{
    CallToolRequestParams, ClientRequest, ErrorCode, GetMeta, RequestId, RequestMetaObject, ServerJsonRpcMessage,
    ServerResult,
};
use tokio_util::sync::CancellationToken;

/// The prefix of headers that repeat an argument.
const PARAMETER_PREFIX: &str = "mcp-param-";

/// Answers plain calls directly. For a call that needs nothing but its answer, rmcp would make a separate connection,
/// two tasks and several copies. A request that may be wrong, or needs more, is left to rmcp, which reports everything
/// that can be wrong with a request.
pub(super) struct DirectCalls {
    connection: Connection,
}

/// A well-formed call that needs nothing but its answer.
struct DirectCall {
    id: RequestId,
    params: CallToolRequestParams,
    meta: RequestMetaObject,
}

impl DirectCalls {
    pub(super) fn new(connection: Connection) -> Self {
        Self { connection }
    }

    /// Answers a request with a status and a message.
    ///
    /// # Errors
    /// The request itself, if rmcp must answer it.
    pub(super) async fn answer(
        &self,
        mut checked: MessageRequest,
    ) -> Result<(StatusCode, ServerJsonRpcMessage), MessageRequest> {
        let Some(DirectCall { id, params, meta }) = self.take_call(&mut checked) else { return Err(checked) };
        let gone = CancellationToken::new();
        let sender = RequestSender {
            meta: &meta,
            peer: None,
            cancelled: &gone,
            headers: Some(checked.headers()),
            caller_id: checked.caller_id(),
        };
        Ok(match answer_tool_call(&self.connection, params, sender, Revision::Stateless).await {
            Ok(response) => (StatusCode::OK, ServerJsonRpcMessage::response(ServerResult::from(response), id)),
            Err(error) => (status_of(error.code), ServerJsonRpcMessage::error(error, Some(id))),
        })
    }

    /// Takes the call out of a request that wants no notices before its answer, if the tool does not run as a task and
    /// repeats no argument in a header. Any other request stays as it is.
    fn take_call(&self, checked: &mut MessageRequest) -> Option<DirectCall> {
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
    let is_special = headers.keys().any(|name| name.as_str().starts_with(PARAMETER_PREFIX));
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
