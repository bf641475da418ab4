//! Reads one message of the protocol: classifies it, or determines the error that answers it.
//!
//! rmcp reads a message by trying each of its types in turn, and what fits none of them becomes an unknown method. Here
//! the method is read first, so that wrong parameters of a known method are reported as such, and the message is parsed
//! only once.

use super::strict_json::{UnreadableJson, read_json, read_member};
use crate::value::Json;
use rmcp::model::{
    CancelledNotificationParam, ClientJsonRpcMessage, ClientNotification, ClientRequest, CustomNotification,
    CustomRequest, ErrorCode, ErrorData, GetMeta, MetaObject, Notification, NumberOrString, ProtocolVersion, Request,
    RequestId, RequestMetaObject, RequestNoParam, RequestOptionalParam,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, json};

/// A message that was read.
#[derive(Debug)]
pub(crate) enum IncomingMessage {
    Request {
        id: RequestId,
        request: Box<ClientRequest>,
        /// Whether rmcp opens a session with it: `initialize`, or a self-contained request.
        opens: bool,
    },
    /// The cancellation of a request.
    Cancelled(CancelledNotificationParam),
    /// Another notification, or an answer from the client.
    Other(Box<ClientJsonRpcMessage>),
    /// A message that needs no answer and cannot be passed on.
    Nothing,
    /// Not a message of the protocol; the answer is this error.
    Refused(Option<RequestId>, ErrorData),
}

/// Reads one line, without its end.
pub(crate) fn parse_line(line: &[u8]) -> IncomingMessage {
    //= docs/spec.md#protocol
    //# A line that is not valid JSON MUST be answered with a parse error, and MUST NOT make the server panic
    //# or hang.
    match read_message(line) {
        Ok(message) => parse_message(message),
        Err(unreadable) => IncomingMessage::Refused(readable_id(line), unreadable.into()),
    }
}

/// The places of a message that hold objects. In PHP an empty object is easily written as `[]`.
const OBJECTS: [&str; 11] = [
    "/params",
    "/params/_meta",
    "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
    "/params/arguments",
    "/params/capabilities",
    "/params/context",
    "/params/context/arguments",
    "/params/inputResponses",
    "/result",
    "/result/_meta",
    "/result/content",
];

/// Reads a message as JSON. Some clients write `null` where `params` or `_meta` is omitted, and an empty array in place
/// of an empty object: both count as what they mean.
pub(crate) fn read_message(text: &[u8]) -> Result<Json, UnreadableJson> {
    let mut message = read_json(text)?;
    for place in OBJECTS {
        let Some(found) = message.pointer_mut(place) else { continue };
        //= docs/spec.md#protocol
        //# Where the protocol has an object, an empty array MUST count as an empty object.
        read_empty_object(found, place.ends_with("apabilities"));
    }
    let answers = message.pointer_mut("/params/inputResponses").and_then(Json::as_object_mut);
    for content in answers.into_iter().flat_map(Map::values_mut).filter_map(|answer| answer.get_mut("content")) {
        read_empty_object(content, false);
    }
    if let Some(members) = message.as_object_mut() {
        if let Some(params) = members.get_mut("params").and_then(Json::as_object_mut)
            && params.get("_meta") == Some(&Json::Null)
        {
            params.shift_remove("_meta");
        }
        if members.get("params") == Some(&Json::Null) {
            members.shift_remove("params");
        }
    }
    Ok(message)
}

/// Makes an empty object of an empty array; with `is_deep`, of those in it as well.
fn read_empty_object(json: &mut Json, is_deep: bool) {
    if json.as_array().is_some_and(Vec::is_empty) {
        *json = json!({});
    }
    if let (true, Some(members)) = (is_deep, json.as_object_mut()) {
        members.values_mut().for_each(|member| read_empty_object(member, true));
    }
}

/// Reads a message from JSON.
pub(crate) fn parse_message(message: Json) -> IncomingMessage {
    match message {
        Json::Object(message) => parse_object(message),
        Json::Array(_) => refuse(None, "batches are not supported: send one message per line"),
        _ => refuse(None, "a message must be a JSON object"),
    }
}

