//! Renders results and errors for a revision of the protocol.

use super::list_items::{annotations_item, resource_item};
use super::lists::STATUS;
use super::result_form::ResultForm;
use super::revision::Revision;
use crate::call::{ResourceAnswer, ToolOutcome, for_caller};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::ItemKind;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::registry::{Registry, add_notices};
use crate::value::{Json, Object};
use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, ErrorCode, ErrorData, GetPromptResult, MetaObject, PromptMessage,
    ReadResourceResult, ResourceContents, Role,
};
use serde_json::json;

/// The URI of the content that has the notices of a resource.
const NOTICES_URI: &str = "toolsd://notices";

pub(crate) fn tool_result(outcome: ToolOutcome, form: ResultForm, revision: Revision) -> CallToolResult {
    //= docs/spec.md#protocol
    //# Every message of the server MUST be valid against the schema of the revision in use.
    let mut structured = outcome.structured.clone().filter(|_| revision.has_structured()).map(|data| {
        // The output schema does not describe failures.
        let wraps = !revision.is_stateless() && (!data.is_object() || (form.wrapped && !outcome.failed));
        if wraps { json!({ "result": data }) } else { data }
    });
    //= docs/spec.md#calls
    //# What is to be known of a result, such as files that could not be read, MUST be in its structure where it
    //# has one, and in its text.
    let notices = &outcome.notices;
    if let Some(data) = &mut structured
        && !notices.is_empty()
        && !(form.takes_notices && add_notices(data, notices))
        && !form.is_described
    {
        // A host that shows a model the structure alone would hide them.
        structured = None;
    }
    let form = ResultForm { short_text: form.short_text && structured.is_some(), ..form };
    let mut content: Vec<ContentBlock> =
        outcome.content.into_iter().filter_map(|content| content_block(content, revision)).collect();
    if content.is_empty()
        && let Some(data) = &outcome.structured
    {
        content.push(ContentBlock::text(form.text_of(data, revision)));
    }
    if let Some(error) = &outcome.error {
        log_author_error(error);
    }
    content.extend(notice_text(notices).map(ContentBlock::text));
    let mut result = CallToolResult::success(content);
    result.is_error = outcome.failed.then_some(true);
    result.structured_content = structured;
    if let Some(Json::Object(meta)) = outcome.meta {
        result.meta = Some(MetaObject(meta));
    }
    put_notices(&mut result.meta, notices);
    result
}

/// Notices as one text; `None` if there are none.
fn notice_text(notices: &[String]) -> Option<String> {
    (!notices.is_empty()).then(|| format!("Notice: {}", notices.join("\n")))
}

/// Puts notices into `_meta`, for hosts that look there.
fn put_notices(meta: &mut Option<MetaObject>, notices: &[String]) {
    if !notices.is_empty() {
        meta.get_or_insert_default().0.insert("toolsd/notices".to_owned(), json!(notices));
    }
}

/// A block of content. For a revision without its type, the nearest type of block that the revision has.
fn content_block(content: Content, revision: Revision) -> Option<ContentBlock> {
    let content = match content {
        Content { block: ContentBody::Text(text), annotations: None, meta: None } => {
            return Some(ContentBlock::text(text));
        }
        content => content,
    };
    let mut json = match &content.block {
        ContentBody::Audio { data, mime_type } if !revision.has_hints() => json!({
            "type": "resource",
            "resource": { "uri": "toolsd://content/audio", "mimeType": mime_type, "blob": data },
        }),
        ContentBody::Link(link) if !revision.has_structured() => {
            let uri = link.get("uri").and_then(Json::as_str).unwrap_or_default();
            let name = link.get("title").or_else(|| link.get("name")).and_then(Json::as_str).unwrap_or(uri);
            json!({ "type": "text", "text": format!("[{name}]({uri})") })
        }
        ContentBody::Link(link) => {
            let mut json = resource_item(link, revision);
            json["type"] = json!("resource_link");
            json
        }
        _ => content.to_json(),
    };
    if let Some(annotations) = &content.annotations {
        json["annotations"] = annotations_item(annotations, revision);
    }
    if let (false, Some(map)) = (revision.has_structured(), json.as_object_mut()) {
        map.shift_remove("_meta");
    }
    match serde_json::from_value(json) {
        Ok(block) => Some(block),
        Err(error) => {
            tracing::warn!(%error, "dropped a block of content that does not fit the protocol");
            None
        }
    }
}

