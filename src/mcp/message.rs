//! Reads one line of the wire: what it is, or which error it gets.
//!
//! rmcp reads a message by trying each of its types in turn, and what fits none becomes an unknown method.
//! We look at the method first, so that a known method with wrong parameters is told so, and small calls
//! are read in one go.

use super::{Unreadable, read_json};
use crate::value::Json;
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomNotification,
    CustomRequest, ErrorCode, ErrorData, GetMeta, MetaObject, Notification, NumberOrString, ProtocolVersion, Request,
    RequestId, RequestMetaObject, RequestNoParam, RequestOptionalParam,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, json};

/// What a line says.
#[derive(Debug)]
pub(crate) enum Incoming {
    /// A request, and whether it opens a session: `initialize`, or a request that stands alone.
    Request {
        /// Its id.
        id: RequestId,
        /// The request.
        request: Box<ClientRequest>,
        /// Whether the protocol's own loop takes it as the beginning of a session.
        opens: bool,
    },
    /// A request is taken back.
    Cancelled(CancelledNotificationParam),
    /// Another notification, or the answer to a request of ours.
    Other(Box<ClientJsonRpcMessage>),
    /// Something that asks for nothing and that nobody can be told about.
    Nothing,
    /// No message that we can act on; this error is the answer.
    Refused(Option<RequestId>, ErrorData),
}

/// Reads one line, without its end.
pub(crate) fn read_message(line: &[u8]) -> Incoming {
    //= docs/spec.md#robustness
    //# No line on standard input MUST make the server panic or hang.
    match read_json(line) {
        Ok(message) => message_of(message),
        Err(unreadable) => Incoming::Refused(id_of(&unreadable), unreadable.into()),
    }
}

/// What a message says whose JSON was read already.
pub(crate) fn message_of(message: Json) -> Incoming {
    match message {
        Json::Object(message) => read_object(message),
        Json::Array(_) => refused(None, "batches are not supported, send one message a line"),
        _ => refused(None, "a message is a JSON object"),
    }
}

/// The id of a message that could be read, and is refused for what is in it.
pub(crate) fn id_of(unreadable: &Unreadable) -> Option<RequestId> {
    match unreadable {
        Unreadable::Beyond { id, .. } => read_id(id.clone()),
        _ => None,
    }
}

impl From<Unreadable> for ErrorData {
    fn from(unreadable: Unreadable) -> Self {
        match unreadable {
            //= docs/spec.md#protocol
            //# A line that is no JSON MUST be answered with a parse error.
            Unreadable::Syntax(why) => Self::parse_error(format!("no JSON: {why}"), None),
            Unreadable::Twice(why) | Unreadable::Beyond { why, .. } => Self::invalid_request(why, None),
            Unreadable::Many => Self::invalid_request(
                "a message has at most 500000 values: pass large inputs as paths or URIs".to_owned(),
                None,
            ),
        }
    }
}

/// An error as it is sent.
pub(crate) fn error_message(id: Option<RequestId>, error: &ErrorData) -> Json {
    json!({ "jsonrpc": "2.0", "id": id.map(RequestId::into_json_value), "error": error })
}

/// The error for JSON that cannot be read as a message, as it is sent.
pub(crate) fn read_refused(message: Json) -> Json {
    let (id, error) = match message_of(message) {
        Incoming::Refused(id, error) => (id, error),
        _ => (None, ErrorData::invalid_request("no message of the protocol", None)),
    };
    error_message(id, &error)
}

/// The error for a list that was asked for with parameters that are none, such as a cursor that is no text: rmcp reads them
/// as left out, and answers with the first page.
pub(crate) fn misread_list(message: &Json) -> Option<Json> {
    let _of_a_list = message["method"].as_str().filter(|method| method.ends_with("/list"))?;
    match message_of(message.clone()) {
        Incoming::Refused(Some(id), error) if error.code == ErrorCode::INVALID_PARAMS => {
            Some(error_message(Some(id), &error))
        }
        _ => None,
    }
}

/// So many bytes a client may say of itself.
const MOST_OF_ITSELF: usize = 64 << 10;

