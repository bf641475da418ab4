//! Resources and files of skills: how they are read, and how they are listed.

use super::answer::{ResourceAnswer, contents_of};
use super::arguments::{accept_arguments, parse_argument};
use super::invocation::{Invocation, takes_arguments};
use super::status::log_error;
use crate::content::{Content, ContentBody, ResourceBody};
use crate::definition::Body;
use crate::diagnostic::{Code, Diagnostic, Result};
use crate::graph::Graph;
use crate::primitive_api::Host;
use crate::registry::{FileDigests, Pack, ServedResource, Skill, SkillFile, SkillIndex, UriTemplate, UriVariables};
use crate::value::{Bytes, Json, Value};
use base64::Engine;
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Reads a resource with the variables of its URI.
///
/// # Errors
/// The variables do not fit, the body fails, there is no such resource, or it is larger than its limit.
pub fn read_resource(
    served: &ServedResource,
    invocation: &Invocation,
    uri: &str,
    variables: UriVariables,
) -> Result<ResourceAnswer> {
    let resource = &served.definition;
    let properties = served.contract.schema.get("properties");
    let mut typed = serde_json::Map::new();
    for (name, text) in variables {
        let schema = properties.and_then(|properties| properties.get(&name));
        let value = parse_argument(&text, schema);
        typed.insert(name, value);
    }
    let accepted =
        accept_arguments(&format!("`{}`", resource.uri.value), &served.contract, &resource.bind, &Json::Object(typed))?;
    let mime_type = resource.mime_type.as_deref();
    let parts = if let Body::File(path) = &resource.body.value {
        vec![(uri.to_owned(), mime_type.map(str::to_owned), invocation.host.pack_bytes(path)?)]
    } else {
        let fills = takes_arguments(&resource.body.value);
        let template = fills.then(|| UriTemplate::parse(&resource.uri.value)).transpose()?;
        let declared: Vec<&str> = template.iter().flat_map(UriTemplate::variables).collect();
        let value = invocation.body(&resource.body.value, &accepted, &declared)?;
        to_parts(&value, uri, mime_type)?
    };
    let size: usize = parts.iter().map(|(_, _, body)| body_length(body)).sum();
    let most = served.contract.limits.output;
    if size > most {
        let message = format!("`{uri}` has {} kB, more than the {} kB that it may have", size >> 10, most >> 10);
        return Err(Diagnostic::new(Code::LIMIT, message).help("read a part of it; its author may raise `output_kb`"));
    }
    Ok(ResourceAnswer {
        parts,
        ttl_ms: resource.ttl_ms,
        cache_scope: resource.cache_scope.clone(),
        touched: invocation.host.touched(),
        notices: Vec::new(),
    })
}

type ResourceParts = Vec<(String, Option<String>, ResourceBody)>;

fn body_length(body: &ResourceBody) -> usize {
    match body {
        ResourceBody::Text(text) | ResourceBody::Blob(text) => text.len(),
    }
}