/// The messages of a prompt.
pub(crate) fn prompt_result(
    description: Option<String>,
    messages: Vec<(String, Content)>,
    revision: Revision,
) -> GetPromptResult {
    let messages = messages
        .into_iter()
        .filter_map(|(role, content)| {
            let role = if role == "assistant" { Role::Assistant } else { Role::User };
            Some(PromptMessage::new(role, content_block(content, revision)?))
        })
        .collect();
    let mut result = GetPromptResult::new(messages);
    result.description = description;
    result
}

/// The contents of a resource.
///
/// # Errors
/// There are no contents at all. A resource that does not exist is “not found” instead.
pub(crate) fn resource_result(contents: &ResourceAnswer, revision: Revision) -> Result<ReadResourceResult, ErrorData> {
    if contents.parts.is_empty() {
        return Err(ErrorData::internal_error("the resource has no contents", None));
    }
    let mut parts: Vec<ResourceContents> =
        contents.parts.iter().map(|(uri, mime_type, body)| resource_part(uri, mime_type.as_deref(), body)).collect();
    let notice = notice_text(&contents.notices).map(ResourceBody::Text);
    parts.extend(notice.map(|notice| resource_part(NOTICES_URI, Some("text/plain"), &notice)));
    let mut result = ReadResourceResult::new(parts);
    put_notices(&mut result.meta, &contents.notices);
    if revision.is_stateless() {
        result.ttl_ms = Some(contents.ttl_ms.unwrap_or(0));
        result.cache_scope = Some(cache_scope(contents.cache_scope.as_deref()));
    }
    Ok(result)
}

fn resource_part(uri: &str, mime_type: Option<&str>, body: &ResourceBody) -> ResourceContents {
    let (uri, mime_type) = (uri.to_owned(), mime_type.map(str::to_owned));
    match body.to_sent() {
        ResourceBody::Text(text) => ResourceContents::TextResourceContents { uri, mime_type, text, meta: None },
        ResourceBody::Blob(blob) => ResourceContents::BlobResourceContents { uri, mime_type, blob, meta: None },
    }
}

/// Who may cache contents: only the client, unless the definition says that they are public.
fn cache_scope(name: Option<&str>) -> CacheScope {
    if name == Some("public") { CacheScope::Public } else { CacheScope::Private }
}

/// MCP 2026-07-28: the client lacks a capability that the request needs.
const MISSING_CAPABILITY: ErrorCode = ErrorCode(-32021);

/// Logs the parts of an error that only the author of the pack can use.
fn log_author_error(error: &Diagnostic) {
    if is_for_author(error) {
        tracing::warn!(code = %error.code, "{error}");
    }
}

/// Whether an error has a part that its caller does not see.
fn is_for_author(error: &Diagnostic) -> bool {
    error.at.is_some() || error.is_for_author
}