//= docs/spec.md#protocol
//# A message that is refused MUST be answered with its id if that comes before the error.
/// The id of a message whose JSON is refused, if it comes before the error.
pub(crate) fn readable_id(message: &[u8]) -> Option<RequestId> {
    read_member(message, "id").and_then(parse_id)
}

impl From<UnreadableJson> for ErrorData {
    fn from(unreadable: UnreadableJson) -> Self {
        match unreadable {
            UnreadableJson::Syntax(why) => Self::parse_error(format!("not valid JSON: {why}"), None),
            UnreadableJson::DuplicateKey(why) | UnreadableJson::NumberOutOfRange(why) => {
                Self::invalid_request(why, None)
            }
            UnreadableJson::TooManyValues => Self::invalid_request(
                "a message may have at most 500000 values: pass large inputs as paths or URIs".to_owned(),
                None,
            ),
        }
    }
}

pub(crate) fn error_message(id: Option<RequestId>, error: &ErrorData) -> Json {
    json!({ "jsonrpc": "2.0", "id": id.map(RequestId::into_json_value), "error": error })
}

/// The error for JSON that cannot be read as a message.
pub(crate) fn malformed_message_error(message: Json) -> Json {
    let (id, error) = match parse_message(message) {
        IncomingMessage::Refused(id, error) => (id, error),
        _ => (None, ErrorData::invalid_request("not a message of the protocol", None)),
    };
    error_message(id, &error)
}

/// The error for a list request with malformed parameters, such as a cursor that is not a string; `None` if they are
/// well formed. rmcp ignores malformed ones and answers with the first page.
pub(crate) fn malformed_list_error(message: &Json) -> Option<Json> {
    let _of_a_list = message["method"].as_str().filter(|method| method.ends_with("/list"))?;
    match parse_message(message.clone()) {
        IncomingMessage::Refused(Some(id), error) if error.code == ErrorCode::INVALID_PARAMS => {
            Some(error_message(Some(id), &error))
        }
        _ => None,
    }
}

/// How many bytes the parameters of `initialize` may have.
const MAX_CLIENT_INFO: usize = 64 << 10;

//= docs/spec.md#http
//# The client information and the subscriptions that a session keeps MUST be bounded in bytes.
/// The error for an `initialize` with parameters that are too large; `None` if they fit.
pub(crate) fn oversized_client_info_error(message: &Json) -> Option<Json> {
    let size = message["params"].to_string().len();
    let why = || {
        format!(
            "the parameters of `initialize` may have at most {} kB, got {} kB: they are kept as long as the session",
            MAX_CLIENT_INFO >> 10,
            size >> 10
        )
    };
    let id = message.get("id").cloned().and_then(parse_id);
    (size > MAX_CLIENT_INFO).then(|| error_message(id, &ErrorData::invalid_params(why(), None)))
}

/// The error for a method that the stateless revision has removed, the same as over standard streams; `None` if it
/// still has that method.
pub(crate) fn removed_method_error(message: &Json) -> Option<Json> {
    let method = message["method"].as_str().filter(|method| is_removed_method(method) && *method != "initialize")?;
    let id = message.get("id").cloned().and_then(parse_id)?;
    Some(error_message(Some(id), &unknown_method_error(method)))
}

pub(crate) fn unknown_method_error(method: &str) -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("unknown method `{method}`"), None)
}

/// The error for a message with the id of a running request.
pub(crate) fn duplicate_id_error(message: &Json) -> Json {
    error_message(message.get("id").cloned().and_then(parse_id), &still_running_error())
}

/// The error for a request with the id of a running one.
pub(crate) fn still_running_error() -> ErrorData {
    ErrorData::invalid_request("a request with this id is still running", None)
}

