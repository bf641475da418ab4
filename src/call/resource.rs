//! Reads of resources, and the list of all of them.

use super::running::{self, Running};
use super::{Contents, coerce, outcome, tool};
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::Body;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::primitive::Host;
use crate::registry::{Pack, ServedResource, Skill, SkillFile, UriTemplate, UriVariables};
use crate::value::{Bytes, Json, Value};
use base64::Engine;
use serde_json::json;
use std::sync::Arc;

/// Reads a resource with the variables of its URI.
pub fn read(served: &ServedResource, running: &Running, uri: &str, variables: UriVariables) -> Result<Contents> {
    let resource = &served.resource;
    let properties = served.contract.schema.get("properties");
    let mut typed = serde_json::Map::new();
    for (name, text) in variables {
        let schema = properties.and_then(|properties| properties.get(&name));
        let value = coerce::typed(&text, schema);
        typed.insert(name, value);
    }
    let accepted =
        tool::accept(&format!("`{}`", resource.uri.value), &served.contract, &resource.with, &Json::Object(typed))?;
    let mime_type = resource.mime_type.as_deref();
    let parts = if let Body::File(path) = &resource.body.value {
        vec![(uri.to_owned(), mime_type.map(str::to_owned), running.host.pack_bytes(path)?)]
    } else {
        let fills = running::fills(&resource.body.value);
        let template = fills.then(|| UriTemplate::parse(&resource.uri.value)).transpose()?;
        let declared: Vec<&str> = template.iter().flat_map(UriTemplate::variables).collect();
        let value = running.body(&resource.body.value, &accepted, &declared)?;
        parts(&value, uri, mime_type)?
    };
    let size: usize = parts.iter().map(|(_, _, body)| length(body)).sum();
    let most = served.contract.limits.output;
    if size > most {
        let message = format!("`{uri}` has {} kB, more than the {} kB that it may have", size >> 10, most >> 10);
        return Err(Diagnostic::new(Code::LIMIT, message).help("read a part of it; its author may raise `output_kb`"));
    }
    Ok(Contents {
        parts,
        ttl_ms: resource.ttl_ms,
        cache_scope: resource.cache_scope.clone(),
        touched: running.host.touched(),
    })
}

type Parts = Vec<(String, Option<String>, ResourceBody)>;

fn length(body: &ResourceBody) -> usize {
    match body {
        ResourceBody::Text(text) | ResourceBody::Blob(text) => text.len(),
    }
}

/// What a script returned as the parts of a resource: a text as it is, content by its kind, bytes as base64,
/// anything else as JSON. `()` means that there is no such resource.
fn parts(value: &Value, uri: &str, mime_type: Option<&str>) -> Result<Parts> {
    if value.is_null() {
        return Err(Diagnostic::new(Code::NOT_FOUND, format!("there is no `{uri}`")).data(json!({ "uri": uri })));
    }
    let one = |kind: Option<&str>, body| {
        let kind = mime_type.or(kind).map(str::to_owned);
        Ok(vec![(uri.to_owned(), kind, body)])
    };
    if let Some(content) = outcome::contents(value) {
        return Ok(content.into_iter().map(|content| part(content, uri, mime_type)).collect());
    }
    match value {
        Value::Text(text) => one(Some("text/plain"), ResourceBody::Text(text.to_string())),
        Value::Handle(handle) if let Some(bytes) = handle.downcast::<Bytes>() => {
            let blob = base64::engine::general_purpose::STANDARD.encode(&bytes.0);
            one(Some("application/octet-stream"), ResourceBody::Blob(blob))
        }
        other => one(Some("application/json"), ResourceBody::Text(other.json()?.to_string())),
    }
}

fn part(content: Content, uri: &str, mime_type: Option<&str>) -> (String, Option<String>, ResourceBody) {
    let kind = mime_type.map(str::to_owned);
    match content.block {
        ContentBody::Text(text) => (uri.to_owned(), kind, ResourceBody::Text(text)),
        ContentBody::Image { data, mime_type } | ContentBody::Audio { data, mime_type } => {
            (uri.to_owned(), kind.or(Some(mime_type)), ResourceBody::Blob(data))
        }
        ContentBody::Resource { uri: own, mime_type, body } => {
            (if own.is_empty() { uri.to_owned() } else { own }, mime_type.or(kind), body)
        }
        ContentBody::Link(link) => {
            (uri.to_owned(), Some("application/json".to_owned()), ResourceBody::Text(link.to_string()))
        }
    }
}