/// The protocol error for an error. `uri` is that of the requested resource, if a resource was requested.
///
/// An error from `protocol_error(code, …)` has its code as `code` in its data, next to `data`. Codes that JSON-RPC
/// reserves are replaced, except for two.
pub(crate) fn mcp_error(error: Diagnostic, uri: Option<&str>, revision: Revision) -> ErrorData {
    log_author_error(&error);
    let error = for_caller(&error, uri);
    let message = match &error.help {
        Some(help) => format!("{} ({help})", error.message),
        None => error.message.clone(),
    };
    let data = error.data.map(|data| *data);
    match error.code.kind() {
        //= docs/spec.md#protocol
        //# Missing resources, unknown methods and invalid parameters MUST be answered with the error code of
        //# the revision in use.
        "not-found" if uri.is_some() => {
            let code = if revision.is_stateless() { ErrorCode::INVALID_PARAMS } else { ErrorCode::RESOURCE_NOT_FOUND };
            ErrorData::new(code, message, Some(with_uri(data, uri)))
        }
        //= docs/spec.md#questions
        //# A client without a required capability MUST get an error that names the capability.
        "capability" if revision.is_stateless() => ErrorData::new(MISSING_CAPABILITY, message, data),
        "capability" => ErrorData::new(ErrorCode::INVALID_REQUEST, message, data),
        "not-found" | "arguments" => ErrorData::invalid_params(message, data),
        "protocol-error" => {
            let code = data.as_ref().and_then(|data| data.get("code")).and_then(Json::as_i64);
            let data = data.as_ref().and_then(|data| data.get("data")).filter(|data| !data.is_null()).cloned();
            ErrorData::new(allowed_code(code), message, data)
        }
        _ => {
            if error.code != Code::CANCELLED {
                tracing::warn!(code = %error.code, %message, "a request failed");
            }
            ErrorData::internal_error(message, data)
        }
    }
}

/// The error for an unknown name; it suggests the nearest known one.
pub(crate) fn unknown_name_error<'a>(
    registry: &Registry,
    kind: ItemKind,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> ErrorData {
    if let Some(refused) = registry.refusal(kind, name) {
        return ErrorData::invalid_params(refused.diagnostic().to_string(), None);
    }
    let what = kind.name();
    let mut message = match did_you_mean(name, known) {
        Some(help) => format!("unknown {what} `{name}` ({help})"),
        None => format!("unknown {what} `{name}`"),
    };
    // Clients that keep a list ask for what was renamed or removed since.
    message.push_str("; a list that was kept may be old: list again");
    if registry.withheld().next().is_some() {
        message.push_str(&format!("; files of this workspace are not used, and `{STATUS}` says why"));
    }
    ErrorData::invalid_params(message, None)
}

/// The error for a service whose answer is of another kind than its request.
pub(crate) fn unexpected_answer_error() -> ErrorData {
    ErrorData::internal_error("the answer of the host does not match the request", None)
}

fn allowed_code(code: Option<i64>) -> ErrorCode {
    match code.and_then(|code| i32::try_from(code).ok()) {
        Some(code @ (-32602 | -32603)) => ErrorCode(code),
        Some(code) if !(-32768..=-32000).contains(&code) => ErrorCode(code),
        _ => ErrorCode::INTERNAL_ERROR,
    }
}

