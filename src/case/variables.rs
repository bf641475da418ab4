//! Values that steps captured, and their use in later steps: `${name}`, or `$name` as a whole text; `$workspace`
//! anywhere.

use crate::definition::code::CASE;
use crate::diagnostic::{Diagnostic, Result, did_you_mean};
use crate::value::Json;
use std::collections::BTreeMap;

/// The variable for the path of the workspace, which differs in each run on the disk.
const WORKSPACE: &str = "$workspace";

/// Names and values.
#[derive(Default)]
pub struct CaseVariables {
    values: BTreeMap<String, Json>,
    workspace: String,
}

impl CaseVariables {
    /// Nothing but the absolute path of the workspace.
    pub fn new(workspace: &str) -> Self {
        Self { values: BTreeMap::new(), workspace: workspace.to_owned() }
    }

    /// The same JSON with the path of the workspace in place of `$workspace`.
    pub fn expand_workspace(&self, json: &Json) -> Json {
        map_texts(json, &|text| self.expand_workspace_in_text(text))
    }

    /// The same text with the path of the workspace in place of `$workspace`.
    pub fn expand_workspace_in_text(&self, text: &str) -> String {
        text.replace("${workspace}", &self.workspace).replace(WORKSPACE, &self.workspace)
    }

    /// The same JSON with `$workspace` in place of the path of the workspace.
    pub fn collapse_workspace(&self, json: &Json) -> Json {
        map_texts(json, &|text| text.replace(&self.workspace, WORKSPACE))
    }

    /// Keeps a value; a name that is taken gets the new one.
    pub fn keep(&mut self, name: &str, value: Json) {
        self.values.insert(name.to_owned(), value);
    }

    /// The same JSON with the names filled in: a text that is one name becomes the value itself.
    pub fn fill(&self, json: &Json) -> Result<Json> {
        self.fill_names(&self.expand_workspace(json))
    }

    fn fill_names(&self, json: &Json) -> Result<Json> {
        Ok(match json {
            Json::String(text) => match variable_name(text) {
                Some(name) if self.values.contains_key(name) || text.starts_with("${") => self.value(name)?.clone(),
                _ => Json::String(self.fill_text(text)?),
            },
            Json::Array(items) => Json::Array(items.iter().map(|item| self.fill_names(item)).collect::<Result<_>>()?),
            Json::Object(map) => {
                let pairs = map.iter().map(|(key, value)| Ok((key.clone(), self.fill_names(value)?)));
                Json::Object(pairs.collect::<Result<_>>()?)
            }
            other => other.clone(),
        })
    }

    /// Replaces each `${name}` in a text. If no value was captured, the text stays unchanged.
    pub fn fill_text(&self, text: &str) -> Result<String> {
        let text = &self.expand_workspace_in_text(text);
        if self.values.is_empty() {
            return Ok(text.to_owned());
        }
        let mut filled = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(start) = rest.find("${") {
            let Some(end) = rest[start..].find('}') else { break };
            filled.push_str(&rest[..start]);
            filled.push_str(&match self.value(&rest[start + 2..start + end])? {
                Json::String(text) => text.clone(),
                other => other.to_string(),
            });
            rest = &rest[start + end + 1..];
        }
        filled.push_str(rest);
        Ok(filled)
    }

    fn value(&self, name: &str) -> Result<&Json> {
        self.values.get(name).ok_or_else(|| {
            let diagnostic = Diagnostic::new(CASE, format!("no value named `{name}` was captured"));
            match did_you_mean(name, self.values.keys().map(String::as_str)) {
                Some(help) => diagnostic.help(help),
                None => diagnostic.help("capture it in an earlier step: `capture = { name = \"/json/pointer\" }`"),
            }
        })
    }
}

/// Every text of it made into another one; the names of fields stay.
fn map_texts(json: &Json, by: &dyn Fn(&str) -> String) -> Json {
    match json {
        Json::String(text) => Json::String(by(text)),
        Json::Array(items) => items.iter().map(|item| map_texts(item, by)).collect(),
        Json::Object(map) => map.iter().map(|(key, value)| (key.clone(), map_texts(value, by))).collect(),
        other => other.clone(),
    }
}

fn variable_name(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let sound = !name.is_empty() && name.chars().all(|letter| letter.is_alphanumeric() || letter == '_');
    sound.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_workspace_is_filled_in_and_taken_out() {
        let kept = CaseVariables::new("/tmp/x7");
        let case = json!({ "project_path": "$workspace", "at": ["${workspace}/a.md", "$other"] });
        let there = json!({ "project_path": "/tmp/x7", "at": ["/tmp/x7/a.md", "$other"] });
        assert_eq!(kept.fill(&case), Ok(there.clone()));
        assert_eq!(kept.collapse_workspace(&there)["at"][0], "$workspace/a.md");
    }

    #[test]
    fn names_are_filled_in() {
        let mut kept = CaseVariables::default();
        kept.keep("id", json!(7));
        kept.keep("name", json!("a b"));
        let filled = kept.fill(&json!({ "id": "$id", "list": ["${name}", "x/${id}/${name}"], "cost": "$5" }));
        assert_eq!(filled, Ok(json!({ "id": 7, "list": ["a b", "x/7/a b"], "cost": "$5" })));
        assert!(
            kept.fill(&json!("${nme}"))
                .is_err_and(|diagnostic| diagnostic.to_string().contains("did you mean `name`?"))
        );
    }
}
