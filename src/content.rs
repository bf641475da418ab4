//! The content of results: texts, images, audio and resources.

#![allow(missing_docs, reason = "plain fields whose names say it")]

use crate::value::{Json, Kind, Object, Value};
use base64::Engine;
use serde_json::json;

/// One content block of a result, of a prompt message, or of a resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// The block itself.
    pub block: ContentBody,
    /// `annotations`: audience, priority, lastModified.
    pub annotations: Option<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
}

/// The kinds of content blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum ContentBody {
    Text(String),
    Image {
        /// The image data in base64.
        data: String,
        mime_type: String,
    },
    Audio {
        /// The audio data in base64.
        data: String,
        mime_type: String,
    },
    /// A resource with its contents.
    Resource {
        uri: String,
        mime_type: Option<String>,
        /// Its contents.
        body: ResourceBody,
    },
    /// A link to a resource: `uri`, `name`, and the optional members of a resource.
    Link(Json),
}

/// The contents of a resource.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceBody {
    Text(String),
    /// Binary data in base64.
    Blob(String),
}

impl ResourceBody {
    /// Returns what a client gets: a text with NUL as base64, since such a file is binary to most of its readers.
    pub fn to_sent(&self) -> Self {
        match self {
            Self::Text(text) if text.contains('\0') => {
                Self::Blob(base64::engine::general_purpose::STANDARD.encode(text))
            }
            body => body.clone(),
        }
    }
}

impl Content {
    /// Creates content without annotations.
    pub fn new(block: ContentBody) -> Self {
        Self { block, annotations: None, meta: None }
    }

    /// Creates text content.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(ContentBody::Text(text.into()))
    }
}

impl Object for Content {
    fn kind(&self) -> Kind {
        Kind::Content
    }

    /// The form that MCP uses. Examples, cases and `toolsd call` show content in this form.
    fn to_json(&self) -> Json {
        let mut json = match &self.block {
            ContentBody::Text(text) => json!({ "type": "text", "text": text }),
            ContentBody::Image { data, mime_type } => json!({ "type": "image", "data": data, "mimeType": mime_type }),
            ContentBody::Audio { data, mime_type } => json!({ "type": "audio", "data": data, "mimeType": mime_type }),
            ContentBody::Resource { uri, mime_type, body } => {
                let mut resource = json!({ "uri": uri });
                if let Some(mime_type) = mime_type {
                    resource["mimeType"] = json!(mime_type);
                }
                match body.to_sent() {
                    ResourceBody::Text(text) => resource["text"] = json!(text),
                    ResourceBody::Blob(blob) => resource["blob"] = json!(blob),
                }
                json!({ "type": "resource", "resource": resource })
            }
            ContentBody::Link(link) => {
                let mut json = json!({ "type": "resource_link" });
                for (key, value) in link.as_object().into_iter().flatten() {
                    json[key] = value.clone();
                }
                json
            }
        };
        if let Some(annotations) = &self.annotations {
            json["annotations"] = annotations.clone();
        }
        if let Some(meta) = &self.meta {
            json["_meta"] = meta.clone();
        }
        json
    }
}

/// `tool_result(#{ structured, content })`: a result with structured data and separate content blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The structured data.
    pub structured: Value,
    /// The content blocks.
    pub content: Vec<Content>,
}

impl Object for Reply {
    fn kind(&self) -> Kind {
        Kind::Reply
    }

    fn to_json(&self) -> Json {
        json!({
            "structured_content": self.structured.to_json(),
            "content": self.content.iter().map(Object::to_json).collect::<Vec<_>>(),
        })
    }
}
