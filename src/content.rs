//! What a result is made of: texts, pictures, sounds, resources.

use crate::value::{Json, Kind, Object, Value};
use serde_json::json;

/// One block of a result, a prompt's message or a resource's contents.
#[derive(Clone, Debug, PartialEq)]
pub struct Content {
    /// What it is.
    pub block: Block,
    /// `annotations`: audience, priority, lastModified.
    pub annotations: Option<Json>,
    /// `_meta`.
    pub meta: Option<Json>,
}

/// The kinds of blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// A text.
    Text(String),
    /// A picture.
    Image {
        /// Base64.
        data: String,
        /// Its MIME type.
        mime_type: String,
    },
    /// A sound.
    Audio {
        /// Base64.
        data: String,
        /// Its MIME type.
        mime_type: String,
    },
    /// A resource with its contents.
    Resource {
        /// Its URI.
        uri: String,
        /// Its MIME type.
        mime_type: Option<String>,
        /// What it holds.
        body: ResourceBody,
    },
    /// A resource to be read by whoever wants it: `uri`, `name`, and what else a resource may say of itself.
    Link(Json),
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq)]
pub enum ResourceBody {
    /// A text.
    Text(String),
    /// Base64.
    Blob(String),
}

impl Content {
    /// A block without annotations.
    pub fn new(block: Block) -> Self {
        Self { block, annotations: None, meta: None }
    }

    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(Block::Text(text.into()))
    }
}

impl Object for Content {
    fn kind(&self) -> Kind {
        Kind::Content
    }

    /// As MCP writes it: examples, cases and `toolsd call` show content so.
    fn to_json(&self) -> Json {
        let mut json = match &self.block {
            Block::Text(text) => json!({ "type": "text", "text": text }),
            Block::Image { data, mime_type } => json!({ "type": "image", "data": data, "mimeType": mime_type }),
            Block::Audio { data, mime_type } => json!({ "type": "audio", "data": data, "mimeType": mime_type }),
            Block::Resource { uri, mime_type, body } => {
                let mut resource = json!({ "uri": uri });
                if let Some(mime_type) = mime_type {
                    resource["mimeType"] = json!(mime_type);
                }
                match body {
                    ResourceBody::Text(text) => resource["text"] = json!(text),
                    ResourceBody::Blob(blob) => resource["blob"] = json!(blob),
                }
                json!({ "type": "resource", "resource": resource })
            }
            Block::Link(link) => {
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

/// `reply(#{ structured, content })`: a result whose data and whose words differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The data.
    pub structured: Value,
    /// The words.
    pub content: Vec<Content>,
}

impl Object for Reply {
    fn kind(&self) -> Kind {
        Kind::Reply
    }

    fn to_json(&self) -> Json {
        json!({
            "structured": self.structured.to_json(),
            "content": self.content.iter().map(Object::to_json).collect::<Vec<_>>(),
        })
    }
}