fn with_uri(data: Option<Json>, uri: Option<&str>) -> Json {
    match data {
        Some(Json::Object(mut data)) => {
            data.entry("uri").or_insert_with(|| json!(uri));
            Json::Object(data)
        }
        Some(Json::Null) | None => json!({ "uri": uri }),
        Some(data) => json!({ "uri": uri, "data": data }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: Json) -> ToolOutcome {
        ToolOutcome { structured: Some(json), ..ToolOutcome::default() }
    }

    const WRAPPED: ResultForm =
        ResultForm { wrapped: true, short_text: false, takes_notices: true, is_described: true };

    #[test]
    fn only_what_a_caller_does_not_see_is_logged() {
        let plain = Diagnostic::new(Code::ARGUMENTS, "no");
        assert!(!is_for_author(&plain));
        let placed = plain.at(crate::source::Source::new("a.rhai", "x").place(0..1));
        assert!(is_for_author(&placed));
    }

    #[test]
    fn a_short_text_is_the_beginning_of_long_data() {
        let short = ResultForm { short_text: true, ..ResultForm::default() };
        let text = |count: usize, form, revision| {
            let result = tool_result(data(json!({ "items": vec!["x"; count] })), form, revision);
            assert_eq!(result.structured_content.is_some(), revision.has_structured());
            result.content[0].as_text().map(|text| text.text.clone()).unwrap_or_default()
        };
        assert_eq!(text(46, short, Revision::Icons).lines().count(), 1, "50 lines are sent as they are");
        let long = text(47, short, Revision::Icons);
        assert_eq!(long.lines().count(), 51);
        assert!(long.starts_with("{\n  \"items\": [\n    \"x\",\n"), "{long}");
        assert!(long.ends_with("\n… (1 more lines: `structuredContent` has all of it)"), "{long}");
        assert_eq!(text(47, ResultForm::default(), Revision::Icons).lines().count(), 1);
        assert_eq!(text(47, short, Revision::First).lines().count(), 1, "there is nothing else than the text");
    }

    //= docs/spec.md#protocol
    //= type=test
    //# Every message of the server MUST be valid against the schema of the revision in use.
    #[test]
    fn data_is_rendered_for_the_revision_and_its_text_stays_bare() {
        for (revision, expected) in [
            (Revision::First, None),
            (Revision::Hints, None),
            (Revision::Structured, Some(json!({ "result": [1] }))),
            (Revision::Icons, Some(json!({ "result": [1] }))),
            (Revision::Stateless, Some(json!([1]))),
        ] {
            let result = tool_result(data(json!([1])), WRAPPED, revision);
            assert_eq!(result.structured_content, expected);
            assert_eq!(result.content, vec![ContentBlock::text("[1]")]);
        }
    }

    #[test]
    fn objects_are_wrapped_only_where_the_schema_is() {
        let object = json!({ "a": 1 });
        assert_eq!(
            tool_result(data(object.clone()), ResultForm::default(), Revision::Icons).structured_content,
            Some(object.clone())
        );
        assert_eq!(
            tool_result(data(object.clone()), WRAPPED, Revision::Icons).structured_content,
            Some(json!({ "result": object }))
        );
    }

    #[test]
    fn what_a_revision_does_not_know_becomes_what_it_knows() {
        let link = Content::new(ContentBody::Link(json!({ "uri": "a:b", "name": "b", "icons": [] })));
        let old = content_block(link.clone(), Revision::Hints).map(|block| json!(block));
        assert_eq!(old, Some(json!({ "type": "text", "text": "[b](a:b)" })));
        let new = content_block(link.clone(), Revision::Structured).map(|block| json!(block));
        assert_eq!(new, Some(json!({ "type": "resource_link", "uri": "a:b", "name": "b" })));
        let sound = Content::new(ContentBody::Audio { data: "AA==".to_owned(), mime_type: "audio/wav".to_owned() });
        assert_eq!(
            content_block(sound, Revision::First).map(|block| json!(block)["type"].clone()),
            Some(json!("resource"))
        );
    }

    //= docs/spec.md#protocol
    //= type=test
    //# Missing resources, unknown methods and invalid parameters MUST be answered with the error code of the
    //# revision in use.
    #[test]
    fn not_found_has_the_code_of_its_era() {
        let error = || *Diagnostic::new(Code::NOT_FOUND, "nothing there");
        let old = mcp_error(error(), Some("a:b"), Revision::Icons);
        assert_eq!((old.code.0, old.data), (-32002, Some(json!({ "uri": "a:b" }))));
        assert_eq!(mcp_error(error(), Some("a:b"), Revision::Stateless).code.0, -32602);
        assert_eq!(mcp_error(error(), None, Revision::Icons).code.0, -32602);
    }

    #[test]
    fn a_script_cannot_use_a_code_of_the_protocol() {
        let reject = |code: i64| {
            let error = Diagnostic::new(Code::PROTOCOL_ERROR, "no").data(json!({ "code": code, "data": [1] }));
            mcp_error(*error, None, Revision::Icons)
        };
        assert_eq!((reject(7).code.0, reject(7).data), (7, Some(json!([1]))));
        assert_eq!(reject(-32602).code.0, -32602);
        assert_eq!(reject(-32021).code.0, -32603);
    }
}
