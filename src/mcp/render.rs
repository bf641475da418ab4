//! Results as a revision of the protocol wants them.

use super::{Revision, published};
use crate::call::{ResourceAnswer, ToolOutcome};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::value::{Json, Object};
use rmcp::model::{
    CacheScope, CallToolResult, ContentBlock, ErrorData, GetPromptResult, MetaObject, PromptMessage,
    ReadResourceResult, ResourceContents, Role,
};
use serde_json::json;

/// The result of a tool. `wrapped` says whether the tool's results are wrapped where objects are wanted
/// even if they are objects, because its output schema is.
pub(crate) fn outcome(outcome: ToolOutcome, wrapped: bool, revision: Revision) -> CallToolResult {
    let mut content: Vec<ContentBlock> =
        outcome.content.into_iter().filter_map(|content| block(content, revision)).collect();
    if content.is_empty()
        && let Some(data) = &outcome.structured
    {
        content.push(ContentBlock::text(data.to_string()));
    }
    let mut result = CallToolResult::success(content);
    result.is_error = outcome.failed.then_some(true);
    //= docs/spec.md#protocol
    //# Every message MUST be valid against the schema of the revision in use.
    //= docs/spec.md#protocol
    //# A structured result MUST be rendered as the revision in use allows.
    if revision.has_structured() {
        result.structured_content = outcome.structured.map(|data| {
            // A failure is not what the schema describes.
            let wraps = !revision.is_stateless() && (!data.is_object() || (wrapped && !outcome.failed));
            if wraps { json!({ "result": data }) } else { data }
        });
    }
    if let Some(Json::Object(meta)) = outcome.meta {
        result.meta = Some(MetaObject(meta));
    }
    result
}

/// A block of content; a revision that does not know it gets the nearest that it knows.
fn block(content: Content, revision: Revision) -> Option<ContentBlock> {
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
            let mut json = published::resource(link, revision);
            json["type"] = json!("resource_link");
            json
        }
        _ => content.to_json(),
    };
    if let Some(annotations) = &content.annotations {
        json["annotations"] = published::annotations_of(annotations, revision);
    }
    if let (false, Some(map)) = (revision.has_structured(), json.as_object_mut()) {
        map.shift_remove("_meta");
    }
    match serde_json::from_value(json) {
        Ok(block) => Some(block),
        Err(error) => {
            tracing::warn!(%error, "dropped a block of content that the protocol does not take");
            None
        }
    }
}

/// The messages of a prompt.
pub(crate) fn messages(
    description: Option<String>,
    messages: Vec<(String, Content)>,
    revision: Revision,
) -> GetPromptResult {
    let messages = messages
        .into_iter()
        .filter_map(|(role, content)| {
            let role = if role == "assistant" { Role::Assistant } else { Role::User };
            Some(PromptMessage::new(role, block(content, revision)?))
        })
        .collect();
    let mut result = GetPromptResult::new(messages);
    result.description = description;
    result
}

/// The contents of a resource. Nothing at all is an error: a resource that is not there is “not found”.
pub(crate) fn contents(contents: &ResourceAnswer, revision: Revision) -> Result<ReadResourceResult, ErrorData> {
    if contents.parts.is_empty() {
        return Err(ErrorData::internal_error("the resource has no contents", None));
    }
    let parts = contents.parts.iter().map(|(uri, mime_type, body)| part(uri, mime_type.as_deref(), body)).collect();
    let mut result = ReadResourceResult::new(parts);
    if revision.is_stateless() {
        result.ttl_ms = Some(contents.ttl_ms.unwrap_or(0));
        result.cache_scope = Some(scope(contents.cache_scope.as_deref()));
    }
    Ok(result)
}

fn part(uri: &str, mime_type: Option<&str>, body: &ResourceBody) -> ResourceContents {
    let (uri, mime_type) = (uri.to_owned(), mime_type.map(str::to_owned));
    match body {
        ResourceBody::Text(text) => {
            ResourceContents::TextResourceContents { uri, mime_type, text: text.clone(), meta: None }
        }
        ResourceBody::Blob(blob) => {
            ResourceContents::BlobResourceContents { uri, mime_type, blob: blob.clone(), meta: None }
        }
    }
}

/// Who may keep it: what is not said to be public is private.
pub(crate) fn scope(name: Option<&str>) -> CacheScope {
    if name == Some("public") { CacheScope::Public } else { CacheScope::Private }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(json: Json) -> ToolOutcome {
        ToolOutcome { structured: Some(json), ..ToolOutcome::default() }
    }

    //= docs/spec.md#protocol
    //= type=test
    //# A structured result MUST be rendered as the revision in use allows.
    #[test]
    fn data_is_rendered_for_the_revision_and_its_text_stays_bare() {
        for (revision, expected) in [
            (Revision::First, None),
            (Revision::Hints, None),
            (Revision::Structured, Some(json!({ "result": [1] }))),
            (Revision::Icons, Some(json!({ "result": [1] }))),
            (Revision::Stateless, Some(json!([1]))),
        ] {
            let result = outcome(data(json!([1])), true, revision);
            assert_eq!(result.structured_content, expected);
            assert_eq!(result.content, vec![ContentBlock::text("[1]")]);
        }
    }

    #[test]
    fn objects_are_wrapped_only_where_the_schema_is() {
        let object = json!({ "a": 1 });
        assert_eq!(outcome(data(object.clone()), false, Revision::Icons).structured_content, Some(object.clone()));
        assert_eq!(
            outcome(data(object.clone()), true, Revision::Icons).structured_content,
            Some(json!({ "result": object }))
        );
    }

    #[test]
    fn what_a_revision_does_not_know_becomes_what_it_knows() {
        let link = Content::new(ContentBody::Link(json!({ "uri": "a:b", "name": "b", "icons": [] })));
        let old = block(link.clone(), Revision::Hints).map(|block| json!(block));
        assert_eq!(old, Some(json!({ "type": "text", "text": "[b](a:b)" })));
        let new = block(link.clone(), Revision::Structured).map(|block| json!(block));
        assert_eq!(new, Some(json!({ "type": "resource_link", "uri": "a:b", "name": "b" })));
        let sound = Content::new(ContentBody::Audio { data: "AA==".to_owned(), mime_type: "audio/wav".to_owned() });
        assert_eq!(block(sound, Revision::First).map(|block| json!(block)["type"].clone()), Some(json!("resource")));
    }
}
