//! The Skills extension (SEP-2640): what there is, the manifest of one, and the folders below it.

use super::typed;
use crate::registry::{Skill, SkillIndex};
use crate::value::Json;
use rmcp::model::{ErrorData, Resource, Skill as Entry};
use serde_json::json;
use std::collections::BTreeMap;

/// All skills, in the order of their URIs.
pub(crate) fn entries(skills: &SkillIndex) -> Vec<Entry> {
    skills.iter().filter_map(|(_, skill)| entry(skill)).collect()
}

/// One skill.
pub(crate) fn one(skills: &SkillIndex, uri: &str) -> Result<Entry, ErrorData> {
    let found = skills.get(uri).and_then(|(_, skill)| entry(skill));
    found.ok_or_else(|| ErrorData::invalid_params(format!("there is no skill `{uri}`"), Some(json!({ "uri": uri }))))
}

fn entry(skill: &Skill) -> Option<Entry> {
    let file = |file: &crate::registry::SkillFile| json!({ "uri": file.uri, "digest": file.digest, "size": file.size });
    let files: Vec<Json> = skill.files.iter().map(file).collect();
    typed(json!({ "uri": skill.uri, "frontmatter": skill.frontmatter, "resources": files }))
}

/// The direct children of a folder of a skill, or of a folder above one; folders first have their type.
pub(crate) fn children(skills: &SkillIndex, uri: &str) -> Result<Vec<Resource>, ErrorData> {
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
        let message = format!("`{uri}` is no folder of a skill");
        return Err(ErrorData::invalid_params(message, Some(json!({ "uri": uri }))));
    }
    Ok(found.into_values().filter_map(typed).collect())
}