/// A resource without variables as MCP lists it.
pub fn fixed(served: &ServedResource) -> Json {
    let resource = &served.resource;
    let mut json = json!({ "uri": resource.uri.value, "name": served.name });
    let optional = [
        ("title", resource.title.clone().map(Json::from)),
        ("description", resource.description.clone().map(Json::from)),
        ("mimeType", resource.mime_type.clone().map(Json::from)),
        ("icons", (!resource.icons.is_empty()).then(|| Json::from(resource.icons.clone()))),
        ("annotations", resource.annotations.clone()),
        ("_meta", resource.meta.clone()),
    ];
    for (key, value) in optional {
        if let Some(value) = value {
            json[key] = value;
        }
    }
    json
}

/// A skill as it is listed: its `SKILL.md` (SEP-2640).
pub fn skill(skill: &Skill) -> Json {
    json!({
        "uri": skill.uri,
        "name": skill.text("name"),
        "description": skill.text("description"),
        "mimeType": "text/markdown",
    })
}

/// A file of a skill, byte for byte.
pub fn of_skill(pack: &Pack, file: &SkillFile) -> Result<Contents> {
    let Some(found) = pack.compiled.files.by_path.get(&file.path) else {
        return Err(Diagnostic::new(Code::INTERNAL, format!("the file `{}` of a skill is gone", file.path)));
    };
    Ok(of_skill_bytes(file, found.bytes()))
}

/// A file of a skill, of which these are the bytes.
pub fn of_skill_bytes(file: &SkillFile, bytes: &[u8]) -> Contents {
    //= docs/spec.md#skills
    //# Every file of a skill MUST be readable to the byte, with the size and the SHA-256 that its manifest tells.
    let (kind, body) = match std::str::from_utf8(bytes) {
        Ok(text) => (media_type(&file.path).unwrap_or("text/plain"), ResourceBody::Text(text.to_owned())),
        Err(_) => {
            let blob = base64::engine::general_purpose::STANDARD.encode(bytes);
            (media_type(&file.path).unwrap_or("application/octet-stream"), ResourceBody::Blob(blob))
        }
    };
    let parts = vec![(file.uri.clone(), Some(kind.to_owned()), body)];
    Contents { parts, ttl_ms: None, cache_scope: None, touched: Vec::new() }
}

/// The media type that the end of a name tells.
fn media_type(path: &str) -> Option<&'static str> {
    let (_, end) = path.rsplit_once('.')?;
    Some(match end.to_ascii_lowercase().as_str() {
        "md" | "markdown" => "text/markdown",
        "json" => "application/json",
        "html" => "text/html",
        "csv" => "text/csv",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "pdf" => "application/pdf",
        _ => return None,
    })
}

/// What a template stands for, as its `list` function names it when it asks this host: each with `uri` and `name` at
/// least.
pub fn listed(served: &ServedResource, running: &Running, host: Arc<dyn Host>) -> Result<Vec<Json>> {
    let resource = &served.resource;
    let Some(list) = &resource.list else { return Ok(Vec::new()) };
    let arguments = vec![Value::from_json(&resource.with)];
    let value = running.function_of(host, &resource.script, &list.value, arguments)?;
    let Json::Array(items) = value.json()? else {
        let fault =
            Diagnostic::new(Code::SCRIPT, format!("`{}` gives {}, not a list", list.value, value.kind().name()));
        return Err(fault.at(list.at.clone()).help("return a list of `#{ uri, name }`"));
    };
    let complete = |item: Json| {
        let mut item = if item.is_string() { json!({ "uri": item }) } else { item };
        let Some(uri) = item.get("uri").and_then(Json::as_str).map(str::to_owned) else {
            let fault = Diagnostic::new(Code::SCRIPT, format!("an item of `{}` has no `uri`", list.value));
            return Err(fault.at(list.at.clone()).help("return a list of `#{ uri, name }`"));
        };
        let map = item.as_object_mut();
        if let Some(map) = map {
            if let Some(mime_type) = map.shift_remove("mime_type") {
                map.insert("mimeType".to_owned(), mime_type);
            }
            map.entry("name").or_insert_with(|| Json::from(uri));
            if let Some(mime_type) = &resource.mime_type {
                map.entry("mimeType").or_insert_with(|| Json::from(mime_type.as_str()));
            }
        }
        Ok(item)
    };
    items.into_iter().map(complete).collect()
}
