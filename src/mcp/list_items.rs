//! Tools, prompts, resources and skills as a revision of the protocol lists them.

use super::revision::Revision;
use crate::definition::{ALWAYS_LOAD, EffectiveHints, MAX_RESULT_SIZE, ObjectSchema};
use crate::registry::{
    ServedPrompt, ServedResource, ServedTool, Skill, SkillFile, SkillIndex, object_output_schema, with_notices,
};
use crate::value::Json;
use rmcp::model::{ErrorData, MetaObject, Resource, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Map, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A tool as the newest revision with a handshake lists it, which today's clients speak; null if lists omit it.
pub fn list_entry(served: &ServedTool, is_lean: bool) -> Json {
    let item = tool_item(served, Revision::Icons, is_lean);
    item.and_then(serde_json::to_value).unwrap_or_default()
}

/// A tool as a list item; a lean one has what a model chooses and calls by.
///
/// # Errors
/// Its icons or its `_meta` do not fit the protocol.
pub(crate) fn tool_item(served: &ServedTool, revision: Revision, is_lean: bool) -> serde_json::Result<Tool> {
    let mut tool = whole_tool_item(served, revision)?;
    if is_lean {
        tool.title = None;
        tool.output_schema = None;
        tool.meta = tool.meta.and_then(lean_meta);
        tool.annotations = tool.annotations.and_then(lean_annotations);
        let mut schema = Json::Object((*tool.input_schema).clone());
        drop_closing(&mut schema);
        if let Json::Object(schema) = schema {
            tool.input_schema = Arc::new(schema);
        }
    }
    Ok(tool)
}

/// The hints in `_meta` by which clients load a tool or cut its results: a model does not read them, and without them a
/// pinned tool is not there. `None` if there are none.
fn lean_meta(meta: MetaObject) -> Option<MetaObject> {
    let kept = |key: &str| [ALWAYS_LOAD, MAX_RESULT_SIZE].contains(&key);
    let hints: Map<String, Json> = meta.0.into_iter().filter(|(key, _)| kept(key)).collect();
    (!hints.is_empty()).then_some(MetaObject(hints))
}

/// The annotations by which clients decide whether to ask their user: that a tool only reads, or destroys nothing.
/// `None` if it does neither.
fn lean_annotations(annotations: ToolAnnotations) -> Option<ToolAnnotations> {
    let reads_only = annotations.read_only_hint.filter(|reads_only| *reads_only);
    let destroys = annotations.destructive_hint.filter(|destroys| !destroys && reads_only.is_none());
    let lean = ToolAnnotations::from_raw(None, reads_only, destroys, None, None);
    (lean != ToolAnnotations::default()).then_some(lean)
}

/// Removes `additionalProperties: false` from a schema. A call with listed names never meets it, and other names are
/// still refused by the server.
fn drop_closing(schema: &mut Json) {
    match schema {
        Json::Object(map) => {
            if map.get("additionalProperties") == Some(&Json::Bool(false)) {
                map.shift_remove("additionalProperties");
            }
            map.values_mut().for_each(drop_closing);
        }
        Json::Array(items) => items.iter_mut().for_each(drop_closing),
        _ => {}
    }
}

fn whole_tool_item(served: &ServedTool, revision: Revision) -> serde_json::Result<Tool> {
    let definition = &served.definition;
    let title = || definition.title.clone();
    let mut tool = Tool::default();
    tool.name = served.name.clone().into();
    tool.title = title().filter(|_| revision.has_structured());
    tool.description = Some(served.definition.description.value.clone().into());
    tool.input_schema = Arc::clone(&served.contract.schema);
    tool.output_schema = tool_output_schema(served, revision);
    if revision.has_hints() {
        // Next to the title of the tool itself: validators of directories look here.
        tool.annotations = Some(tool_annotations(title(), definition.effective_hints()));
    }
    if revision.has_icons() && !definition.icons.is_empty() {
        tool.icons = serde_json::from_value(json!(definition.icons))?;
    }
    if let (true, Some(meta)) = (revision.has_structured(), definition.published_meta()) {
        tool.meta = serde_json::from_value(meta)?;
    }
    Ok(tool)
}

/// The output schema of a tool; `None` in a revision without output schemas.
fn tool_output_schema(served: &ServedTool, revision: Revision) -> Option<ObjectSchema> {
    let output = served.contract.output.as_ref().filter(|_| revision.has_structured())?;
    Some(output_schema(output, revision))
}

fn tool_annotations(title: Option<String>, hints: EffectiveHints) -> ToolAnnotations {
    let EffectiveHints { read_only, destructive, idempotent, open_world } = hints;
    ToolAnnotations::from_raw(title, Some(read_only), Some(destructive), Some(idempotent), Some(open_world))
}

/// An output schema: as written, or wrapped if the revision requires `type: object` at the root.
fn output_schema(output: &ObjectSchema, revision: Revision) -> ObjectSchema {
    if revision.is_stateless() { with_notices(output) } else { object_output_schema(output) }
}

/// A prompt as a list item.
pub(crate) fn prompt_item(served: &ServedPrompt, revision: Revision) -> Json {
    let prompt = &served.definition;
    let mut item = Map::new();
    item.insert("name".to_owned(), json!(served.name));
    put_title(&mut item, prompt.title.as_deref(), revision);
    put(&mut item, "description", prompt.description.as_deref());
    let arguments: Vec<Json> = prompt
        .arguments
        .iter()
        .map(|argument| {
            let mut item = Map::new();
            item.insert("name".to_owned(), json!(argument.name.value));
            put_title(&mut item, argument.title.as_deref(), revision);
            put(&mut item, "description", argument.description.as_deref());
            item.insert("required".to_owned(), json!(argument.required));
            Json::Object(item)
        })
        .collect();
    if !arguments.is_empty() {
        item.insert("arguments".to_owned(), Json::Array(arguments));
    }
    put_icons(&mut item, &prompt.icons, revision);
    put_meta(&mut item, prompt.meta.as_ref(), revision);
    Json::Object(item)
}

/// A resource template as a list item.
pub(crate) fn template_item(served: &ServedResource, revision: Revision) -> Json {
    let resource = &served.definition;
    let mut item = Map::new();
    item.insert("uriTemplate".to_owned(), json!(resource.uri.value));
    item.insert("name".to_owned(), json!(served.name));
    put_title(&mut item, resource.title.as_deref(), revision);
    put(&mut item, "description", resource.description.as_deref());
    put(&mut item, "mimeType", resource.mime_type.as_deref());
    if let Some(annotations) = &resource.annotations {
        item.insert("annotations".to_owned(), annotations_item(annotations, revision));
    }
    put_icons(&mut item, &resource.icons, revision);
    put_meta(&mut item, resource.meta.as_ref(), revision);
    Json::Object(item)
}

/// A resource, or a link to one, as a list item. `listed` is the object that the service lists.
pub(crate) fn resource_item(listed: &Json, revision: Revision) -> Json {
    let mut item = Map::new();
    for (key, value) in listed.as_object().into_iter().flatten() {
        let known = match key.as_str() {
            "title" | "_meta" => revision.has_structured(),
            "icons" => revision.has_icons(),
            _ => true,
        };
        if known && !value.is_null() {
            let value = if key == "annotations" { annotations_item(value, revision) } else { value.clone() };
            item.insert(key.clone(), value);
        }
    }
    if !item.contains_key("name") {
        item.insert("name".to_owned(), listed.get("uri").cloned().unwrap_or_default());
    }
    Json::Object(item)
}

/// Annotations. `lastModified` exists since the revision that introduced titles.
pub(crate) fn annotations_item(annotations: &Json, revision: Revision) -> Json {
    let mut annotations = annotations.clone();
    if let (false, Json::Object(map)) = (revision.has_structured(), &mut annotations) {
        map.shift_remove("lastModified");
    }
    annotations
}

fn put(item: &mut Map<String, Json>, key: &str, text: Option<&str>) {
    if let Some(text) = text {
        item.insert(key.to_owned(), json!(text));
    }
}

fn put_title(item: &mut Map<String, Json>, title: Option<&str>, revision: Revision) {
    put(item, "title", title.filter(|_| revision.has_structured()));
}

fn put_icons(item: &mut Map<String, Json>, icons: &[Json], revision: Revision) {
    if revision.has_icons() && !icons.is_empty() {
        item.insert("icons".to_owned(), json!(icons));
    }
}

fn put_meta(item: &mut Map<String, Json>, meta: Option<&Json>, revision: Revision) {
    if let (true, Some(meta)) = (revision.has_structured(), meta) {
        item.insert("_meta".to_owned(), meta.clone());
    }
}

/// An item as a type of rmcp. An item that does not fit is omitted and logged: `check` reports it.
pub(crate) fn to_protocol_type<T: DeserializeOwned>(item: Json) -> Option<T> {
    let name = item.get("name").cloned().unwrap_or_default();
    serde_json::from_value(item).map_err(|error| log_left_out(&name, &error)).ok()
}

pub(crate) fn log_left_out(name: &Json, error: &serde_json::Error) {
    tracing::error!(%name, %error, "omitted from a list: it does not fit the protocol");
}

pub(crate) fn skill_item(skills: &SkillIndex, uri: &str) -> Result<rmcp::model::Skill, ErrorData> {
    let found = skills.get(uri).and_then(|(_, skill)| to_skill_item(skill));
    found.ok_or_else(|| ErrorData::invalid_params(format!("there is no skill `{uri}`"), Some(json!({ "uri": uri }))))
}

/// A skill as a list item.
pub(crate) fn to_skill_item(skill: &Skill) -> Option<rmcp::model::Skill> {
    let file = |file: &SkillFile| json!({ "uri": file.uri, "digest": file.digest, "size": file.size });
    let files: Vec<Json> = skill.files.iter().map(file).collect();
    to_protocol_type(json!({ "uri": skill.uri, "frontmatter": skill.frontmatter, "resources": files }))
}

/// The direct children of a folder that belongs to a skill or contains skills.
///
/// # Errors
/// There is no such folder.
pub(crate) fn skill_folder_items(skills: &SkillIndex, uri: &str) -> Result<Vec<Resource>, ErrorData> {
    let folder = format!("{}/", uri.trim_end_matches('/'));
    let mut found: BTreeMap<String, Json> = BTreeMap::new();
    for (_, skill) in skills.iter() {
        for file in &skill.files {
            let Some(rest) = file.uri.strip_prefix(&folder) else { continue };
            let (name, is_folder) = rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            let uri = format!("{folder}{name}");
            let item = match is_folder {
                true => json!({ "uri": uri, "name": name, "mimeType": rmcp::model::DIRECTORY_MIME_TYPE }),
                false if file.uri == skill.uri => json!({
                    "uri": uri, "name": skill.text("name"), "description": skill.text("description"),
                    "mimeType": "text/markdown", "size": file.size,
                }),
                false => json!({ "uri": uri, "name": name, "size": file.size }),
            };
            found.insert(uri, item);
        }
    }
    if found.is_empty() {
        let message = format!("`{uri}` is not a folder of a skill");
        return Err(ErrorData::invalid_params(message, Some(json!({ "uri": uri }))));
    }
    Ok(found.into_values().filter_map(to_protocol_type).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::ToolHints;
    use crate::definition::schema_object;
    use crate::primitive_api::Effect;
    use crate::registry::is_wrapped;

    fn object_schema(schema: Json) -> ObjectSchema {
        schema_object(schema).unwrap().into()
    }

    #[test]
    fn an_output_that_is_no_object_is_wrapped_where_objects_are_wanted() {
        let list = json!({ "$defs": { "A": { "$ref": "#" } }, "type": "array", "items": { "$ref": "#/$defs/A" } });
        let list = object_schema(list);
        assert_eq!(output_schema(&list, Revision::Stateless), list);
        assert_eq!(
            output_schema(&list, Revision::Icons),
            object_schema(json!({
                "type": "object",
                "$defs": { "A": { "$ref": "#/properties/result" } },
                "properties": { "result": { "type": "array", "items": { "$ref": "#/$defs/A" } } },
                "required": ["result"],
            }))
        );
    }

    #[test]
    fn a_reference_to_an_object_is_an_object() {
        let schema = object_schema(json!({ "$ref": "#/$defs/A", "$defs": { "A": { "type": "object" } } }));
        assert!(!is_wrapped(&schema));
        assert_eq!(output_schema(&schema, Revision::Structured)["type"], "object");
        assert!(is_wrapped(&object_schema(json!({ "$ref": "#" }))));
        assert!(is_wrapped(&object_schema(json!(true))));
    }

    #[test]
    fn lean_annotations_say_what_clients_ask_their_user_by() {
        let lean = |effect| {
            let all = tool_annotations(Some("A title".to_owned()), ToolHints::default().effective(effect));
            lean_annotations(all).map_or(Json::Null, |lean| json!(lean))
        };
        assert_eq!(lean(Effect::Reads), json!({ "readOnlyHint": true }));
        assert_eq!(lean(Effect::Changes), json!({ "destructiveHint": false }));
        assert_eq!(lean(Effect::Writes), Json::Null);
        assert_eq!(lean(Effect::Runs), Json::Null);
    }

    #[test]
    fn lean_meta_says_how_clients_load_a_tool() {
        let lean = |meta: Json| lean_meta(serde_json::from_value(meta).unwrap()).map_or(Json::Null, |lean| json!(lean));
        let all = json!({ ALWAYS_LOAD: true, "anthropic/searchHint": "relabel", MAX_RESULT_SIZE: 9, "a": 1 });
        assert_eq!(lean(all), json!({ ALWAYS_LOAD: true, MAX_RESULT_SIZE: 9 }));
        assert_eq!(lean(json!({ "a": 1 })), Json::Null);
    }

    #[test]
    fn lean_schemas_are_not_closed() {
        let mut schema = json!({
            "type": "object", "additionalProperties": false,
            "properties": { "a": { "additionalProperties": { "type": "string" } }, "b": { "items": { "additionalProperties": false } } },
        });
        drop_closing(&mut schema);
        let open = json!({ "type": "object", "properties": { "a": { "additionalProperties": { "type": "string" } }, "b": { "items": {} } } });
        assert_eq!(schema, open);
    }

    #[test]
    fn hints_follow_from_the_effect_unless_the_author_knows_better() {
        let plain = ToolHints::default();
        let hints = |effect, own: ToolHints| tool_annotations(None, own.effective(effect));
        assert_eq!(hints(Effect::Reads, plain).read_only_hint, Some(true));
        assert_eq!(hints(Effect::Reads, plain).open_world_hint, Some(false));
        assert_eq!(hints(Effect::Writes, plain).destructive_hint, Some(true));
        assert_eq!(hints(Effect::Runs, plain).open_world_hint, Some(true));
        let gentle = ToolHints { destructive: Some(false), ..plain };
        assert_eq!(hints(Effect::Writes, gentle).destructive_hint, Some(false));
    }
}