/// The error for a request that rmcp could not read as one of its own types; `None` if its method is unknown.
pub(crate) fn malformed_params_error(method: &str, params: Option<Json>) -> Option<ErrorData> {
    match parse_request(method, params, NumberOrString::Number(0)) {
        IncomingMessage::Refused(_, error) => Some(error),
        IncomingMessage::Request { request, .. } if !matches!(*request, ClientRequest::CustomRequest(_)) => {
            Some(ErrorData::invalid_params(format!("malformed parameters of `{method}`"), None))
        }
        _ => None,
    }
}

/// Whether the stateless revision has removed a method.
pub(crate) fn is_removed_method(method: &str) -> bool {
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"].contains(&method)
}

fn refuse(id: Option<RequestId>, why: impl Into<String>) -> IncomingMessage {
    IncomingMessage::Refused(id, ErrorData::invalid_request(why.into(), None))
}

fn parse_object(mut message: Map<String, Json>) -> IncomingMessage {
    let id = message.remove("id");
    let id = match id.map(parse_id) {
        None => None,
        Some(Some(id)) => Some(id),
        Some(None) => return refuse(None, "`id` must be a string or an integer"),
    };
    if message.get("jsonrpc").and_then(Json::as_str) != Some("2.0") {
        return refuse(id, "`jsonrpc` must be \"2.0\"");
    }
    let has_answer = message.contains_key("result") || message.contains_key("error");
    match (message.remove("method"), id) {
        (Some(_), id) if has_answer => {
            refuse(id, "a message must have exactly one of `method`, `result` and `error`, got two")
        }
        (Some(Json::String(method)), Some(id)) => parse_request(&method, message.remove("params"), id),
        (Some(Json::String(method)), None) => parse_notification(&method, message.remove("params")),
        (Some(_), id) => refuse(id, "`method` must be a string"),
        (None, Some(id)) if has_answer => parse_answer(message, id),
        // An error without an id answers no request, so it cannot be passed on.
        (None, None) if message.contains_key("error") => IncomingMessage::Nothing,
        (None, id) => refuse(id, "a message must have `method`, `result` or `error`"),
    }
}