/// What a script returned as the parts of a resource: a text as it is, content by its kind, bytes as base64,
/// anything else as JSON. `()` means that there is no such resource.
fn to_parts(value: &Value, uri: &str, mime_type: Option<&str>) -> Result<ResourceParts> {
    if value.is_null() {
        return Err(Diagnostic::new(Code::NOT_FOUND, format!("there is no `{uri}`")).data(json!({ "uri": uri })));
    }
    let one = |kind: Option<&str>, body| {
        let kind = mime_type.or(kind).map(str::to_owned);
        Ok(vec![(uri.to_owned(), kind, body)])
    };
    if let Some(content) = contents_of(value) {
        return Ok(content.into_iter().map(|content| to_part(content, uri, mime_type)).collect());
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

fn to_part(content: Content, uri: &str, mime_type: Option<&str>) -> (String, Option<String>, ResourceBody) {
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
pub fn resource_entry(served: &ServedResource) -> Json {
    let resource = &served.definition;
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

/// Returns the list entry of a skill: its `SKILL.md` (SEP-2640).
pub fn skill_entry(skill: &Skill) -> Json {
    json!({
        "uri": skill.uri,
        "name": skill.text("name"),
        "description": skill.text("description"),
        "mimeType": "text/markdown",
    })
}

/// A file of a skill, byte for byte.
pub fn read_skill_file(pack: &Pack, file: &SkillFile) -> Result<ResourceAnswer> {
    let Some(found) = pack.compiled.files.by_path.get(&file.path) else {
        return Err(Diagnostic::new(Code::INTERNAL, format!("the file `{}` of a skill is gone", file.path)));
    };
    Ok(skill_contents(file, found.bytes()))
}

/// The contents of a file of a skill that has these bytes.
pub fn skill_contents(file: &SkillFile, bytes: &[u8]) -> ResourceAnswer {
    //= docs/spec.md#skills
    //# A skill MUST also be listed as a resource, with the name and the description of its front matter, and each of
    //# its files MUST be readable byte for byte, with the size and the SHA-256 of its manifest.
    // Many programs do not take a text with NUL.
    let (kind, body) = match std::str::from_utf8(bytes) {
        Ok(text) if !bytes.contains(&0) => {
            (media_type(&file.path).unwrap_or("text/plain"), ResourceBody::Text(text.to_owned()))
        }
        _ => {
            let blob = base64::engine::general_purpose::STANDARD.encode(bytes);
            (media_type(&file.path).unwrap_or("application/octet-stream"), ResourceBody::Blob(blob))
        }
    };
    let parts = vec![(file.uri.clone(), Some(kind.to_owned()), body)];
    ResourceAnswer { parts, ..ResourceAnswer::default() }
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

/// The resources of a template, as its `list` function lists them with this host: each has `uri` and `name` at least.
pub fn call_list_function(served: &ServedResource, invocation: &Invocation, host: Arc<dyn Host>) -> Result<Vec<Json>> {
    let resource = &served.definition;
    let Some(list) = &resource.list else { return Ok(Vec::new()) };
    let arguments = vec![Value::from_json(&resource.bind)];
    let value = invocation.function_of(host, &resource.script, &list.value, arguments)?;
    let Json::Array(items) = value.json()? else {
        let error =
            Diagnostic::new(Code::SCRIPT, format!("`{}` returns {}, not a list", list.value, value.kind().name()));
        return Err(error.at(list.at.clone()).help("return a list of `#{ uri, name }`"));
    };
    let complete = |item: Json| {
        let mut item = if item.is_string() { json!({ "uri": item }) } else { item };
        let Some(uri) = item.get("uri").and_then(Json::as_str).map(str::to_owned) else {
            let error = Diagnostic::new(Code::SCRIPT, format!("an item of `{}` has no `uri`", list.value));
            return Err(error.at(list.at.clone()).help("return a list of `#{ uri, name }`"));
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

/// What one definition lists.
pub(super) type ListedPart = Arc<Vec<Json>>;

/// The list of all resources as it was made last, put together again only where something that it was made of changed.
#[derive(Default)]
pub(super) struct ResourceListCache {
    /// By the URI of the definition.
    parts: Mutex<HashMap<String, CachedPart>>,
    whole: Mutex<Option<CachedList>>,
}

/// What one definition lists, and what that was made of.
struct CachedPart {
    /// The definition: after a reload of its pack it is another one.
    served: Weak<ServedResource>,
    /// The graph, if it was looked at.
    graph: Option<Weak<Graph>>,
    part: ListedPart,
}

/// All parts in one list, and these parts.
struct CachedList {
    parts: Vec<ListedPart>,
    skills: Arc<SkillIndex>,
    all: Arc<Vec<Json>>,
}

impl ResourceListCache {
    /// What a definition listed last, and the graph that it was made of.
    pub(super) fn get(&self, served: &Arc<ServedResource>) -> Option<(Option<Weak<Graph>>, ListedPart)> {
        let parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let known = parts.get(&served.definition.uri.value)?;
        let is_same = std::ptr::eq(known.served.as_ptr(), Arc::as_ptr(served));
        is_same.then(|| (known.graph.clone(), Arc::clone(&known.part)))
    }

    /// Returns the list of a definition without a function: itself, or nothing if it is a template.
    pub(super) fn fixed_part(&self, served: &Arc<ServedResource>) -> ListedPart {
        if let Some((_, part)) = self.get(served) {
            return part;
        }
        let is_template = served.definition.is_template;
        let part = ListedPart::new(if is_template { Vec::new() } else { vec![resource_entry(served)] });
        self.insert(served, None, &part);
        part
    }

    pub(super) fn insert(&self, served: &Arc<ServedResource>, graph: Option<&Arc<Graph>>, part: &ListedPart) {
        let (graph, part) = (graph.map(Arc::downgrade), Arc::clone(part));
        let listing = CachedPart { served: Arc::downgrade(served), graph, part };
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        // Of packs that went away nothing stays.
        parts.retain(|_, known| known.served.strong_count() > 0);
        parts.insert(served.definition.uri.value.clone(), listing);
    }

    /// All parts as one list, sorted by URI; where two name the same URI the first one counts.
    pub(super) fn merge(&self, parts: Vec<ListedPart>, skills: Arc<SkillIndex>) -> Arc<Vec<Json>> {
        let mut whole = self.whole.lock().unwrap_or_else(PoisonError::into_inner);
        let is_same = |known: &&CachedList| {
            known.parts.len() == parts.len()
                && known.parts.iter().zip(&parts).all(|(one, other)| Arc::ptr_eq(one, other))
                && Arc::ptr_eq(&known.skills, &skills)
        };
        if let Some(known) = whole.as_ref().filter(is_same) {
            return Arc::clone(&known.all);
        }
        let mut all: BTreeMap<&str, Json> = BTreeMap::new();
        for item in parts.iter().flat_map(|part| part.iter()) {
            all.entry(item["uri"].as_str().unwrap_or_default()).or_insert_with(|| item.clone());
        }
        for (_, skill) in skills.iter() {
            all.entry(&skill.uri).or_insert_with(|| skill_entry(skill));
        }
        let all: Arc<Vec<Json>> = Arc::new(all.into_values().collect());
        *whole = Some(CachedList { parts, skills, all: Arc::clone(&all) });
        all
    }
}

/// The skills that functions found when they were last asked.
#[derive(Default)]
pub(super) struct FoundSkills {
    pub(super) digests: FileDigests,
    last: Mutex<Option<Arc<SkillIndex>>>,
    /// The messages that were logged.
    logged: Mutex<HashSet<String>>,
}

impl FoundSkills {
    pub(super) fn last(&self) -> Option<Arc<SkillIndex>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the entries of the last list; `None` if it was never requested.
    pub(super) fn last_entries(&self) -> Option<Vec<Json>> {
        self.last().map(|skills| skill_entries(&skills))
    }

    /// Logs an error unless it was logged before.
    pub(super) fn log_once(&self, error: &Diagnostic) {
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.insert(error.message.clone()) {
            log_error(error);
        }
    }

    pub(super) fn set_last(&self, skills: &Arc<SkillIndex>) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(skills));
    }
}

/// Each skill as it is listed among the resources.
pub(super) fn skill_entries(skills: &SkillIndex) -> Vec<Json> {
    skills.iter().map(|(_, skill)| skill_entry(skill)).collect()
}