//= docs/spec.md#http
//# What a client says of itself when it opens a session, which is kept, MUST NOT be larger than 64 kB.
/// The error for a client that says too much of itself.
pub(crate) fn long_introduction(message: &Json) -> Option<Json> {
    let size = message["params"].to_string().len();
    let why = || {
        format!(
            "what a client says of itself has {} kB at most, got {} kB: it is kept as long as the session",
            MOST_OF_ITSELF >> 10,
            size >> 10
        )
    };
    let id = message.get("id").cloned().and_then(read_id);
    (size > MOST_OF_ITSELF).then(|| error_message(id, &ErrorData::invalid_params(why(), None)))
}

/// The error for a method that the stateless revision has no longer, in the words of standard streams.
pub(crate) fn removed(message: &Json) -> Option<Json> {
    let method = message["method"].as_str().filter(|method| is_removed(method) && *method != "initialize")?;
    let id = message.get("id").cloned().and_then(read_id)?;
    Some(error_message(Some(id), &unknown_method(method)))
}

/// The error for a method that nobody knows.
pub(crate) fn unknown_method(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method `{method}`"), None)
}

/// The error for a request with an id that another one has.
pub(crate) fn duplicate(message: &Json) -> Json {
    error_message(message.get("id").cloned().and_then(read_id), &still_running())
}

/// The same.
pub(crate) fn still_running() -> ErrorData {
    ErrorData::invalid_request("a request with this id is still running", None)
}

/// What is wrong with a request that rmcp could not read as one of its own; nothing if its method is unknown.
pub(crate) fn misread(method: &str, params: Option<Json>) -> Option<ErrorData> {
    match read_request(method, params, NumberOrString::Number(0)) {
        Incoming::Refused(_, error) => Some(error),
        Incoming::Request { request, .. } if !matches!(*request, ClientRequest::CustomRequest(_)) => {
            Some(ErrorData::invalid_params(format!("malformed parameters of `{method}`"), None))
        }
        _ => None,
    }
}

/// Whether the stateless revision has a method no longer.
pub(crate) fn is_removed(method: &str) -> bool {
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"].contains(&method)
}

fn refused(id: Option<RequestId>, why: impl Into<String>) -> Incoming {
    Incoming::Refused(id, ErrorData::invalid_request(why.into(), None))
}

fn read_object(mut message: Map<String, Json>) -> Incoming {
    let id = message.remove("id");
    let id = match id.map(read_id) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => return refused(None, "`id` is a text or a whole number"),
    };
    if message.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return refused(id, "`jsonrpc` is \"2.0\"");
    }
    let has_answer = message.contains_key("result") || message.contains_key("error");
    match (message.remove("method"), id) {
        (Some(_), id) if has_answer => refused(id, "a message has `method`, `result` or `error`, not two of them"),
        (Some(Json::String(method)), Some(id)) => read_request(&method, message.remove("params"), id),
        (Some(Json::String(method)), None) => read_notification(&method, message.remove("params")),
        (Some(_), id) => refused(id, "`method` is a text"),
        (None, Some(id)) if has_answer => read_answer(message, id),
        // An error without an id answers nothing that we asked: there is nobody to tell.
        (None, None) if message.contains_key("error") => Incoming::Nothing,
        (None, id) => refused(id, "a message has `method`, `result` or `error`"),
    }
}