fn parse_id(id: Json) -> Option<RequestId> {
    match id {
        Json::String(text) => Some(NumberOrString::String(text.into())),
        Json::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

fn parse_answer(mut message: Map<String, Json>, id: RequestId) -> IncomingMessage {
    message.insert("jsonrpc".to_owned(), json!("2.0"));
    message.insert("id".to_owned(), id.clone().into_json_value());
    match serde_json::from_value(Json::Object(message)) {
        Ok(answer) => IncomingMessage::Other(Box::new(answer)),
        Err(error) => refuse(Some(id), format!("not a valid answer: {error}")),
    }
}

fn parse_notification(method: &str, params: Option<Json>) -> IncomingMessage {
    if method == "notifications/cancelled" {
        return match params.map(serde_json::from_value::<CancelledNotificationParam>) {
            Some(Ok(params)) => IncomingMessage::Cancelled(params),
            _ => IncomingMessage::Nothing,
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
    IncomingMessage::Other(Box::new(ClientJsonRpcMessage::notification(notification)))
}

fn parse_request(method: &str, params: Option<Json>, id: RequestId) -> IncomingMessage {
    let wrong = |error: &str| {
        let message = format!("malformed parameters of `{method}`: {error}");
        IncomingMessage::Refused(Some(id.clone()), ErrorData::invalid_params(message, None))
    };
    let mut params = match params {
        None => Map::new(),
        Some(Json::Object(params)) => params,
        Some(_) => return wrong("they must be an object"),
    };
    let meta = match params.remove("_meta") {
        None => Map::new(),
        Some(Json::Object(meta)) => meta,
        Some(_) => return wrong("`_meta` must be an object"),
    };
    let meta = RequestMetaObject(MetaObject(meta));
    let is_stateless = meta.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
    //= docs/spec.md#protocol
    //# Missing resources, unknown methods and invalid parameters MUST be answered with the error code of the
    //# revision in use.
    // `initialize` stays a handshake, whatever its metadata says.
    let read = match is_stateless && is_removed_method(method) && method != "initialize" {
        true => Ok(custom_request(method, params)),
        false => parse_typed_request(method, params),
    };
    let mut request = match read {
        Ok(request) => request,
        Err(error) => return wrong(&error.to_string()),
    };
    let opens = match &request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        _ => is_self_contained(&meta),
    };
    if !meta.is_empty() {
        *request.get_meta_mut() = meta;
    }
    IncomingMessage::Request { id, request: Box::new(request), opens }
}

/// Whether a request has all metadata that the stateless revision requires.
fn is_self_contained(meta: &RequestMetaObject) -> bool {
    !meta.is_empty()
        && meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty()
        && meta.protocol_version().is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
}

fn parse_typed_request(method: &str, params: Map<String, Json>) -> Result<ClientRequest, serde_json::Error> {
    fn required<M: Default, P: DeserializeOwned>(
        params: Map<String, Json>,
    ) -> Result<Request<M, P>, serde_json::Error> {
        serde_json::from_value(Json::Object(params)).map(Request::new)
    }
    fn optional<M: Default, P: DeserializeOwned>(
        params: Map<String, Json>,
    ) -> Result<RequestOptionalParam<M, P>, serde_json::Error> {
        serde_json::from_value(Json::Object(params)).map(RequestOptionalParam::with_param)
    }
    Ok(match method {
        "tools/call" => ClientRequest::CallToolRequest(required(params)?),
        "tools/list" => ClientRequest::ListToolsRequest(optional(params)?),
        "resources/read" => ClientRequest::ReadResourceRequest(required(params)?),
        "resources/list" => ClientRequest::ListResourcesRequest(optional(params)?),
        "resources/templates/list" => ClientRequest::ListResourceTemplatesRequest(optional(params)?),
        "resources/subscribe" => ClientRequest::SubscribeRequest(required(params)?),
        "resources/unsubscribe" => ClientRequest::UnsubscribeRequest(required(params)?),
        "prompts/list" => ClientRequest::ListPromptsRequest(optional(params)?),
        "prompts/get" => ClientRequest::GetPromptRequest(required(params)?),
        "resources/directory/read" => ClientRequest::ReadResourceDirectoryRequest(required(params)?),
        "skills/list" => ClientRequest::ListSkillsRequest(optional(params)?),
        "skills/get" => ClientRequest::GetSkillRequest(required(params)?),
        "tasks/get" => ClientRequest::GetTaskRequest(required(params)?),
        "tasks/update" => ClientRequest::UpdateTaskRequest(required(params)?),
        "tasks/cancel" => ClientRequest::CancelTaskRequest(required(params)?),
        "completion/complete" => ClientRequest::CompleteRequest(required(params)?),
        "logging/setLevel" => ClientRequest::SetLevelRequest(required(params)?),
        "subscriptions/listen" => ClientRequest::SubscriptionsListenRequest(required(params)?),
        "initialize" => ClientRequest::InitializeRequest(required(params)?),
        "server/discover" => ClientRequest::DiscoverRequest(Default::default()),
        "ping" => ClientRequest::PingRequest(RequestNoParam::default()),
        _ => custom_request(method, params),
    })
}

fn custom_request(method: &str, params: Map<String, Json>) -> ClientRequest {
    ClientRequest::CustomRequest(CustomRequest::new(method, (!params.is_empty()).then_some(Json::Object(params))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn methods_that_the_stateless_revision_removed_are_unknown_there() {
        let is_custom = |method: &str, version: &str| {
            let meta = json!({ "io.modelcontextprotocol/protocolVersion": version });
            let params = json!({ "uri": "a://b", "level": "info", "_meta": meta });
            let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
            match parse_message(message) {
                IncomingMessage::Request { request, .. } => matches!(*request, ClientRequest::CustomRequest(_)),
                _ => panic!("{method}"),
            }
        };
        for method in ["ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"] {
            assert!(is_custom(method, "2026-07-28") && !is_custom(method, "2025-11-25"), "{method}");
        }
        assert!(!is_custom("tools/list", "2026-07-28"));
    }
}