fn read_id(id: Json) -> Option<RequestId> {
    match id {
        Json::String(text) => Some(NumberOrString::String(text.into())),
        Json::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

fn read_answer(mut message: Map<String, Json>, id: RequestId) -> Incoming {
    message.insert("jsonrpc".to_owned(), json!("2.0"));
    message.insert("id".to_owned(), id.clone().into_json_value());
    match serde_json::from_value(Json::Object(message)) {
        Ok(answer) => Incoming::Other(Box::new(answer)),
        Err(error) => refused(Some(id), format!("no answer: {error}")),
    }
}

fn read_notification(method: &str, params: Option<Json>) -> Incoming {
    if method == "notifications/cancelled" {
        return match params.map(serde_json::from_value::<CancelledNotificationParam>) {
            Some(Ok(params)) => Incoming::Cancelled(params),
            _ => Incoming::Nothing,
        };
    }
    let notification = match method {
        "notifications/initialized" => ClientNotification::InitializedNotification(Default::default()),
        "notifications/roots/list_changed" => ClientNotification::RootsListChangedNotification(Default::default()),
        "notifications/progress" => match params.clone().map(serde_json::from_value) {
            Some(Ok(params)) => ClientNotification::ProgressNotification(Notification::new(params)),
            _ => ClientNotification::CustomNotification(CustomNotification::new(method, params)),
        },
        _ => ClientNotification::CustomNotification(CustomNotification::new(method, params)),
    };
    Incoming::Other(Box::new(ClientJsonRpcMessage::notification(notification)))
}

fn read_request(method: &str, params: Option<Json>, id: RequestId) -> Incoming {
    let wrong = |error: &str| {
        let message = format!("malformed parameters of `{method}`: {error}");
        Incoming::Refused(Some(id.clone()), ErrorData::invalid_params(message, None))
    };
    let mut params = match params {
        None => Map::new(),
        Some(Json::Object(params)) => params,
        Some(_) => return wrong("they are an object"),
    };
    let meta = match params.remove("_meta") {
        None => Map::new(),
        Some(Json::Object(meta)) => meta,
        Some(_) => return wrong("`_meta` is an object"),
    };
    let meta = RequestMetaObject(MetaObject(meta));
    let is_stateless = meta.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    //= docs/spec.md#protocol
    //# A method that the revision in use no longer has MUST be refused as unknown, whatever its parameters.
    // A handshake is one, whatever else it says of itself.
    let read = match is_stateless && is_removed(method) && method != "initialize" {
        true => Ok(custom(method, params)),
        false => request_of(method, params),
    };
    let mut request = match read {
        Ok(request) => request,
        Err(error) => return wrong(&error.to_string()),
    };
    let opens = match &request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => stands_alone(&meta),
    };
    if !meta.is_empty() {
        *request.get_meta_mut() = meta;
    }
    Incoming::Request { id, request: Box::new(request), opens }
}

/// Whether a request brings all that the stateless revision asks of it.
fn stands_alone(meta: &RequestMetaObject) -> bool {
    !meta.is_empty()
        && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}

fn request_of(method: &str, params: Map<String, Json>) -> Result<ClientRequest, serde_json::Error> {
    fn needed<M: Default, P: DeserializeOwned>(params: Map<String, Json>) -> Result<Request<M, P>, serde_json::Error> {
        serde_json::from_value(Json::Object(params)).map(Request::new)
    }
    fn optional<M: Default, P: DeserializeOwned>(
        params: Map<String, Json>,
    ) -> Result<RequestOptionalParam<M, P>, serde_json::Error> {
        serde_json::from_value(Json::Object(params)).map(RequestOptionalParam::with_param)
    }
    Ok(match method {
        "tools/call" => ClientRequest::CallToolRequest(needed(params)?),
        "tools/list" => ClientRequest::ListToolsRequest(optional(params)?),
        "resources/read" => ClientRequest::ReadResourceRequest(needed(params)?),
        "resources/list" => ClientRequest::ListResourcesRequest(optional(params)?),
        "resources/templates/list" => ClientRequest::ListResourceTemplatesRequest(optional(params)?),
        "resources/subscribe" => ClientRequest::SubscribeRequest(needed(params)?),
        "resources/unsubscribe" => ClientRequest::UnsubscribeRequest(needed(params)?),
        "prompts/list" => ClientRequest::ListPromptsRequest(optional(params)?),
        "prompts/get" => ClientRequest::GetPromptRequest(needed(params)?),
        "resources/directory/read" => ClientRequest::ReadResourceDirectoryRequest(needed(params)?),
        "skills/list" => ClientRequest::ListSkillsRequest(optional(params)?),
        "skills/get" => ClientRequest::GetSkillRequest(needed(params)?),
        "tasks/get" => ClientRequest::GetTaskRequest(needed(params)?),
        "tasks/update" => ClientRequest::UpdateTaskRequest(needed(params)?),
        "tasks/cancel" => ClientRequest::CancelTaskRequest(needed(params)?),
        "completion/complete" => ClientRequest::CompleteRequest(needed(params)?),
        "logging/setLevel" => ClientRequest::SetLevelRequest(needed(params)?),
        "subscriptions/listen" => ClientRequest::SubscriptionsListenRequest(needed(params)?),
        "initialize" => ClientRequest::InitializeRequest(needed(params)?),
        "server/discover" => ClientRequest::DiscoverRequest(Default::default()),
        "ping" => ClientRequest::PingRequest(RequestNoParam::default()),
        _ => custom(method, params),
    })
}

fn custom(method: &str, params: Map<String, Json>) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, (!params.is_empty()).then_some(Json::Object(params))))
}
